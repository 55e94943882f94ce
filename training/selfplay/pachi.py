"""pachi-py: a second implementation of Go in this process, optional and under the GPL (`make pachi`). This module alone
imports it.

It knows simple ko only, lets several stones commit suicide, and counts without komi. Actions and colours are ours
(`gozero.games.coords`, BLACK and WHITE). This module does not judge games (`training.selfplay.simulators` does).
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np

from gozero.games.game import BLACK, WHITE

LEAST_PLAYOUTS = 500  # of a search: Pachi's GJ_MINGAMES, below which it never ends


class PachiMissingError(Exception):
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
        self._size = size
        self._colours = {BLACK: self._pachi.BLACK, WHITE: self._pachi.WHITE}

    def play(self, action: int, colour: int) -> None:
        """Play a point or pass (action size²) for a colour, in or out of turn; PachiIllegalError if pachi-py
        refuses.
        """
        points = self._size * self._size
        if not 0 <= action <= points:
            raise PachiIllegalError(f"action {action} is neither a point nor a pass")
        coord = self._pachi.PASS_COORD if action == points else self._board.ij_to_coord(*divmod(action, self._size))
        try:
            self._board.play_inplace(coord, self._colours[colour])
        except self._pachi.IllegalMove:
            raise PachiIllegalError(f"action {action} is illegal for colour {colour}") from None

    def read(self, planes: np.ndarray) -> None:
        """Write the position into planes int64 [3, size, size] of 0 and 1: black stones, white stones, empty points."""
        self._board.encode(planes)

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
        special = {self._pachi.PASS_COORD: 0, self._pachi.RESIGN_COORD: 1}
        if coord in special:
            return self._size * self._size + special[coord]
        row, col = self._board.coord_to_ij(coord)
        return int(row * self._size + col)
