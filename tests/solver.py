"""The value of small games under perfect play, searched to the end over a game's kernels.

Vocabulary: a *key* is what the future of a position depends on; positions of one key are searched once. `board` serves most games; a game
whose rules look at its past needs `board_and_past`. It knows no clock and no scores: a win is a win.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache

import numpy as np

from gozero import symmetry
from gozero.games.game import NOT_OVER, PLY, TO_PLAY, Game

State, History = np.ndarray, np.ndarray

LONGEST = 200  # plies; Go on 2x2 has 57 boards, and no more than one pass after each but the last


def board(game: Game, state: State, history: History) -> Hashable:
    """The stones, up to the game's symmetries, and the side to move."""
    stones = np.empty(game.points, np.uint8)
    game.stones(state, stones)
    return min(map(bytes, stones[_images(game)])), int(state[TO_PLAY])


def board_and_past(game: Game, state: State, history: History) -> Hashable:
    """All that the diagram shows (ko and passes too), and the hashes of earlier positions."""
    return game.to_text(state), frozenset(history[: state[PLY] + 1].tolist())


def solve(game: Game, key: Callable[[Game, State, History], Hashable] = board) -> int:
    """+1, 0 or -1: what the side to move in the first position can force.

    Negamax that stops at the first winning move. The sides must take turns, and no game may last longer than LONGEST.
    """
    known: dict[Hashable, int] = {}

    def value(state: State, history: History) -> int:
        outcome = int(game.outcome(state))
        if outcome != NOT_OVER:
            return outcome
        position = key(game, state, history)
        if position not in known:
            known[position] = best(state, history)
        return known[position]

    def best(state: State, history: History) -> int:
        highest = -1
        for child in _children(game, state, history):
            highest = max(highest, -value(*child))
            if highest == 1:
                break
        return highest

    return value(game.initial.copy(), game.new_histories(1, plies=LONGEST)[0])


def _children(game: Game, state: State, history: History) -> list[tuple[State, History]]:
    """The positions one ply on: first after a pass, which ends the search soonest, then those with the fewest legal actions."""
    assert state[PLY] < LONGEST, game.to_text(state)
    mask = np.empty(game.actions, np.uint8)
    game.legal(state, history, mask)
    children = []
    for action in np.flatnonzero(mask).tolist():
        child = state.copy(), history.copy()
        game.step(*child, action)
        children.append((action != game.pass_action, game.legal(*child, mask), action, child))
    return [child for *_, child in sorted(children, key=lambda entry: entry[:3])]


@lru_cache(maxsize=1)
def _images(game: Game) -> np.ndarray:
    """int64 [symmetries, points]: the point that each symmetry brings to each point."""
    return np.stack([symmetry.apply_points(np.arange(game.points), game.shape, number) for number in game.symmetries])
