"""What the moves of a line lost, as the page is told."""

import pytest

from gozero.frontends.web.engine.game_tree import Estimate
from gozero.frontends.web.engine.review import review
from tests.frontends.web.sessions import played, restored


def test_a_game_of_go_is_graded_by_points_for_each_side() -> None:
    session = played("go", 9, "E5", "C3", "G7", "A1", "C7")
    better = tuple(session.action(vertex) for vertex in ("G3", "C7"))
    leads = (0.0, -0.4, -0.4, -3.4, 9.0, 9.5)  # Black's, after each move
    for node, lead in enumerate(leads):
        session.tree[node].estimate = Estimate(100, 0.5 + lead / 40, lead, better)
    session.go_to(4)
    found = review(session)
    assert [move["grade"] for move in found["grades"]] == [0, 0, 3, 5, 0]
    black, white = found["sides"]["black"], found["sides"]["white"]
    assert (black["moves"], black["best"], black["counts"]) == (3, pytest.approx(2 / 3, abs=1e-3), [2, 0, 0, 1, 0, 0])
    assert black["mean"] == pytest.approx((0.4 + 3.0 + 0.0) / 3, abs=1e-3)
    assert (white["moves"], white["mean"], white["counts"][5]) == (2, pytest.approx(12.4 / 2), 1)
    assert [(move["number"], move["vertex"], move["colour"]) for move in found["mistakes"]] == [
        (3, "G7", "black"), (4, "A1", "white")
    ]  # fmt: skip
    assert (found["mistakes"][1]["points"], found["mistakes"][1]["loss"]) == (12.4, 0.31)
    assert (found["mistakes"][1]["before"], found["mistakes"][1]["better"]) == (3, ["G3", "C7"])
    assert [move["vertex"] for move in found["last"]] == ["C3", "G7", "A1"]


def test_the_engines_own_choice_loses_nothing_and_what_was_not_analysed_has_no_grade() -> None:
    session = played("go", 9, "E5", "C3")
    session.tree[0].estimate = Estimate(100, 0.6, 3.0, (session.action("E5"),))
    session.tree[1].estimate = Estimate(100, 0.4, -3.0)
    found = review(session)
    assert [move and move["grade"] for move in found["grades"]] == [0, None]
    assert found["sides"]["black"] == {"moves": 1, "mean": 0.0, "best": 1.0, "counts": [1, 0, 0, 0, 0, 0]}
    assert found["mistakes"] == []


def test_other_games_are_graded_by_the_chance_to_win() -> None:
    session = played("othello", 8, "D3", "C3")
    for node, chance in enumerate((0.5, 0.5, 0.62)):
        session.tree[node].estimate = Estimate(100, chance, 2.0, (session.action("E6"),))
    found = review(session)
    assert (found["measure"], [move["grade"] for move in found["grades"]]) == ("chance", [0, 3])
    assert found["sides"]["white"]["mean"] == pytest.approx(0.12)
    session.tree[1].estimate = Estimate(100, 0.5, 2.0, (session.action("C3"),))  # what White played
    assert [move["grade"] for move in review(session)["grades"]] == [0, 0]
    session = played("go", 9, "E5")
    session.tree.learn(1, Estimate(100, 0.5))  # of a network that knows no lead
    assert {review(found)["measure"] for found in (session, restored(session))} == {"chance"}


def test_a_pass_that_ends_the_game_has_no_grade() -> None:
    session = played("go", 9, "pass", "pass")
    for node, lead in enumerate((0.0, 9.0, 18.0)):
        session.tree[node].estimate = Estimate(100, 0.5, lead)
    assert [move and move["grade"] for move in review(session)["grades"]] == [0, None]
