"""Pictures of a run folder: the network's outputs in a few positions, the openings of the games, the first layer.

The positions are those of the newest games that the learner never saw. Pictures whose files are missing or unreadable
are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from gozero import plots
from gozero.games import make
from gozero.games.game import PLY, Game
from gozero.nets import features, filters, weights
from gozero.nets.model import Network
from gozero.nets.weights import Weights, WeightsError
from gozero.plots import BoardPicture
from gozero.system.errors import ChoiceError
from gozero.system.words import counted
from training.records import records, scoring
from training.records.records import Record
from training.records.rows import is_held_out
from training.settings.config import LoopSettings
from training.storage import storage

SHARDS = 5  # newest ones that are read
MOST_OPENINGS = 200  # newest games of a size that the picture of the openings is drawn from
EXAMPLES = 3
DEPTHS = (0.2, 0.5, 0.8)  # where in its game each example is


@dataclass(frozen=True)
class Gallery:
    """The newest games and the network of a run."""

    settings: LoopSettings
    games: list[Record]  # newest last
    net: nn.Module | None
    size: int  # of the board that is shown
    file: Weights | None = None

    @classmethod
    def open(cls, folder: Path, settings: LoopSettings | None) -> Gallery:
        """Read the newest records and the weights, as far as they are there."""
        settings = settings or LoopSettings()
        found, file = list[Record](), None
        for shard in storage.numbered(folder / "records", ".gzr")[-SHARDS:]:
            with suppress(OSError):
                found += [each for each in records.read(shard).records if board_name(settings.game, each.size)]
        with suppress(WeightsError):
            file = weights.load(folder / "weights.pt", game=settings.game)
        counts = Counter[int]()
        for record in found:
            counts[record.size] += record.rows
        only = file.config.size if file else None
        most = max(counts, key=lambda size: (counts[size], size)) if counts else None
        size = only or most or (file.size if file else None) or 9
        return cls(settings, found, file.network() if file else None, size, file)

    def openings(self) -> bytes | None:
        """Each size's first moves in the newest games, counted, and the policy of its empty board; a picture, or None
        without games.
        """
        sizes = sorted({record.size for record in self.games})
        pictures = [board for size in sizes for board in self._first_moves(self._game(size))]
        return plots.boards(pictures) if pictures else None

    def _first_moves(self, game: Game) -> Iterator[BoardPicture]:
        """The boards of `openings` for one size; none without games."""
        games = [record for record in self.games if record.size == game.size and len(record.moves)]
        moves = [int(record.moves[0]) for record in games[-MOST_OPENINGS:]]
        firsts = [game.ends(move)[1] for move in moves if move < game.pass_action]
        if not firsts:
            return
        counts = np.bincount(firsts, minlength=game.points).reshape(game.shape).astype(float)
        title = f"{game.dimensions}: first moves of {counted(len(firsts), 'game')}"
        yield BoardPicture(title, np.zeros_like(counts, dtype=np.uint8), counts, numbers=True)
        if self.net is not None:
            yield next(_prediction(self.net, game, _empty(game), game.dimensions))

    def predictions(self) -> bytes | None:
        """Policy and ownership of the empty board and of held-out positions; a picture, or None without a network."""
        if self.net is None:
            return None
        game = self._game(self.size)
        pictures = [
            board for title, state in self._positions(game) for board in _prediction(self.net, game, state, title)
        ]
        return plots.boards(pictures)

    def filters(self) -> bytes | None:
        """The first layer's weights; a picture, or None without a network."""
        return None if self.file is None else plots.sides(filters.first_layer(self.file))

    def _game(self, size: int) -> Game:
        return scoring.make(self.settings.game, size, self.settings.rules, self.settings.selfplay.max_length)

    def _positions(self, game: Game) -> Iterator[tuple[str, np.ndarray]]:
        """(title, state int32 [S]) of the empty board with its usual komi and of the examples."""
        yield "empty board", _empty(game)
        share = self.settings.replay.held_out
        games = [record for record in self.games if record.size == self.size and is_held_out(record, share)]
        for record, depth in zip(games[-EXAMPLES:], DEPTHS, strict=False):
            ply = int(depth * len(record.moves))
            yield f"generation {record.generation}, move {ply + 1}", _after(game, record, ply)


def position(net: nn.Module, game: Game, record: Record, plies: int, dpi: int = plots.DPI) -> bytes:
    """Policy and ownership of the position after the first `plies` moves of a record, as one PNG.

    The record must have as many moves.
    """
    return plots.boards(list(_prediction(net, game, _after(game, record, plies), f"move {plies + 1}")), dpi=dpi)


def _empty(game: Game) -> np.ndarray:
    """The state int32 [S] of the empty board with its usual komi."""
    return scoring.begin(game, scoring.usual_komi(game.name, game.size), 0)[0]


def _after(game: Game, record: Record, plies: int) -> np.ndarray:
    """The state int32 [S] after the first `plies` moves of a record."""
    state, history = scoring.begin(game, record.komi, len(record.moves))
    for action in record.moves[:plies].tolist():
        game.step(state, history, action)
    return state


@torch.inference_mode()
def _prediction(net: nn.Module, game: Game, state: np.ndarray, title: str) -> Iterator[BoardPicture]:
    """One board with the policy under its stones; one with the ownership, where the game has it and the network that
    head.
    """
    assert isinstance(net, Network)
    inputs = features.encode(game, state[None], net.config.features)
    planes, output = inputs[0], net(*map(torch.from_numpy, inputs))
    legal = np.zeros(game.actions, np.uint8)
    game.legal(state, np.zeros(int(state[PLY]) + 2, np.uint64), legal)  # superko aside: a picture needs no more
    logits = output.policy[0].numpy().astype(np.float64)
    shares = np.exp(logits - logits.max()) * (legal > 0)
    shares /= shares.sum()
    board = game.board(state)
    mover = "Black" if planes[0, -1, 0, 0] else "White"
    policy = shares[: game.pass_action].reshape(-1, *board.shape).sum(0)  # of a piece that moves, all its moves
    value = f"value {float(output.value[0]):+.2f}"
    passing = f"pass {shares[game.pass_action]:.1%}, " if game.has_pass else ""
    yield BoardPicture(f"{title}\n{mover}'s policy, {passing}{value}", board, policy)
    owners = output.owners
    if owners is not None and game.owner is not None:
        owner = owners[0].numpy().reshape(board.shape)
        yield BoardPicture(
            f"{title}\nred: {mover}'s points, {value}, score {float(output.score[0]):+.1f}", board, owner, signed=True
        )


def board_name(game: str, size: int) -> str:
    """How a board is called, such as 9x9; empty if the game has none of that size."""
    try:
        return make(game, size=size).dimensions
    except ChoiceError:
        return ""
