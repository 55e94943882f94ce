"""pachi-py: a second implementation of Go in this process, optional and under the GPL (`make pachi`). This module alone
imports it.

It knows simple ko only, lets several stones commit suicide, and counts without komi. Actions and colours are ours
(`gozero.games.coords`, BLACK and WHITE). `training.selfplay.simulators` plays games on it.
"""

from __future__ import annotations

import copy
import importlib
from functools import cache
from typing import Any

import numpy as np

from gozero.games.game import BLACK, WHITE
from gozero.system.errors import UserError

LEAST_PLAYOUTS = 500  # of a search: Pachi's GJ_MINGAMES, below which it never ends


class PachiMissingError(UserError):
    """pachi-py cannot be imported; one line that says so."""


class PachiIllegalError(Exception):
    """pachi-py refuses a move; its board is as it was before."""


@cache
def load() -> Any:
    """The module pachi_py; PachiMissingError where it is not installed."""
    try:
        return importlib.import_module("pachi_py")
    except ImportError:
        raise PachiMissingError("pachi-py is not installed: run `make pachi`") from None


class PachiBoard:
    """An empty board of `size` points a side, 2 to 19: all sizes of `gozero.games.go.go`."""

    def __init__(self, size: int) -> None:
        self._pachi = load()
        self._board = self._pachi.CreateBoard(size)
        self._colours = {BLACK: self._pachi.BLACK, WHITE: self._pachi.WHITE}
        self._coords = [self._board.ij_to_coord(*divmod(point, size)) for point in range(size * size)]
        self._coords.append(self._pachi.PASS_COORD)
        self._actions = {coord: action for action, coord in enumerate(self._coords)}

    def copy(self) -> PachiBoard:
        twin = copy.copy(self)
        twin._board = self._board.clone()
        return twin

    def play(self, action: int, colour: int) -> None:
        """Play a point or pass (action size²) for a colour, in or out of turn; PachiIllegalError if pachi-py
        refuses.
        """
        if not 0 <= action < len(self._coords):
            raise PachiIllegalError(f"action {action} is neither a point nor a pass")
        try:
            self._board.play_inplace(self._coords[action], self._colours[colour])
        except self._pachi.IllegalMove:
            raise PachiIllegalError(f"action {action} is illegal for colour {colour}") from None

    def stones(self) -> np.ndarray:
        """uint8 [points]: EMPTY, BLACK or WHITE."""
        black, white, _ = self._board.encode()
        colours: np.ndarray = (black * BLACK + white * WHITE).astype(np.uint8).reshape(-1)
        return colours

    def legal(self, colour: int, actions: int) -> np.ndarray:
        """uint8 [actions]: what pachi-py lets a colour play; suicide of several stones and repetitions among it."""
        allowed = np.zeros(actions, np.uint8)
        allowed[[self._actions[coord] for coord in self._board.get_legal_coords(self._colours[colour])]] = 1
        return allowed

    def lead(self) -> float:
        """Black's points above White's by area as the board stands, every stone alive, without komi."""
        return -float(self._board.official_score)

    def search(self, colour: int, playouts: int, seed: int) -> int:
        """The move of Pachi's UCT for a colour after `LEAST_PLAYOUTS` playouts or more: an action, or resigning
        (size² + 1). It heeds positional superko, captures dead stones before it passes, and counts as if komi were 0.
        It takes a tenth of a second at least. `seed` is from 1 to 2³¹ - 1.
        """
        assert playouts >= LEAST_PLAYOUTS
        arguments = f"threads=1,pass_all_alive,force_seed={seed}"
        engine = self._pachi.PyPachiEngine(self._board, b"uct", arguments.encode())
        coord = engine.genmove(self._colours[colour], f"={playouts}".encode())
        return len(self._coords) if coord == self._pachi.RESIGN_COORD else self._actions[coord]
