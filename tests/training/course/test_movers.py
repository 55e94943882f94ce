"""Full-width search against a plain minimax, and policies that draw as they should."""

import numpy as np
import pytest
import torch
from torch import nn

from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.games.position import Position
from training.course import movers
from training.course.boards import COURSES, game_of
from training.course.expansion import Expander
from training.course.movers import PolicyMover, ValueMover
from training.course.networks import ValueNetwork, expected_results, new_networks

TICTACTOE = COURSES["tictactoe"]


def minimax(position: Position, levels: int, networks: list[nn.Module]) -> float:
    """The value of a position for its side to move, by plain recursion."""
    game: Game = position.game
    best = -2.0
    for action in np.flatnonzero(position.legal()):
        child = position.copy()
        child.play(int(action))
        if child.is_over:
            value = -float(child.outcome())
        elif levels > 1:
            value = -minimax(child, levels - 1, networks)
        else:
            board, mover = game.board(child.state).reshape(1, -1), position.to_play
            value = float(expected_results(networks, board, np.array([mover]), game.shape)[0])
        best = max(best, value)
    return best


def test_the_search_is_minimax_over_the_network_of_the_colour_that_moved_last() -> None:
    game = game_of(TICTACTOE)
    course = COURSES["gomoku"].__class__("tictactoe", (8,), 16, (8,), 2, 1)  # two networks, so that colours matter
    networks = [network.eval() for network in new_networks(ValueNetwork, game, course, 3)]
    expander, random = Expander(game), np.random.default_rng(1)
    for levels in (1, 2, 3):
        position = Position(game)
        for _ in range(4 + levels % 2):
            position.play(int(random.choice(np.flatnonzero(position.legal()))))
            if position.is_over:
                break
        values = ValueMover(expander, networks, levels).values(position.state[None])
        assert np.isclose(values.max(), minimax(position, levels, networks), atol=1e-5), f"{levels}\n{position}"


def test_two_levels_see_the_other_sides_win_and_one_level_its_own() -> None:
    game, expander = game_of(TICTACTOE), Expander(game_of(TICTACTOE))
    networks = [network.eval() for network in new_networks(ValueNetwork, game, TICTACTOE, 1)]
    threatened = game.from_text("X to play\n 3 O O .\n 2 . X .\n 1 . . X\n   A B C")
    assert ValueMover(expander, networks, 2).choose(threatened[None])[0] == 2
    winning = game.from_text("X to play\n 3 X X .\n 2 O O .\n 1 . . .\n   A B C")
    assert winning[TO_PLAY] == BLACK
    assert ValueMover(expander, networks, 1).choose(winning[None])[0] == 2


def test_many_positions_are_searched_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    expander = Expander(game_of(TICTACTOE))
    networks = [network.eval() for network in new_networks(ValueNetwork, expander.game, TICTACTOE, 1)]
    states, mover = expander.game.new_states(5), ValueMover(expander, networks, 2)
    whole = mover.values(states)
    monkeypatch.setattr(movers, "MOST_CHILDREN", 20)
    assert np.allclose(mover.values(states), whole, atol=1e-6)


class Likes(nn.Module):
    """A policy that wants point 0 most, then point 1, nothing else."""

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        logits = torch.full((len(planes), 9), -30.0)
        logits[:, 0], logits[:, 1] = 3.0, 2.0
        return logits


def test_a_policy_plays_its_best_candidate_or_draws_by_its_probabilities() -> None:
    expander = Expander(game_of(TICTACTOE))
    states = expander.game.new_states(4000)
    assert set(PolicyMover(expander, [Likes()]).choose(states)) == {0}
    drawn = PolicyMover(expander, [Likes()], seed=1).choose(states)
    assert abs((drawn == 0).mean() - 1 / (1 + np.exp(-1))) < 0.03
    position = Position(expander.game)
    position.play(0)
    assert set(PolicyMover(expander, [Likes()]).choose(position.state[None])) == {1}


def test_a_pass_is_played_only_where_nothing_else_is_left() -> None:
    game = game_of(COURSES["simple_go"])
    expander = Expander(game)
    empty = expander.masks(game.new_states(1))[0]
    assert not empty[game.pass_action]
    eyes = game.from_text(
        "X to play\n 5 . X X X .\n 4 X X X X X\n 3 X X X X X\n 2 X X X X X\n 1 X X X X .\n   A B C D E"
    )
    assert np.flatnonzero(expander.masks(eyes[None])[0]).tolist() == [game.pass_action]
