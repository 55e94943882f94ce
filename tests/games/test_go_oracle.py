"""Random games in which the Go kernels and the slow referee of `tests.naive.go` must agree at every move."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gozero.games.game import NOT_OVER
from gozero.games.go import go
from gozero.nets import features
from tests.naive.go import BLACK, RULES, NaiveGo, other
from tests.rows import Row, grid

PASS_RATE = 0.02


class Pair:
    """The same game in the kernels and in the slow referee."""

    def __init__(self, size: int, rules: str, komi: float, handicap: int) -> None:
        self.row = Row(go.make(size, rules, komi, handicap), plies=4 * size * size + 200)
        self.naive = NaiveGo(size, rules=rules, komi=komi, handicap=handicap)

    def play(self, action: int) -> None:
        self.row.play(action)
        self.naive.play(action)

    def sides(self, points: list[int]) -> list[int]:
        """Owners as the kernels write them: +1 the side to move, -1 the other."""
        return [0 if not owner else 1 if owner == self.naive.to_play else -1 for owner in points]

    def same(self, name: str, ours: object, expected: object) -> None:
        assert ours == expected, f"{name}: kernels {ours}, referee {expected}\n{self.naive}"

    def same_points(self, name: str, ours: list[int], expected: list[int]) -> None:
        size = self.naive.rows
        assert ours == expected, f"{name}: kernels\n{grid(ours, size)}\nreferee\n{grid(expected, size)}\n{self.naive}"

    def check_moves(self) -> set[int]:
        """Legal moves, captures and the side to move agree; returns the legal moves."""
        self.same("to play", self.row.to_play, self.naive.to_play)
        self.same("stones", self.row.stones(), self.naive.board)
        if self.naive.over():
            return set()
        legal = self.row.legal()
        expected = self.naive.legal()
        self.same("legal moves (only here)", (legal - expected, expected - legal), (set(), set()))
        return legal

    def check_counting(self) -> None:
        """Outcome, area, score, pass-alive areas and settled scores agree."""
        naive, state, sign = self.naive, self.row.state, 1 if self.naive.to_play == BLACK else -1
        self.same_points("area", self.row.points(go.owner), self.sides(naive.area()))
        self.same("score", go.score(state), pytest.approx(sign * naive.score()))
        result = sign * np.sign(naive.score()) if naive.over() else NOT_OVER
        self.same("outcome", go.outcome(state), result)
        alive = [0] * naive.points
        for colour in (naive.to_play, other(naive.to_play)):
            for point in naive.pass_alive(colour):
                alive[point] = 1 if colour == naive.to_play else -1
        self.same_points("pass-alive", self.row.points(go.pass_alive), alive)
        settled = naive.settled_area()
        self.same_points("settled area", self.row.points(go.settled_owner), self.sides(settled))
        self.same("settled score", go.settled_score(state), pytest.approx(sign * naive.score(settled)))

    def check_features(self) -> None:
        planes, numbers = features.encode(self.row.game, self.row.state[None])
        expected_planes, expected_numbers = self.naive.features()
        for plane, expected in zip(
            planes[0].reshape(features.PLANES, -1).astype(int).tolist(), expected_planes, strict=True
        ):
            self.same_points("feature plane", plane, expected)
        self.same("globals", numbers[0].tolist(), pytest.approx(expected_numbers))


class Mover:
    """Random moves: any legal move in three games of four, so that captures and repetitions abound; else none that
    fills an own eye.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.generator = np.array([seed], np.uint64)
        self.keeps_eyes = seed % 4 == 0

    def choose(self, row: Row, legal: set[int]) -> int:
        if self.keeps_eyes:
            return int(row.game.sample(row.state, row.history, self.generator))
        points = sorted(legal - {row.game.pass_action})
        return self.rng.choice(points) if points and self.rng.random() >= PASS_RATE else row.game.pass_action


def play_random_game(size: int, seed: int, *, counting_every: int, plies: int | None = None) -> None:
    """A random game, held against the referee at every move, and at some in all that can be counted."""
    mover = Mover(seed)
    komi, handicap = mover.rng.choice([0, 0.5, 5.5, 7, 7.5, -3.25]), mover.rng.choice([0, 0, 1, 2, 5])
    pair = Pair(size, mover.rng.choice(list(RULES)), komi, handicap)
    for ply in range(4 * size * size if plies is None else plies):
        legal = pair.check_moves()
        if ply % counting_every == 0 or not legal:
            pair.check_counting()
            pair.check_features()
        if not legal:
            break
        action = mover.choose(pair.row, legal)
        assert action in legal, f"{action} was chosen but is not legal\n{pair.naive}"
        pair.play(action)


@pytest.mark.parametrize(
    ("size", "games", "counting_every"), [(2, 60, 1), (3, 60, 1), (5, 60, 1), (9, 20, 5), (13, 5, 20), (19, 2, 60)]
)
def test_random_games_agree_with_the_slow_referee(size: int, games: int, counting_every: int) -> None:
    for seed in range(games):
        play_random_game(size, seed, counting_every=counting_every)


@pytest.mark.parametrize("size", range(2, 20))
def test_every_size_begins_alike(size: int) -> None:
    play_random_game(size, 3, counting_every=13, plies=40)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("size", "games", "counting_every"), [(5, 6500, 3), (9, 2800, 10), (13, 560, 50), (19, 140, 100)]
)
def test_ten_thousand_random_games_agree_with_the_slow_referee(size: int, games: int, counting_every: int) -> None:
    for seed in range(1000, 1000 + games):
        play_random_game(size, seed, counting_every=counting_every)
