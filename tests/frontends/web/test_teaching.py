"""What a hint says of a move, and which moves are warned of."""

from typing import Any

import pytest

from gozero import games
from gozero.frontends.web.engine.game_tree import START, Estimate, Mistake
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.teaching import facts, mistake_of
from gozero.frontends.web.setups import setup_of
from gozero.games.position import Position
from tests.frontends.web.sessions import restored

CAPTURE = """X to play
5 . . . . .
4 . . X . .
3 . X O X .
2 . O . O .
1 . . . . ."""
ATARI = """X to play
5 . . . . .
4 . . O . .
3 . O X O .
2 . . . . .
1 . . . . ."""
FOUR = """X to play
5 O O O O .
4 . . . . .
3 . X X . .
2 . . . . .
1 . X . X ."""
FLIP = """X to play
4 . . . .
3 . X O .
2 . O X .
1 . . . ."""
PIECES = """X to play
5 . . . . O
4 . O . . .
3 X . . . .
2 . . . . .
1 . . . . X"""


@pytest.mark.parametrize(
    ("game", "diagram", "move", "known"),
    [
        ("go", CAPTURE, "C2", {"takes": 1}),
        ("go", CAPTURE, "E5", {}),
        ("go", CAPTURE, "pass", {}),
        ("go", ATARI, "C2", {"saves": 1}),
        ("go", ATARI.replace("2 . . . .", "2 . O . O"), "C2", {}),
        ("gomoku", FOUR, "E5", {"stops": "E5"}),
        ("gomoku", FOUR, "E1", {}),
        ("gomoku", FOUR.translate(str.maketrans("XO", "OX")).replace("O to", "X to"), "E5", {"wins": True}),
        ("othello", FLIP, "D3", {"takes": 1}),
        ("breakthrough", PIECES, "A3-B4", {"takes": 1}),
        ("breakthrough", PIECES.replace("4 . O", "4 X .").replace("3 X", "3 ."), "A4-A5", {"wins": True}),
    ],
)
def test_what_a_move_does(game: str, diagram: str, move: str, known: dict[str, Any]) -> None:
    size = diagram.count("\n")
    definition = games.make(game, size=size)
    position = Position(definition)
    state = definition.from_text(diagram)
    position.set_up(dict(enumerate(definition.board(state).reshape(-1).tolist())), int(state[0]))
    assert facts(position, definition.action(move)) == known


@pytest.mark.parametrize(
    ("before", "after", "warned"),
    [
        (Estimate(100, 0.6, 2.0), Estimate(100, 0.5, -8.0), {"chance": 0.1, "points": 10.0}),
        (Estimate(100, 0.9, 1.0), Estimate(100, 0.5, 0.5), {"chance": 0.4, "points": None}),
        (Estimate(100, 0.9), Estimate(100, 0.4), {"chance": 0.5, "points": None}),
        (Estimate(100, 0.6, 2.0), Estimate(100, 0.5, 0.0), None),
        (Estimate(100, 0.5, 2.0), Estimate(100, 0.7, 12.0), None),
        (Estimate(100, 0.9, line=(40,)), Estimate(100, 0.1), None),  # the best move there was
    ],
)
def test_a_move_that_lost_much_waits_until_the_person_has_chosen(
    before: Estimate, after: Estimate, warned: dict[str, Any] | None
) -> None:
    session = GameSession(setup_of({}), 9, [9])
    session.play(40)
    session.unchecked = session.live
    assert session.is_check_due
    session.tree[START].estimate, session.tree[1].estimate = before, after
    session.unchecked, session.mistake = None, mistake_of(session, 1)
    for found in (session, restored(session)):  # also after the engine process was started again
        assert not found.is_check_due
        assert found.pending_mistake == (warned and Mistake(1, **warned))
        found.undo()
        assert (found.at, found.pending_mistake) == (START, None)
    session.play(40)
    session.mistake = Mistake(session.at, 0.1, None)
    session.resign(session.person)
    assert session.pending_mistake is None


def test_a_move_that_is_still_to_be_checked_is_so_after_a_restart() -> None:
    session = GameSession(setup_of({}), 9, [9])
    session.play(40)
    session.unchecked = session.live
    assert restored(session).is_check_due
