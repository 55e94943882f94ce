"""What a page may do with a game that has ended: variations, what undo takes back, the saved file."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gozero.frontends.web.engine import counting, records
from gozero.frontends.web.engine.game_tree import START
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.views import title, view
from gozero.frontends.web.setups import setup_of
from gozero.games.colours import BLACK, WHITE
from gozero.play.ending import GoEnding
from gozero.system.errors import InputError
from tests.frontends.web.sessions import opened, restored


def ended() -> GameSession:
    """Black has resigned after its move and White's."""
    session = GameSession(setup_of({}), 9, [9])
    session.play(session.action("E5"))
    session.reply(WHITE, session.action("C3"))
    session.resign(BLACK)
    return session


def test_undo_in_a_variation_steps_back_and_leaves_it_in_the_tree() -> None:
    session = ended()
    session.go_to(START)
    session.play(session.action("A1"))
    session.undo()
    assert session.at == START
    assert session.tree[START].children == [1, 3]
    assert session.tree.line(START) == [START, 1, 2]
    assert session.ended is not None
    assert not session.is_going_on
    session.go_to(2)
    session.undo()
    assert (session.ended, session.at, session.live_turn) == (None, 2, BLACK)
    session.play(session.action("G7"))
    session.resign(WHITE)  # the engine, so that the last own decision was the move
    session.undo()
    assert (session.ended, session.at, session.live_turn) == (None, 2, BLACK)


@pytest.mark.parametrize("person", ["black", "both"])
def test_undo_at_an_earlier_move_does_not_drop_the_end_of_a_game(person: str) -> None:
    session = GameSession(setup_of({"person": person}), 9, [9])
    for colour in (BLACK, WHITE):
        session.enter(colour, session.game.definition.pass_action)
    session.go_to(1)
    session.undo()
    assert (session.at, session.tree.line(START), session.is_going_on) == (START, [START, 1, 2], False)


def test_what_follows_a_resignation_is_a_variation_until_the_game_goes_on() -> None:
    session = ended()
    session.play(session.action("G7"))
    assert (session.at, session.live, session.is_going_on, session.is_over) == (3, 2, False, False)
    session.go_to(2)
    assert session.is_over
    session.undo()
    assert session.is_going_on
    assert session.line == [START, 1, 2]


def test_a_game_in_review_is_saved_with_its_end_and_its_players_after_an_undo() -> None:
    session = ended()
    session.review()
    session.undo()
    assert session.at == 1
    assert session.end == 2
    session.go_to(session.end)
    assert session.is_over
    text = records.save(session, "W+R")[1].replace("\n", "")
    assert "PW[gozero, level 5]" in text
    assert text.endswith(";B[ee];W[cg])")


def test_a_game_that_the_rules_ended_takes_no_move() -> None:
    session = GameSession(setup_of({}), 9, [9])
    session.play(session.game.definition.pass_action)
    session.reply(WHITE, session.game.definition.pass_action)
    for act in (session.play, session.resign):
        with pytest.raises(InputError, match="The game is over"):
            act(BLACK)


def agreed(session: GameSession, *vertices: str) -> None:
    """Nothing is dead, then what is clicked; the engine's own judgement goes without the network's."""
    session.ending = GoEnding(cast(Any, session.game), cast(Any, SimpleNamespace(ownership=lambda *question: None)))
    session.tree[session.at].dead = []
    for vertex in vertices:
        counting.toggle(session, session.action(vertex))


def test_a_variation_after_a_resignation_is_counted_as_a_game_is() -> None:
    session = ended()
    assert counting.count(session) is None
    for _ in range(2):
        session.play(session.game.definition.pass_action)
    assert session.is_over and session.ended is not None
    agreed(session, "C3")
    assert counting.count(session)["dead"] == [session.action("C3")]
    assert counting.ending(session) == {"winner": "black", "how": "rules", "by": "{margin} points", "margin": 73.5}


def test_by_territory_prisoners_count_beside_komi() -> None:
    session = GameSession(setup_of({"rules": "japanese", "komi": 6.5, "person": "both"}), 9, [9])
    for vertex in ("B9", "A9", "A8"):
        session.play(session.action(vertex))
    session.play(session.action("C3"))
    for _ in range(2):
        session.play(session.game.definition.pass_action)
    agreed(session, "B9", "A8")
    found = counting.count(session)
    assert (found["black"], found["white"], found["bonus"]) == (1, 80 + 2 + 6.5, 6.5)
    shown = view(session)
    assert (shown["ending"]["winner"], shown["ending"]["margin"], shown["toPlay"]) == ("white", 87.5, None)
    assert shown["captured"] == {"black": 1, "white": 0}


def test_the_lead_at_the_end_of_othello_is_known_and_is_of_discs() -> None:
    session = GameSession(setup_of({"game": "othello", "person": "both"}), 4, [4])
    while not session.is_over:
        session.play(int(session.game.position.legal().argmax()))
    lead = counting.outcome(session).lead
    assert lead == session.game.position.score() != 0
    shown = view(session)
    assert shown["unit"] == "discs"
    assert shown["ending"]["margin"] == abs(lead)


@pytest.mark.parametrize(("size", "untrained"), [(9, False), (13, True)])
def test_of_a_board_that_was_not_learned_the_page_itself_warns(size: int, untrained: bool) -> None:
    assert view(GameSession(setup_of({}), size, [size], (7, 9)))["untrained"] is untrained


def test_nobody_loses_on_time_who_plays_both_sides() -> None:
    session = GameSession(setup_of({"game": "tictactoe", "person": "both", "clock": {"main": 3.0}}), 3, [3])
    assert session.clock.values(0.0) is None
    assert GameSession(setup_of({"game": "tictactoe", "clock": {"main": 3.0}}), 3, [3]).clock.values(0.0) is not None


def test_a_node_is_a_number_and_no_truth_value() -> None:
    session = ended()
    with pytest.raises(InputError, match="taken back or deleted"):
        session.go_to(True)


def test_play_goes_on_from_an_earlier_position_and_what_followed_stays_a_variation() -> None:
    session = ended()
    session.review()
    session.go_to(1)
    session.play_on()
    assert (session.live, session.line, session.is_engines_turn, session.ended) == (1, [START, 1], True, None)
    session.reply(WHITE, session.action("G7"))
    assert session.tree.line(START) == session.line == [START, 1, 3]
    session.undo()
    assert (session.at, session.line, 2 in session.tree) == (START, [START], True)


def test_a_person_plays_the_side_to_move_of_a_record() -> None:
    session, _ = opened("(;SZ[9]RE[B+R];B[ee];W[cc])")
    session.go_to(1)
    assert title(session)["result"] == "B+R"
    session.play_on()
    assert title(session)["result"] == ""
    assert (session.person, session.is_engines_turn) == (WHITE, False)
    session.play(session.action("G7"))
    assert session.is_engines_turn and len(session.tree.line(START)) == 3
    again = restored(session)
    assert (again.live, again.is_engines_turn, again.line) == (session.live, True, session.line)
    session.reply(BLACK, session.game.definition.pass_action)
    session.play(session.game.definition.pass_action)
    with pytest.raises(InputError):
        session.play_on()


def test_undo_behind_the_end_of_a_record_leaves_its_moves() -> None:
    session, _ = opened("(;SZ[9];B[ee];W[cc])")
    session.go_to(2)
    session.undo()
    assert (session.at, session.tree.line(START)) == (1, [START, 1, 2])
    session.go_to(2)
    session.play_on()
    session.undo()
    assert (session.person, session.at, session.tree.line(START)) == (BLACK, START, [START, 1, 2])
