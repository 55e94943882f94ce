"""When a player resigns, and what a handicap changes in that."""

from collections.abc import Callable

import pytest

from gozero.games.game import BLACK, WHITE
from gozero.play.player import Player
from gozero.play.searcher import Limits
from gozero.records import sgf
from tests.fixed_player import at, moves_until_resignation, player


def test_resignation_needs_a_hopeless_value_for_several_moves_and_a_game_that_has_begun() -> None:
    assert (
        moves_until_resignation(player(-0.95)[0], BLACK) == 7
    )  # not before a quarter of the points is played: 13 plies
    assert moves_until_resignation(player(-0.95)[0], WHITE, 20) is None
    assert moves_until_resignation(player(-0.85)[0], BLACK, 20) is None
    assert moves_until_resignation(player(-0.85, resign_threshold=-0.8)[0], BLACK) == 7
    assert moves_until_resignation(player(-0.95, resign=False)[0], BLACK, 20) is None


def test_a_resignation_leaves_the_board_and_the_next_genmove_answers() -> None:
    one, _ = player(-0.95)
    moves_until_resignation(one, BLACK)
    before = list(one.game.position.moves)
    assert one.genmove(BLACK, Limits(5)) == one.game.definition.resign_action
    assert one.game.position.moves == before
    assert one.genmove(WHITE, Limits(5)) != one.game.definition.resign_action


def test_an_undone_move_is_no_step_towards_resignation() -> None:
    one, _ = player(-0.95)
    for _ in range(10):
        assert one.genmove(BLACK, Limits(5)) != one.game.definition.resign_action
        one.game.undo()


def test_white_does_not_resign_a_handicap_game_as_readily() -> None:
    one, _ = player(0.95)
    one.game.place_handicap([at("C3"), at("E5")])
    assert moves_until_resignation(one, WHITE, 12) is None
    one, _ = player(0.99)
    one.game.place_handicap([at("C3"), at("E5")])
    assert moves_until_resignation(one, WHITE) is not None


def place(one: Player) -> None:
    one.game.place_handicap([at("C3"), at("E5")])


def play_in_a_row(one: Player) -> None:
    one.game.play_all([(BLACK, at("C3")), (BLACK, at("E5"))])


def load(one: Player) -> None:
    one.game.load_record(sgf.first_game(b"(;SZ[7]HA[2];B[ce];B[ec])").record())


@pytest.mark.parametrize("begin", [place, play_in_a_row, load])
def test_stones_that_black_plays_in_a_row_at_first_are_a_handicap(begin: Callable[[Player], None]) -> None:
    for for_black, resigns in ((0.95, None), (0.99, 8)):  # 0.25 * 49 * (1 + 2 / 9) plies are 15
        one, _ = player(for_black)
        begin(one)
        assert (one.game.handicap, moves_until_resignation(one, WHITE, 12)) == (2, resigns)
    one.game.undo()
    assert one.game.handicap == 2


@pytest.mark.parametrize(
    "vertices", ["b C3", "b C3 w E5 b D4", "w C3 b E5 b D4", "b C3 b pass b D4", "b pass b pass w D4"]
)
def test_other_beginnings_are_no_handicap(vertices: str) -> None:
    one, _ = player()
    words = vertices.split()
    one.game.play_all(
        [("bw".index(colour) + BLACK, at(vertex)) for colour, vertex in zip(words[::2], words[1::2], strict=True)]
    )
    assert one.game.handicap == 0
