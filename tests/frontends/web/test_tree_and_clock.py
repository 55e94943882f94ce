"""The tree of moves and the clocks of a game, and what undo does to them."""

import json

import pytest

from gozero.frontends.web.engine.clock import LAG, SessionClock
from gozero.frontends.web.engine.game_tree import START, Estimate, Mistake, MoveTree, Node
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.snapshots import reader
from gozero.frontends.web.setups import Clocks, setup_of
from gozero.games.colours import BLACK, EMPTY, WHITE
from gozero.system.errors import InputError
from tests.frontends.web.sessions import restored


def small_tree() -> tuple[MoveTree, list[int]]:
    """Black 4, White 0, Black 8; and instead of White's move, White 2."""
    tree = MoveTree()
    first = tree.add(START, BLACK, 4)
    second = tree.add(first, WHITE, 0)
    third = tree.add(second, BLACK, 8)
    return tree, [first, second, third, tree.add(first, WHITE, 2)]


def saved_and_read(tree: MoveTree) -> MoveTree:
    return MoveTree.of(reader(list[tuple[int, Node]])(json.loads(json.dumps(tree.saved()))), tree.next)


def test_moves_lines_and_variations() -> None:
    tree, (first, second, third, other) = small_tree()
    assert tree.add(first, WHITE, 0) == second  # known already
    assert tree.line(START) == [START, first, second, third]
    assert tree.line(other) == [START, first, other]
    assert tree.moves(third) == [(BLACK, 4), (WHITE, 0), (BLACK, 8)]
    assert [number for number, _ in tree.in_order()] == [START, first, second, third, other]
    tree.remove(second)
    assert second not in tree
    assert third not in tree
    assert tree.line(START) == [START, first, other]
    assert tree.add(first, WHITE, 0) > other  # numbers are not used again


def test_the_larger_search_is_kept() -> None:
    tree, (first, *_) = small_tree()
    for estimate in (Estimate(100, 0.6), Estimate(50, 0.9)):
        tree.learn(first, estimate)
    tree.learn(99, Estimate(100, 0.6))  # of a node that was deleted meanwhile
    assert tree[first].estimate == Estimate(100, 0.6)


def test_a_tree_is_the_same_after_it_was_kept_as_json() -> None:
    tree, (first, *_) = small_tree()
    tree[first].comment = "é"
    tree.learn(first, Estimate(10, 0.25, -1.5, (4, 0)))
    again = saved_and_read(tree)
    assert again.saved() == tree.saved()
    assert again[first] == tree[first]
    newest = tree.add(START, BLACK, 1)
    assert again.add(START, BLACK, 1) == newest
    tree.remove(newest)
    again = saved_and_read(tree)
    assert again.add(START, BLACK, 2) > newest  # numbers are not used again


@pytest.mark.parametrize(
    ("place", "number", "change"),
    [
        (0, START, {"parent": START}),  # whose path would have no end
        (0, START, {"parent": 7}),
        (1, START, {}),
        (1, -5, {"parent": START, "colour": BLACK, "action": 8}),
        (1, 1.5, {"parent": START, "colour": BLACK, "action": 8}),
        (1, 1, {"parent": 9, "colour": BLACK, "action": 8}),
    ],
)
def test_a_node_in_no_place_of_a_tree_is_refused(place: int, number: float, change: dict[str, int]) -> None:
    nodes = json.loads(json.dumps(small_tree()[0].saved()))
    node = [number, {**nodes[0][1], **change}]
    with pytest.raises((ValueError, LookupError, TypeError)):
        MoveTree.of(reader(list[tuple[int, Node]])([*nodes, node] if place else [node, *nodes[1:]]), 1)


def test_the_clock_that_runs() -> None:
    clock = SessionClock(Clocks(main=60.0, period=10.0, periods=2))
    clock.start(BLACK, 100.0)
    assert clock.remaining(130.0) == pytest.approx(30 + 20)
    clock.start(WHITE, 130.0)
    values = clock.values(131.0)
    assert values is not None
    assert values["black"] == {"seconds": 30.0, "periods": 0}
    assert values["white"] == {"seconds": 59.0, "periods": 0}
    assert values["running"] == "white"


def test_overtime_and_its_end() -> None:
    clock = SessionClock(Clocks(main=5.0, period=10.0, periods=2))
    clock.start(BLACK, 0.0)
    clock.start(WHITE, 12.0)  # into the first period, which is not used up
    for now in (13.0, 15.0):
        clock.start(BLACK, now)
    assert clock.remaining(15.0) == pytest.approx(18.0)
    assert clock.remaining(34.0) == 0


def test_a_thought_that_begins_again_has_what_is_left_of_its_turn() -> None:
    clock = SessionClock(Clocks(period=10.0, periods=1))
    clock.start(BLACK, 100.0)
    whole, rest = (clock.allowance(BLACK, 50, now) for now in (100.0, 106.0))
    assert whole is not None and rest is not None
    assert 3.5 < rest.most <= 4.0 - LAG and 9.5 < whole.most <= 10.0 - LAG
    assert clock.remaining(106.0) == pytest.approx(4.0)
    clock.give_back(5.0)
    assert clock.remaining(106.0) == pytest.approx(9.0)


def test_a_clock_is_kept() -> None:
    terms = Clocks(main=60.0, period=10.0, periods=3)
    clock, again = SessionClock(terms), SessionClock(terms)
    clock.start(BLACK, 0.0)
    again.restore(json.loads(json.dumps(clock.saved(20.0))))
    again.start(BLACK, 1000.0)
    assert again.remaining(1000.0) == pytest.approx(clock.remaining(20.0))
    again.restore((1e300, 1.0))
    again.start(BLACK, 1000.0)
    assert again.remaining(1000.0) == 90, "no more than a whole game, and no more than a queue can wait"


def test_without_a_limit_nothing_runs() -> None:
    clock = SessionClock(Clocks())
    clock.start(BLACK, 0.0)
    assert clock.values(5.0) is None
    assert clock.remaining(5.0) == float("inf")


def test_the_variation_that_is_shown_is_kept() -> None:
    session = GameSession(setup_of({"game": "tictactoe", "person": "both"}), 3, [3])
    for start, point in ((START, 4), (1, 0), (1, 2)):
        session.go_to(start)
        session.play(point)
    assert session.line == [START, 1, 3]
    session.go_to(START)
    assert restored(session).line == session.line == [START, 1, 3]


@pytest.mark.parametrize("person", ["both", "white"])
def test_a_game_in_review_stays_in_review(person: str) -> None:
    session = GameSession(setup_of({"game": "connect4", "person": person}), 7, [7])
    session.review()
    again = restored(session)
    assert again.live is None and not again.is_engines_turn


def timed_session() -> GameSession:
    """A game with a clock against the engine, which is White."""
    return GameSession(setup_of({"clock": {"main": 60}}), 9, [9])


def test_undo_gives_back_the_time_of_the_moves_taken_back() -> None:
    session = timed_session()
    for now in (0.0, 15.0):  # as at each view
        session.run_clock(now)
    session.play(session.action("E5"))
    with pytest.raises(InputError, match="the engine is thinking"):
        session.play(session.action("G7"))
    session.run_clock(20.0)
    session.reply(WHITE, session.action("C3"))
    session.run_clock(25.0)
    for found in (session, restored(session, 30.0)):
        found.run_clock(30.0)
        assert found.clock.remaining(30.0) == pytest.approx(35)
        found.undo()
        found.run_clock(100.0)
        assert found.clock.remaining(100.0) == pytest.approx(60)


def test_a_warning_ends_where_the_game_goes_on_elsewhere() -> None:
    session = timed_session()
    session.play(session.action("E5"))
    session.mistake, session.unchecked = Mistake(session.live or 0, 0.3, None), session.live
    session.review()
    session.go_to(START)
    session.play_on()
    assert session.clock.values(0.0) is not None
    session.play(session.action("E5"))  # the same node
    assert session.is_engines_turn
    assert session.pending_mistake is None
    assert not session.is_check_due


def test_undo_of_a_loss_on_time_gives_back_the_time_of_that_turn() -> None:
    session = timed_session()
    session.run_clock(0.0)
    session.resign(session.live_turn, "time")
    session.run_clock(61.0)
    assert session.clock.running == EMPTY
    session.undo()
    session.run_clock(70.0)
    assert session.is_going_on
    assert session.clock.remaining(70.0) == pytest.approx(60)


def test_the_clock_runs_while_an_earlier_move_is_shown() -> None:
    session = timed_session()
    session.run_clock(0.0)
    session.play(session.action("E5"))
    session.go_to(START)
    session.run_clock(10.0)
    assert (session.clock.running, session.is_engines_turn) == (WHITE, True)
    session.reply(WHITE, session.action("C3"))
    session.run_clock(12.0)
    assert (session.at, session.clock.running) == (START, BLACK)
    session.resign(BLACK, "time")
    assert session.ended is not None and session.ended.node == session.live == 2


@pytest.mark.parametrize("terms", [Clocks(main=5.0), Clocks(main=5.0, period=10.0, periods=2)])
def test_the_clock_of_the_side_that_lost_on_time_stays_at_nothing(terms: Clocks) -> None:
    clock = SessionClock(terms)
    clock.start(BLACK, 0.0)
    clock.stop(25.0)
    values = clock.values(99.0)
    assert values is not None
    assert values["black"]["seconds"] == 0


def test_a_running_clock_goes_into_its_periods() -> None:
    clock = SessionClock(Clocks(main=5.0, period=10.0, periods=2))
    clock.start(BLACK, 0.0)
    shown = [clock.values(now) for now in (4.0, 5.0, 16.0, 26.0)]
    assert [values and values["black"] for values in shown] == [
        {"seconds": 1.0, "periods": 0},
        {"seconds": 10.0, "periods": 2},
        {"seconds": 9.0, "periods": 1},
        {"seconds": 0.0, "periods": 1},
    ]
