"""Levels and variety: what is drawn and what never is, with random playouts and with the weights that ship."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gozero import games
from gozero.evaluators.base import Evaluation, Evaluator
from gozero.games.game import Game
from gozero.nets import locations
from gozero.play import engine
from gozero.play.levels import LEVELS, STRONGEST, WEAKEST, level
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.play.searcher import Limits, Searched

SIZE = 9


def test_levels_grow_in_visits_and_shrink_in_temperature() -> None:
    assert (WEAKEST, STRONGEST, len(LEVELS)) == (1, 20, 20)
    for weaker, stronger in pairwise(LEVELS):
        assert weaker.visits <= stronger.visits and weaker.temperature >= stronger.temperature
        assert weaker != stronger


@pytest.mark.parametrize("number", [0, 21, -1])
def test_there_is_no_other_level(number: int) -> None:
    with pytest.raises(ValueError, match=f"level {number}: expected 1 to 20"):
        level(number)


class Likes:
    """An evaluator with one opinion of every position: these logits, and nobody ahead."""

    def __init__(self, game: Game, logits: np.ndarray) -> None:
        self.game, self._logits = game, logits
        self.asked = 0

    def evaluate(self, states: np.ndarray) -> Evaluation:
        self.asked += len(states)
        return Evaluation(np.repeat(self._logits[None], len(states), 0), np.zeros(len(states), np.float32))


def player_of(
    settings: PlayerSettings, open_evaluator: Callable[[Game], Evaluator], game: str = "go", size: int = 5
) -> Player:
    return make_player(game, [size], open_evaluator, settings, size=size)


def likes_c3(game: Game) -> Likes:
    logits = np.zeros(game.actions, np.float32)
    logits[game.points // 2] = 4
    return Likes(game, logits)


def first_moves(temperature: float) -> set[int]:
    """What forty players with one visit begin with."""
    settings = [PlayerSettings(seed=seed, opening_temperature=0, temperature=temperature) for seed in range(40)]
    return {player_of(one, likes_c3).genmove(1, Limits(1)) for one in settings}


def test_the_temperature_says_how_much_is_left_to_chance() -> None:
    assert first_moves(0) == {12}
    assert 1 < len(first_moves(1)) < len(first_moves(4))


def test_the_temperature_holds_to_the_end_of_the_game() -> None:
    game = games.make("go", size=5)
    late = player_of(PlayerSettings(seed=1, temperature=4), likes_c3)
    moves = set()
    for _ in range(30):
        moves.add(late.genmove(1, Limits(1)))
        late.game.undo()
        assert late.game.definition.points == game.points
    assert len(moves) > 10


def test_the_weakest_level_fills_no_eye_and_passes_only_at_the_end() -> None:
    settings = PlayerSettings(seed=3, temperature=LEVELS[0].temperature, resign=False)
    one = player_of(settings, lambda game: Likes(game, np.zeros(game.actions, np.float32)))
    one.game.set_up({point: 1 for point in range(25) if point not in (0, 2, 24)}, 1)
    assert one.genmove(1, Limits(1)) == one.game.definition.pass_action
    two = player_of(settings, lambda game: Likes(game, np.zeros(game.actions, np.float32)))
    colours = [1 + ply % 2 for ply in range(12)]
    assert two.game.definition.pass_action not in [two.genmove(colour, Limits(1)) for colour in colours]


@pytest.mark.parametrize(("game", "size"), [("othello", 4), ("nogo", 4), ("tictactoe", 3), ("connect4", 7)])
def test_every_game_has_levels(game: str, size: int) -> None:
    one = player_of(PlayerSettings(seed=1, temperature=LEVELS[0].temperature), likes_c3, game, size)
    while not one.game.is_over:
        one.genmove(one.game.position.to_play, Limits(1))


def test_a_search_of_its_own_for_each_move_is_not_helped_by_an_analysis() -> None:
    kept = []
    for keeps_search in (True, False):
        one = player_of(PlayerSettings(seed=1, keeps_search=keeps_search), likes_c3)
        found: list[Searched] = []
        one.searcher.on_search = found.append
        one.ponder(lambda: True)
        one.genmove(1, Limits(20))
        kept.append(found[-1].reused)
        assert found[-1].analysis.visits >= 20
        assert found[-1].analysis.moves[0].action == 12
    assert kept[0] > 0 and kept[1] == 0


def test_settings_that_change_hold_from_the_next_move_on() -> None:
    settings = PlayerSettings(seed=1, opening_temperature=0)
    one = player_of(settings, likes_c3)
    assert one.genmove(1, Limits(1)) == 12
    one.game.undo()
    one.change(replace(settings, temperature=50, search=engine.search_settings(1, "go")))
    moves = set()
    for _ in range(10):
        moves.add(one.genmove(1, Limits(1)))
        one.game.undo()
    assert len(moves) > 4


@pytest.fixture(scope="module")
def network() -> Evaluator:
    return engine.Evaluators(locations.find("best.pt"), threads=1).open(games.make("go", size=SIZE))


def openings(network: Evaluator, plies: int, visits: int, **settings: float) -> list[tuple[int, ...]]:
    """The first plies of twenty games of the shipped weights with themselves, from seeds 0 to 19."""
    found = []
    for seed in range(20):
        how = PlayerSettings(seed=seed, search=engine.search_settings(visits, "go"), **settings)  # type: ignore[arg-type]
        one = player_of(how, lambda game: network, size=SIZE)
        found.append(tuple(one.genmove(1 + ply % 2, Limits(visits)) for ply in range(plies)))
    return found


def test_twenty_games_begin_in_ten_ways_or_more(network: Evaluator) -> None:
    assert len(set(openings(network, 6, visits=16))) >= 10


def test_variety_can_be_switched_off(network: Evaluator) -> None:
    assert len(set(openings(network, 3, visits=16, opening_temperature=0))) == 1
