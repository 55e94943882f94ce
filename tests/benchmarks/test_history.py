"""The curve of earlier weights: steps from lists of matches that were played before."""

from pathlib import Path

import pytest

from benchmarks import history
from gozero import weights
from training.matches.elo import Tally


def written(path: Path, winners: str) -> Path:
    """A list as `training.arena --csv` writes it; a blank is a draw."""
    path.write_text("\n".join(["black,winner,result", *(f"A,{winner.strip()},?" for winner in winners)]) + "\n")
    return path


def test_a_list_counts_for_the_newer_weights(tmp_path: Path) -> None:
    assert history.listed(written(tmp_path / "list.csv", "AAB AB")) == Tally(3, 2, 1)


def test_the_steps_add_up_without_a_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lists = [str(written(tmp_path / f"{name}.csv", name)) for name in ("AAAB", "AABB")]
    best, plot = str(weights.find("best.pt")), tmp_path / "curve.png"
    assert history.main([best, best, best, "--lists", *lists, "--plot", str(plot)]) == 0
    steps = [line for line in capsys.readouterr().out.splitlines() if line.startswith("best.pt")]
    assert [line.split("Elo ")[1].split(" ")[0] for line in steps] == ["+0", "+147", "+147"]
    assert plot.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no list of games by training.arena --csv"),
        ("black,winner\n", "no list of games by training.arena --csv"),
        ("black,result\nA,B+1\n", "no list of games by training.arena --csv"),
        ("black,winner\nA,A\nblack,winner\nA,B\n", "no list of games by training.arena --csv"),
        (None, "No such file or directory"),
    ],
    ids=["nothing", "no game", "no winner", "two lists", "no file"],
)
def test_what_is_no_list_is_one_line(
    text: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "list.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SystemExit):
        history.main(["a.pt", "b.pt", "--lists", str(path)])
    assert capsys.readouterr().err.endswith(f"--lists: {path}: {words}\n")


def test_a_list_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        history.main(["a.pt", "b.pt", "c.pt", "--lists", str(written(tmp_path / "one.csv", "A"))])
    assert "1 lists for 3 files; give one for each step" in capsys.readouterr().err
