"""What random playouts and readings say of life and death, alone and against a network that believes otherwise."""

import math
import time

import numpy as np
import pytest

from gozero.games import coords
from gozero.games.go import go
from gozero.play.searcher import never
from gozero.scoring import life_and_death
from gozero.scoring.settlement import Chain, Settlement, as_it_stands, chains_of, settle, touches
from tests import settled_boards as boards

# the string that is lost, and Black's points above White's
LOST = {"ONE_EYE": ("B12", 23), "LARGE_AND_LOST": ("K7", -169)}


def chain_at(board: np.ndarray, vertex: str) -> Chain:
    point = coords.parse_vertex(vertex, len(board))
    return next(chain for chain in chains_of(board) if point in chain)


def agreed(diagram: str, *stated: str) -> Settlement:
    board = boards.board_of(diagram)
    searched = [boards.owners_of(text) for text in stated * 2]
    return settle(board, life_and_death.agree(go.make(len(board)), board, searched, math.inf, never))


@pytest.mark.parametrize("name", LOST)
def test_playouts_and_readings_find_a_large_string_lost(name: str) -> None:
    board = boards.board_of(getattr(boards, name))
    game, chain = go.make(len(board)), chain_at(board, LOST[name][0])
    fate = life_and_death.run_playouts(game, board)[1][:, chain[0]]
    assert (fate <= -0.6).all(), fate
    reading = life_and_death.read(game, board, chain, math.inf, never)
    assert reading is not None
    assert max(reading) <= -0.6, reading


@pytest.mark.parametrize("name", LOST)
def test_a_network_that_believes_a_lost_string_alive_is_overruled(name: str) -> None:
    diagram = getattr(boards, name)
    found = agreed(diagram, boards.as_stones_stand(diagram))
    assert chain_at(found.board, LOST[name][0]) in found.dead
    assert found.area == LOST[name][1] != as_it_stands(found.board).area


def test_without_a_network_the_playouts_are_asked_alone() -> None:
    assert agreed(boards.ONE_EYE).area == LOST["ONE_EYE"][1]


def test_a_network_that_believes_a_living_string_dead_is_overruled() -> None:
    """Black has two eyes in its upper left, but for White's dead stones in them."""
    stated = boards.as_stones_stand(boards.ONE_EYE).replace("x", "o")
    found = agreed(boards.ONE_EYE, stated)
    assert chain_at(found.board, "E13") in found.alive


@pytest.mark.parametrize("name", ["SEKI_WITHOUT_EYES", "SEKI_WITH_EYES"])
def test_the_shape_of_a_seki_is_believed_against_every_witness(name: str) -> None:
    diagram = getattr(boards, name)
    for stated in ("x", "o"):
        size = len(boards.board_of(diagram))
        assert not agreed(diagram, "\n".join([stated * size] * size)).dead


def test_who_lives_by_a_double_ko_is_left_in_doubt() -> None:
    """Playouts find Black dead; the network knows that it has one of two kos."""
    found = agreed(boards.DOUBLE_KO, boards.ALIVE_BY_KO)
    assert not found.dead
    assert not found.is_complete


def test_an_unclear_reading_is_good_enough_where_a_witness_is_sure_and_none_differs() -> None:
    assert (life_and_death._judged((-0.1, -0.6), [[-0.4, -0.4], [-0.7, -0.6]]) == -1).all()
    assert (life_and_death._judged((-0.1, -0.6), [[0.1, -0.4], [-0.7, -0.6]]) > -0.6).all()
    assert (life_and_death._judged((-0.1, -0.6), [[-0.4, -0.4], [-0.5, -0.5]]) > -0.6).all()
    assert (life_and_death._judged(None, [[-1.0, -1.0], [-0.7, -0.6]]) > -0.6).all()


def test_the_same_board_gives_the_same_answers() -> None:
    board = boards.board_of(boards.ONE_EYE)
    one, other = (life_and_death.run_playouts(go.make(13), board, 20) for _ in range(2))
    assert all((first == second).all() for first, second in zip(one, other, strict=True))


def test_a_string_that_is_recaptured_with_its_captors_lives() -> None:
    """Black's B9 is captured in most playouts, by stones that are captured themselves."""
    board = boards.board_of(boards.ONE_EYE)
    point = coords.parse_vertex("B9", 13)
    assert (life_and_death.run_playouts(go.make(13), board)[1][:, point] > 0.6).all()


def test_a_reading_without_time_says_nothing() -> None:
    board = boards.board_of(boards.ONE_EYE)
    chain = chain_at(board, "B12")
    assert life_and_death.read(go.make(13), board, chain, time.monotonic(), never) is None
    assert life_and_death.read(go.make(13), board, chain, math.inf, lambda: True) is None


def random_board(seed: int) -> np.ndarray:
    """A game of random moves to its end, with a few moves taken back."""
    game, generator = go.make(9), np.array([seed], np.uint64)
    state, history = game.new_states(1)[0], game.new_histories(1, 600)[0]
    plies = 40 + 10 * (seed % 9)
    while state[1] < plies and state[go.PASSES] < 2:
        game.step(state, history, game.sample(state, history, generator))
    return game.board(state)


@pytest.mark.parametrize("seed", range(12))
def test_statuses_and_score_tell_one_story(seed: int) -> None:
    """No string is alive where every liberty is the other side's, and none dead where its points are its own; whatever
    is expected.
    """
    board = random_board(seed)
    expected = np.random.default_rng(seed).uniform(-1, 1, (2, board.size)).astype(np.float32)
    found_by_playouts, _ = life_and_death.run_playouts(go.make(9), board, 50)
    for owners in ([*expected], [*found_by_playouts]):
        found = settle(board, owners)
        stones = board.reshape(-1)
        for chain in found.alive + found.seki:
            owners_around = {int(found.owner[point]) for point in _room(board, found, chain)}
            assert owners_around != {3 - int(stones[chain[0]])}, f"{board}\n{found.owner.reshape(board.shape)}\n{chain}"
            assert (found.owner[chain] == stones[chain[0]]).all()
        for chain in found.dead:
            assert (found.owner[chain] == 3 - stones[chain[0]]).all()
        kept = [int(stones[point]) for chain in found.alive + found.seki for point in chain]
        black, white = (len(found.territory(colour)) + kept.count(colour) for colour in (1, 2))
        assert black - white == found.area


def _room(board: np.ndarray, found: Settlement, chain: Chain) -> list[int]:
    """The points beside a string that are empty once the dead are taken off."""
    dead, mask = found.dead_of(1) + found.dead_of(2), np.zeros(board.shape, np.bool_)
    mask.reshape(-1)[chain] = True
    return [point for point in np.flatnonzero(touches(mask) & ~mask) if point in dead or board.reshape(-1)[point] == 0]
