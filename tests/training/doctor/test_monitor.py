"""What a run says of itself."""

import itertools
import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary.writer import event_file_writer

from gozero.system import console
from tests.training.games import random_record, write_shard
from training.doctor import monitor
from training.doctor.curves import Curves
from training.run import session
from training.run.measures import game_report
from training.settings.config import LoopSettings, MonitorSettings

RUN = {"run/generation": 4.0, "run/hours": 1.5, "run/rows": 12_345.0}
REPORT = game_report([random_record(5, 1)]) | RUN


@pytest.fixture
def one_second_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorBoard reads its files by the second in their names; those of one second have no order."""
    seconds = itertools.count(1_700_000_000)
    monkeypatch.setattr(event_file_writer, "time", SimpleNamespace(time=lambda: next(seconds)))


def test_games_are_summarised_by_size() -> None:
    games = [random_record(5, seed) for seed in range(3)]
    games = [
        replace(games[0], ending="capped", score=3.5),
        replace(games[0], ending="capped", score=1.5),
        replace(games[2], ending="settled", score=0, moves=games[0].moves[:4]),
    ]
    report = game_report([*games, random_record(7, 1)])
    assert report["games5/count"] == 3
    for name, count in {"capped": 2, "settled": 1, "early": 1, "draws": 1, "distinct": 2, "black": 2.5}.items():
        assert report[f"games5/{name}"] == pytest.approx(count / 3)
    moves = sum(len(game.moves) for game in games)
    assert report["games5/length"] == pytest.approx(moves / 3)
    assert report["games5/recorded"] == pytest.approx(sum(game.rows for game in games) / moves)
    assert report["games7/count"] == 1
    assert game_report([]) == {}


def test_a_generation_is_a_line_and_a_verdict_on_stderr_and_in_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = random_record(5, 1)
    report = REPORT | {"speed/evaluations": 678.0, "held/policy": 2.5}
    run = session.prepare(LoopSettings(network="b2c16", monitor=MonitorSettings(report_every=0)), tmp_path)
    run.progress.full_share = 0.75  # that of an earlier session
    watch = monitor.Monitor(tmp_path, run.settings)
    watch.generation(report, run)
    watch.close(lambda: False)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 2
    assert "too early to say: 0 of 200" in captured.err
    games = f"5x5: 1 game of {len(game.moves)} moves"
    for words in ("generation 4", "1.50 h", "12,345 rows", games, "678 evaluations/s", "held policy 2.500"):
        assert words in captured.err
    logged = json.loads((tmp_path / "log.jsonl").read_text())
    assert report.items() <= logged.items()
    assert logged["run/full_share"] == 0.75
    assert logged["verdict"] in captured.err
    assert list((tmp_path / "tensorboard").iterdir())


def test_a_run_that_was_stopped_says_how_to_have_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for every, words in ((5, f"gozero report {tmp_path} writes it"), (0, None)):
        settings = LoopSettings(network="b2c16", monitor=MonitorSettings(report_every=every))
        watch = monitor.Monitor(tmp_path, settings)
        watch.generation({**REPORT, "speed/evaluations": 1.0}, session.prepare(settings, tmp_path), lambda: True)
        watch.close(lambda: True)
        said = capsys.readouterr().err
        assert (words in said) if words else ("gozero report" not in said)
    assert not (tmp_path / "report.html").exists()


def test_a_last_report_that_was_interrupted_is_said_to_be_missing_and_drawn_by_the_next_sitting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped: list[bool] = []
    written = monitor.report.write
    settings = LoopSettings(network="b2c16", monitor=MonitorSettings(strength_every=0))
    watch = monitor.Monitor(tmp_path, settings)
    watch.generation({**REPORT, "speed/evaluations": 1.0}, session.prepare(settings, tmp_path))
    monkeypatch.setattr(monitor.report, "write", lambda folder, stop: stopped.append(True))  # Ctrl-C comes meanwhile
    watch.close(lambda: bool(stopped))
    assert f"report.html is not up to date; gozero report {tmp_path} writes it" in capsys.readouterr().err
    monkeypatch.setattr(monitor.report, "write", written)
    monitor.Monitor(tmp_path, settings).close(lambda: False)  # of a run that had nothing left to do
    assert (tmp_path / "report.html").exists()
    capsys.readouterr()
    monitor.Monitor(tmp_path, settings).close(lambda: True)
    assert capsys.readouterr().err == "", "the report is as new as the log"


def test_a_page_older_than_the_log_is_drawn_also_where_the_clock_was_set_back(tmp_path: Path) -> None:
    page, settings = tmp_path / "report.html", LoopSettings(network="b2c16", monitor=MonitorSettings(strength_every=0))
    page.write_text("of the generation before")
    os.utime(page, (2**32, 2**32))
    watch = monitor.Monitor(tmp_path, settings)
    watch.generation(REPORT, session.prepare(settings, tmp_path))
    watch.close(lambda: False)
    assert "of the generation before" not in page.read_text()


def test_a_page_that_cannot_be_drawn_ends_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"run/generation": 1, "games13/count": 3}, {"run/generation": None}]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monitor.Monitor(tmp_path, LoopSettings())._report(lambda: False)
    assert "line 2" in capsys.readouterr().err
    assert (tmp_path / "report.html").exists(), "of the other lines"
    (tmp_path / "settings.json").write_text('{"rules": "none"}')
    write_shard(tmp_path / "records" / "000001.gzr", [random_record(5, 1)])
    monitor.Monitor(tmp_path, LoopSettings())._report(lambda: False)
    assert "no report: unknown rules 'none'" in capsys.readouterr().err


def test_a_generation_whose_games_were_played_elsewhere_names_no_speed() -> None:
    line = monitor.summary(REPORT | {"held/policy": 2.5}, LoopSettings(network="b2c16"))
    assert "12,345 rows | 5x5: 1 game of" in line
    assert "evaluations" not in line
    line = monitor.summary(RUN | {"held/policy": 2.5}, LoopSettings(network="b2c16"))
    assert line == "generation 4 | 1.50 h | 12,345 rows | no new games | held policy 2.500", (
        "those played elsewhere are not summed up"
    )


@pytest.mark.usefixtures("one_second_a_file")
def test_a_generation_that_is_done_again_after_a_crash_is_drawn_once(tmp_path: Path) -> None:
    run = session.prepare(LoopSettings(network="b2c16", monitor=MonitorSettings(report_every=0)), tmp_path)
    for generations in ((1, 2, 3), (3, 4)):  # the second process goes on from a checkpoint before the third was done
        watch = monitor.Monitor(tmp_path, run.settings)
        for generation in generations:
            report = RUN | {"run/generation": float(generation), "speed/evaluations": float(generations[-1])}
            watch.generation(report, run, stop=lambda: True)
        watch.close(lambda: True)
    drawn = EventAccumulator(str(tmp_path / "tensorboard")).Reload().Scalars("speed/evaluations")
    assert [(point.step, point.value) for point in drawn] == [(1, 3.0), (2, 3.0), (3, 4.0), (4, 4.0)]


@pytest.mark.usefixtures("one_second_a_file")
def test_steps_that_are_taken_again_after_a_crash_are_drawn_once(tmp_path: Path) -> None:
    for steps, loss in (((2, 4, 6, 8), 1.0), ((6, 8, 10), 2.0)):
        curves = Curves(tmp_path, every=2)
        for step in steps:
            curves.step(step, {"policy": torch.tensor(loss)})
        curves.close()
    drawn = EventAccumulator(str(tmp_path / "tensorboard" / "steps")).Reload().Scalars("steps/policy")
    assert [(point.step, point.value) for point in drawn] == [(2, 1.0), (4, 1.0), (6, 2.0), (8, 2.0), (10, 2.0)]


def test_the_losses_of_steps_can_be_left_out(tmp_path: Path) -> None:
    curves = Curves(tmp_path, every=0)
    curves.step(10, {"policy": torch.tensor(1.0)})
    curves.close()
    assert not (tmp_path / "tensorboard" / "steps").exists()


def test_bars_are_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress_bar(3, "self-play", " rows") as bar:
        bar.update(2)
    assert capsys.readouterr() == ("", "")
