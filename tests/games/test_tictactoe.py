"""Tic-tac-toe, small enough to be played out completely."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from gozero.games import tictactoe
from gozero.games.game import BLACK, NOT_OVER, WHITE
from tests.rows import Row

GAME = tictactoe.make()


class Whole(NamedTuple):
    """What a position leads to: its value for the side to move, and the games from it that Black wins, White wins and
    nobody.
    """

    value: int
    black: int
    white: int
    draws: int


@pytest.fixture(scope="module")
def positions() -> dict[bytes, Whole]:
    """Every position that play reaches, by its stones."""
    found: dict[bytes, Whole] = {}

    def explore(row: Row) -> Whole:
        key = bytes(row.stones())
        if key not in found:
            outcome = GAME.outcome(row.state)
            if outcome == NOT_OVER:
                after = [explore(Row(GAME, row.state).play(action)) for action in row.legal()]
                games = (sum(whole[k] for whole in after) for k in (1, 2, 3))
                found[key] = Whole(-min(whole.value for whole in after), *games)
            else:
                winner = WHITE if row.to_play == BLACK else BLACK
                found[key] = Whole(
                    outcome, *(int(name == (winner if outcome else None)) for name in (BLACK, WHITE, None))
                )
        return found[key]

    explore(Row(GAME))
    return found


def test_there_are_5478_positions(positions: dict[bytes, Whole]) -> None:
    assert len(positions) == 5478


def test_there_are_255168_games_and_perfect_play_draws(positions: dict[bytes, Whole]) -> None:
    assert positions[bytes(9)] == Whole(value=0, black=131184, white=77904, draws=46080)
    assert sum(positions[bytes(9)][1:]) == 255168
