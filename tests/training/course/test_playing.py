"""Games between movers: the course's randomness, who won, and the rows that come of them."""

import numpy as np
import pytest

from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.games.position import Position
from training.course.boards import COURSES, game_of
from training.course.expansion import Expander
from training.course.networks import TIE
from training.course.playing import Played, batches, mixed, play, score_of, scores, shares
from training.elo import MatchScore


class First:
    """Plays the first candidate."""

    def __init__(self, expander: Expander) -> None:
        self._expander = expander

    def choose(self, states: np.ndarray) -> np.ndarray:
        return self._expander.masks(states).argmax(axis=1)


def games(name: str, count: int, randomness: float = 1.0) -> tuple[Expander, Played]:
    expander = Expander(game_of(COURSES[name]))
    mover = First(expander)
    return expander, play(expander, (mover, mover), np.full((2, count), randomness), 3)


@pytest.mark.parametrize("name", COURSES)
def test_games_are_legal_and_their_winners_are_the_referees(name: str) -> None:
    expander, played = games(name, 20)
    for b in range(20):
        position = Position(expander.game)
        for ply in np.flatnonzero(played.actions[:, b] >= 0):
            assert np.array_equal(played.boards[ply, b], expander.game.board(position.state).reshape(-1))
            assert played.colours[ply, b] == position.to_play
            position.play(int(played.actions[ply, b]))
        assert position.is_over
        winner = {1: position.to_play, 0: TIE, -1: BLACK + WHITE - position.to_play}[position.outcome()]
        assert played.winners[b] == winner, str(position)


def test_mixed_randomness_is_half_probabilities_and_half_numbers_of_first_moves() -> None:
    drawn = mixed(game_of(COURSES["simple_go"]), 20_000, np.random.default_rng(1))
    probabilities, first_moves = drawn[drawn >= 0], -drawn[drawn < 0]
    assert abs(len(probabilities) / 20_000 - 0.5) < 0.02
    assert abs(probabilities.mean() - 0.5) < 0.02 and probabilities.max() <= 1
    assert sorted(set(first_moves)) == list(range(1, 13)), "1 to half of 25 points"
    counts = np.bincount(first_moves.astype(int))[1:]
    assert counts.min() > 0.8 * counts.mean()


def test_the_first_moves_of_each_player_are_random_and_no_others() -> None:
    expander = Expander(game_of(COURSES["gomoku"]))
    mover = First(expander)
    played = play(expander, (mover, mover), np.array([[-2.0], [-3.0]]), 1)
    assert played.chosen[:10, 0].tolist() == [False, False, False, False, True, False, True, True, True, True]


def test_a_probability_makes_that_share_of_the_moves_random() -> None:
    _, played = games("gomoku", 200, 0.25)
    moved = played.colours > 0
    assert abs(1 - played.chosen[moved].mean() - 0.25) < 0.02


def test_value_rows_are_the_positions_after_a_colours_moves_with_the_winner() -> None:
    _, played = games("tictactoe", 300)
    boards, _ = played.value_rows(BLACK)
    stones = (boards == BLACK).sum(axis=1) - (boards == WHITE).sum(axis=1)
    assert set(stones) == {1}, "Black has just moved"
    assert len(boards) + len(played.value_rows(WHITE)[0]) == len(played.value_rows(EMPTY)[0])
    first = played.value_rows(BLACK)[1][:300]
    assert np.array_equal(first, played.winners), "the first move of each game comes first"


def test_policy_rows_are_the_winners_moves_from_the_positions_before_them() -> None:
    _, played = games("tictactoe", 300)
    boards, points = played.policy_rows(WHITE)
    after = np.where(np.arange(9) == points[:, None], WHITE, boards)
    assert {board.tobytes() for board in after} <= {board.tobytes() for board in played.boards.reshape(-1, 9)}
    assert len(boards) and all(board[point] == EMPTY for board, point in zip(boards, points, strict=True))
    assert set((boards == BLACK).sum(axis=1) - (boards == WHITE).sum(axis=1)) == {1}, "White is to move"
    moves = ((played.colours == WHITE) & (played.winners == WHITE)).sum()
    assert len(boards) == moves
    assert len(played.policy_rows(WHITE, chosen=True)[0]) == 0, "all moves were random"


def test_scores_count_from_the_players_side() -> None:
    assert score_of(np.array([BLACK, BLACK, WHITE, TIE], np.uint8), WHITE) == MatchScore(1, 2, 1)
    assert shares(MatchScore(9892, 0, 108)) == "win= 0.9892   lose= 0.0      tie= 0.0108"


def test_matches_are_repeatable_and_play_the_games_that_were_asked_for() -> None:
    expander = Expander(game_of(COURSES["tictactoe"]))
    first, again, plain = (scores(expander, First(expander), First(expander), 150, 5, openings) for openings in (2, 2, 0))
    assert first == again != plain and first["black"].games == first["white"].games == 150
    by_chance = scores(expander, First(expander), None, 150, 5)
    assert by_chance["white"].games == 150 and by_chance["white"] != first["white"]
    assert [count for count, _ in batches(2500, 1)] == [1000, 1000, 500]
