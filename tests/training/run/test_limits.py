"""When a run ends, and what it says then."""

import shlex
from types import SimpleNamespace

import pytest

from training.commands import train
from training.run import run
from training.run.run import RunLimits
from training.settings import presets
from training.storage.checkpoint import Progress


@pytest.mark.parametrize(
    ("overrides", "progress", "advice"),
    [
        (["hours=3", "games=9"], Progress(hours=43.1), "hours = 3; the same command with a higher one, such as --hours 87,"),
        (["generations=2"], Progress(generation=3), "generations = 2; the same command with a higher one, such as --set generations=4,"),
        (["generations=1"], Progress(generation=4), "such as --set generations=6,"),
        (["evaluations=1"], Progress(evaluations=18_001), "such as --set evaluations=36002,"),
        (["hours=1e-320"], Progress(hours=1.5), "such as --hours 3,"),
        (["hours=0.001", "games=5"], Progress(hours=0.002, games=7),
         "hours = 0.001 and games = 5; the same command with a higher one, such as --hours 1 --set games=14,"),
    ],
)  # fmt: skip
def test_a_limit_that_would_continue_the_run_is_beyond_all_that_is_done(
    overrides: list[str], progress: Progress, advice: str
) -> None:
    settings = presets.load(presets.path_of("tiny"), "tiny", ["generations=0", *overrides])
    limits = RunLimits(settings, progress)
    assert limits.elapsed() >= 1
    assert advice in limits.ending()


def test_hours_of_work_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [50.0]
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: now[0]))
    limits = RunLimits(presets.load(presets.path_of("tiny"), "tiny", ["hours=4"]), Progress(hours=1.0))
    for seconds in (3600.0, 1800.0):
        now[0] += seconds
        limits.count_time()
    now[0] += 60.0
    assert (limits.progress.hours, limits.seconds_left()) == (2.5, 5340.0)


def test_the_advice_behind_the_same_command_raises_each_limit() -> None:
    same = "--preset tiny --hours 3 --set generations=0 --set games=5"
    ending = RunLimits(train.asked(train.parser().parse_args(same.split()))[0], Progress(hours=3.1, games=7)).ending()
    advice = shlex.split(ending.split("such as ")[1].split(",")[0])
    settings, _ = train.asked(train.parser().parse_args([*same.split(), *advice]))
    assert (settings.hours, settings.games) == (7, 14)
