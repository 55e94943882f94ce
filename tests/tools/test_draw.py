"""The pictures: the manual's command draws its own from what the tree has, and the steps of a run's table add up."""

import json
import re
import shlex
from pathlib import Path

import pytest

from gozero import plots
from gozero.plots import BoardPicture
from tests import ROOT
from tools import draw

MOST_BYTES = 60_000  # of a picture that everybody downloads with the tree
GAME = str(ROOT / "docs" / "board:1")
TABLE = ROOT / "weights" / "best.csv"


def test_the_command_of_the_manual_draws_policy_and_ownership(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (command,) = re.findall(
        r"^\.venv/bin/python -m tools\.draw (.*)$", (ROOT / "docs" / "play.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    arguments, drawn, boards = shlex.split(command), [], plots.boards
    assert arguments[arguments.index("--out") + 1] == "docs/board.png"
    arguments[arguments.index("--out") + 1] = str(tmp_path / "board.png")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(
        plots, "boards", lambda pictures, **settings: drawn.extend(pictures) or boards(pictures, **settings)
    )
    assert draw.main(arguments) == 0
    assert (tmp_path / "board.png").read_bytes().startswith(b"\x89PNG")
    policy, owner = drawn
    assert isinstance(policy, BoardPicture)
    assert policy.title.startswith("move 49\nBlack's policy")
    assert policy.heat.argmax() == 9 * 13 + 2  # C4
    assert (policy.stones == owner.stones).all()
    assert (policy.stones > 0).sum() == 48 - 1  # one stone has been captured
    assert "red: Black's points" in owner.title
    assert owner.heat[12, 12] > 0.3 > -0.3 > owner.heat[9 - 1 - 4, 8]  # Black's corner below, White's chain above


def test_the_picture_is_small() -> None:
    assert (ROOT / "docs" / "board.png").stat().st_size <= MOST_BYTES


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere/000001:1", "--move", "1"], "no such folder or shard"),
        ([GAME, "--move", "0"], "has no move 0: it has 1 to 145"),
        ([GAME, "--move", "146"], "has no move 146: it has 1 to 145"),
        ([GAME, "--move", "1", "--weights", "othello8.pt"], "othello"),
        ([GAME, "--move", "1", "--weights", "nowhere.pt"], "cannot use weights"),
        ([GAME, "--move", "1", "--out", "/nowhere/board.png"], "/nowhere/board.png"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "board.png"
    assert draw.main(["board", "--out", str(out), *arguments]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("python -m tools.draw: ")
    assert complaint.count("\n") == 1
    assert words in complaint
    assert not out.exists()


def test_the_steps_add_up() -> None:
    rows = [{"games": games, "won": won} for games, won in ((0, 0), (4, 3), (4, 2), (4, 1))]
    elo, error = draw.ratings(rows)
    assert elo.round().tolist() == [0, 147, 147, 0]
    assert (error[1:] > error[:-1]).all()


def test_the_table_of_the_shipped_weights_is_drawn(tmp_path: Path) -> None:
    assert draw.main(["history", str(TABLE), "--out", str(tmp_path / "best.png")]) == 0
    assert (tmp_path / "best.png").stat().st_size > 10_000


@pytest.mark.parametrize("text", ["", "games,won\n4,3\n", TABLE.read_text().replace("73", "x")])
def test_what_is_no_table_is_one_line(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.csv").write_text(text)
    assert draw.main(["history", str(tmp_path / "table.csv"), "--out", str(tmp_path / "best.png")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_levels_of_a_tournament_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = (("level 2", "level 1"), ("GNU Go 1", "level 1"), ("level 2", "GNU Go 1"))
    pairings = [{"a": a, "b": b, "won": 3, "drawn": 0, "lost": 1} for a, b in pairs]
    results, out = tmp_path / "results.json", tmp_path / "levels.png"
    results.write_text(json.dumps({"pairings": pairings}))
    assert draw.main(["levels", str(results), "--out", str(out)]) == 0 and out.stat().st_size > 10_000
    for text in ("", "[]", '{"pairings": [{"a": "level 1"}]}', json.dumps({"pairings": pairings[:1]})):
        results.write_text(text)
        assert draw.main(["levels", str(results), "--out", str(out)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
