"""Pass-alive areas (Benson 1976) by diagram, with the shapes that careless programs get wrong, and what settled scoring
makes of them.

The second diagram of a case marks the points that are pass-alive: `b` Black's, `w` White's.
"""

from __future__ import annotations

import pytest

from gozero.games.go import go
from tests.rows import Row, board

NOTHING = "...../...../...../...../....."

CASES = {
    "an empty board is nobody's": (NOTHING, NOTHING),
    "a lone stone": ("...../..X../...../...../.....", NOTHING),
    "one eye of one point": (".X.../XX.../...../...../.....", NOTHING),
    "one big eye is one eye": ("...X./XXXX./...../...../.....", NOTHING),
    "a whole board with one eye": ("XXXXX/XXXXX/XX.XX/XXXXX/XXXXX", NOTHING),
    "a whole board with two eyes": ("XXXXX/X.XXX/XXXXX/XXX.X/XXXXX", "bbbbb/bbbbb/bbbbb/bbbbb/bbbbb"),
    "two eyes in the corner": (".X.X./XXXX./...../...../.....", "bbbb./bbbb./...../...../....."),
    "both sides live": (".X.XO/XXXXO/OOOOO/O.O.O/OOOOO", "bbbbw/bbbbw/wwwww/wwwww/wwwww"),
    "an eye of two points": (".X..X/XXXXX/...../...../.....", "bbbbb/bbbbb/...../...../....."),
    "a dead stone in an eye": (".X.OX/XXX.X/..XXX/...../.....", "bbbbb/bbbbb/..bbb/...../....."),
    # the corner point of either eye touches no black stone, so White might live there for all that Benson knows
    "a square corner eye is not vital": ("..X.X/..XXX/XXX../...../.....", NOTHING),
    "a bent corner eye is not vital": ("..X.X/.XXXX/XX.../...../.....", NOTHING),
    "a dead stone on that point makes it vital": ("O.X.X/..XXX/XXX../...../.....", "bbbbb/bbbbb/bbb../...../....."),
    # Black's stone at D5 has one eye only, so its eye at C5 is no eye of the others
    "a false eye": (".X.XO/XXXOO/OOOO./...../.....", NOTHING),
    # every eye looks false, but each chain touches two of them
    "the two-headed dragon": (".XXXX/XOOOX/XO.OX/XOOOX/XXXX.", "bbbbb/b...b/b...b/b...b/bbbbb"),
    "two chains share the middle one of three eyes": (".XXO./XXXOO/XX.XX/OOXXX/.OXX.", "bbb../bbb../bbbbb/..bbb/..bbb"),
    # without its second eye the lower chain dies, and the upper one after it
    "death spreads through a shared eye": (".XXO./XXXOO/XX.XX/OOXXX/.OXXX", NOTHING),
    "seki": (".XO./XXOO/XXOO/XX.O", "..../..../..../...."),
}


def marks(row: Row) -> str:
    """Pass-alive points of a position with Black to move, rows divided by slashes."""
    size = row.game.rows
    letters = "".join(".bw"[owner] for owner in row.points(go.pass_alive))
    return "/".join(letters[k * size : (k + 1) * size] for k in range(size))


def swapped(text: str) -> str:
    """A diagram with the colours exchanged."""
    return text.translate(str.maketrans("XObw", "OXwb"))


@pytest.mark.parametrize("name", CASES)
def test_pass_alive_areas(name: str) -> None:
    text, alive = CASES[name]
    assert marks(board(text)) == alive, f"{marks(board(text))}\n{board(text)}"
    assert marks(board(swapped(text))) == swapped(alive), f"colours exchanged\n{board(swapped(text))}"


SETTLED = {
    # name: (board, Black's and White's points as it stands, the same when settled)
    "a dead stone in pass-alive territory is Black's point": ("O.X.X/..XXX/XXX../...../.....", (21, 1), (25, 0)),
    "a prisoner where both sides live": (".X.OX/XXX.X/OOXXX/O.OOO/.OO.O", (10, 13), (13, 12)),
    "a stone that is dead but not for certain stays": (".O.X./XXXX./...../...../.....", (22, 1), (22, 1)),
    "seki stays": (".XO./XXOO/XXOO/XX.O", (8, 7), (8, 7)),
    "an empty board": (NOTHING, (0, 0), (0, 0)),
}


@pytest.mark.parametrize("name", SETTLED)
def test_settled_areas(name: str) -> None:
    text, standing, settled = SETTLED[name]
    row = board(text, komi=2.5)
    assert (row.points(go.owner).count(1), row.points(go.owner).count(-1)) == standing, str(row)
    assert (row.points(go.settled_owner).count(1), row.points(go.settled_owner).count(-1)) == settled, str(row)
    assert go.settled_score(row.state) == settled[0] - settled[1] - 2.5, str(row)
    row = board(text, to_play="O", komi=2.5)
    assert go.settled_score(row.state) == settled[1] - settled[0] + 2.5, str(row)
