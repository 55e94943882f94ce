"""The comparison of widths runs from games to matches, each network with as many visits as its speed allows."""

import csv
from pathlib import Path

import pytest

from benchmarks import widths
from gozero import weights
from training import selfplay


def test_a_short_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert widths.main(["--short", "--networks", "b1c8", "b1c64", "--folder", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split(":")[0] for line in lines] == ["b1c8", "b1c64", "weights"]
    with (tmp_path / "b1c8-b1c64.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2


def test_a_short_comparison_at_another_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played = [
        "--weights",
        "none",
        "--game",
        "nogo",
        "--size",
        "5",
        "--games",
        "8",
        "--full-visits",
        "8",
        "--cheap-visits",
        "4",
    ]
    assert selfplay.main([*played, "--out", str(tmp_path / "games")]) == 0
    arguments = [
        str(tmp_path / "games"),
        "--preset",
        "nogo",
        "--short",
        "--networks",
        "b1c8",
        "b1c16",
        "--folder",
        str(tmp_path),
    ]
    assert widths.main(arguments) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()[1:]] == ["b1c8", "b1c16", "weights"]
    assert weights.header(tmp_path / "b1c8.pt")[:3] == ("nogo", None, 5)
    assert widths.main([str(tmp_path / "games"), "--short", "--folder", str(tmp_path)]) == 2
    assert "is a game of nogo, the preset is of go: give its --preset" in capsys.readouterr().err


def test_a_stop_during_the_games_ends_them_and_keeps_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, ended = [], tmp_path / "b1c8-b1c16.csv"

    def stop_once_a_game_has_ended() -> bool:
        asked.append(ended.exists())
        return asked[-1]

    monkeypatch.setattr(widths, "stop_on_signals", lambda: stop_once_a_game_has_ended)
    networks = ["--networks", "b1c8", "b1c16", "b1c4"]
    assert widths.main(["--short", *networks, "--games", "40", "--folder", str(tmp_path)]) == 130
    assert len(asked) > 2
    assert ended.exists()
    assert not (tmp_path / "b1c8-b1c4.csv").exists()


def test_results_that_are_there_are_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(widths, "learn", lambda *asked: pytest.fail("learned first"))
    given = tmp_path / "given"
    for folder, asked in ((Path(widths.FOLDER), []), (given, ["--short", "--folder", str(given)])):
        folder.mkdir(parents=True)
        for name in ("b1c8.pt", "b1c4-b1c8.csv"):
            (folder / name).write_text("kept")
            assert widths.main([*asked, "--networks", "b1c4", "b1c8"]) == 2
            assert f"{name} is there and would be replaced" in capsys.readouterr().err
            (folder / name).unlink()


def test_a_short_comparison_leaves_the_usual_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []
    monkeypatch.setattr(widths, "compare", lambda options, most: (seen.append(options.folder), 0)[1])
    assert widths.main(["--short"]) == widths.main([]) == 0
    assert seen[0] != seen[1] == Path(widths.FOLDER)
    assert not seen[0].exists()


def test_a_network_that_is_named_twice_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert widths.main(["--networks", "b1c8", "b1c4", "b1c8", "--folder", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "widths: --networks: b1c8 is named twice\n"


def test_what_cannot_be_compared_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for asked in (["--minutes", "0"], ["--minutes", "nan"], ["--threads", "0"]):
        with pytest.raises(SystemExit) as ended:
            widths.main([*asked, "--folder", str(tmp_path)])
        assert ended.value.code == 2
    for asked in (["--games", "3"], ["--opening-moves", "-1"]):
        assert widths.main([*asked, "--minutes", "9", "--folder", str(tmp_path)]) == 2
    capsys.readouterr()
    for asked in (["nowhere"], ["--networks", "wide"], ["--networks", "b1c8", "--from", "best.pt"]):
        assert widths.main([*asked, "--short", "--folder", str(tmp_path)]) == 2
    complaints = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("widths: ") for line in complaints) == 3
    assert "nowhere" in complaints[0]
