"""Ko and superko by diagram: what each rule set bars, and what it lets through."""

from __future__ import annotations

import pytest

from gozero.games.go.go import PASSES
from gozero.games.go.rules import RULES
from tests.rows import board, picture

KO = "..XO./.XO.O/..XO./...../....."


@pytest.mark.parametrize("threat", [("A1", "E1"), ("pass", "A1")])
@pytest.mark.parametrize("rules", RULES)
def test_a_ko_may_be_retaken_after_a_threat_or_a_pass(rules: str, threat: tuple[str, str]) -> None:
    row = board(KO, to_play="X", rules=rules).play("D4", *threat)
    assert row.allows("C4"), str(row)


def test_every_ko_rule_knows_where_the_ko_is() -> None:
    row = board(KO, to_play="X", rules="chinese-simple").play("D4")
    assert "ko C4" in row.game.to_text(row.state), str(row)
    assert "ko" not in row.game.to_text(row.play("A1").state), str(row)


CYCLES = {
    # name: (board, side to move, moves of one round: the last one brings the first board back)
    "a basic ko": (KO, "X", "D4 C4"),
    "sending two, returning one": (".O.O/XXO./.XO./.XO.", "O", "A4 C4 B4"),
    "four plies, as in eternal life": ("..O./OOXX/OO.X/OXXX", "X", "A4 D4 B4 C4"),
    "triple ko": (
        ".XO....../XO.O...../.XO....../.XO....../X.XO...../.XO....../.XO....../XO.O...../.XO......",
        "X",
        "C8 B5 C2 B8 C5 B2",
    ),
}
# which rules let the last move of one round happen: after an odd number of plies the other side is to move
ALLOWED = {
    "a basic ko": set(),
    "sending two, returning one": {"chinese-simple", "japanese", "aga", "new-zealand"},
    "four plies, as in eternal life": {"chinese-simple", "japanese"},
    "triple ko": {"chinese-simple", "japanese"},
}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_closed_only_where_the_ko_rule_lets_it(name: str, rules: str) -> None:
    text, to_play, moves = CYCLES[name]
    row = board(text, to_play=to_play, rules=rules)
    start = row.stones()
    *way, last = moves.split()
    for move in way:
        assert row.allows(move), f"{move}\n{row}"
        row.play(move)
    assert row.allows(last) == (rules in ALLOWED[name]), str(row)
    assert row.play(last).stones() == start, f"the cycle does not close\n{row}"


def test_situational_superko_asks_who_is_to_move() -> None:
    """A pass before the round makes the same side move again in the same position."""
    text, _, moves = CYCLES["sending two, returning one"]
    row = board(text, to_play="X", rules="aga").play("pass", *moves.split()[:-1])
    assert not row.allows(moves.split()[-1]), str(row)


def test_a_chain_that_touches_the_move_twice_is_taken_once() -> None:
    """C1 would take C2-D2-D1, which lies above and to the right of it, and B1 between the two: the first board again."""
    row = board("...../...../..OO./.O..O/O.O.O").play("C2", "pass", "D1", "pass", "B1", "pass", "D2")
    assert picture(row) == "...../...../..OO./.OXXO/OX.XO", str(row)
    assert not row.allows("C1"), str(row)
    assert picture(row.play("C1")) == "...../...../..OO./.O..O/O.O.O", str(row)


@pytest.mark.parametrize("rules", ["chinese", "chinese-simple"])
def test_superko_remembers_the_whole_game(rules: str) -> None:
    """The board of 41 plies ago may not come back either."""
    row = board(KO, rules=rules).play("D4", *["pass"] * 40)
    row.state[PASSES] = 0  # as if the game went on
    assert row.allows("C4") == (rules == "chinese-simple"), str(row)
