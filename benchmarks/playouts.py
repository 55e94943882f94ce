"""Random playouts on Go 13x13: the claim is at least 15 times the moves per second of pachi-py's `play_random` called
from Python.

The playouts use the same state row, `step` and `sample` as the search; both sides fill no own one-point eye and play
until two passes. Run it with `python -m benchmarks.playouts`; pachi-py is optional (`make pachi`).
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from numba import types

from benchmarks.harness import Contender, finish, measure, parser, pin, ratio, report
from gozero.evaluators.rollout import playout
from gozero.games import go
from gozero.games.game import PLY
from gozero.jit import HISTORY, STATE, copy_row, kernel

SIZE = 13
CLAIM = 15


@kernel(types.int64(STATE, STATE, HISTORY, HISTORY, types.int64))
def play_games(initial, state, history, generator, games):  # type: ignore[no-untyped-def]
    """Play random games from `initial` int32 [S], on the rows state and history. Returns the number of moves."""
    moves = 0
    for _ in range(games):
        copy_row(state, initial)
        playout(go.step, go.outcome, go.sample, state, history, generator, history.shape[0] - 1)
        moves += state[PLY]
    return moves


def ours(games: int) -> Contender:
    game = go.make(SIZE)
    state, history = game.initial.copy(), np.zeros(3 * game.max_plies, np.uint64)
    generator = np.array([1], np.uint64)
    return lambda: play_games(game.initial.copy(), state, history, generator, games)


def pachi(games: int) -> Contender:
    import pachi_py

    def play() -> int:
        moves = 0
        for _ in range(games):
            board, colour = pachi_py.CreateBoard(SIZE), pachi_py.BLACK
            while not board.is_terminal:
                board = board.play_random(colour)
                colour = pachi_py.stone_other(colour)
                moves += 1
        return moves

    return play


def main() -> None:
    options = parser(__doc__ or "").parse_args()
    pin(options.core)
    games = 20 if options.short else 400
    contenders = {"gozero, in a kernel": ours(50 * games)}
    if find_spec("pachi_py"):
        contenders["pachi-py play_random, from Python"] = pachi(games)
    rows = measure(contenders, unit="moves", runs=options.runs)
    report(f"Random playouts, Go {SIZE}x{SIZE}", rows)
    if len(rows) == 2:
        print(f"  ratio {ratio(rows, *rows):.1f}, claimed at least {CLAIM}")
    else:
        print("  pachi-py is not installed (make pachi): no ratio")


if __name__ == "__main__":
    finish(main)
