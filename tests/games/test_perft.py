"""Move sequences counted by the kernels, against known answers (two independent programs agreeing); and the count of
legal positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gozero import games
from gozero.games.game import NOT_OVER
from gozero.games.go import go
from gozero.games.perft import counts
from tests.naive.course_go import NaiveCourseGo
from tests.naive.go import NaiveGo, perft
from tests.naive.nogo import NaiveNoGo
from tests.naive.othello import NaiveOthello
from tests.rows import Row

POSITIONAL = {
    2: [5, 21, 68, 156, 316, 604, 1088, 2184], 3: [10, 91, 738, 5281, 33384], 4: [17, 273, 4112, 57984],
    5: [26, 651, 15650], 9: [82, 6643], 13: [170, 28731],
}  # fmt: skip
NOGO = {
    2: [4, 12, 16, 0], 3: [9, 72, 496, 2832, 12768, 41328, 80352, 43776, 0], 4: [16, 240, 3352, 43264],
    5: [25, 600, 13792, 302896], 9: [81, 6480, 511912],
}  # fmt: skip
COURSE_GO = [25, 600, 13800, 303424]
# A forced pass is a ply. On 8x8 conventions part after depth 9, where 228 games have ended: here they have no leaf at
# depth 10.
OTHELLO = {
    4: [4, 12, 44, 128, 424, 1256, 3624, 9112, 20032, 36412],
    6: [4, 12, 56, 244, 1364, 7604, 47740, 308716],
    8: [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288],
}
BREAKTHROUGH = {5: [13, 156, 1924, 23084, 289828], 8: [22, 484, 11132, 256036]}
HEX = {3: [9, 81, 576, 3528, 18144, 69840], 11: [121, 14641]}  # the swap is a ply
KNOWN: list[tuple[str, dict[str, Any], list[int]]] = [
    # settings, and the sequences of 1, 2 ... moves
    *[("go", {"rules": "chinese", "size": size}, known) for size, known in POSITIONAL.items()],
    ("go", {"rules": "chinese-simple", "size": 2}, [5, 21, 68, 156, 316, 604, 1168, 2592]),
    ("go", {"rules": "aga", "size": 2}, [5, 21, 68, 156, 316, 604, 1112, 2312]),
    *[("nogo", {"size": size}, known) for size, known in NOGO.items()],
    *[("othello", {"size": size}, known) for size, known in OTHELLO.items()],
    *[("breakthrough", {"size": size}, known) for size, known in BREAKTHROUGH.items()],
    *[("hex", {"size": size}, known) for size, known in HEX.items()],
    ("simple_go", {}, POSITIONAL[5]),  # begin as those of Go
    ("course_go", {}, COURSE_GO),
    ("connect4", {}, [7, 49, 343, 2401, 16807, 117649, 823536]),
    ("tictactoe", {}, [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872, 0]),
]


@pytest.mark.parametrize(("name", "settings", "expected"), KNOWN)
def test_the_kernels_count_the_known_sequences(name: str, settings: dict[str, Any], expected: list[int]) -> None:
    assert counts(games.make(name, **settings), len(expected)) == expected


@pytest.mark.parametrize("rules", ["tromp-taylor", "new-zealand"])
@pytest.mark.parametrize(("size", "depth"), [(2, 7), (3, 4), (4, 3)])
def test_sequences_where_suicide_is_legal_are_those_of_the_slow_referee(rules: str, size: int, depth: int) -> None:
    assert counts(go.make(size, rules), depth) == [perft(NaiveGo(size, rules=rules), d) for d in range(1, depth + 1)]


@pytest.mark.parametrize(
    ("referee", "expected"),
    [
        (NaiveGo(1, 2), [3, 7, 8, 6, 2, 0]), (NaiveGo(2), POSITIONAL[2]), (NaiveGo(3), POSITIONAL[3][:4]),
        (NaiveOthello(4), OTHELLO[4][:8]), (NaiveOthello(6), OTHELLO[6][:5]), (NaiveOthello(8), OTHELLO[8][:4]),
        (NaiveNoGo(2), NOGO[2]), (NaiveNoGo(3), NOGO[3][:5]), (NaiveNoGo(4), NOGO[4][:3]), (NaiveNoGo(5), NOGO[5][:2]),
        (NaiveCourseGo(), COURSE_GO[:3]),
    ],
)  # fmt: skip
def test_the_slow_referees_count_the_same(referee: Any, expected: list[int]) -> None:
    assert [perft(referee, depth) for depth in range(1, len(expected) + 1)] == expected


def reachable_boards(size: int) -> set[bytes]:
    """Every board that play can reach when either side may move at any time: exactly the legal positions.

    Tromp and Farnebäck, "Combinatorics of Go", 2007: each legal position can be built by adding one stone after
    another.
    """
    game = go.make(size)
    first = Row(game)
    found = {bytes(first.stones())}
    frontier = [np.array(first.stones(), np.uint8)]
    while frontier:
        colours = frontier.pop()
        for to_play in (1, 2):
            state = game.set_up(colours, to_play)
            row = Row(game, state, plies=2)
            for action in sorted(row.legal() - {game.pass_action}):
                after = Row(game, state, plies=2).play(action).stones()
                if bytes(after) not in found:
                    found.add(bytes(after))
                    frontier.append(np.array(after, np.uint8))
    return found


@pytest.mark.parametrize(("size", "positions"), [(2, 57), (3, 12675)])
def test_legal_positions(size: int, positions: int) -> None:
    assert len(reachable_boards(size)) == positions


def best_score(row: Row, low: int, high: int) -> int:
    """The score that the side to move can force, searched to the end within the window low … high."""
    game = row.game
    if game.outcome(row.state) != NOT_OVER:
        return int(go.score(row.state))
    best = -100
    for action in sorted(row.legal(), reverse=True):  # pass first: it cuts most
        state, history = row.state.copy(), row.history.copy()
        row.play(action)
        best = max(best, -best_score(row, -high, -max(low, best)))
        row.state, row.history = state, history
        if best >= high:
            break
    return best


def test_the_best_score_for_black_on_2x2_is_one_point() -> None:
    """Superko makes the game finite, so that it can be searched to its end."""
    assert best_score(Row(go.make(2, komi=0), plies=400), -4, 4) == 1
