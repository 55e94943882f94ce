"""What a board is counted as, with nothing but certain facts and with stated expectations; the boards are in
`tests/settled_boards.py`.
"""

import numpy as np
import pytest

from gozero.games import coords
from gozero.games.game import BLACK, WHITE
from gozero.games.go import go
from gozero.scoring.settlement import Settlement, agreed, as_it_stands, settle
from tests import settled_boards as boards


def settled(diagram: str, *stated: str) -> Settlement:
    """With one stated expectation both searches say the same."""
    return settle(boards.board_of(diagram), [boards.owners_of(text) for text in (stated * 2)[:2]])


def vertices(settlement: Settlement, points: list[int]) -> str:
    return " ".join(coords.vertex(point, len(settlement.board)) for point in points)


def strings(settlement: Settlement, which: str) -> list[str]:
    """The first stone and the length of each string."""
    return [f"{vertices(settlement, chain[:1])} {len(chain)}" for chain in getattr(settlement, which)]


CASES = {
    # board, stated: dead, seki, Black's points above White's, points still open
    "a stone in pass-alive territory": (boards.CERTAIN, (), ["B1 1"], [], 6, "D4"),
    "lost stones": (boards.LOST_STONES, (boards.LOST,), ["C6 2"], [], 7, ""),
    "an unfinished border": (boards.UNFINISHED, (boards.BORDER_OPEN,), [], [], 1, "D4 D3"),
    "a seki without eyes": (boards.SEKI_WITHOUT_EYES, (), [], ["C7 3", "E7 4"], -3, ""),
    "a seki with eyes": (boards.SEKI_WITH_EYES, (), [], ["B9 6", "F9 5"], 6, ""),
    "a bent four, read": (boards.BENT_FOUR, (boards.ALL_WHITE,), ["D7 8"], [], -49, ""),
    "a double ko, read": (boards.DOUBLE_KO, (boards.ALIVE_BY_KO,), [], [], -31, "E7 F7"),
    "false eyes, read": (boards.FALSE_EYES, (boards.ALL_WHITE,), ["B7 1", "D7 1", "A6 1", "C6 1"], [], -49, ""),
}


@pytest.mark.parametrize("name", CASES)
def test_known_boards(name: str) -> None:
    diagram, stated, dead, seki, points, still_open = CASES[name]
    found = settled(diagram, *stated)
    assert (strings(found, "dead"), strings(found, "seki")) == (dead, seki)
    assert found.area == points
    assert vertices(found, [int(point) for point in np.flatnonzero(found.open)]) == still_open
    assert found.is_complete == (not still_open)


@pytest.mark.parametrize(
    "diagram", [boards.LOST_STONES, boards.BENT_FOUR, boards.DOUBLE_KO, boards.FALSE_EYES, boards.UNFINISHED]
)
def test_what_nobody_has_read_stays_as_it_stands(diagram: str) -> None:
    """Unread, and also where the two searches contradict each other: the string lives if its side moves first."""
    everyone_alive = "x" * 49
    for found in (settled(diagram), settled(diagram, boards.ALL_WHITE, everyone_alive)):
        assert not found.dead
        assert not found.is_complete
        assert found.area == as_it_stands(found.board).area


def test_an_expectation_below_the_threshold_kills_nobody() -> None:
    owners = boards.owners_of(boards.LOST)
    board = boards.board_of(boards.LOST_STONES)
    assert settle(board, [owners, owners]).dead
    assert not settle(board, [owners, 0.5 * owners]).dead


def test_an_empty_point_between_the_colours_is_whose_both_searches_together_expect_it_to_be() -> None:
    board = boards.board_of(boards.UNFINISHED)
    point = coords.parse_vertex("D4", 7)
    for one, other, owner in ((0.5, 0.2, BLACK), (0.9, -0.9, 0), (-0.2, -0.5, WHITE), (0.2, 0.2, 0)):
        expected = [boards.owners_of(boards.BORDER_OPEN) for _ in range(2)]
        expected[0][point], expected[1][point] = one, other
        found = settle(board, expected)
        assert found.owner[point] == owner
        assert found.open[point]


def test_a_string_is_judged_as_a_whole() -> None:
    """One of the two stones is expected to be White's for sure, the other to be Black's: neither is dead."""
    owners = boards.owners_of(boards.LOST)
    owners[coords.parse_vertex("C6", 7)] = -0.9
    assert not settle(boards.board_of(boards.LOST_STONES), [owners, owners]).dead


def test_a_certain_fact_is_believed_against_all_expectation() -> None:
    assert strings(settled(boards.CERTAIN, boards.ALL_WHITE), "dead") == ["B1 1"]
    assert settled(boards.CERTAIN, boards.ALL_WHITE).area == settled(boards.CERTAIN).area - 1  # D4 alone was in doubt


def test_a_stone_more_makes_a_seki_a_fight() -> None:
    """With D7 filled one liberty is left, and whoever moves captures."""
    assert not settled(boards.SEKI_WITHOUT_EYES.replace("X X O . X", "X X O O X", 1)).seki


def test_a_group_with_liberties_besides_the_shared_ones_is_in_no_seki() -> None:
    assert not strings(settled(boards.LONE_INSIDE), "seki")


def test_one_eye_against_none_is_no_seki() -> None:
    assert not settled(boards.SEKI_WITH_EYES.replace("X O . O . X . X O", "X O . O . X X X O")).seki


def test_the_board_as_it_stands_has_no_dead_stones() -> None:
    for diagram, *_ in CASES.values():
        found = as_it_stands(boards.board_of(diagram))
        assert not found.dead
        game = go.make(len(found.board), komi=0)
        state = game.set_up(found.board.reshape(-1), BLACK)
        assert found.area == go.score(state)


def test_without_expectations_it_agrees_with_the_settled_score_of_the_rules() -> None:
    for diagram, *_ in CASES.values():
        board = boards.board_of(diagram)
        state = go.make(len(board), komi=0).set_up(board.reshape(-1), BLACK)
        assert settle(board).area == go.settled_score(state)


@pytest.mark.parametrize("name", CASES)
def test_every_string_and_every_point_is_in_one_list(name: str) -> None:
    diagram, stated, *_ = CASES[name]
    found = settled(diagram, *stated)
    stones = found.board.reshape(-1)
    listed = [point for chain in found.alive + found.dead + found.seki for point in chain]
    assert sorted(listed) == list(np.flatnonzero(stones))
    dead = {point for chain in found.dead for point in chain}
    black, white = (
        {p for p in listed if stones[p] == colour and p not in dead} | set(found.territory(colour))
        for colour in (BLACK, WHITE)
    )
    assert not black & white
    assert black | white | set(found.dame) == set(range(stones.size))
    assert len(black) - len(white) == found.area
    assert dead == set(found.dead_of(BLACK)) | set(found.dead_of(WHITE))


def test_dead_strings_that_are_agreed_belong_to_the_other_side() -> None:
    board = np.zeros((5, 5), np.uint8)
    board[2, 2], board[0, 4], board[1, 4] = WHITE, BLACK, BLACK
    settlement = agreed(board, [[4, 9]])
    assert settlement.dead == ([4, 9],)
    assert (settlement.owner == WHITE).all()
    assert settlement.area == -25
    assert agreed(board, []).area == 1
