"""The curve of earlier weights: steps from lists of matches that were played before."""

from pathlib import Path

import pytest
from matplotlib.axes import Axes

from benchmarks import history
from gozero import locations, nets, weights
from training.matches.elo import Tally


def written(path: Path, winners: str) -> Path:
    """A list as `training.arena --csv` writes it; a blank is a draw."""
    rows = (f"A,{winner.strip()},?,game end" for winner in winners)
    path.write_text("\n".join(["black,winner,result,ended", *rows]) + "\n")
    return path


def test_a_list_counts_for_the_newer_weights(tmp_path: Path) -> None:
    assert history.listed(written(tmp_path / "list.csv", "AAB AB")) == Tally(3, 2, 1)


def test_a_game_that_a_failure_ended_does_not_count(tmp_path: Path) -> None:
    path = written(tmp_path / "list.csv", "AAB")
    path.write_text(path.read_text() + "B,A,W+F,failure\n")
    assert history.listed(path) == Tally(2, 1)


def test_the_steps_add_up_without_a_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[str] = []
    setter = Axes.set
    monkeypatch.setattr(
        Axes, "set", lambda self, **given: (titles.append(given.get("title", "")), setter(self, **given))
    )
    lists = [str(written(tmp_path / f"{name}.csv", name)) for name in ("AAAB", "AABB")]
    best, plot = str(locations.find("best.pt")), tmp_path / "curve.png"
    assert history.main([best, best, best, "--lists", *lists, "--plot", str(plot)]) == 0
    steps = [line for line in capsys.readouterr().out.splitlines() if line.startswith("best.pt")]
    assert [line.split("Elo ")[1].split(" ")[0] for line in steps] == ["+0", "+147", "+147"]
    assert plot.stat().st_size > 10_000
    assert titles[-1] == "13x13, 4 games a step", "the visits of lists are not known"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no list of games by training.arena --csv"),
        ("black,winner,ended\n", "no list of games by training.arena --csv"),
        ("black,result,ended\nA,B+1,game end\n", "no list of games by training.arena --csv"),
        ("winner,ended\nA,game end\nwinner,ended\nB,game end\n", "no list of games by training.arena --csv"),
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
    assert f"--lists: {path}: {words}" in capsys.readouterr().err


def test_a_list_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        history.main(["a.pt", "b.pt", "c.pt", "--lists", str(written(tmp_path / "one.csv", "A"))])
    assert "1 lists for 3 files; give one for each step" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to measure: give two weights files or more and --games, or --yardstick"),
        (["best.pt", "best.pt", "--games", "0"], "nothing to measure"),
        (["nosuch.pt", "best.pt"], "no such file"),
        (["best.pt", "best.pt", "--game", "chess"], "unknown game 'chess'"),
        (["best.pt", "best.pt", "--games", "3"], "games must be even"),
        (["best.pt", "best.pt", "--plot", "/no/such/plot.png"], "there is no folder /no/such"),
        (["best.pt", "--yardstick", "nosuch.jsonl"], "cannot read the yardstick"),
        (["{mute}", "{mute}"], "does not say after how many evaluations it was written"),
    ],
)
def test_what_cannot_be_measured_is_one_line_before_the_first_game(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = nets.config("b1c4")
    weights.save(tmp_path / "mute.pt", nets.build(config, seed=1), config)
    files = {"best.pt": str(locations.find("best.pt")), "{mute}": str(tmp_path / "mute.pt")}
    try:
        code = history.main([files.get(argument, argument) for argument in arguments])
    except SystemExit as error:
        code = error.code
    assert code == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
