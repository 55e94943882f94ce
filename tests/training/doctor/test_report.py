"""The report: one page from the files of a run folder, whatever of them is there."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from matplotlib import rc_context
from matplotlib.figure import Figure

from gozero import games, plots
from gozero.nets import features, model, weights
from gozero.plots import BoardPicture, Curve, Panel
from tests import ROOT
from tests.training.games import game_of, random_record, write_shard
from tests.training.refusals import Refused
from training.commands import report as report_command
from training.doctor import gallery, history, report
from training.settings import presets
from training.settings.config import LoopSettings, ReplaySettings

OLD = {  # a line of a log
    "speed/evaluations": 500.0, "speed/playouts": 0.0,
    "games5/count": 10, "games5/length": 31.0, "games5/capped": 0.0, "games5/settled": 0.5,
    "games5/early": 0.0, "games5/black": 0.6, "train/policy": 3.0, "held/policy": 3.1, "held/top1": 0.1,
}  # fmt: skip
NEW = {
    "held/constant_policy": 3.2, "strength/uct_rollouts": 64.0, "strength/uct_games": 16.0, "strength/uct_score": 0.4,
    "strength/uct_low": 0.2, "strength/uct_high": 0.6, "doctor/verdict": 1.0, "verdict": "learning, because <it> is",
}  # fmt: skip


def log(folder: Path, *lines: dict[str, object]) -> None:
    counted = [
        {"run/generation": float(k), "run/steps": 10 * k, "run/evaluations": 1e4 * k, **line}
        for k, line in enumerate(lines, 1)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in counted))


def run_folder(folder: Path) -> Path:
    """A run of three generations on 5x5, the first in the older form."""
    log(folder, OLD, OLD | NEW, OLD | NEW)
    (folder / "settings.json").write_text(json.dumps(presets.load(presets.path_of("tiny")).to_dict()))
    write_shard(folder / "records" / "000001.gzr", [random_record(5, seed) for seed in range(40)])
    net = model.config("b2c16")
    weights.save(folder / "weights.pt", model.build(net, 1), net, size=5)
    return folder


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Panel]:
    """All panels that are drawn, which then cost no time."""
    panels: list[Panel] = []
    monkeypatch.setattr(plots, "curves", lambda shown: panels.extend(shown) or b"")
    return panels


def headings(page: str) -> list[str]:
    return re.findall("<h2>([^<]*)</h2>", page)


def test_a_page_shows_everything_and_needs_no_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report_command.main([str(run_folder(tmp_path))]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    curves = ["Losses", "Strength", "Games", "Speed", "The verdict over time"]
    assert headings(page) == [*curves, "Verdicts", "Openings", "What the network thinks", "First layer", "Settings"]
    assert 'class="verdict learning">learning, because &lt;it&gt; is<' in page
    assert not re.search(r"(src|href)\s*=\s*.(?!data:)", page)
    assert "http" not in page
    pictures = re.findall('base64,([^"]*)', page)
    assert len(pictures) == 8
    assert all(base64.b64decode(picture).startswith(b"\x89PNG") for picture in pictures)


@pytest.mark.parametrize(
    ("name", "shown"), [("connect4", ["policy, value"]), ("othello", ["policy, pass", "red: Black's points, value"])]
)
def test_a_network_is_asked_for_what_its_game_has(name: str, shown: list[str]) -> None:
    game = games.make(name)
    net = model.build(model.config("b2c16", game), 1)
    drawn = list(gallery.predictions(LoopSettings(game=name), game, [], net))
    assert [board.stones.shape for board in drawn] == [game.shape] * len(shown)
    assert all(words in board.title for words, board in zip(shown, drawn, strict=True))


def test_a_network_that_is_certain_of_an_illegal_move_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    game = games.make("connect4")
    net = model.build(model.config("b2c16", game), 1)
    logits = torch.zeros(1, game.actions).index_fill(1, torch.tensor([0]), 1e4)  # the top left point, in the air
    output = net(*map(torch.from_numpy, features.encode(game, game.new_states(1), 1)))._replace(policy=logits)
    monkeypatch.setattr(net, "forward", lambda *inputs: output)
    (drawn,) = gallery.predictions(LoopSettings(game=game.name), game, [], net)
    assert np.isclose(drawn.heat[-1], 1 / 7).all()


def test_a_game_that_the_rules_forbid_is_not_shown() -> None:
    record, net = random_record(5, 1), model.build(model.config("b2c16"), 1)
    forbidden = replace(record, moves=np.repeat(record.moves[:1], 9))
    settings = LoopSettings(replay=ReplaySettings(held_out=1.0))
    drawn = list(gallery.predictions(settings, game_of(5), [record, forbidden], net))
    assert ["generation" in board.title for board in drawn] == [False, False, True, True]


def test_the_openings_of_every_size_are_shown() -> None:
    played = [random_record(size, seed) for seed in range(3) for size in (7, 5)]
    drawn = list(gallery.openings(LoopSettings(), played, model.build(model.config("b2c16"), 1)))
    assert [(board.title.split(":")[0].split("\n")[0], board.heat.shape) for board in drawn] == [
        ("5x5", (5, 5)), ("5x5", (5, 5)), ("7x7", (7, 7)), ("7x7", (7, 7)),
    ]  # fmt: skip
    firsts = [record.moves[0] for record in played if record.size == 5]
    assert drawn[0].heat.sum() == sum(move < 25 for move in firsts)


def test_a_board_need_not_be_square() -> None:
    axes = Figure().add_subplot()
    plots._board(axes, BoardPicture("", np.zeros((6, 7), np.uint8), np.zeros((6, 7))))
    assert [label.get_text() for label in axes.get_xticklabels()] == list("ABCDEFG")
    assert [label.get_text() for label in axes.get_yticklabels()] == list("654321")


def test_a_slow_machine_gets_no_warning_of_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matplotlib.legend.time", SimpleNamespace(perf_counter=count(step=2).__next__))
    with warnings.catch_warnings(action="error"):
        assert plots.curves([Panel("policy", [Curve("train", [1, 2], [3.0, 2.0])])])


def test_what_is_missing_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "curves", lambda panels: b"")
    log(tmp_path, OLD)
    report.write(tmp_path)
    assert headings((tmp_path / "report.html").read_text()) == ["Losses", "Games", "Speed"]
    (tmp_path / "weights.pt").write_bytes(b"nothing")  # unreadable files are as good as missing ones
    for damaged in ("{", "[]", '{"selfplay": 3, "replay": [1], "game": 7}'):
        (tmp_path / "settings.json").write_text(damaged)
        report.write(tmp_path)
    monkeypatch.setattr("torch.load", Mock(side_effect=RuntimeError("can't allocate memory")))
    report.write(run_folder(tmp_path))
    assert headings((tmp_path / "report.html").read_text())[-2:] == ["Openings", "Settings"]


def test_the_page_shows_the_threads_of_the_learner(tmp_path: Path, drawn: list[Panel]) -> None:
    log(tmp_path, OLD, OLD | {"speed/learner_threads": 2.0}, OLD | {"speed/learner_threads": 1.0})
    report.write(tmp_path)
    (panel,) = (panel for panel in drawn if panel.title == "learner_threads")
    assert panel.curves == [Curve("speed/learner_threads", [2, 3], [2.0, 1.0])]


@pytest.mark.parametrize(("ownership", "shown"), [(0.4, True), (0.0, False)])
def test_what_the_game_lacks_is_not_drawn(ownership: float, shown: bool, tmp_path: Path, drawn: list[Panel]) -> None:
    log(tmp_path, OLD | {"train/ownership": ownership}, OLD | {"train/ownership": ownership})
    report.write(tmp_path)
    titles = {panel.title for panel in drawn}
    assert ("ownership" in titles) == shown and "policy" in titles


@pytest.mark.parametrize("rows", ["held", "fit"])
def test_the_constant_guess_is_drawn_whatever_is_held_out(rows: str, tmp_path: Path, drawn: list[Panel]) -> None:
    log(tmp_path, OLD | {f"{rows}/constant_policy": 3.2})
    report.write(tmp_path)
    guesses = [curve.label for panel in drawn if panel.title == "policy" for curve in panel.curves if curve.guide]
    assert guesses == [f"{rows}/constant_policy"]


def test_a_stop_leaves_the_page_as_it_was(tmp_path: Path) -> None:
    log(tmp_path, OLD)
    (tmp_path / "report.html").write_text("before")
    assert report.write(tmp_path, lambda: True) is None
    assert (tmp_path / "report.html").read_text() == "before"


def test_nothing_to_show_and_no_matplotlib_are_one_line(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is it a run folder?" in refused(report_command.main, [str(tmp_path)])
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "000001.pt").touch()
    said = refused(report_command.main, [str(tmp_path)])
    assert "with a finished generation; let its run finish one first" in said
    log(tmp_path, OLD)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install 'gozero[train]'" in refused(report_command.main, [str(tmp_path)])


def test_a_history_counts_each_generation_once(tmp_path: Path) -> None:
    lines = [
        {"run/generation": number, "x": x, "verdict": f"v{x}"} for number, x in ((1, 1.0), (2, 2.0), (3, 3.0), (2, 4.0))
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + '\n{"run/gen')
    log_read = history.read(tmp_path)
    reports, verdicts = log_read.reports, log_read.verdicts
    assert not log_read.complaint, "a torn last line is no fault"
    assert [report["x"] for report in reports] == [1.0, 4.0]  # the run went back to generation 2 after a crash
    assert verdicts == {1: "v1.0", 2: "v4.0"}
    assert history.last(reports, "y") is None
    assert history.read(tmp_path / "nowhere") == history.RunLog()


def add(folder: Path, *lines: object) -> None:
    with (folder / "log.jsonl").open("a") as file:
        file.write("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))


def test_a_verdict_of_any_text_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "curves", lambda panels: b"")
    for verdict, kind in (("too early to say: 9 of 200 learning steps", "too"), (", x", ""), ('"a"', "&quot;a&quot;")):
        log(tmp_path, OLD | {"verdict": verdict})
        assert f'<p class="verdict {kind}">' in report.write(tmp_path).read_text()


def test_the_page_of_a_folder_whose_name_is_no_utf_8_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "curves", lambda panels: b"")
    folder = tmp_path / "r\udce9n"
    folder.mkdir()
    log(folder, OLD)
    assert "r\\udce9n" in report.write(folder).read_text()


def test_a_loss_that_is_not_a_number_stays_in_the_history(tmp_path: Path) -> None:
    log(tmp_path, OLD | {"held/value": float("nan")})
    found = history.read(tmp_path)
    assert len(found.reports) == 1 and not found.complaint


def test_a_run_on_many_machines_shows_its_workers(tmp_path: Path, drawn: list[Panel]) -> None:
    workers = {"cluster/workers": 2.0, "cluster/worker1": 900.0, "cluster/worker2": 800.0, "cluster/evaluations": 850.0}
    log(tmp_path, OLD, OLD | workers)
    report.write(tmp_path)
    assert headings((tmp_path / "report.html").read_text()) == ["Losses", "Games", "Speed", "Cluster"]
    (panel,) = (panel for panel in drawn if panel.title == "evaluations" and "cluster" in panel.curves[0].label)
    assert panel.curves == [
        Curve("cluster/evaluations", [2.0], [850.0]),
        Curve("cluster/worker1", [2.0], [900.0]),
        Curve("cluster/worker2", [2.0], [800.0]),
    ]


DAMAGED = (
    "{'run/generation': 2}", "[2]", {"run/steps": 20}, {"run/generation": float("nan")},
    {"run/generation": 2, "x": "low"},
)  # fmt: skip


@pytest.mark.parametrize("line", DAMAGED)
def test_a_damaged_line_is_named_and_left_out(line: object, tmp_path: Path) -> None:
    log(tmp_path, OLD)
    add(tmp_path, line, OLD | {"run/generation": 3}, line)
    found = history.read(tmp_path)
    assert found.complaint.startswith(f"line 2 of {tmp_path / 'log.jsonl'} ") and found.complaint.endswith(
        "; 1 others too"
    )
    assert [each["run/generation"] for each in found.reports] == [1, 3]


def test_a_log_of_damaged_lines_alone_is_one_line(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"\xff\xfe\x00\n")
    assert "line 1 of" in refused(report_command.main, [str(tmp_path)])


def test_the_newest_verdicts_are_below_the_curves(tmp_path: Path) -> None:
    log(tmp_path, *(OLD | {"verdict": f"learning, {number}"} for number in range(1, 20)))
    page = report.write(tmp_path).read_text()
    rows = re.findall("<tr><td>([^<]*)</td><td>([^<]*)</td></tr>", page)
    assert rows == [(str(number), f"learning, {number}") for number in range(19, 7, -1)]
    assert page.index("<img") < page.index("<h2>Verdicts")


def test_generations_are_whole_numbers_on_the_axis() -> None:
    with plots._figure(4, 3) as figure:
        plots._panel(figure.add_subplot(), Panel("", [plots.Curve("a", [1, 2], [3, 4])], "generation"))
    assert all(tick == int(tick) for tick in figure.axes[0].get_xticks())


def test_speeds_of_playouts_and_of_the_network_have_axes_of_their_own(tmp_path: Path, drawn: list[Panel]) -> None:
    log(tmp_path, OLD | {"speed/playouts": 1.0, "speed/evaluations": 9000.0}, OLD)
    report.write(tmp_path)
    found = {panel.title: panel.curves[0].y for panel in drawn if panel.title in ("playouts", "evaluations")}
    assert found == {"playouts": [9000.0], "evaluations": [500.0]}


def test_a_score_has_its_interval(tmp_path: Path, drawn: list[Panel]) -> None:
    log(tmp_path, OLD, OLD | NEW)
    report.write(tmp_path)
    (panel,) = (panel for panel in drawn if panel.title == "uct_score")
    assert panel.curves == [Curve("strength/uct_score", [2e4], [0.4], [0.2], [0.6])]


def test_pictures_are_drawn_where_the_chosen_backend_is_not_installed() -> None:
    code = "from gozero import plots; plots.curves([plots.Panel('a', [])])"
    notebook = os.environ | {"MPLBACKEND": "module://a_notebook_of.another_environment"}
    subprocess.run([sys.executable, "-c", code], env=notebook, cwd=ROOT, check=True)


def test_the_user_s_style_does_not_count() -> None:
    plain = plots.curves([Panel("a", [Curve("b", [1], [2])])])
    with rc_context({"figure.facecolor": "black"}):
        assert plots.curves([Panel("a", [Curve("b", [1], [2])])]) == plain
