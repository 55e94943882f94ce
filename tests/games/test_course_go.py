"""The course's simplified 5x5 Go: eyes decide, which own eyes may be filled, when passing is a move, where it ends."""

from __future__ import annotations

import pytest

from gozero import games
from gozero.games.game import Game
from gozero.games.position import IllegalMove, Position
from tests.rows import shown

EYES = ".X.O./XXXOO/.XO.O/XXOOO/.XO.O"


@pytest.fixture(scope="module")
def game() -> Game:
    return games.make("course_go")


def test_one_point_eyes_are_counted_and_the_edge_is_no_gap(game: Game) -> None:
    row = shown(game, EYES)
    assert game.score(row.state) == 3 - 3
    owners = row.points(game.owner)
    assert [owners[game.action(point)] for point in ("A5", "A3", "A1", "E5", "D3", "D1")] == [1, 1, 1, -1, -1, -1]
    assert owners[game.action("C5")] == 0, "it has neighbours of both colours"


def test_the_side_to_move_must_move_and_passes_only_without_a_move(game: Game) -> None:
    position = Position(game)
    with pytest.raises(IllegalMove):
        position.play(game.pass_action)
    full = shown(game, EYES.replace(".X.O.", ".XXO."))
    assert full.legal() == {game.pass_action}
    full.play("pass", "pass")
    assert game.outcome(full.state) == 0


@pytest.mark.parametrize(
    ("board", "allowed"),
    [
        # no chain is in danger
        (".X.../X..../...../...../.....", False),
        # White could take A4, which joins B5 and its liberty
        (".X.../XO.../O..../...../.....", True),
        # White could take both chains, but filling the eye would be suicide
        (".XO../XO.../O..../...../.....", False),
    ],
)
def test_an_own_eye_may_be_filled_only_to_save_stones(game: Game, board: str, allowed: bool) -> None:
    assert shown(game, board).allows("A5") == allowed


def test_a_ko_may_not_be_retaken_at_once(game: Game) -> None:
    row = shown(game, ".XO../X.XO./.XO../...../.....", to_play="O")
    row.play("B4")
    assert not row.allows("C4")
    row.play("E1", "E2")
    assert row.allows("C4")
