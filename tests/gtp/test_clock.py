"""The clock commands as GTP 2, KGS, KataGo and their clients mean them, and the time that each leaves to a move."""

import math
import re
from functools import partial
from types import SimpleNamespace

import pytest

from gozero.games.colours import BLACK, WHITE
from gozero.play.time_controls import FEWEST_MOVES, LAG, Clock, Fischer, TimeLeft, byoyomi, moves_to_share
from gtp.commands.clock import COMMANDS
from gtp.protocol import Protocol
from tests.gtp.engine import answer_to


def share(seconds: float, moves: int) -> float:
    """The target of one of so many moves, where each later one is expected to use three quarters of its own."""
    return seconds / (1 + 0.75 * (moves - 1))


MAIN = share(600 - 3.5 - 9, 50)


def protocol_of(session: SimpleNamespace) -> Protocol:
    protocol = Protocol("Test", "1.0")
    protocol.register({name: partial(handle, session) for name, handle in COMMANDS.items()})
    return protocol


def clock_after(*lines: str) -> Clock:
    session = SimpleNamespace(clock=Clock())
    protocol = protocol_of(session)
    for line in lines:
        assert answer_to(protocol, line) == "= \n\n", line
    return session.clock


def target(clock: Clock, moves: float = 50, lag: float = LAG) -> float:
    allowance = clock.allowance(BLACK, moves, lag)
    return math.inf if allowance is None else allowance.target


def left(clock: Clock, colour: int = BLACK) -> tuple[float, int]:
    left = clock.left(colour)
    assert left is not None
    return (left.seconds, left.count)


# What the terms and the time left come to


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ([], math.inf),
        (["time_settings 0 1 0"], math.inf),  # GoGui: no limit
        (["time_settings 600 30 0"], math.inf),
        (["time_settings 0 1 0", "time_left b 5 0"], math.inf),
        (["time_settings 0 0 0"], 0.0),  # play at once
        (["time_settings 0 0 5"], 0.0),
        (["time_settings 600 0 0"], MAIN),
        (["time_settings 600 0 25"], MAIN),  # no period: sudden death
        (["time_settings 0 5 1"], 5 - 1 - 0.075),
        (["time_settings 0 300 25"], share(300 - 1 - 4.5, 25)),
        (["time_settings 0 1 1"], 0.5),  # all lag: half of it
        (["time_settings 1.5 2.5 1"], 2.5 - 1 - 0.0375),
        (["time_settings 600 30 5.0"], MAIN),
        (["time_settings 60 30 1"], 30 - 1 - 0.45),  # overtime gives more than a share of the main time
        (["time_settings 600 0 0", "time_left black 100 0"], share(100 - 3.5 - 1.5, 50)),
        (["time_settings 600 0 0", "time_left B -3 0"], 0.0),
        (["time_settings 600 0 0", "time_left w 10 0"], MAIN),
        (["time_settings 600 0 0", "time_left b 10 2"], share(10 - 1 - 0.15, 2)),  # never agreed, no error
        (["time_settings 600 30 5", "time_left b 20 4"], share(20 - 1 - 0.3, 4)),
        (["time_left b 100 0"], share(100 - 3.5 - 1.5, 50)),  # a server that sends no time_settings
        (["time_left w 100 0"], math.inf),
        (["time_settings 10 0 0", "time_left b 3 0", "time_settings 600 0 0"], MAIN),
    ],
)
def test_time_settings_and_time_left(lines: list[str], seconds: float) -> None:
    assert target(clock_after(*lines)) == pytest.approx(seconds)


@pytest.mark.parametrize("command", ["kgs-time_settings", "kata-time_settings"])
@pytest.mark.parametrize(
    ("terms", "time_left", "seconds"),
    [
        ("none", None, math.inf),
        ("none", "b 5 0", math.inf),
        ("absolute 600", None, MAIN),
        ("ABSOLUTE 600.0", "b 100 0", share(100 - 3.5 - 1.5, 50)),
        ("byoyomi 600 5 3", None, MAIN),
        ("byoyomi 600 30 3", None, 30 - 1 - 0.45),
        ("byoyomi 0 30 5", None, 30 - 1 - 0.45),
        ("byoyomi 600 30 5", "b 30 5", 30 - 1 - 0.45),  # periods, not stones: each move may take one whole
        ("byoyomi 600 30 5", "b 30 1", 30 - 1 - 0.45),
        ("byoyomi 600 30 5", "b 12 2", 12 - 1 - 0.18),
        ("byoyomi 600 30 5", "b 0 2", 0.0),
        ("byoyomi 600 30 5", "b 0 0", 30 - 1 - 0.45),  # main time is gone, its first period has not begun
        ("byoyomi 600 30 0", None, MAIN),
        ("byoyomi 600 0 3", None, MAIN),
        ("canadian 600 300 25", None, MAIN),
        ("canadian 0 300 25", None, share(300 - 1 - 4.5, 25)),
        ("canadian 600 300 25", "b 200 20", share(200 - 1 - 3, 20)),
        ("canadian 600 300 25", "b 0 1", 0.0),
        ("canadian 600 30 0", None, math.inf),
        ("canadian 600 0 0", None, MAIN),
    ],
)
def test_kinds_of_kgs(command: str, terms: str, time_left: str | None, seconds: float) -> None:
    lines = [f"{command} {terms}"] + ([] if time_left is None else [f"time_left {time_left}"])
    assert target(clock_after(*lines)) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("terms", "time_left", "seconds"),
    [
        ("fischer 600 10", None, MAIN + 9.95),
        ("fischer 600 10", "b 5 0", 5 - 1 - 0.075),  # the increment comes after the move
        ("fischer 600 10", "b 0.5 0", 0.0),
        ("fischer 600 10", "b 100 1", share(100 - 3.5 - 1.5, 50) + 9.95),  # there is no overtime
        ("fischer 0 10", None, 0.0),
        ("fischer-capped 600 10 -1 -1", None, MAIN + 9.95),  # gtp2ogs: no limits
        ("fischer-capped 600 10 1200 5", None, 5 - 1 - 0.075),
        ("fischer-capped 600 10 1200 0.5", None, 0.25),
        ("fischer-capped 600 10 600 -1", None, MAIN + 9.95),
        ("fischer-capped 600 60 600 -1", None, MAIN + 59.95),
        ("fischer-capped 600 60 500 -1", None, 600 + 60 - 500),  # what the cap would take away
    ],
)
def test_kinds_of_katago(terms: str, time_left: str | None, seconds: float) -> None:
    lines = [f"kata-time_settings {terms}"] + ([] if time_left is None else [f"time_left {time_left}"])
    assert target(clock_after(*lines)) == pytest.approx(seconds)


def test_the_lag_is_the_user_s() -> None:
    assert target(clock_after("time_settings 0 5 1"), lag=0.0) == pytest.approx(5 - 0.075)
    assert target(clock_after("time_settings 0 5 1"), lag=2.0) == pytest.approx(5 - 2 - 0.075)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("time_settings", "expected time_settings MAIN PERIOD STONES"),
        ("time_settings 0 10", "expected time_settings MAIN PERIOD STONES"),
        ("time_settings 0 10 1;", "leave the ';' out"),
        ("time_settings 0 10 1; genmove b", "leave the ';' out"),
        ("time_settings 0;10;1", "leave the ';' out"),
        ("kgs-time_settings byoyomi 0 10 1;", "leave the ';' out"),
        ("time_left b 10 0;", "leave the ';' out"),
        ("time_settings 0 nan 1", "'nan' is not a number"),
        ("time_settings inf 0 0", "'inf' is not a number"),
        ("time_settings 1_0 0 0", "'1_0' is not a number"),
        ("time_settings ٣ 0 0", "'٣' is not a number"),
        ("time_settings -1 0 0", "cannot be negative"),
        ("time_settings 0 10 0.5", "whole number of stones"),
        ("kgs-time_settings", "expected one of none, absolute, byoyomi, canadian"),
        ("kgs-time_settings fischer 10 1", "'fischer' is no kind of time settings"),
        ("kgs-time_settings byoyomi 10", "expected kgs-time_settings byoyomi MAIN PERIOD PERIODS"),
        ("kgs-time_settings none 1", "expected kgs-time_settings none, times"),
        ("kgs-time_settings byoyomi 0 10 1.5", "whole number of periods"),
        ("kata-time_settings sudden 10", "'sudden' is no kind of time settings"),
        (
            "kata-time_settings fischer-capped 10 1",
            "expected kata-time_settings fischer-capped MAIN INCREMENT CAP LONGEST",
        ),
        ("kata-time_settings fischer 10 -1", "cannot be negative"),
        ("time_left b", "expected time_left COLOUR SECONDS STONES"),
        ("time_left green 1 0", "invalid color"),
        ("time_left b x 0", "'x' is not a number"),
    ],
)
def test_errors_leave_the_terms_as_they_were(line: str, error: str) -> None:
    clock = clock_after("time_settings 600 0 0")
    answer = answer_to(protocol_of(SimpleNamespace(clock=clock)), line)
    assert answer is not None
    assert answer.startswith("? ")
    assert error in answer
    assert left(clock) == (600, 0)


# Its own account


def test_canadian_time_runs_from_main_time_through_the_periods() -> None:
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


def test_byoyomi_comes_back_whole_and_loses_the_periods_that_a_move_outlasts() -> None:
    clock = clock_after("kgs-time_settings byoyomi 10 30 3")
    clock.spend(BLACK, 9)
    assert left(clock) == (1, 0)
    clock.spend(BLACK, 21)  # 20 s into the first period
    assert left(clock) == (30, 3)
    clock.spend(BLACK, 35)
    assert left(clock) == (30, 2)
    clock.spend(BLACK, 1000)  # lost on time
    assert left(clock) == (30, 1)
    control = byoyomi(0, 5e-324, 7)  # a period that no float can count
    assert control.after(control.full(), 1.0).count == 1


def test_fischer_earns_its_increment_up_to_the_cap() -> None:
    clock = clock_after("kata-time_settings fischer-capped 10 5 12 -1")
    clock.spend(BLACK, 6)
    assert left(clock) == (9, 0)
    clock.spend(BLACK, 1)
    assert left(clock) == (12, 0)
    clock.spend(BLACK, 100)
    assert left(clock) == (5, 0)


def test_time_without_terms_is_main_time() -> None:
    clock = clock_after("time_left b 10 0")
    clock.spend(BLACK, 4)
    assert left(clock) == (6, 0)


def test_reset_fills_the_clocks_and_keeps_the_terms() -> None:
    clock = clock_after("time_settings 10 0 0", "time_left b 3 0")
    clock.reset()
    assert left(clock) == (10, 0)


# Laws


CLOCKS = {
    "absolute": "time_settings 60 0 0",
    "long": "time_settings 1800 0 0",
    "canadian": "time_settings 5 20 3",
    "many stones": "kgs-time_settings canadian 10 60 25",
    "byoyomi": "kgs-time_settings byoyomi 10 5 3",
    "short byoyomi": "kgs-time_settings byoyomi 0 0.5 3",
    "fischer": "kata-time_settings fischer 20 3",
    "fischer-capped": "kata-time_settings fischer-capped 20 3 30 5",
    "a second a move": "time_settings 0 1 1",
}


@pytest.mark.parametrize("line", CLOCKS.values(), ids=CLOCKS)
@pytest.mark.parametrize("eager", [False, True], ids=["target", "most"])
@pytest.mark.parametrize("points", [81, 361])
def test_nobody_loses_on_time(line: str, eager: bool, points: int) -> None:
    """In a game three times as long as usual, with every move as long as it may be: the lag stays on the clock, or half
    of a short one.
    """
    clock = clock_after(line)
    for ply in range(0, 3 * points, 2):
        seconds, count = left(clock)
        allowance = clock.allowance(BLACK, moves_to_share(points, ply), LAG)
        assert allowance is not None
        assert 0 <= allowance.target <= allowance.most
        taken = allowance.most if eager else allowance.target
        loses_at_zero = count > 0 or "0 0" in line or "fischer" in line
        if loses_at_zero:
            assert seconds - taken >= min(1.0, seconds / 2), f"ply {ply}: {taken} of {seconds} s"
        clock.spend(BLACK, taken)
        if "byoyomi" in line and count:
            assert left(clock)[1] == count


@pytest.mark.parametrize(
    ("line", "increment", "cost"),
    [("time_settings 60 0 0", 0.0, 0.07), ("kata-time_settings fischer 60 0.1", 0.1, 0.15)],
)
def test_what_moves_cost_beside_their_thinking_loses_no_game(line: str, increment: float, cost: float) -> None:
    """The server reports whole seconds, and charges more than the engine took; so little is left that all moves are
    played at once in the end.
    """
    clock, seconds = clock_after(line), 60.0
    for ply in range(0, 224, 2):
        clock.set_left(BLACK, TimeLeft(int(seconds)))
        seconds -= target(clock, moves_to_share(169, ply)) + cost
        assert seconds > 0, f"ply {ply}"
        seconds += increment


def test_a_hard_choice_takes_longer_and_leaves_the_other_moves_a_third_of_that() -> None:
    absolute = clock_after("time_settings 600 0 0").allowance(BLACK, 50, LAG)
    assert absolute is not None
    assert absolute.most == pytest.approx(587.5 * 3 / 52)
    assert (587.5 - absolute.most) / 49 == pytest.approx(absolute.most / 3)
    a_move = clock_after("time_settings 0 5 1").allowance(BLACK, 50, LAG)
    assert a_move is not None
    assert a_move.most == a_move.target


def test_the_middle_of_the_game_gets_the_most() -> None:
    opening, middle, end = (1 / moves_to_share(169, ply) for ply in (0, 30, 120))
    assert middle > 1.5 * opening
    shares = []
    seconds = 600.0
    for ply in range(0, 150, 2):
        shares.append(seconds / moves_to_share(169, ply))
        seconds -= shares[-1]
    assert shares[15] == pytest.approx(shares[30])
    assert shares[0] == pytest.approx(0.6 * shares[15])
    assert shares[60] < 0.61 * shares[15]
    assert moves_to_share(169, 1000) == moves_to_share(9, 0) == FEWEST_MOVES
    assert end > 0


def test_a_limit_of_a_move_and_a_cap_do_not_depend_on_each_other() -> None:
    allowance = Fischer(600, 10, cap=500, longest=20).allowance(Fischer(600, 10).full(), 50, 1.0)
    assert allowance.target == allowance.most == pytest.approx(20 - 1 - 0.3)


@pytest.mark.parametrize("command", ["cputime", "gomill-cpu_time"])
def test_processor_time_is_a_float_that_grows(command: str) -> None:
    protocol = protocol_of(SimpleNamespace(clock=Clock()))
    answers = []
    for _ in range(2):
        answer = answer_to(protocol, command)
        assert answer is not None
        assert re.fullmatch(r"= \d+\.\d+\n\n", answer)
        answers.append(float(answer[2:]))
        sum(number * number for number in range(200_000))
    assert 0 < answers[0] < answers[1]
