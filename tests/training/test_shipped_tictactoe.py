"""The shipped tic-tac-toe weights against every game that an opponent can play."""

from __future__ import annotations

import numpy as np
import pytest

from gozero import games
from gozero.games.game import BLACK, WHITE
from gozero.games.position import Position
from tests import ROOT
from training.matches.players import Conditions, Turn, open_player

WEIGHTS = ROOT / "weights"
KINDS = ("ttt", "ttt-mlp", "ttt-vgg", "ttt-se")  # a ResNet, and the three of the course that this game comes from
VISITS = 50


def replies(position: Position) -> list[Position]:
    """The positions after each legal move."""
    found = []
    for action in np.flatnonzero(position.legal()).tolist():
        after = position.copy()
        after.play(action)
        found.append(after)
    return found


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize("name", KINDS)
def test_it_loses_no_game_whatever_the_opponent_plays(name: str, colour: int) -> None:
    """All positions of one ply are searched together; the engine's move is one, the opponent's are all."""
    conditions = Conditions(games.make("tictactoe"), komi=0.0, parallel=1000, threads=1)
    engine = open_player(f"weights:{WEIGHTS / name}.pt:{VISITS}", conditions)
    level, ends = [Position(conditions.game)], 0
    while level:
        if level[0].to_play == colour:
            for slot, (position, action) in enumerate(
                zip(level, engine.choose([Turn(*item) for item in enumerate(level)]), strict=True)
            ):
                assert isinstance(action, int)
                position.play(action)
                level[slot] = position
            following = level
        else:
            following = [after for position in level for after in replies(position)]
        lost = [
            position
            for position in following
            if position.is_over and position.to_play == colour and position.outcome() < 0
        ]
        assert not lost, str(lost[0])
        ends += sum(position.is_over for position in following)
        level = list({position.state.tobytes(): position for position in following if not position.is_over}.values())
    assert ends > 10
