"""When to pass, and what is not worth playing: diagrams as tables. What is dead is asked in `tests/scoring/test_settlement.py`."""

import numpy as np
import pytest

from gozero.games import coords
from gozero.games.game import PLY
from gozero.games.go import go
from gozero.games.go.rules import RuleSet, kata_rules
from gozero.games.position import Position
from gozero.play import ending
from gozero.scoring.settlement import settle
from tests import settled_boards as boards

SIZE = 7

# Black's lower side is pass-alive, White's upper side as well; the point D4 is dame.
SETTLED = """
7  . O . O . O .
6  O O O O O O O
5  O O O O O O O
4  X X X . X X X
3  X X X X X X X
2  X X X X X X X
1  . X . X . X .
"""

# As before, but a white stone stands in Black's eye space on B1, which is pass-alive territory, with one liberty left
# on each side.
STONE_INSIDE = """
7  . O . O . O .
6  O O O O O O O
5  O O O O O O O
4  O O O X X X X
3  X X X X X X X
2  X X X X X X X
1  . O . X . X .
"""

# Nothing is pass-alive: each side has one big empty area.
OPEN = """
7  . . . . . . .
6  . . . . . . .
5  O O O O O O O
4  X X X X X X X
3  . . . . . . .
2  . . . . . . .
1  . . . . . . .
"""

# Two points between the walls reach both colours.
NEUTRAL = OPEN.replace("4  X X X X X X X", "4  X X X . . X X")

# Three of them.
UNDECIDED = OPEN.replace("4  X X X X X X X", "4  X X . . . X X")

# A7 and B6 are eyes of one black chain; D7 has a white neighbour.
EYES = """
7  . X X . X X O
6  X . X O X O O
5  X X X O X O .
4  O O O O O O .
3  . . . . . . .
2  . . . . . . .
1  . . . . . . .
"""


def position_of(diagram: str, to_play: str = "X", komi: float = 0.5, rules: str | RuleSet = "chinese") -> Position:
    position = Position(go.make(SIZE, rules=rules, komi=komi))
    position.state = position.game.from_text(f"{to_play} to play\n{diagram}")
    return position


def sensible(
    diagram: str, to_play: str = "X", komi: float = 0.5, *, opponent_passed: bool = False, ply: int = 0,
    rules: str | RuleSet = "chinese",
) -> set[str]:  # fmt: skip
    position = position_of(diagram, to_play, komi, rules)
    position.state[PLY] = ply
    moves = ending.sensible_moves(position, opponent_passed=opponent_passed)
    return {coords.vertex(int(action), SIZE) for action in np.flatnonzero(moves)}


def test_a_settled_win_is_passed_once_the_dame_are_taken() -> None:
    assert sensible(SETTLED, "X", komi=0.5) == {"D4"}
    assert sensible(SETTLED, "X", komi=0.5, opponent_passed=True) == {"pass"}
    assert sensible(SETTLED.replace("X . X X X\n3", "X X X X X\n3"), "X", komi=0.5) == {"pass"}


def test_the_loser_plays_the_last_dame_and_passes_when_only_own_eyes_are_left() -> None:
    assert sensible(SETTLED, "O", komi=0.5) == {"D4"}
    assert sensible(SETTLED.replace("X . X X X\n3", "X X X X X\n3"), "O", komi=0.5) == {"pass"}


def test_a_dead_stone_that_decides_the_count_as_it_stands_has_to_be_taken() -> None:
    state = position_of(STONE_INSIDE, "X", komi=0.5).state
    assert go.score(state) < go.settled_score(state)
    komi = float(go.score(state)) + 0.5 + 1  # as it stands Black loses by one point, settled Black wins
    assert sensible(STONE_INSIDE, "X", komi=komi) >= {"A1", "C1"}
    assert "pass" not in sensible(STONE_INSIDE, "X", komi=komi, opponent_passed=True)
    assert sensible(STONE_INSIDE, "X", komi=-20, opponent_passed=True) == {"pass"}


def test_with_areas_divided_the_winner_may_pass_and_the_loser_may_not() -> None:
    assert "pass" in sensible(OPEN, "X", komi=0.5)
    assert len(sensible(OPEN, "X", komi=0.5)) == 7 * 5 + 1
    assert "pass" not in sensible(OPEN, "O", komi=0.5)
    assert "pass" not in sensible(OPEN, "O", komi=0.5, opponent_passed=True)


def test_nobody_passes_while_a_point_between_the_colours_can_be_taken() -> None:
    walled = [diagram.replace("3  . . . . . . .", "3  X X X X X X X") for diagram in (NEUTRAL, UNDECIDED)]
    for diagram in walled:
        assert "pass" not in sensible(diagram, "X", komi=-20)
        assert sensible(diagram, "X", komi=-20, opponent_passed=True) == {"pass"}
    assert "pass" not in sensible(NEUTRAL, "X", komi=-20)  # there they are one region with Black's area
    caught = """
7  X . . O . . .
6  O O O O . . .
5  O O O O O O O
4  X X X X X X X
3  . . . . . . .
2  . . . . . . .
1  . . . . . . .
"""
    assert "pass" in sensible(caught, "X", komi=-20), "there Black would only put itself into atari"
    assert "pass" not in sensible(caught.replace("O O O O . . .", "O . O O . . ."), "X", komi=-20)


def test_a_capture_that_saves_ones_own_stones_is_more_to_take() -> None:
    mutual = """
7  . O . O X . .
6  O O O O X . .
5  . O . O X X .
4  O O O O X . .
3  X . O O X . .
2  X O X X X . .
1  X O X . X . .
"""
    assert "pass" not in sensible(mutual, "X", komi=0.0), "B3 takes two stones and gets their liberties"


def test_white_ahead_by_komi_alone_does_not_pass_in_the_opening() -> None:
    first = ". . . . . . .\n" * 3 + ". . O X . . .\n" + ". . . . . . .\n" * 3
    assert len(sensible(first, "O", komi=7.5)) == 7 * 7 - 2
    assert "pass" not in sensible(first, "O", komi=7.5)


def test_a_draw_is_no_reason_to_pass() -> None:
    assert "pass" not in sensible(OPEN, "X", komi=7)
    assert "pass" not in sensible(OPEN, "O", komi=7)


def test_the_loser_of_the_last_move_may_take_a_draw_as_it_stands() -> None:
    """White has passed on an even board: to pass too is a draw, and the search may find nothing better."""
    assert "pass" in sensible(OPEN, "X", komi=-7, opponent_passed=True)
    assert "pass" not in sensible(NEUTRAL, "X", komi=-7, opponent_passed=True), "there a point is left"


# Black's only white stone in its territory, C7, is dead: with it taken off Black leads by 7, as it stands by less.
DEAD_INSIDE = """
7  . . O . . . .
6  . X . . X . .
5  . . X X . . .
4  X X X X X X X
3  O O O O O O O
2  O . O O O O O
1  . O . O . O .
"""


def left_by_the_settlement(komi: float, *, friendly: bool = False) -> set[str]:
    """What Black thinks of after White's pass."""
    position = position_of(DEAD_INSIDE, "X", komi)
    mask = ending.sensible_moves(position, opponent_passed=True)
    settlement = settle(position.game.board(position.state), [boards.owners_of(boards.LOST)] * 2)
    assert settlement.is_complete
    assert settlement.area == 7
    moves = ending.settled_moves(position, mask, settlement, opponent_passed=True, friendly=friendly)
    return {coords.vertex(int(action), SIZE) for action in np.flatnonzero(moves)}


@pytest.mark.parametrize("komi", [6.5, 7])
def test_a_draw_is_not_thrown_away_to_dead_stones_that_stay_on_the_board(komi: float) -> None:
    """As the board stands Black loses; with the dead stone taken off it wins by half a point, or draws."""
    assert "pass" not in left_by_the_settlement(komi)
    assert left_by_the_settlement(komi, friendly=True) == {"pass"}


def test_a_loser_and_a_winner_pass_on_a_settled_board() -> None:
    assert left_by_the_settlement(7.5) == {"pass"}
    assert left_by_the_settlement(-30) == {"pass"}


def test_own_eyes_of_one_chain_are_left_alone() -> None:
    moves = sensible(EYES, "X", komi=0.5)
    assert not moves & {"A7", "B6"}
    assert "D7" in moves  # not an eye: D6 is White's


def test_a_lone_stone_is_not_put_where_it_only_takes_its_own_last_liberty() -> None:
    """Under simple ko it could be put there again and again."""
    diagram = EYES.partition("3")[0] + "3  O . . . . . .\n2  X O . . . . .\n1  . X O . . . .\n"
    moves = sensible(diagram, "O", rules=kata_rules({"ko": "SIMPLE"}))
    assert moves == sensible(diagram, "O")
    assert "A1" in moves, "there it captures"


def cleaning_up(diagram: str, stated: str, *, opponent_passed: bool) -> set[str]:
    """The moves of Black, who is behind."""
    board = boards.board_of(diagram)
    position = Position(go.make(len(board), komi=20))
    position.set_up({action: colour for colour, action in boards.moves_of(diagram)})
    settlement = settle(board, [boards.owners_of(stated)] * 2)
    moves = ending.clean_up_moves(position, settlement, opponent_passed=opponent_passed)
    return {coords.vertex(int(action), len(board)) for action in np.flatnonzero(moves)}


def test_clean_up_goes_where_dead_stones_are_and_answers_a_threat_elsewhere() -> None:
    with_a_dead_stone = boards.UNFINISHED.replace(". . . . . . .", "O . . . . . .", 1)
    around = {f"{column}{row}" for column in "ABCDEFG" for row in (6, 7)} - {"A7"}
    assert cleaning_up(with_a_dead_stone, boards.BORDER_OPEN, opponent_passed=True) == around
    assert cleaning_up(with_a_dead_stone, boards.BORDER_OPEN, opponent_passed=False) == around | {"D4", "D3"}


def test_clean_up_without_dead_stones_goes_on_until_nothing_is_open() -> None:
    assert "pass" not in cleaning_up(boards.UNFINISHED, boards.BORDER_OPEN, opponent_passed=False)
    assert cleaning_up(boards.SEKI_WITHOUT_EYES, boards.ALL_WHITE, opponent_passed=False) == {"pass"}


def test_an_overlong_game_is_brought_to_its_end() -> None:
    overlong = go.make(SIZE).max_plies
    assert "pass" in sensible(OPEN, "O", komi=0.5, ply=overlong)
    assert sensible(STONE_INSIDE, "X", komi=40, ply=overlong) == {"pass"}


@pytest.mark.parametrize("seed", range(3))
def test_a_side_that_plays_sensible_moves_ends_every_game(seed: int) -> None:
    """Both sides draw from the sensible moves: two passes come soon, and whoever passed first had nothing better or had
    won.
    """
    random = np.random.default_rng(seed)
    position = Position(go.make(SIZE, komi=3.5))
    while not position.is_over:
        moves = ending.candidates(position)
        assert (position.legal() | ~moves).all()
        position.play(int(random.choice(np.flatnonzero(moves))))
        assert position.ply < 2 * position.game.max_plies, str(position)
