"""GNU Go as opponent and as scoring referee: a whole game of two processes with the shipped weights, and what each says
of its end.
"""

import itertools
import sys

import pytest

from gtp.client import GtpEngine

pytestmark = pytest.mark.gnugo

MOST_MOVES = 250
# games whose end both count alike, as 99 of 100 are (`benchmarks.scoring`): with 16 visits ours may leave a group half
# dead
SEED = "2"


def test_a_game_ends_by_two_passes_and_both_name_the_winner() -> None:
    with (
        GtpEngine([sys.executable, "-m", "gtp", "--visits", "16", "--no-resign", "--seed", SEED]) as gozero,
        GtpEngine("gnugo --mode gtp --level 1 --seed 1 --chinese-rules --positional-superko") as gnugo,
    ):
        for engine, command in itertools.product((gozero, gnugo), ("boardsize 9", "clear_board", "komi 7.5")):
            engine.send(command)
        moves: list[str] = []
        for colour in itertools.cycle(("black", "white")):
            mover, other = (gnugo, gozero) if colour == "black" else (gozero, gnugo)
            moves.append(mover.send(f"genmove {colour}").lower())
            other.send(f"play {colour} {moves[-1]}")
            if moves[-2:] == ["pass", "pass"] or len(moves) == MOST_MOVES:
                break
        scores = [engine.send("final_score") for engine in (gozero, gnugo)]
        board = gnugo.send("showboard")
    assert "resign" not in moves
    assert moves[-2:] == ["pass", "pass"], board
    assert scores[0][:2] == scores[1][:2], f"{scores}\n{board}"
