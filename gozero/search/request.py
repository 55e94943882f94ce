"""One search of one tree, as its caller asks for it: the position, the budget, and what is special at its root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gozero.games.game import PLY, Game


@dataclass(frozen=True, eq=False)
class SearchRequest:
    """A position to search. The game must not be over there.

    Attributes:
        state: int32 [S].
        history: uint64 [H], H > state[PLY].
        visits: root visits at which the tree is finished, at least 1 (more than 2**30 mean 2**30); kept visits count.
        noise: explore, as the settings say: Gumbel variables, or Dirichlet noise, root temperature and forced playouts.
            Off: play to win.
        temperature: of a PUCT root's prior in a search with noise; None: the settings' `root_policy_temperature`.
        gumbel: float32 [A], the Gumbel variables to use instead.
        root_mask: bool [A], True where an action may be searched at the root (illegal ones never are). None: all.
        left_out: int32 [2, A], in how many plies of every line an action is left out, for the side to move at the root
            and for the other one; 1 is the root alone. A position without a move left is searched no further. None: 0
            everywhere.
        keep: build on the tree that `Search.advance` left, if its root is this very state, has all moves that are
            allowed now, and nothing was or is left out below a root.
        on_top: the visits come on top of those that are kept, of actions allowed now, or of a new root's own.
        seed: 0 … 2**64-1, of its noise and playouts. None: another in each search, by the seed of the `Search`.
    """

    state: np.ndarray
    history: np.ndarray
    visits: int
    noise: bool = False
    temperature: float | None = None
    gumbel: np.ndarray | None = None
    root_mask: np.ndarray | None = None
    left_out: np.ndarray | None = None
    keep: bool = False
    on_top: bool = False
    seed: int | None = None

    def check(self, game: Game) -> None:
        """ValueError for a budget below 1 and for what would make a kernel read or write beyond an array."""
        if self.visits < 1:
            raise ValueError(f"{self.visits} visits: expected at least 1")
        if self.state.shape != (game.state_ints,):
            raise ValueError(
                f"state of shape {self.state.shape}: {game.name} at {game.rows}x{game.cols} needs ({game.state_ints},)"
            )
        if len(self.history) <= self.state[PLY]:
            raise ValueError(
                f"history of {len(self.history)} entries: ply {self.state[PLY]} needs at least {self.state[PLY] + 1}"
            )
        for name in ("gumbel", "root_mask", "left_out"):
            shape = (2, game.actions) if name == "left_out" else (game.actions,)
            array: np.ndarray | None = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} of shape {array.shape}: expected {shape}")

    def plies_left_out(self, actions: int) -> np.ndarray:
        """int32 [2, A]: `left_out`, with what `root_mask` excludes at the root."""
        plies = np.zeros((2, actions), np.int32) if self.left_out is None else np.array(self.left_out, np.int32)
        if self.root_mask is not None:
            plies[0] = np.maximum(plies[0], np.logical_not(self.root_mask))
        return plies
