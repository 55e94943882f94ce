"""What the page is told of a position, of a look at a search, and of a game in the list: whose the numbers are."""

import numpy as np
import pytest

from gozero.frontends.web.engine import counting
from gozero.frontends.web.engine.batch import estimate_of
from gozero.frontends.web.engine.game_tree import START, Estimate
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.views import analysis_values, title, view
from gozero.frontends.web.setups import setup_of
from gozero.games.colours import BLACK, WHITE
from gozero.play.searcher import Analysis, MoveAnalysis
from gozero.system.errors import InputError
from tests.frontends.web.sessions import played


def test_a_look_at_a_search_is_blacks_and_its_moves_are_the_movers() -> None:
    session = played("breakthrough", 5, "A2-A3")
    assert [view(session)[name] for name in ("lastFrom", "last", "lastMove")] == [15, 10, ("black", "a2-a3")]
    tried, other = (session.action(vertex) for vertex in ("B4-B3", "B4-A3"))
    moves = [MoveAnalysis(move, visits, 0.2, 0.5, 0.0, 2.0, (move,), (1,)) for move, visits in ((tried, 9), (other, 0))]
    analysis = Analysis(WHITE, 10, 0.5, 2.0, tuple(moves), np.full(25, 0.5, np.float32))
    look = analysis_values(analysis, session, session.at)
    assert (look["toPlay"], look["black"], look["score"], set(look["ownership"])) == ("white", 0.25, -2.0, {-0.5})
    assert [[move[name] for name in ("from", "point", "visits", "chance", "score")] for move in look["moves"]] == [
        [6, 11, 9, 0.75, 2.0], [6, 10, 0, None, None]
    ]  # fmt: skip
    assert estimate_of(analysis) == Estimate(10, 0.25, -2.0, (tried,))


@pytest.mark.parametrize("clicked", ["C3", "A2-A5"])
def test_what_is_no_piece_and_its_goal_is_told_how_pieces_move(clicked: str) -> None:
    with pytest.raises(InputError, match=r"^Choose one of your pieces"):
        played("breakthrough", 5, "A2-A3").action(clicked)


def test_turn_and_result_are_the_live_games_wherever_the_page_looks() -> None:
    session = GameSession(setup_of({}), 9, [9])
    assert title(session) is None
    session.play(session.action("E5"))
    session.go_to(START)
    assert (session.position_at(1).ply, session.game.position.ply) == (1, 0)
    shown = view(session)
    assert (shown["toPlay"], shown["turn"], shown["thinking"], shown["number"]) == ("black", "white", True, 0)
    session.reply(WHITE, session.game.definition.pass_action)
    session.resign(BLACK, "time")
    shown = view(session)
    assert (shown["last"], shown["lastMove"], shown["ending"]["winner"]) == (None, ("white", None), "white")
    session.go_to(START)
    assert [title(session)[name] for name in ("moves", "goesOn", "result")] == [2, False, "W+T"]
    session.go_to(2)
    session.undo()
    assert [title(session)[name] for name in ("moves", "goesOn", "result")] == [2, True, counting.sgf_result(session)]


def test_a_draw_is_half_a_win() -> None:
    session = played("tictactoe", 3, "A1", "B1", "C1", "B2", "A2", "A3", "B3", "C3", "C2")
    assert counting.estimate(session, session.at, 1, lambda: False) == Estimate(1, 0.5)
