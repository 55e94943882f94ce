"""The report: one page from the files of a run folder, whatever of them is there."""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from gozero import games, nets, plots, weights
from gozero.plots import BoardPicture, Curve, Panel
from tests.training.games import random_record
from training.doctor import history, report
from training.doctor.gallery import Gallery
from training.records import records
from training.settings import config, presets

OLD = {  # a line of a log from before the doctor
    "speed/evaluations": 500.0, "games5/count": 10, "games5/length": 31.0, "games5/capped": 0.0, "games5/settled": 0.5,
    "games5/early": 0.0, "games5/black": 0.6, "train/policy": 3.0, "held/policy": 3.1, "held/top1": 0.1,
}  # fmt: skip
NEW = {
    "held/constant_policy": 3.2, "strength/uct_rollouts": 64.0, "strength/uct_games": 16.0, "strength/uct_score": 0.4,
    "strength/uct_low": 0.2, "strength/uct_high": 0.6, "yardstick/top1": 0.2, "doctor/verdict": 1.0, "verdict": "learning, because <it> is",
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
    (folder / "settings.json").write_text(json.dumps(config.load(presets.path_of("tiny")).to_dict()))
    writer = records.Writer(folder / "records" / "000001.gzr", {})
    for seed in range(40):
        writer.append(random_record(5, seed))
    writer.close()
    net = nets.config("b2c16")
    weights.save(folder / "weights.pt", nets.build(net, 1), net, size=5)
    return folder


def headings(page: str) -> list[str]:
    return re.findall("<h2>([^<]*)</h2>", page)


def test_a_page_shows_everything_and_needs_no_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main([str(run_folder(tmp_path))]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    expected = [
        "Verdicts",
        "The verdict over time",
        "Losses",
        "Strength",
        "Games",
        "Openings",
        "What the network thinks",
        "First layer",
    ]
    assert headings(page) == [*expected, "Speed", "Settings"]
    assert 'class="verdict learning">learning, because &lt;it&gt; is<' in page
    assert not re.search(r"(src|href)\s*=\s*.(?!data:)", page)
    assert "http" not in page
    pictures = re.findall('base64,([^"]*)', page)
    assert len(pictures) == 8
    assert all(base64.b64decode(picture).startswith(b"\x89PNG") for picture in pictures)


@pytest.mark.parametrize(
    ("name", "shown"), [("connect4", ["policy, value"]), ("othello", ["policy, pass", "red: Black's points, value"])]
)
def test_a_network_is_asked_for_what_its_game_has(name: str, shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    game, drawn = games.make(name), []
    monkeypatch.setattr(plots, "boards", lambda pictures: drawn.extend(pictures) or b"")
    Gallery({"game": name}, [], nets.build(nets.config("b2c16", game), 1), game.size).predictions()
    assert [board.stones.shape for board in drawn] == [game.shape] * len(shown)
    assert all(words in board.title for words, board in zip(shown, drawn, strict=True))


def test_a_board_need_not_be_square() -> None:
    axes = Figure().add_subplot()
    plots._board(axes, BoardPicture("", np.zeros((6, 7), np.uint8), np.zeros((6, 7))))
    assert [label.get_text() for label in axes.get_xticklabels()] == list("ABCDEFG")
    assert [label.get_text() for label in axes.get_yticklabels()] == list("654321")


def test_what_is_missing_is_left_out(tmp_path: Path) -> None:
    log(tmp_path, OLD)
    report.write(tmp_path)
    assert headings((tmp_path / "report.html").read_text()) == ["Losses", "Games", "Speed"]
    (tmp_path / "weights.pt").write_bytes(b"nothing")  # unreadable files are as good as missing ones
    (tmp_path / "settings.json").write_text("{")
    report.write(tmp_path)


def test_the_distance_to_perfect_play_falls_with_the_share_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = {"perfect/policy_share": 0.5, "perfect/policy_low": 0.375, "perfect/policy_high": 0.625}
    search = {"perfect/search_share": 0.75, "perfect/search_low": 0.625, "perfect/search_high": 1.0}
    log(tmp_path, OLD, OLD | policy | search)
    drawn: list[Panel] = []
    monkeypatch.setattr(plots, "curves", lambda panels: drawn.extend(panels) or b"")
    report.write(tmp_path)
    assert headings((tmp_path / "report.html").read_text()) == ["Losses", "Distance to perfect play", "Games", "Speed"]
    (panel,) = (panel for panel in drawn if panel.title == "moves that lose value")
    assert panel.curves == [
        Curve("policy alone", [2e4], [0.5], [0.375], [0.625]),
        Curve("search", [2e4], [0.25], [0.0], [0.375]),
    ]


def test_the_page_shows_the_threads_of_the_learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log(tmp_path, OLD, OLD | {"speed/learner_threads": 2.0}, OLD | {"speed/learner_threads": 1.0})
    drawn: list[Panel] = []
    monkeypatch.setattr(plots, "curves", lambda panels: drawn.extend(panels) or b"")
    report.write(tmp_path)
    (panel,) = (panel for panel in drawn if panel.title == "CPU threads of the learner")
    assert panel.curves == [Curve("threads", [2, 3], [2.0, 1.0])]


def test_a_stop_leaves_the_page_as_it_was(tmp_path: Path) -> None:
    log(tmp_path, OLD)
    (tmp_path / "report.html").write_text("before")
    report.write(tmp_path, lambda: True)
    assert (tmp_path / "report.html").read_text() == "before"


def test_nothing_to_show_and_no_matplotlib_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert report.main([str(tmp_path)]) == 2
    assert "is it a run folder?" in capsys.readouterr().err
    log(tmp_path, OLD)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert report.main([str(tmp_path)]) == 2
    text = capsys.readouterr().err
    assert "pip install 'gozero[train]'" in text
    assert text.count("\n") == 1


def test_a_history_counts_each_generation_once(tmp_path: Path) -> None:
    lines = [
        {"run/generation": number, "x": x, "verdict": f"v{x}"} for number, x in ((1, 1.0), (2, 2.0), (3, 3.0), (2, 4.0))
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + '\n{"run/gen')
    reports, verdicts = history.read(tmp_path)
    assert [report["x"] for report in reports] == [1.0, 4.0]  # the run went back to generation 2 after a crash
    assert verdicts == {1: "v1.0", 2: "v4.0"}
    assert history.series(reports, "x") == ([1, 2], [1.0, 4.0])
    assert history.last(reports, "y") is None
    assert history.read(tmp_path / "nowhere") == ([], {})
