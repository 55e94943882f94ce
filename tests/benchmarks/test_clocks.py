"""The referee of the benchmark of clocks, and a game under it; the measurement itself takes hours."""

import numpy as np
import pytest

from benchmarks.clocks import CLOCKS, Referee, Tally, main, play
from gtp.settings import GtpSettings
from gtp.time_controls import Absolute, Byoyomi, Canadian, Fischer, TimeControl
from tests.gtp.engine import Engine


@pytest.mark.parametrize(
    ("control", "spent", "flags", "overruns", "reserves"),
    [
        (Absolute(10), [4, 5], 0, 0, [6, 1]),
        (Absolute(10), [4, 7], 1, 0, [6, -1]),
        (Canadian(1, 10, 2), [0.5, 5.5, 4, 9], 0, 0, [5, 1, 1]),  # the first is in main time; the third ends the period
        (Canadian(3, 5, 5), [60], 1, 0, [-52]),
        (Canadian(0, 10, 2), [6, 5], 1, 0, [4, -1]),
        (Byoyomi(1, 5, 2), [3, 5, 6, 4], 0, 1, [3, 0, -1, 1]),
        (Byoyomi(2, 0.5, 3), [3.25], 0, 1, [-0.75]),  # through the first of its periods, and the second
        (Byoyomi(2, 0.5, 3), [30], 1, 1, [-27.5]),
        (Byoyomi(0, 1, 5), [100], 1, 1, [-99]),
        (Byoyomi(0, 5, 1), [6], 1, 1, [-1]),
        (Fischer(5, 2), [5, 1, 3], 0, 0, [0, 1, 0]),
        (Fischer(5, 2), [5, 3], 1, 0, [0, -1]),
        (Fischer(5, 2, 6, 1), [1, 1.5], 1, 0, [0, -0.5]),  # longer than a move may be
    ],
)
def test_flags_overruns_and_reserves(
    control: TimeControl, spent: list[float], flags: int, overruns: int, reserves: list[float]
) -> None:
    tally = Tally()
    referee = Referee(control, tally)
    assert [referee.has_time("b", seconds) for seconds in spent] == [True] * (len(spent) - flags) + [False] * flags
    assert (tally.flags, tally.overruns) == (flags, overruns)
    assert tally.reserves == pytest.approx(reserves)
    assert referee.left("w") == control.full()


@pytest.mark.parametrize("option", ["--plies", "--burners"])
def test_fewer_than_none_are_one_line(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([option, "-1"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert f"argument {option}: '-1' is no whole number" in told and told.count("\n") == 1


@pytest.mark.parametrize("opponent", [None, np.random.default_rng(0)], ids=["self", "random"])
def test_the_engine_is_told_the_terms_that_the_referee_holds(opponent: np.random.Generator | None) -> None:
    engine = Engine(GtpSettings(visits=2, size=5))
    for terms, control in CLOCKS.items():
        tally = Tally()
        play(engine.protocol, terms, Referee(control, tally), opponent, plies=4, tell=True)
        assert len(tally.spent) == (4 if opponent is None else 2)
        assert tally.flags == 0
        engine.session.clock.reset()
        left = engine.session.clock.left(1)
        assert left == control.full()
