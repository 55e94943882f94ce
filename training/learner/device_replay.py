"""Batches put together on the GPU: the rows of the window lie there packed, as on the CPU, and are unpacked and turned
there. The rows that are drawn are those of `Replay.sample`, and so are the batches, bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from gozero.games import symmetry
from gozero.games.game import Game
from training.records import scoring
from training.records.replay import Drawn, Replay
from training.records.rows import TO_PLAY_PLANE, Batch, Rows, layout, rarity

UPLOADED = ("planes", "globals", "tactics", "policy", "reply", "value", "score", "owner", "root")


class DeviceReplay:
    """Draws batches from `replay` on a device; uploads the rows of a size again when there are others."""

    def __init__(self, replay: Replay, device: torch.device) -> None:
        self.replay, self.device = replay, device
        self._uploaded: dict[int, tuple[Rows, dict[str, Tensor]]] = {}
        self._maps: dict[int, tuple[Tensor, Tensor]] = {}

    def sample(self, batch: int, generator: np.random.Generator) -> Batch:
        """`Replay.sample`, of tensors on the device."""
        drawn = self.replay.draw(batch, generator)
        game, rows = self.replay.game_of(drawn.size), self._rows(drawn)
        turns = np.searchsorted(sorted(game.symmetries), drawn.symmetries)
        chosen, turn = (torch.from_numpy(array).to(self.device) for array in (drawn.chosen, turns))
        part = {name: tensor[chosen] for name, tensor in rows.items()}
        points, actions = (maps[turn] for maps in self._turns(game))
        shown = layout(drawn.rows, game)
        planes = _planes(part["planes"], len(shown.planes), game, points)
        exchanged = torch.from_numpy(np.flatnonzero(drawn.symmetries & symmetry.COLOURS_EXCHANGED)).to(self.device)
        planes[exchanged, TO_PLAY_PLANE] = 1 - planes[exchanged, TO_PLAY_PLANE]  # it is the other colour's turn
        found: dict[str, Any] = {
            "planes": planes,
            "globals": part["globals"],
            "policy": part["policy"].float().gather(1, actions),
            "reply": part["reply"].float().gather(1, actions),
            "value": part["value"].long(),
            "score": part["score"],
            "owner": part["owner"].float().gather(1, points),
            "root": part["root"],
            "rarity": torch.from_numpy(rarity(drawn.rows.weight[drawn.chosen])).to(self.device),
        }
        if not all(known := scoring.known(game)):
            found["known"] = torch.tensor(known, device=self.device).expand(batch, -1)
        if shown.tactics:
            found["tactics"] = _planes(part["tactics"], len(shown.tactics), game, points)
        return Batch(**found)

    def _rows(self, drawn: Drawn) -> dict[str, Tensor]:
        """The rows among which some were drawn, on the device."""
        known = self._uploaded.get(drawn.size)
        if known is None or known[0] is not drawn.rows:
            for size in {drawn.size, *self._uploaded.keys() - self.replay.sizes().keys()}:
                self._uploaded.pop(size, None)  # free its memory first
            tensors = {name: torch.from_numpy(getattr(drawn.rows, name)).to(self.device) for name in UPLOADED}
            known = self._uploaded[drawn.size] = drawn.rows, tensors
        return known[1]

    def _turns(self, game: Game) -> tuple[Tensor, Tensor]:
        """int64 [k, P] and [k, A], on the device: the maps of points and of actions by each of the game's k symmetries,
        ascending.
        """
        if game.size not in self._maps:
            numbers = sorted(game.symmetries)
            points = np.stack([symmetry.point_map(game.shape, number) for number in numbers])
            actions = np.stack([symmetry.action_map(game.shape, number, game.directions) for number in numbers])
            self._maps[game.size] = torch.from_numpy(points).to(self.device), torch.from_numpy(actions).to(self.device)
        return self._maps[game.size]


def _planes(bits: Tensor, count: int, game: Game, points: Tensor) -> Tensor:
    """uint8 [n, ⌈CP/8⌉] → float32 [n, C, H, W], the points of each row turned by its int64 [n, P]."""
    shifts = torch.arange(7, -1, -1, device=bits.device, dtype=torch.uint8)
    flat = (bits[:, :, None] >> shifts & 1).flatten(1)[:, : count * game.points].view(-1, count, game.points)
    return flat.gather(2, points[:, None].expand(-1, count, -1)).float().view(-1, count, *game.shape)
