"""Random playouts as an evaluator."""

import numpy as np
import pytest

from gozero.evaluators.rollout import RolloutEvaluator, UniformEvaluator
from gozero.games import tictactoe
from gozero.games.game import NOT_OVER
from gozero.games.go import go
from tests.rows import Row, board

TICTACTOE = tictactoe.make()
# Black owns the board; White owns it.
BLACK_WON = ".X.X./XXXXX/.X.X./XXXXX/.X.X."
WHITE_WON = BLACK_WON.replace("X", "O")


@pytest.mark.parametrize("picture, black", [(BLACK_WON, 1.0), (WHITE_WON, -1.0)])
@pytest.mark.parametrize("to_play, sign", [("X", 1), ("O", -1)])
def test_settled_boards_have_their_value(picture: str, black: float, to_play: str, sign: int) -> None:
    """Also proves that playouts do not fill their own eyes: a filled board would be captured."""
    row = board(picture, to_play=to_play, komi=0.5)
    found = RolloutEvaluator(row.game, rollouts=50).evaluate(row.state[None])
    assert found.value[0] == black * sign


def test_value_is_the_mean_of_random_games() -> None:
    """On the empty 5x5 board with komi 4.5, against games played one move at a time through `sample`."""
    game = go.make(5, komi=4.5)
    generator, total, games = np.array([11], np.uint64), 0, 2000
    for _ in range(games):
        row = Row(game)
        while game.outcome(row.state) == NOT_OVER:
            row.play(game.sample(row.state, row.history, generator))
        total += game.outcome(row.state) * (1 if row.to_play == 1 else -1)
    value = RolloutEvaluator(game, rollouts=games, seed=2).evaluate(game.new_states(1)).value[0]
    assert value == pytest.approx(total / games, abs=0.08)


def test_shapes_and_untouched_states() -> None:
    states = TICTACTOE.new_states(3)
    states[1] = TICTACTOE.from_text("X to play\nXX.\nOO.\n...")
    before = states.copy()
    found = RolloutEvaluator(TICTACTOE, rollouts=200).evaluate(states)
    assert (states == before).all()
    assert found.logits.shape == (3, 11) and found.logits.dtype == found.value.dtype == np.float32
    assert not found.logits.any() and found.score is None and found.ownership is None
    assert found.value[0] == pytest.approx(0.297, abs=0.2), "58.5 % of random games are won by X, 28.8 % by O"


def test_same_seed_same_values() -> None:
    game = go.make(5)
    first, second, third = (RolloutEvaluator(game, 10, seed).evaluate(game.new_states(4)).value for seed in (1, 1, 2))
    assert (first == second).all() and (first != third).any()
    assert len(set(first)) > 1, "each state has its own playouts"


def test_uniform_evaluator_knows_nothing() -> None:
    found = UniformEvaluator(TICTACTOE).evaluate(TICTACTOE.new_states(2))
    assert not found.value.any() and not found.logits.any()


def test_no_rollouts_are_refused() -> None:
    with pytest.raises(ValueError, match="0 rollouts"):
        RolloutEvaluator(TICTACTOE, rollouts=0)
