"""Levels and variety: what is drawn and what never is, with random playouts and with the weights that ship."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gozero import games
from gozero.evaluators.base import Evaluation, Evaluator
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.nets import locations
from gozero.play import engine
from gozero.play.levels import LEVELS, STRONGEST, WEAKEST, level
from gozero.play.player import Player, PlayerSettings, has_reason, make_player, nucleus
from gozero.play.searcher import Analysis, Limits
from tests.fixed_player import FixedEvaluator, liking

SIZE = 9


def test_levels_grow_in_visits_and_leave_less_to_chance() -> None:
    assert (WEAKEST, STRONGEST, len(LEVELS)) == (1, 20, 20)
    for weaker, stronger in pairwise(LEVELS):
        assert weaker.visits <= stronger.visits and weaker.temperature >= stronger.temperature
        assert weaker != stronger
    for weaker, stronger in pairwise(one for one in LEVELS if one.temperature):
        assert weaker.top_p >= stronger.top_p and weaker.most_loss >= stronger.most_loss


def test_the_strongest_level_searches_and_plays_as_without_a_level() -> None:
    usual = PlayerSettings(seed=1)
    assert LEVELS[-1].visits == 800
    assert LEVELS[-1].settings(usual) == replace(usual, keeps_search=False)


@pytest.mark.parametrize("number", [0, 21, -1])
def test_there_is_no_other_level(number: int) -> None:
    with pytest.raises(ValueError, match=f"level {number}: expected 1 to 20"):
        level(number)


def player_of(
    settings: PlayerSettings, open_evaluator: Callable[[Game], Evaluator], game: str = "go", size: int = 5
) -> Player:
    return make_player(game, [size], open_evaluator, settings, size=size)


def likes_c3(game: Game) -> FixedEvaluator:
    return FixedEvaluator(game, logits=liking(game, game.points // 2))


def first_moves(temperature: float) -> set[int]:
    """What forty players with one visit begin with."""
    settings = [PlayerSettings(seed=seed, opening_temperature=0, temperature=temperature) for seed in range(40)]
    return {player_of(one, likes_c3).genmove(1, Limits(1)) for one in settings}


def test_the_temperature_says_how_much_is_left_to_chance() -> None:
    assert first_moves(0) == {12}
    assert 1 < len(first_moves(1)) < len(first_moves(4))


def test_the_temperature_holds_beyond_the_opening() -> None:
    for temperature, least in ((0, 1), (4, 10)):
        late, moves = player_of(PlayerSettings(seed=1, temperature=temperature), likes_c3), set()
        for ply, corner in enumerate((0, 4, 20, 24)):
            late.game.play(1 + ply % 2, corner)
        for _ in range(30):
            moves.add(late.genmove(1, Limits(1)))
            late.game.undo()
        assert len(moves) >= least and (moves == {12}) == (not temperature)


def test_a_nucleus_is_the_fewest_actions_with_the_share() -> None:
    weights = np.array([0.1, 0.5, 0.0, 0.3, 0.1])
    assert np.flatnonzero(nucleus(weights, 0.5)).tolist() == [1]
    assert np.flatnonzero(nucleus(weights, 0.79)).tolist() == [1, 3]
    assert np.flatnonzero(nucleus(weights, 0.9)).tolist() == [0, 1, 3]
    assert np.flatnonzero(nucleus(weights, 1.0)).tolist() == [0, 1, 3, 4]


def test_the_first_line_is_left_in_the_opening_but_beside_stones() -> None:
    game = games.make("go", size=9)
    position = Position(game)
    assert has_reason(position)[: game.points].sum() == 49 and has_reason(position)[game.pass_action]
    position.play(game.action("C2"))
    assert [bool(has_reason(position)[game.action(vertex)]) for vertex in ("C1", "B1", "E1", "A9")] == [1, 0, 0, 0]
    position.set_up({40: 1})
    for _ in range(17):
        position.play(game.pass_action, 2)
    assert position.ply == 34 and has_reason(position).all()
    assert has_reason(Position(games.make("othello", size=4))).all()


def test_in_gomoku_a_stone_is_two_points_away_at_most() -> None:
    game = games.make("gomoku", size=9)
    position = Position(game)
    assert has_reason(position).all()
    position.play(game.action("C2"))
    near = has_reason(position)[: game.points].reshape(9, 9)
    assert near[5:, :5].all() and near.sum() == 20


class Fears(FixedEvaluator):
    """Whoever has played at the point `FEARED` has lost by 40 points."""

    FEARED = 11

    def evaluate(self, states: np.ndarray) -> Evaluation:
        value = np.array([float(self.game.board(state).reshape(-1)[self.FEARED] != 0) for state in states], np.float32)
        found = super().evaluate(states)
        return Evaluation(found.logits, value, 40 * value, np.zeros((len(states), self.game.points), np.float32))


def test_a_move_that_loses_too_much_is_not_drawn() -> None:
    def open_evaluator(game: Game) -> FixedEvaluator:
        logits = np.zeros(game.actions, np.float32)
        logits[[Fears.FEARED, 12]] = 5, 6
        return Fears(game, logits=logits)

    def drawn(most_loss: float) -> set[int]:
        how = PlayerSettings(seed=1, temperature=3, top_p=0.9, most_loss=most_loss)
        one, moves = player_of(how, open_evaluator), set()
        for _ in range(20):
            moves.add(one.genmove(1, Limits(1)))
            one.game.undo()
        return moves

    assert Fears.FEARED in drawn(50) and 12 in drawn(50)
    assert drawn(30) == {12}


def test_the_weakest_level_fills_no_eye_and_passes_only_at_the_end() -> None:
    settings = LEVELS[0].settings(PlayerSettings(seed=3))
    one = player_of(settings, FixedEvaluator)
    one.game.set_up({point: 1 for point in range(25) if point not in (0, 2, 24)}, 1)
    assert one.genmove(1, Limits(1)) == one.game.definition.pass_action
    two = player_of(settings, FixedEvaluator)
    colours = [1 + ply % 2 for ply in range(12)]
    assert two.game.definition.pass_action not in [two.genmove(colour, Limits(1)) for colour in colours]


@pytest.mark.parametrize(("game", "size"), [("othello", 4), ("nogo", 4), ("tictactoe", 3), ("connect4", 7)])
def test_every_game_has_levels(game: str, size: int) -> None:
    one = player_of(LEVELS[0].settings(PlayerSettings(seed=1)), likes_c3, game, size)
    while not one.game.is_over:
        one.genmove(one.game.position.to_play, Limits(1))


def test_a_search_of_its_own_for_each_move_is_not_helped_by_an_analysis() -> None:
    kept = []
    for keeps_search in (True, False):
        one = player_of(PlayerSettings(seed=1, keeps_search=keeps_search), likes_c3)
        found: list[tuple[Analysis, int]] = []
        one.searcher.on_search = lambda purpose, analysis, reused, seconds: found.append((analysis, reused))  # noqa: B023
        one.ponder(lambda: True)
        one.genmove(1, Limits(20))
        analysis, reused = found[-1]
        kept.append(reused)
        assert analysis.visits >= 20 and analysis.moves[0].action == 12
    assert kept[0] > 0 and kept[1] == 0


def test_a_pass_is_not_drawn_where_nothing_else_is_left() -> None:
    """By territory, after White's pass: the best move touches nothing on the first line, and only the pass is as likely."""

    def likes(game: Game) -> FixedEvaluator:
        logits = np.full(game.actions, -20, np.float32)
        logits[[0, game.pass_action]] = 5.0, 4.9
        return FixedEvaluator(game, logits=logits)

    one = player_of(LEVELS[12].settings(PlayerSettings(rules="japanese", seed=1)), likes)
    one.game.set_up({12: 1}, 2)
    one.game.play(2, one.game.definition.pass_action)
    assert one.genmove(1, Limits(1)) == 0


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


def test_the_weakest_level_does_not_abandon_a_chain_in_atari(network: Evaluator) -> None:
    """Black's five stones right of the wall have their last liberty at D5, which joins them to it."""
    vertices = {1: "D1 D2 D3 D4 D6 D7 D8 D9 E5 F5 F6 F4 G5", 2: "E1 E2 E3 E4 E6 E7 E8 E9 F7 F3 G4 G6 H5"}
    stones = {network.game.action(vertex): colour for colour in vertices for vertex in vertices[colour].split()}
    for seed in range(8):
        one = player_of(LEVELS[0].settings(PlayerSettings(seed=seed)), lambda game: network, size=SIZE)
        one.game.set_up(stones, 1)
        assert network.game.vertex(one.genmove(1, Limits(1))) == "D5"


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
