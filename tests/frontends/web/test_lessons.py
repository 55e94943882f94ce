"""The first steps of each game: every answer is played by the rules, and the right ones are what a search plays."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.web.engine.lessons import SHARED, begun, lessons, table
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.teaching import facts
from gozero.frontends.web.settings import EngineProcessSettings
from gozero.games import GAMES
from gozero.games.colours import WHITE
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.nets.locations import WEIGHTS, find
from gozero.play import engine
from gozero.play.player import Player, PlayerSettings
from gozero.play.searcher import Limits

VISITS, NETWORK_VISITS = 3000, 200  # of a search with random playouts, or with the game's network
NETWORKS = ("go", "gomoku")  # games for which random playouts are too weak
LESSONS = {f"{game}: {lesson['title']}": (game, lesson) for game in table() for lesson in table()[game]}
AMONG_ANSWERS = ("nogo: A point of your own", "connect4: The point above", "go: Two eyes", "go: Counting")
"""In which other moves may be as good: a search chooses among the right and the wrong answers alone."""


def left(position: Position) -> list[int]:
    """The legal actions."""
    return [] if position.is_over else np.flatnonzero(position.legal()).tolist()


def wins_whatever_follows(position: Position) -> bool:
    """Whether Black can win at once after each of White's moves."""
    replies = position.children(left(position))
    return all(any(end.outcome() == -1 for end in reply.children(left(reply))) for reply in replies)


def gives_no_corner(position: Position) -> bool:
    return not {0, 5, 30, 35} & set(left(position))


def leaves_no_move(position: Position) -> bool:
    return position.is_over or position.to_play != WHITE or left(position) == [position.game.pass_action]


CLAIMS = {
    "gomoku: An open four": wins_whatever_follows,
    "gomoku: Two threats at once": wins_whatever_follows,
    "nogo: Shut White out": leaves_no_move,
    "othello: Give no corner away": gives_no_corner,
    "othello: Move again": leaves_no_move,
}
"""What is so after each right answer with the moves that follow it, and after no other move."""
TOLD_BY_SEARCH = [name for name in LESSONS if name not in (*CLAIMS, "go: Ko", "othello: Turn discs over")]


@cache
def opener(game: str) -> Callable[[Game], Evaluator]:
    """What opens the game's own network for a board."""
    return EngineProcessSettings(threads=1).evaluators(find(WEIGHTS[game])).open


def after(session: GameSession, moves: str) -> Position:
    """The position after these moves."""
    position = session.game.position.copy()
    for vertex in moves.split():
        position.play(session.action(vertex))
    return position


def test_every_game_has_five_and_each_answer_can_be_played() -> None:
    for game in GAMES:
        found = lessons(SHARED.get(game, game))
        assert len(found) == 5
        for lesson in found:
            answers = lesson["answers"]
            assert any(answer["isRight"] for answer in answers.values()), lesson["title"]
            assert not set(answers) & set(lesson["refused"])
            for answer in answers.values():
                assert answer["text"].endswith(".") and answer["view"]["stones"] != lesson["view"]["stones"]
    assert "ko" in next(lesson for lesson in lessons("go") if lesson["title"] == "Ko")["refused"]["D5"]


@pytest.mark.parametrize("name", TOLD_BY_SEARCH)
def test_a_search_plays_the_right_answer(name: str) -> None:
    game, lesson = LESSONS[name]
    session = begun(game, lesson)
    right, wrong = ([session.action(moves.split()[0]) for moves in lesson[kind]] for kind in ("right", "wrong"))
    among = session.game.mask_of([*right, *wrong]) if name in AMONG_ANSWERS else session.game.position.legal()
    visits = NETWORK_VISITS if game in NETWORKS else VISITS
    settings = PlayerSettings(seed=1, search=engine.search_settings(visits, game))
    player = Player(session.game, opener(game) if game in NETWORKS else RolloutEvaluator, settings)
    assert player.suggest(session.game.position.to_play, Limits(visits), among) in right


@pytest.mark.parametrize("name", CLAIMS)
def test_the_task_is_fulfilled_by_the_right_answer_alone(name: str) -> None:
    game, lesson = LESSONS[name]
    session, claim = begun(game, lesson), CLAIMS[name]
    right = {session.action(moves.split()[0]) for moves in lesson["right"]}
    assert all(claim(after(session, moves)) for moves in lesson["right"])
    others = [action for action in left(session.game.position) if action not in right]
    assert not any(claim(position) for position in session.game.position.children(others))


def test_the_points_that_counting_tells_are_those_of_the_rules() -> None:
    game, lesson = LESSONS["go: Counting"]
    session = begun(game, lesson)
    for moves, points in (*lesson["right"].items(), *lesson["wrong"].items()):
        owner = after(session, moves).owner()
        assert f"{(owner == 1).sum()} points and White {(owner == -1).sum()}." in points


def test_one_move_turns_over_three_discs_and_the_others_one() -> None:
    session = begun(*LESSONS["othello: Turn discs over"])
    position = session.game.position
    taken = {session.game.definition.vertex(action): facts(position, action)["takes"] for action in left(position)}
    assert taken.pop("F4") == 3
    assert set(taken.values()) == {1}
