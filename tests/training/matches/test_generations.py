"""Generations of a run against each other: who is chosen, who meets whom, and the picture."""

import json
from pathlib import Path

import pytest

from gozero.nets import model, weights
from tests.training.refusals import Refused
from training.commands import match
from training.matches import generations
from training.matches.match import MatchGame
from training.matches.tournament.field import PAIRS, Field
from training.matches.tournament.results import Results
from training.matches.tournament.runner import View
from training.settings import presets
from training.storage.checkpoint import Progress, Snapshot, save

CONFIG = model.config("b1c8")


def run_of(folder: Path, numbers: range, *changes: str) -> str:
    """A run folder with a checkpoint of each of these generations, all of one network."""
    settings = presets.load(presets.path_of("tiny"), "tiny", changes)
    average = model.build(CONFIG, seed=1).state_dict()
    for number in numbers:
        about = weights.metadata_of(CONFIG, game=settings.game, size=5)
        snapshot = Snapshot(Progress(generation=number), {"ema": average}, metadata=about)
        save(folder / "checkpoints", snapshot, settings.to_dict(), keep=100)
    (folder / "settings.json").write_text(json.dumps(settings.to_dict()))
    return str(folder)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Field, View, Path]]:
    """The fields that would be played."""
    found: list[tuple[Field, View, Path]] = []

    def note(field: Field, options: object, view: View, folder: Path) -> int:
        found.append((field, view, folder))
        return 0

    monkeypatch.setattr(generations.runner, "play_once", note)
    return found


def test_a_checkpoint_is_read_as_the_weights_of_its_average(tmp_path: Path) -> None:
    file = Path(run_of(tmp_path / "x", range(3, 4))) / "checkpoints" / "000003.pt"
    found = weights.load(file)
    assert (found.config, found.game, found.size) == (CONFIG, "go", 5)
    assert weights.header(file).network == "b1c8"
    assert found.network().state_dict().keys() == model.build(CONFIG).state_dict().keys()


def test_generations_of_a_run_meet_the_two_after_them(tmp_path: Path, played: list[tuple[Field, View, Path]]) -> None:
    run_of(tmp_path / "run", range(1, 11))
    (tmp_path / "x").symlink_to("run")
    folder = f"{tmp_path}/x/checkpoints/.."
    assert match.main(["--run", folder, "--generations", "4", "--visits", "7", "--games", "2"]) == 0
    ((field, view, out),) = played
    assert (field.kind, field.size, field.game, out) == (PAIRS, 5, "go", Path("tournaments/x-10"))
    assert field.opening_moves == match.RUN_OPENING_MOVES
    assert field.names == ["x 1", "x 4", "x 7", "x 10"]
    assert field.entrant[0].player == f"weights:{folder}/checkpoints/000001.pt:7"
    meetings = {(int(pair.a[2:]), int(pair.b[2:])) for pair in field.pair}
    assert meetings == {(1, 4), (4, 7), (7, 10), (1, 7), (4, 10)}
    pair = ("x 1", "x 4")
    games = [MatchGame(pair, index, pair[index > 0], "", "", "", "") for index in range(4)]
    files = view.files(Results(field, games, {}))
    assert files[Path("elo.png")][:4] == b"\x89PNG"


def test_a_generation_is_shown_by_the_network_of_its_end_if_there_is_one(
    tmp_path: Path, played: list[tuple[Field, View, Path]]
) -> None:
    folder = Path(run_of(tmp_path / "x", range(1, 5)))  # which has ended with generation 3
    (folder / "frozen").mkdir()
    for frozen in ("000001.pt", "000003.pt"):
        (folder / "frozen" / frozen).touch()
    assert match.main(["--run", str(folder)]) == 0
    assert [Path(each.player.split(":")[1]).parent.name for each in played[0][0].entrant] == [
        "frozen", "checkpoints", "frozen",
    ]  # fmt: skip


def test_two_runs_meet_at_the_nearest_generations(tmp_path: Path, played: list[tuple[Field, View, Path]]) -> None:
    one, two = run_of(tmp_path / "one", range(1, 3)), run_of(tmp_path / "two", range(2, 5))
    assert match.main(["--run", one, "--run", two, "--game", "othello"]) == 2 and not played
    assert match.main(["--run", one, "--run", two, "--opening-moves", "0"]) == 0
    assert played[0][0].opening_moves == 0
    names = {(pair.a, pair.b) for pair in played[0][0].pair}
    assert {pair for pair in names if pair[0][:3] != pair[1][:3]} == {("one 1", "two 2"), ("one 2", "two 2")}
    assert {("one 1", "one 2"), ("two 2", "two 3")} < names


@pytest.mark.parametrize(
    "options",
    [
        ["--run", "{one}", "random"], ["--run", "{one}", "--run", "{one}"], ["--run", "{one}", "--generations", "1"],
        ["--run", "{one}", "--rules", "japanese"], ["--run", "{young}"], ["--run", "{one}", "--run", "{nogo}"],
        ["--run", "{one}/none"], ["--run", "{circle}"], ["--run", "{one}", "--run", "{one}/../one"], ["random"], [],
        ["random", "random", "--plot", "{one}/x.png"], ["random", "random", "--visits", "9"],
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_one_line(
    options: list[str], tmp_path: Path, played: list[object], refused: Refused
) -> None:
    runs = {"one": range(1, 3), "young": range(1, 2), "nogo": range(1, 3)}
    changes = {"nogo": ("game=nogo",)}
    places = {name: run_of(tmp_path / name, numbers, *changes.get(name, ())) for name, numbers in runs.items()}
    places["circle"] = str(tmp_path / "circle")
    (tmp_path / "circle").symlink_to("circle")
    assert refused(match.main, [option.format(**places) for option in options]) and not played


def test_a_folder_without_a_run_is_called_so(tmp_path: Path, refused: Refused) -> None:
    assert f"{tmp_path} holds no settings.json; is it a run folder?" in refused(match.main, ["--run", str(tmp_path)])


def test_runs_of_one_name_are_written_among_the_tournaments(
    tmp_path: Path, played: list[tuple[Field, View, Path]]
) -> None:
    folders = [run_of(tmp_path / place / "x", range(1, 3)) for place in "ab"]
    assert match.main(["--run", folders[0], "--run", folders[1]]) == 0
    ((_, _, out),) = played
    assert out.parent == Path("tournaments")
