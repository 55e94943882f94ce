"""time_settings and time_left as GTP 2 and its clients mean them."""

import math

import pytest

from gtp.clock import Clock, commands, expected_moves_left
from gtp.protocol import Protocol
from tests.gtp.engine import answer_to

BLACK, WHITE = 1, 2


def clock_after(*lines: str) -> Clock:
    clock = Clock()
    protocol = Protocol("Test", "1.0")
    protocol.register(commands(clock))
    for line in lines:
        assert answer_to(protocol, line) == "= \n\n", line
    return clock


@pytest.mark.parametrize(
    ("lines", "budget"),
    [
        ([], math.inf),
        (["time_settings 0 1 0"], math.inf),  # GoGui: no limit
        (["time_settings 600 30 0"], math.inf),
        (["time_settings 0 1 0", "time_left b 5 0"], math.inf),
        (["time_settings 0 0 0"], 0.0),  # play at once
        (["time_settings 0 0 5"], 0.0),
        (["time_settings 600 0 0"], (600 - 1 - 9) / 50),
        (["time_settings 600 0 25"], (600 - 1 - 9) / 50),  # no period: sudden death
        (["time_settings 0 5 1"], 5 - 1 - 0.075),
        (["time_settings 0 300 25"], (300 - 1 - 4.5) / 25),
        (["time_settings 0 1 1"], 0.5),  # all margin: half of it
        (["time_settings 1.5 2.5 1"], 2.5 - 1 - 0.0375),
        (["time_settings 600 30 5"], (600 - 1 - 9) / 50),
        (["time_settings 60 30 1"], 30 - 1 - 0.45),  # overtime gives more than a share of the main time
        (["time_settings 600 0 0", "time_left black 100 0"], (100 - 1 - 1.5) / 50),
        (["time_settings 600 0 0", "time_left B -3 0"], 0.0),
        (["time_settings 600 0 0", "time_left w 10 0"], (600 - 1 - 9) / 50),
        (["time_settings 600 0 0", "time_left b 10 2"], (10 - 1 - 0.15) / 2),  # never agreed, no error
        (["time_settings 600 30 5", "time_left b 20 4"], (20 - 1 - 0.3) / 4),
        (["time_left b 100 0"], (100 - 1 - 1.5) / 50),  # a server that sends no time_settings
        (["time_settings 10 0 0", "time_left b 3 0", "time_settings 600 0 0"], (600 - 1 - 9) / 50),
    ],
)
def test_budget(lines: list[str], budget: float) -> None:
    assert clock_after(*lines).budget(BLACK, 50) == pytest.approx(budget)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("time_settings", "expected time_settings MAIN PERIOD STONES"),
        ("time_settings 0 10", "expected time_settings MAIN PERIOD STONES"),
        ("time_settings 0 10 1;", "'1;' is not a number"),
        ("time_settings 0 nan 1", "'nan' is not a number"),
        ("time_settings inf 0 0", "'inf' is not a number"),
        ("time_settings -1 0 0", "cannot be negative"),
        ("time_settings 0 10 0.5", "whole number"),
        ("time_left b", "expected time_left COLOUR SECONDS STONES"),
        ("time_left green 1 0", "invalid color"),
        ("time_left b x 0", "'x' is not a number"),
    ],
)
def test_errors(line: str, error: str) -> None:
    protocol = Protocol("Test", "1.0")
    protocol.register(commands(Clock()))
    answer = answer_to(protocol, line)
    assert answer is not None
    assert answer.startswith("? ")
    assert error in answer


def left(clock: Clock, colour: int = BLACK) -> tuple[float, int]:
    left = clock.left(colour)
    assert left is not None
    return (left.seconds, left.stones)


def test_its_own_account_runs_from_main_time_through_the_periods() -> None:
    clock = clock_after("time_settings 10 30 2")
    clock.spend(BLACK, 4)
    assert left(clock) == (6, 0)
    clock.spend(BLACK, 8)  # 2 s into the first period, one stone played there
    assert left(clock) == (28, 1)
    clock.spend(BLACK, 5)
    assert left(clock) == (30, 2)
    clock.spend(BLACK, 45)  # lost on time; should the controller go on, so does the clock
    assert left(clock) == (30, 2)
    assert left(clock, WHITE) == (10, 0)


def test_reset_fills_the_clocks_and_keeps_the_terms() -> None:
    clock = clock_after("time_settings 10 0 0", "time_left b 3 0")
    clock.reset()
    assert left(clock) == (10, 0)


@pytest.mark.parametrize(("main", "points"), [(60, 169), (300, 361), (30, 81)])
def test_absolute_time_lasts_for_a_long_game(main: int, points: int) -> None:
    clock = clock_after(f"time_settings {main} 0 0")
    for ply in range(0, 3 * points, 2):
        clock.spend(BLACK, clock.budget(BLACK, expected_moves_left(points, ply)))
    assert left(clock)[0] >= 1.0


def test_overtime_is_never_exceeded() -> None:
    clock = clock_after("time_settings 5 20 3")
    for _ in range(3):
        clock.spend(BLACK, clock.budget(BLACK, 50))
    for _ in range(40):
        seconds, stones = left(clock)
        assert stones > 0
        budget = clock.budget(BLACK, 50)
        assert budget * stones <= seconds - 1
        clock.spend(BLACK, budget)
