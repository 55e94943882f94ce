"""The stages as commands: what they print and keep, how they go on after a stop, what they say to bad input."""

import json
import shutil
from pathlib import Path

import pytest

from tests.training.refusals import Refused
from training.commands import course as course_command
from training.course import generations
from training.course.folder import REINFORCED, SUPERVISED, CourseFolder

GAMES = ["--first-games", "60", "--games", "60", "--test-games", "40", "--duel-games", "20", "--passes", "1"]


def generate(run: Path, game: str = "tictactoe", *more: str) -> int:
    return course_command.generations(["--game", game, "--run", str(run), *GAMES, *more])


def imitate(run: Path, game: str = "tictactoe", *more: str) -> int:
    return course_command.imitate(
        ["--game", game, "--run", str(run), "--games", "60", "--test-games", "20", "--passes", "1", *more]
    )


def reinforce(run: Path, rounds: int, *more: str) -> int:
    sizes = ["--updates", "3", "--games", "10", "--test-games", "24", "--value-share", "0.5"]
    return course_command.reinforce(["--game", "tictactoe", "--run", str(run), "--rounds", str(rounds), *sizes, *more])


@pytest.fixture(scope="module")
def imitated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two generations and supervised policies of tic-tac-toe."""
    run = tmp_path_factory.mktemp("course")
    assert generate(run) == imitate(run) == 0
    return run


@pytest.fixture
def made(imitated: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(imitated, tmp_path / "made"))


def test_generations_are_measured_printed_and_left_out_the_second_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(tmp_path) == 0
    first = capsys.readouterr()
    assert first.out.splitlines()[0] == "Evaluating generation 0 neural network"
    assert first.out.splitlines()[1].startswith("net plays black: win= ") and " tie= " in first.out
    assert first.out.splitlines()[-1].endswith("(20 games)")
    made, scores = (tmp_path / "value-1.pt").read_bytes(), tmp_path / "value-1.json"
    before = scores.write_text(scores.read_text().replace("draws", "ties"))  # as they were called once
    assert generate(tmp_path) == 0
    assert len(scores.read_text()) == before, "not measured again"
    second = capsys.readouterr()
    assert second.out == first.out and (tmp_path / "value-1.pt").read_bytes() == made
    assert f"finished before: {tmp_path / 'value-1.pt'}" in second.err and "learning" not in second.err
    assert len(CourseFolder.of(tmp_path, "tictactoe").load("value-1")) == 1, "for both colours"


def test_a_network_that_is_made_anew_is_measured_anew(tmp_path: Path) -> None:
    found = []
    for first_games in ("60", "90"):
        (tmp_path / "value-0.pt").unlink(missing_ok=True)
        assert generate(tmp_path, "tictactoe", "--generations", "1", "--first-games", first_games) == 0
        found.append(json.loads((tmp_path / "value-0.json").read_text()))
    assert found[0]["settings"] == found[1]["settings"] and found[0] != found[1]
    (tmp_path / "value-0.json").write_text("{}")
    assert generate(tmp_path, "tictactoe", "--generations", "1", "--first-games", "90") == 0
    assert json.loads((tmp_path / "value-0.json").read_text()) == found[1]


def test_ctrl_c_loses_the_stage_under_way_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert generate(tmp_path, "tictactoe", "--generations", "1") == 0

    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(generations, "learn", interrupted)
        assert generate(tmp_path) == 130
    assert "goes on from there" in capsys.readouterr().err.splitlines()[-1]
    assert {path.stem for path in tmp_path.glob("value-*")} == {"value-0"}
    assert generate(tmp_path) == 0 and (tmp_path / "value-1.json").exists()


def test_other_settings_than_a_finished_stages_are_one_line(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert generate(made, "tictactoe", "--seed", "2") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "was made with seed 1, not 2" in line and "--run" in line
    assert generate(made, "tictactoe", "--first-games", "31") == 2
    assert "value-0.pt was made with games 60, not 31;" in capsys.readouterr().err


def test_a_damaged_file_and_another_games_file_are_one_line(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert generate(made, "othello") == 2
    assert "plays tictactoe, not othello" in capsys.readouterr().err
    file = made / "value-0.pt"
    flipped = bytearray(file.read_bytes())
    flipped[len(flipped) // 2] ^= 16
    for damaged in (b"no networks", flipped):
        file.write_bytes(damaged)
        assert generate(made) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "cannot read" in line and "value-0.pt" in line
    file.unlink()
    file.mkdir()  # a file that the system refuses to read may be whole
    assert generate(made) == 2
    assert "value-0.pt: Is a directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--game", "chess"], "chess"),
        (["--game", "tictactoe", "--games", "none"], "'none' is not a whole number"),
        ([], "--game"),
    ],
)
def test_bad_options_are_told(arguments: list[str], said: str, refused: Refused) -> None:
    assert said in refused(course_command.generations, arguments)


def test_policies_need_value_networks_and_reinforcement_needs_policies(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert imitate(tmp_path / "new") == 2
    assert "gozero course generations --game tictactoe" in capsys.readouterr().err
    (made / f"{SUPERVISED}.pt").unlink()
    assert reinforce(made, 1) == 2
    assert "gozero course imitate --game tictactoe" in capsys.readouterr().err
    assert imitate(made, "tictactoe", "--generation", "7") == 2
    assert "generation 7" in (said := capsys.readouterr().err) and "--generations 8" in said


def test_policies_are_made_and_measured_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(tmp_path, "course_go", "--generations", "1") == 0 and imitate(tmp_path, "course_go") == 0
    lines = capsys.readouterr().out.splitlines()[-4:]
    assert [line.split(":")[0] for line in lines] == [
        f"{way} moves, net plays {colour}" for way in ("drawn", "greedy") for colour in ("black", "white")
    ]
    folder = CourseFolder.of(tmp_path, "course_go")
    assert [len(folder.load(name)) for name in ("value-0", SUPERVISED)] == [2, 2], "one for each colour"


def test_a_stopped_reinforcement_goes_on_as_if_it_had_not_been(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    histories, (halves, without) = [], (Path(shutil.copytree(made, tmp_path / name)) for name in ("halves", "without"))
    assert reinforce(made, 2) == 0
    for rounds in (1, 2, 2):
        assert reinforce(halves, rounds) == 0
    assert "finished before: " in capsys.readouterr().err
    assert reinforce(without, 2, "--value-share", "0") == 0
    for run in (made, halves, without):
        content = CourseFolder.of(run, "tictactoe").content(REINFORCED)
        histories.append(content["history"])
        assert len(content["pool"]) == 3 and (run / f"{REINFORCED}.png").exists()
    assert histories[0] == histories[1] != histories[2]
    assert reinforce(made, 2, "--value-share", "0.25") == 2
    assert "value share 0.5, not 0.25" in capsys.readouterr().err


def test_reinforcement_learns_what_wins(made: Path) -> None:
    sizes = ["--updates", "10", "--games", "200", "--test-games", "400", "--value-share", "0", "--rate", "1e-2"]
    assert course_command.reinforce(["--game", "tictactoe", "--run", str(made), "--rounds", "1", *sizes]) == 0
    history = CourseFolder.of(made, "tictactoe").content(REINFORCED)["history"]
    start = history[-1]["start"]
    assert (start["wins"] + start["draws"] / 2) / 400 > 0.6
