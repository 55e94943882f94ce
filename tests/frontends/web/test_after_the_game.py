"""What a page may do with a game that has ended: variations, what undo takes back, the saved file."""

from types import SimpleNamespace
from typing import cast

import pytest

from gozero.frontends.web.engine import records
from gozero.frontends.web.engine.counting import Counting
from gozero.frontends.web.engine.game_tree import START
from gozero.frontends.web.engine.table import RefusedError, Table
from gozero.frontends.web.engine.views import view
from gozero.frontends.web.setups import setup_of
from gozero.games.colours import BLACK, EMPTY, WHITE
from gozero.play.player import Player


def ended() -> Table:
    """Black has resigned after its move and White's."""
    table = Table(setup_of({}), 9, [9])
    table.play(table.action("E5"))
    table.reply(WHITE, table.action("C3"))
    table.resign(BLACK)
    return table


def test_undo_in_a_variation_takes_only_the_variation_back() -> None:
    table = ended()
    table.go_to(START)
    table.play(table.action("A1"))
    table.undo()
    assert table.at == START
    assert table.tree.line(START) == [START, 1, 2]  # the variation is gone
    assert table.ended is not None
    assert not table.is_going_on
    table.go_to(2)
    table.undo()
    assert (table.ended, table.at, table.live_turn) == (None, 2, BLACK)


def test_undo_at_an_earlier_move_does_not_drop_the_end_of_a_game() -> None:
    table = Table(setup_of({}), 9, [9])
    pass_action = table.game.kind.pass_action
    table.play(pass_action)
    table.reply(WHITE, pass_action)
    assert table.live_turn == EMPTY
    table.go_to(1)
    table.undo()
    assert (table.at, table.tree.line(START), table.is_going_on) == (START, [START, 1, 2], False)


def test_what_follows_a_resignation_is_a_variation_until_the_game_goes_on() -> None:
    table = ended()
    table.play(table.action("G7"))
    assert (table.at, table.live, table.is_going_on, table.is_over) == (3, 2, False, False)
    table.go_to(2)
    assert table.is_over
    table.undo()
    assert table.is_going_on
    assert table.tree.line(START) == [START, 1, 2]


def test_a_game_in_review_is_saved_with_its_end_and_its_players_after_an_undo() -> None:
    table = ended()
    table.review()
    table.undo()
    assert table.at == 1
    assert table.end == 2
    table.go_to(table.end)
    assert table.is_over
    text = records.save(table, "W+R")[1].replace("\n", "")
    assert "PW[gozero, level 5]" in text
    assert text.endswith(";B[ee];W[cg])")


def test_a_game_that_the_rules_ended_takes_no_move() -> None:
    table = Table(setup_of({}), 9, [9])
    table.play(table.game.kind.pass_action)
    table.reply(WHITE, table.game.kind.pass_action)
    with pytest.raises(RefusedError, match="The game is over"):
        table.play(0)


def test_a_variation_after_a_resignation_is_counted_as_a_game_is(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ended()
    counting = Counting(table, cast(Player, SimpleNamespace(ending=None)))
    assert not counting.is_counted
    for _ in range(2):
        table.play(table.game.kind.pass_action)
    assert table.is_over and table.ended is not None
    assert counting.is_counted and counting.is_disputable
    table.agreed[table.at] = []
    counting.toggle(table.action("C3"))
    assert counting.values()["dead"] == [table.action("C3")]
    assert counting.result() == "Black wins by 73.5 points."


def test_the_lead_at_the_end_of_othello_is_known_and_is_of_discs() -> None:
    table = Table(setup_of({"game": "othello", "person": "both"}), 4, [4])
    while not table.is_over:
        table.play(int(table.game.position.legal().argmax()))
    counting = Counting(table, cast(Player, SimpleNamespace(ending=None)))
    lead = counting.outcome().lead
    assert lead == table.game.position.score() != 0
    shown = view(table, counting, level=5, trained=())
    assert shown["unit"] == "discs"
    assert f"by {abs(lead):g}" in shown["result"]


def test_nobody_loses_on_time_who_plays_both_sides() -> None:
    table = Table(setup_of({"game": "tictactoe", "person": "both", "clock": {"main": 3.0}}), 3, [3])
    assert table.clock.values(0.0) is None
    assert Table(setup_of({"game": "tictactoe", "clock": {"main": 3.0}}), 3, [3]).clock.values(0.0) is not None


def test_a_node_is_a_number_and_no_truth_value() -> None:
    table = ended()
    with pytest.raises(RefusedError, match="There is no such move"):
        table.go_to(True)
