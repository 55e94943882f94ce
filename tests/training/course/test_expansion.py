"""All moves of many positions at once, held against `Position`, one move after the other."""

import numpy as np
import pytest

from gozero.games.game import NOT_OVER
from gozero.games.go.chains import HEADER
from gozero.games.go.header import FILTER
from gozero.games.position import Position
from training.course.boards import COURSES, game_of
from training.course.expansion import Expander


def random_positions(name: str, count: int, seed: int) -> list[Position]:
    """Positions at all stages of random games, none of them over."""
    expander, random = Expander(game_of(COURSES[name])), np.random.default_rng(seed)
    generator, found = np.array([seed], np.uint64), []
    while len(found) < count:
        position = Position(expander.game)
        for _ in range(random.integers(expander.game.points)):
            action = int(expander.random_actions(position.state[None], generator)[0])
            position.play(action)
            if position.is_over:
                break
        if not position.is_over:
            found.append(position)
    return found


@pytest.mark.parametrize("name", COURSES)
def test_the_candidates_are_the_moves_that_random_play_can_choose(name: str) -> None:
    positions = random_positions(name, 10, 1)
    expander, generator = Expander(positions[0].game), np.array([1], np.uint64)
    for position in positions:
        drawn = expander.random_actions(np.tile(position.state, (3000, 1)), generator)
        mask = expander.masks(position.state[None])[0]
        assert set(drawn.tolist()) == set(np.flatnonzero(mask).tolist()), str(position)


@pytest.mark.parametrize("name", COURSES)
def test_children_are_the_positions_after_each_candidate(name: str) -> None:
    positions = random_positions(name, 12, 2)
    expander, states = Expander(positions[0].game), np.stack([position.state for position in positions])
    masks, seen = expander.masks(states), np.zeros_like(expander.masks(states))
    children = expander.children(states)
    for k, parent in enumerate(children.parents):
        position = positions[parent].copy()
        position.play(int(children.actions[k]))
        seen[parent, children.actions[k]] = True
        assert np.array_equal(children.boards[k], position.game.board(position.state).reshape(-1))
        differs = children.states[k] != position.state
        if name in ("simple_go", "course_go"):  # what superko would need is not kept: the game has none
            differs[FILTER:HEADER] = False
        assert not differs.any()
        assert np.isnan(children.results[k]) == (position.outcome() == NOT_OVER)
        if position.is_over:
            same = position.to_play == positions[parent].to_play
            assert children.results[k] == position.outcome() * (1 if same else -1)
    assert np.array_equal(seen, masks)
