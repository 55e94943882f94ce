"""Several runs on one page: a curve for each, what does not compare, and one line for whatever is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gozero import plots
from gozero.plots import Curve, Panel
from training.commands import report as report_command
from training.doctor import report

LOSSES = {"train/policy": 3.0, "train/value": 0.5, "held/policy": 3.5}


def run_folder(folder: Path, *lines: dict[str, object], **settings: object) -> Path:
    """A run of a generation a line; `settings` are those of settings.json."""
    folder.mkdir(parents=True)
    counted = [
        {"run/generation": k, "run/rows": 100 * k, "run/evaluations": 1e4 * k, "games5/count": 10, **line}
        for k, line in enumerate(lines, 1)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in counted))
    (folder / "settings.json").write_text(json.dumps({"game": "go", "network": "b2c16", **settings}))
    return folder


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Panel]:
    """All panels that are drawn, which then cost no time."""
    panels: list[Panel] = []
    monkeypatch.setattr(plots, "curves", lambda shown: panels.extend(shown) or b"picture")
    return panels


def test_a_page_has_a_curve_for_each_run_that_has_the_number(tmp_path: Path, drawn: list[Panel]) -> None:
    first = run_folder(tmp_path / "a", LOSSES, LOSSES | {"train/policy": 2.0})
    second = run_folder(tmp_path / "b", {"train/policy": 2.5})
    report.compare([first, second], tmp_path / "page.html")
    policy = next(panel for panel in drawn if panel.title == "train/policy")
    assert policy.curves == [Curve("a", [1e4, 2e4], [3.0, 2.0]), Curve("b", [1e4], [2.5])]
    held = next(panel for panel in drawn if panel.title == "held/policy")
    assert [curve.label for curve in held.curves] == ["a"]
    assert all(panel.curves and panel.across == "evaluations" for panel in drawn)


def test_curves_are_drawn_over_what_is_asked_for(tmp_path: Path, drawn: list[Panel]) -> None:
    folders = [run_folder(tmp_path / name, LOSSES) for name in "ab"]
    report.compare(folders, tmp_path / "page.html", "rows")
    assert {tuple(curve.x) for panel in drawn for curve in panel.curves} == {(100,)}


def test_strength_and_bias_are_compared_too(tmp_path: Path, drawn: list[Panel]) -> None:
    score = {
        "strength/uct_games": 16,
        "strength/uct_score": 0.5,
        "strength/uct_low": 0.25,
        "strength/uct_high": 0.75,
        "strength/uct_rollouts": 64,
    }
    folders = [run_folder(tmp_path / name, LOSSES | score | {"held5/bias": 0.125}) for name in "ab"]
    report.compare(folders, tmp_path / "page.html")
    found = {panel.title: panel.curves for panel in drawn}
    assert found["strength/uct_score"][1] == Curve("b", [1e4], [0.5], [0.25], [0.75])
    assert found["strength/uct_rollouts"][0].y == [64]
    assert found["held5/bias"][0].y == [0.125]


def test_the_page_says_what_differs(tmp_path: Path) -> None:
    first = run_folder(tmp_path / "a", LOSSES | {"verdict": "learning <well>"}, learner={"batch": 64, "ema": 0.5})
    second = run_folder(tmp_path / "b", LOSSES, learner={"batch": 128, "ema": 0.5})
    page = report.compare([first, second], tmp_path / "page.html").read_text()
    assert "<td>learner.batch</td><td>64</td><td>128</td>" in page
    assert "learner.ema" not in page and "learning &lt;well&gt;" in page
    assert page.count("data:image/png;base64,") >= 1 and "http" not in page


def test_runs_of_one_name_are_told_apart(tmp_path: Path, drawn: list[Panel]) -> None:
    folders = [run_folder(tmp_path / place / "go13", LOSSES) for place in ("old", "new")]
    report.compare(folders, tmp_path / "page.html")
    assert [curve.label for curve in drawn[0].curves] == ["old/go13", "new/go13"]


def test_a_png_holds_the_losses_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(run_folder(tmp_path / name, LOSSES)) for name in "ab"]
    out = tmp_path / "losses.png"
    assert report_command.main([*folders, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert out.read_bytes().startswith(b"\x89PNG")


def test_without_out_the_page_is_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drawn: list[Panel]
) -> None:
    folders = [str(run_folder(tmp_path / name, LOSSES)) for name in "ab"]
    monkeypatch.chdir(tmp_path)
    assert report_command.main(folders) == 0
    assert (tmp_path / "comparison.html").exists()
    assert not any((Path(folder) / "report.html").exists() for folder in folders)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a", "a"], "is given twice"),
        (["a", "nothing"], "there is no folder "),
        (["a", "binary"], "holds no log.jsonl with a finished generation"),
        (["a", "empty"], "no loss of these runs is logged with its hours; try another --across"),
        (["a", "b", "--out", "nowhere/page.html"], "page.html: No such file or directory"),
        (["a", "--across", "rows"], "--across is for a comparison: name two runs or more"),
        (["a", "b", "--out", "b/weights.pt"], "--out b/weights.pt: expected a name that ends with .html or .png"),
        (["a", "b", "--out", ""], "--out .: expected a name that ends with .html or .png"),
        (["a", "--out", "page.html"], "--out is for a comparison: name two runs or more"),
    ],
)
def test_bad_requests_are_one_line(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in "ab":
        run_folder(tmp_path / name, LOSSES)
    run_folder(tmp_path / "empty", {})
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "log.jsonl").write_bytes(b"\xff\xfe\x00")
    monkeypatch.chdir(tmp_path)
    across = ["--across", "hours"] if "empty" in arguments else []
    assert report_command.main([*arguments, *across]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_without_matplotlib_it_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(run_folder(tmp_path / name, LOSSES)) for name in "ab"]
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert report_command.main([*folders, "--out", str(tmp_path / "page.html")]) == 2
    said = capsys.readouterr().err
    assert "pip install 'gozero[train]'" in said and said.count("\n") == 1
    assert not (tmp_path / "page.html").exists()
