"""The front door: what is refused and in which words, the trials that leave nothing behind, and what a new run begins
with.
"""

import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from gozero.nets import weights
from gozero.system.errors import UserError
from gozero.system.options import SettingsError
from tests.training.refusals import Refused
from tests.training.run.test_resume import same
from training.commands import selfplay, start, train
from training.records import records, scoring
from training.run import dry_run, session
from training.run.new_run import StartingPoint
from training.selfplay.simulators import Disagreement, PachiSimulator
from training.settings import presets
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage
from training.storage.storage import FolderError

QUIET = ("--set", "monitor.report_every=0", "--set", "monitor.strength_every=0", "--threads", "1")
SHORT = ("--set", "generations=1", "--set", "generation_rows=60", "--set", "stage.1.full_visits=16", *QUIET)


def settings(*overrides: str) -> LoopSettings:
    return presets.load(presets.path_of("tiny"), "tiny", overrides)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of one short generation, trained by `gozero selfplay`."""
    folder = tmp_path_factory.mktemp("runs") / "narrow"
    assert selfplay.main(["--preset", "tiny", "--run", str(folder), *SHORT]) == 0
    return folder


def test_selfplay_trains_a_whole_run_and_goes_on_with_it(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "again"
    shutil.copytree(finished, folder)
    assert selfplay.main(["--preset", "tiny", "--run", str(folder), *SHORT, "--set", "generations=2"]) == 0
    before, after = (weights.load(place / "weights.pt").provenance for place in (finished, folder))
    assert (before["generation"], after["generation"]) == (1, 2)
    assert after["settings"]["simulator"] in ("pachi", "numba"), "the simulator is resolved and recorded"
    text = capsys.readouterr().err
    assert "generations 1 is now 2" in text
    assert "games are played on" in text


def test_many_changed_settings_have_a_line_each(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    began = ["rules=chinese", *(each for each in SHORT if "=" in each)]
    assert session.compare(settings(*began, "seed=11"), finished)
    assert capsys.readouterr().err.count("\n") == 1
    assert session.compare(settings(*began, "seed=11", "keep=9", "hours=9", "learner.batch=9"), finished)
    head, *changes = capsys.readouterr().err.splitlines()
    assert head == f"settings changed since the run last stopped in {finished}:"
    assert "  learner.batch 32 is now 9" in changes
    assert len(changes) >= 4


def test_entries_of_tables_that_come_and_go_are_changes_too() -> None:
    before, after = settings("learner.rates={0=1e-3}"), settings("learner.rates={0=1e-3,4=5e-4}", "stage.2.sizes={5=1}")
    assert session.differences(before, after) == [
        "learner.rates.4 not set is now 0.0005",
        "stage.2.sizes.5 0.7 is now 1.0",
        "stage.2.sizes.4 0.3 is now not set",
    ]


def test_two_trainings_never_share_a_folder(finished: Path, refused: Refused) -> None:
    arguments = ["--preset", "tiny", "--run", str(finished), *SHORT]
    with storage.alone(finished):
        assert f"{finished} is in use by another gozero command" in refused(train.main, arguments)
    assert train.main(arguments) == 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("", "give either --preset NAME (ablation7, "),
        ("--preset tiny --config x.toml", "give either --preset NAME"),
        ("--preset s9", "no preset is called 's9'"),
        ("--config nowhere.toml", "nowhere.toml"),
        ("--preset tiny --set cpuct=2", "the command line: unknown setting 'cpuct'"),
        ("--preset tiny --from nowhere.pt", "nowhere.pt: no such file"),
        ("--preset tiny --records nowhere", "no such folder or shard"),
        ("--preset tiny --set network=b99", "unknown network 'b99'"),
        ("--preset tiny --set game=chess", "unknown game 'chess'"),
        ("--preset tiny --set rules=mine", "unknown rules 'mine'"),
        ("--preset tiny --set device=tpu", "tpu"),
        ("--preset othello --set features=2", "othello has no input features of version 2; it has 1"),
        ("--preset tiny --run {here}/x", "Not a directory; change that, or give another folder"),
        ("--preset tiny --records {here}", "not a shard of records"),
        ("--preset tiny --dry-run --from nowhere.pt", "nowhere.pt: no such file"),
        ("--preset tiny --dry-run --run {here}", "{here} is no folder; give another --run"),
        ("--preset tiny --dry-run --run {here}/x", "{here} is no folder; give another --run"),
        ("--preset tiny --run s3://bucket/run", "is a URL; give a folder of this machine"),
        ("--preset tiny --dry-run --run s3://bucket/run", "is a URL; give a folder of this machine"),
        ("--preset tiny --storage nowhere://run", "--storage nowhere://run: Protocol not known: nowhere"),
        ("--preset tiny --storage runs/tiny/store", "lie within each other"),
        ("--preset tiny --dry-run --storage runs/tiny/store", "lie within each other"),
        ("--preset tiny --set selfplay.full_share=0", "selfplay: full_share = 0.0 is out of range: from 0.01 to 1"),
        ("--preset othello --set stage.1.sizes={5=1}", "stage 1: board size 5 is not supported: expected 4, 6 or 8"),
        (
            "--preset tiny --set replay.least_rows=950 --set replay.growing=false",
            "replay.least_rows = 950, but of the window's rows at most 900 may be drawn",
        ),
        (
            "--preset tiny --set replay.least_rows=500 --set replay.window_games=2",
            "replay.least_rows = 500, but of the window's rows at most 99 may be drawn",
        ),
        ("--preset tiny --set selfplay.processes=2", "selfplay.processes = 2, but selfplay.slots = 1: each process plays in"),
        (
            "--preset tiny --set selfplay.processes=2 --set selfplay.slots=2 --address auto",
            "selfplay.processes = 2 is for one machine: on a cluster gozero worker",
        ),
        ("--preset s3 --set stage.1.sizes={9=0.5,13=0.5}", "stage 1: network agz13 plays on one size of board, here 13, not 9"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(
    asked: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    refused: Refused,
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, words = asked.replace("{here}", __file__).split(), words.replace("{here}", __file__)
    if "--dry-run" in arguments:
        capsys.readouterr()
        assert train.main(arguments) == 2
        assert words in capsys.readouterr().err
    else:
        assert words in refused(train.main, arguments)
    assert not list(tmp_path.iterdir())


def test_selfplay_alone_begins_and_continues_the_default_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(selfplay, "DEFAULT_PRESET", "tiny")
    assert selfplay.main([*SHORT, "--set", "selfplay.games=4"]) == 0
    assert f"preset tiny: b2c16 for go, in {tmp_path}/runs/tiny" in capsys.readouterr().err
    assert (tmp_path / "runs" / "tiny" / "weights.pt").is_file()


def test_the_default_run_is_the_presets_that_made_the_weights() -> None:
    assert selfplay.DEFAULT_PRESET == "go13"


def test_a_start_that_came_to_nothing_is_no_run(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    arguments = ["--preset", "tiny", "--run", str(folder), *SHORT]
    assert train.main([*arguments, "--set", "network=b3c16", "--from", str(finished / "weights.pt")]) == 0
    text = capsys.readouterr().err
    assert "a new run, with the weights of" in text and "continuing" not in text
    assert (
        "the run has reached its limit, generations = 1; the same command with a higher one, such as --set generations=2, continues it"
        in text
    )


def test_a_file_where_a_runs_own_must_go_is_one_line(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder, ignore=shutil.ignore_patterns("tensorboard"))
    (folder / "tensorboard").write_text("")
    capsys.readouterr()
    assert train.main(["--preset", "tiny", "--run", str(folder), *SHORT]) == 1
    assert f"cannot write {folder / 'tensorboard'}: File exists" in capsys.readouterr().err


def test_a_precision_that_the_processor_lacks_is_refused_before_anything_is_written(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gozero.evaluators.openvino_evaluator.float_precision", lambda: "f32")
    command = ["--preset", "tiny", "--run", str(tmp_path / "run"), "--set", "selfplay.precision=bf16"]
    assert "selfplay.precision: precision bf16 needs a processor with" in refused(train.main, command)
    assert not list(tmp_path.iterdir())


def test_without_ray_the_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    asked = ["--preset", "tiny", "--run", str(tmp_path / "run")]
    monkeypatch.setattr(train, "find_spec", lambda name: None)
    assert "'.[distributed]'" in refused(train.main, [*asked, "--address", "auto"])
    assert not (tmp_path / "run").exists()


def test_checkpoints_of_another_network_are_one_line(finished: Path, tmp_path: Path, refused: Refused) -> None:
    shutil.copytree(finished, tmp_path / "run", ignore=shutil.ignore_patterns("settings.json"))
    arguments = ["--preset", "tiny", "--run", str(tmp_path / "run"), *SHORT, "--set", "network=b3c16"]
    assert "are not of b3c16 for go; give another --run" in refused(train.main, arguments)


def test_a_folder_of_other_settings_says_what_differs_and_what_to_do(finished: Path, refused: Refused) -> None:
    asked = ["--preset", "tiny", "--run", str(finished), "--set", "network=b3c16"]
    for look in (["--estimate"], ["--dry-run"], []):
        text = refused(train.main, [*asked, *look])
        assert "holds a run of network 'b2c16', not 'b3c16'; give another --run" in text
    assert f"--from {finished}/weights.pt" in text
    text = refused(train.main, ["--preset", "tiny", "--run", str(finished), "--set", "rules=aga"])
    assert "rules 'chinese', not 'aga'" in text


@pytest.mark.parametrize("content", ["{", "[]", "3", "{}", "[" * 9000, '{"features": "2"}'])
def test_a_damaged_settings_file_is_one_line(content: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "settings.json").write_text(content)
    said = refused(train.main, ["--preset", "tiny", "--run", str(tmp_path)])
    assert "settings.json" in said and ("features = '2'" in said) == ("features" in content)


def test_a_dry_run_looks_at_the_run_that_it_would_continue(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    arguments = ["--preset", "tiny", "--run", str(folder), "--dry-run"]
    assert train.main([*arguments, "--threads", "1"]) == 0
    assert "checkpoint of generation 2, " in capsys.readouterr().out
    with storage.alone(folder):
        assert train.main(arguments) == 2
    assert "in use by another gozero command" in capsys.readouterr().err
    for path in (folder / "checkpoints").iterdir():
        path.write_bytes(path.read_bytes()[:1000])
    assert train.main(arguments) == 2
    said = capsys.readouterr().err
    assert f"can be read; give another --run, with --from {folder / 'weights.pt'} and --records {folder}" in said


@pytest.mark.parametrize("preset", ["tiny", "go13", "s0", "s3"])
def test_a_run_begins_with_few_lines_that_make_its_settings_again(
    preset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = presets.load(presets.path_of(preset), preset, ["simulator=numba"])
    session.introduce(asked, tmp_path, f"preset {preset}")
    first, *said = capsys.readouterr().err.splitlines()
    assert preset in first and str(tmp_path) in first and len(said) < 20
    assert any(str(tmp_path / "settings.json") in line for line in said)
    changes = [part for line in said if line.startswith("  ") for part in line.split()]
    empty = tmp_path / "empty.toml"
    empty.write_text("".join("[[stage]]\nrows = 1\nsizes = { 13 = 1.0 }\n" for _ in asked.stage))
    assert presets.load(empty, "again", changes) == asked


def test_all_settings_are_listed_with_their_units(capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["--preset", "tiny", "--set", "learner.batch=48", "--list-settings"]) == 0
    said = capsys.readouterr()
    assert "  batch = 48  # rows of a step, all of one board size\n" in said.out and said.err == ""


def test_a_folder_that_was_replaced_under_a_run_is_left_to_the_other(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with storage.alone(folder):
        run, told = session.prepare(settings("threads=1"), folder), list[bool]()
        run.saved = lambda: told.append(True)
        run.save()
        shutil.rmtree(folder)
        run.trainer.learner.steps += 1
        for write in (run.save, lambda: run.promote(lambda: False)):
            with storage.alone(folder), pytest.raises(FolderError, match="was removed or replaced while the run worked"):
                write()
            assert not (folder / "weights.pt").exists()
        assert told == [True] and not (folder / "checkpoints").exists()


def test_records_that_are_gone_are_told(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    longer = settings("threads=1", "generations=2", "rules=chinese", "simulator=numba")
    rows = session.prepare(longer, folder).progress.rows
    assert "any more" not in capsys.readouterr().err
    (folder / "records" / "000001.gzr").unlink()
    session.prepare(longer, folder)
    said = f"{rows} of the window's {rows} rows are not in {folder / 'records'} any more"
    assert said in capsys.readouterr().err
    (folder / "records" / "000001.gzr").mkdir()  # as one that cannot be read
    with pytest.raises(UserError, match=f"cannot read {folder / 'records' / '000001.gzr'}"):
        session.prepare(longer, folder)


def test_a_dry_run_checks_all_and_leaves_nothing(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    origin = ["--from", str(finished / "weights.pt"), "--records", str(finished)]
    arguments = ["--preset", "tiny", "--run", str(tmp_path / "runs" / "new"), *origin, "--dry-run"]
    assert train.main([*arguments, "--set", "network=b3c24", "--threads", "1"]) == 0
    words = [line.split()[0] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert list(dict.fromkeys(words)) == [
        "settings", "simulator", "network", "records", "folder", "self-play", "learning",
    ]  # fmt: skip
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("look", [[], ["--dry-run"]])
def test_a_folder_that_tensorboard_cannot_name_is_refused_at_the_start(
    look: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, said = "r\udce9n", io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")  # the name: of no UTF-8
    monkeypatch.setattr(sys, "stderr", said)
    assert train.main(["--preset", "tiny", "--run", str(tmp_path / name), *look]) == 2
    said.seek(0)
    assert "r\\udce9n: TensorBoard cannot use its name, which is no UTF-8; " in said.read()
    assert not list(tmp_path.iterdir())


def test_a_dry_run_names_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(dry_run.shutil, "disk_usage", lambda place: usage._replace(free=5_000_000))
    assert train.main(["--preset", "tiny", "--run", str(tmp_path / "x"), "--dry-run"]) == 2
    assert "has 5 MB free, and a run needs" in capsys.readouterr().err


def test_a_wide_run_begins_with_a_narrow_ones_weights_and_games(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide, origin = settings("network=b3c24", "threads=1"), StartingPoint(str(finished / "weights.pt"), (str(finished),))
    run = session.prepare(wide, tmp_path / "wide", origin)
    games = records.read(finished / "records" / "000001.gzr").records
    assert run.progress.learning
    assert (run.progress.games, run.progress.rows) == (len(games), sum(game.rows for game in games))
    assert run.trainer.replay.total == run.progress.rows
    assert run.trainer.steps_backlog == run.progress.rows * 4 / 32
    assert run.progress.trained_sizes == [5], "what the first weights learned counts"
    assert same(run.trainer.learner.net.state_dict(), run.trainer.learner.ema.state_dict())
    narrow = weights.load(finished / "weights.pt").network()
    planes, inputs = torch.zeros(1, 11, 5, 5), torch.zeros(1, 7)
    with torch.inference_mode():
        assert torch.allclose(narrow(planes, inputs).policy, run.trainer.learner.ema(planes, inputs).policy, atol=1e-4)
    run.save()
    again = session.prepare(wide, tmp_path / "wide", origin)
    assert again.progress.rows == run.progress.rows
    assert "has already begun and continues" in capsys.readouterr().err


def test_a_run_cannot_begin_with_a_wider_network(finished: Path, tmp_path: Path, refused: Refused) -> None:
    arguments = ["--preset", "tiny", "--run", str(tmp_path / "x")]
    text = refused(train.main, [*arguments, "--set", "network=b2c8", "--from", str(finished / "weights.pt")])
    assert "which has fewer channels" in text
    assert "--records FOLDER" in text


def test_a_disagreement_of_the_simulators_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pachi_py")
    seen: list[float] = []

    def check(board: PachiSimulator, state: np.ndarray, score: float) -> None:
        seen.append(score)
        if len(seen) == 3:
            raise Disagreement("the simulators disagree about a 5x5 game\nX to play")

    monkeypatch.setattr(PachiSimulator, "check_score", check)
    assert train.main(["--preset", "tiny", "--run", str(tmp_path / "x"), "--simulator", "pachi", *SHORT]) == 1
    assert "gozero train: the simulators disagree" in capsys.readouterr().err
    kept = records.read(tmp_path / "x" / "records" / "000001.gzr").records
    assert len(kept) == 2, "the games before it are kept, the one in question is not"
    assert json.loads((tmp_path / "x" / "settings.json").read_text())["simulator"] == "pachi"
    assert checkpoint.latest(tmp_path / "x" / "checkpoints") is not None


@pytest.mark.parametrize("program", [train.main, selfplay.main])
def test_a_bug_is_no_error_of_the_users(
    program: Callable[[list[str]], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ValueError that no check of ours has raised leaves as a traceback, so that it can be reported."""

    def broken(*arguments: object, **named: object) -> None:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(session, "prepare", broken)
    with pytest.raises(ValueError, match="broadcast"):
        program(["--preset", "tiny", "--run", str(tmp_path / "run"), "--threads", "1"])


def test_a_run_of_a_preset_goes_on_with_the_network_it_began_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "000001.pt").touch()
    (tmp_path / "settings.json").write_text('{"network": "b10c64", "features": 1, "norm": "batch", "value_head": "scalar"}')
    arguments = ["--preset", "go13", "--run", str(tmp_path)]
    found = begun(arguments)
    assert (found.features, found.norm, found.value_head) == (1, "batch", "scalar")
    assert "continues with features = 1, as it began; new runs have 3" in capsys.readouterr().err
    assert begun([*arguments, "--set", "features=3"]).features == 3


def begun(arguments: list[str]) -> LoopSettings:
    options = train.parser().parse_args(arguments)
    asked, folder = train.asked(options)
    return session.as_begun(start.completed(asked), folder, start.chosen(options))


def test_weights_without_games_are_told_what_playouts_and_other_sizes_do(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    origin = StartingPoint(str(finished / "weights.pt"))
    session.prepare(settings("rules=chinese", "threads=1", "stage.2.sizes={3=1}"), tmp_path / "x", origin)
    said = capsys.readouterr().err
    assert "its first games are played by random playouts, not by these weights" in said
    usual = settings("rules=chinese", "threads=1", "stage.1.evaluator=network")
    session.prepare(usual, tmp_path / "y", origin)
    assert "playouts, not" not in capsys.readouterr().err


def test_a_dry_run_of_a_run_that_has_begun_does_not_look_at_its_origin(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--preset", "tiny", "--run", str(finished), *SHORT, "--threads", "1", "--from", "gone.pt", "--dry-run"]
    assert train.main(arguments) == 0
    assert "this run has already begun: --from and --records are for a new run" in capsys.readouterr().out


def test_games_end_after_a_move_at_least_and_other_games_by_their_rules_alone() -> None:
    assert scoring.make("go", 3, "chinese", 0.1).max_plies == 1
    short = settings("selfplay.max_length=0.3", "stage.1.sizes={3=1}", "stage.2.sizes={3=1}")
    assert scoring.longest(short, scoring.make("go", 3, "chinese", 0.3)) == 2
    assert scoring.longest(short, connect4 := scoring.make("connect4", 7, "", 0.3)) == connect4.max_plies


def test_the_rows_that_a_window_may_hold_are_those_of_the_largest_board_of_any_stage() -> None:
    early = settings("stage.2.sizes={3=1}", "replay.window_games=8", "replay.least_rows=160", "replay.held_out=0")
    start.check_window(early)
    with pytest.raises(SettingsError, match="no step would ever be taken"):
        start.check_window(replace(early, stage=early.stage[-1:]))
