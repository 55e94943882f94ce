"""What a new run begins with: games of earlier runs, those that it can learn from and no others."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from gozero.nets import weights
from gozero.system.errors import UserError
from gozero.system.options import SettingsError
from tests.training.games import random_record, write_shard
from training.commands import train
from training.records import records
from training.records.records import Record
from training.run import new_run
from training.run.new_run import StartingPoint
from training.run.run import Run
from training.run.session import prepare
from training.settings import presets
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage

GAMES = tuple(random_record(5, seed) for seed in range(8))
CHINESE = {"game": "go", "rules": "chinese"}


def settings(*overrides: str) -> LoopSettings:
    return presets.load(presets.path_of("tiny"), "tiny", ("threads=1", "replay.held_out=0", *overrides))


def written(path: Path, games: Sequence[Record], facts: dict[str, str] = CHINESE) -> Path:
    """A shard of these games."""
    write_shard(path, games, dict(facts))
    return path


def begun(folder: Path, *shards: Path, overrides: Sequence[str] = ()) -> Run:
    """A new run in `folder` that begins with the shards."""
    return prepare(settings(*overrides), folder, StartingPoint(None, tuple(map(str, shards))))


def refused(folder: Path, *shards: Path, overrides: Sequence[str] = ()) -> str:
    """The words with which the shards are refused; nothing is left in `folder`."""
    with pytest.raises(UserError) as error:
        begun(folder, *shards, overrides=overrides)
    assert not folder.exists()
    return str(error.value)


def owns(run: Run, games: Sequence[Record]) -> None:
    """Assert that these games, and no others, are the run's, and that each of their rows is paid for."""
    rows = sum(game.rows for game in games)
    assert (run.progress.games, run.progress.rows) == (len(games), rows)
    assert (run.trainer.replay.total, run.trainer.replay.sizes()) == (rows, {5: rows})
    assert run.trainer.replay.corrupt == 0
    assert run.trainer.steps_backlog == rows * run.settings.learner.reuse / run.settings.learner.batch


def test_games_that_the_rules_do_not_lead_to_their_result_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = replace(GAMES[0], score=GAMES[0].score + 1)
    illegal = replace(GAMES[1], moves=np.concatenate([GAMES[1].moves[:1], GAMES[1].moves]))
    beyond = replace(GAMES[2], size=23)
    shard = written(tmp_path / "a.gzr", [wrong, *GAMES[3:], illegal, beyond])
    run = begun(tmp_path / "run", shard)
    owns(run, GAMES[3:])
    assert "5 games and" in (line := capsys.readouterr().err)
    assert "(3 games left out: on boards that the run cannot learn from, or with another result by its rules)" in line
    kept = records.read(tmp_path / "run" / "records" / "000001.gzr").records
    assert list(map(records.encode, kept)) == list(map(records.encode, GAMES[3:]))
    run.save()
    owns(Run(run.settings, tmp_path / "run"), GAMES[3:])
    alone = written(tmp_path / "b.gzr", [wrong, beyond])
    assert "no game on size 5 and 23 leads to its result" in refused(tmp_path / "other", alone)


def test_whole_shards_are_copied_as_they_are(tmp_path: Path) -> None:
    shards = written(tmp_path / "a.gzr", GAMES[:6]), written(tmp_path / "b.gzr", GAMES[6:])
    owns(begun(tmp_path / "run", *shards), GAMES)
    for number, shard in enumerate(shards, start=1):
        assert storage.shard(tmp_path / "run", number).read_bytes() == shard.read_bytes()


@pytest.mark.parametrize(
    ("overrides", "passes", "paying"),
    [
        (("replay.window=60", "replay.growing=false"), 4.0, 60),
        (("replay.window_games=3",), 4.0, sum(game.rows for game in GAMES[-3:])),
        (("learner.epochs=2",), 2.0, sum(game.rows for game in GAMES)),
        (("learner.generation_steps=6", "generation_rows=40"), 4.8, sum(game.rows for game in GAMES)),
    ],
)
def test_the_rows_of_the_window_pay_for_the_first_steps(
    overrides: tuple[str, ...], passes: float, paying: int, tmp_path: Path
) -> None:
    run = begun(tmp_path / "run", written(tmp_path / "a.gzr", GAMES), overrides=overrides)
    assert run.trainer.steps_backlog == pytest.approx(paying * passes / 32)


def test_games_of_other_rules_or_another_game_are_refused(tmp_path: Path) -> None:
    good = written(tmp_path / "a.gzr", GAMES)
    aga = written(tmp_path / "aga.gzr", GAMES, {"game": "go", "rules": "aga"})
    nogo = written(tmp_path / "nogo.gzr", [], {"game": "nogo"})
    words = "aga.gzr: games under the rules 'aga', but this run's are 'chinese'; give --set rules=aga"
    assert words in refused(tmp_path / "run", good, aga)
    assert "nogo.gzr: games of nogo, but this run plays go" in refused(tmp_path / "run", good, nogo)
    owns(begun(tmp_path / "run", written(tmp_path / "old.gzr", GAMES, {"game": "go"})), GAMES)


@pytest.mark.parametrize("left", [b"", bytes(9)])
def test_a_shard_that_a_crash_emptied_is_passed_over(
    left: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "kept" / "000001.gzr", GAMES)
    (tmp_path / "kept" / "000002.gzr").write_bytes(left)
    owns(begun(tmp_path / "run", tmp_path / "kept"), GAMES)
    assert (f"skipped 1 damaged record(s) in {tmp_path / 'kept' / '000002.gzr'}" in capsys.readouterr().err) == bool(left)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "000001.gzr").write_bytes(left)
    for nothing, shard in ((tmp_path / "none", "/000001.gzr"), (tmp_path / "kept" / "000002.gzr", "")):
        said = f"--records {nothing}{shard}: not a shard" if left else f"--records {nothing}: no games"
        assert said in refused(tmp_path / "other", nothing)


def test_a_shard_that_cannot_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = written(tmp_path / "a.gzr", GAMES)

    def denied(path: Path) -> bytes:
        raise PermissionError(13, os.strerror(13), str(path))

    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "1.gzr").symlink_to(tmp_path / "gone.gzr")
    assert "linked/1.gzr: No such file or directory" in refused(tmp_path / "run", tmp_path / "linked")
    monkeypatch.setattr(Path, "read_bytes", denied)
    assert f"cannot read {shard}: Permission denied" in refused(tmp_path / "run", shard)


def test_games_without_a_run_are_not_taken_for_its_own(tmp_path: Path) -> None:
    shard = written(tmp_path / "run" / "records" / "000001.gzr", GAMES)
    before = shard.read_bytes()
    for origin in (StartingPoint(), StartingPoint(None, (str(tmp_path / "run"),))):
        with pytest.raises(SettingsError, match=r"holds games \(records/\) but no checkpoint of a run; give another"):
            prepare(settings(), tmp_path / "run", origin)
    assert shard.read_bytes() == before
    owns(begun(tmp_path / "other", tmp_path / "run"), GAMES)


@pytest.mark.parametrize("moment", ["first", "second", "checkpoint"])
def test_a_start_that_is_interrupted_leaves_nothing_to_the_next(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        written(tmp_path / "kept" / f"{number}.gzr", GAMES)
    put, save, calls = new_run._put, checkpoint.save, []

    def interrupted(*arguments: Any) -> None:
        put(*arguments)
        calls.append(arguments)
        if len(calls) == ("first", "second", "checkpoint").index(moment) + 1:
            raise KeyboardInterrupt

    def no_checkpoint(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(new_run, "_put", interrupted)
    monkeypatch.setattr(checkpoint, "save", no_checkpoint)
    with pytest.raises(KeyboardInterrupt):
        begun(tmp_path / "run", tmp_path / "kept")
    assert not [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    monkeypatch.setattr(new_run, "_put", put)
    monkeypatch.setattr(checkpoint, "save", save)
    wrong = replace(GAMES[0], score=GAMES[0].score + 1)
    owns(begun(tmp_path / "run", written(tmp_path / "b.gzr", [wrong, *GAMES[4:]])), GAMES[4:])


@pytest.mark.parametrize("owner, name", [(new_run, "_put"), (storage, "length"), (checkpoint, "save")])
def test_a_start_that_is_killed_may_be_repeated(
    owner: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, last = written(tmp_path / "kept" / "1.gzr", GAMES), getattr(owner, name)

    def killed(*arguments: Any) -> None:
        last(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(owner, name, killed)
        patched.setattr(new_run, "clean", lambda folder: None)  # nothing is tidied up
        begun(tmp_path / "run", kept)
    owns(begun(tmp_path / "run", kept), GAMES)
    assert not (tmp_path / "run" / new_run.IMPORT).exists()


def test_a_start_that_fails_removes_nothing_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = [tmp_path / "run" / name for name in ("import/1.sgf", "records/000001.gzr.cut", "checkpoints/best.pt")]
    for path in mine:
        path.parent.mkdir(parents=True)
        path.touch()
    kept = written(tmp_path / "kept" / "1.gzr", GAMES)
    with monkeypatch.context() as patched, pytest.raises(OSError, match="full"):
        patched.setattr(checkpoint, "save", Mock(side_effect=OSError("full")))
        begun(tmp_path / "run", kept)
    owns(begun(tmp_path / "run", kept), GAMES)
    assert all(path.exists() for path in mine)


def test_rows_that_are_refused_later_keep_their_place_in_the_window(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", written(tmp_path / "a.gzr", GAMES))
    run.save()
    shard = tmp_path / "run" / "records" / "000001.gzr"
    shard.unlink()  # as where a change of the rules refuses a game
    written(shard, [replace(GAMES[0], score=GAMES[0].score + 1), *GAMES[1:]])
    again = Run(run.settings, tmp_path / "run")
    (rows,) = again.trainer.replay.rows.values()
    assert rows.serial.tolist() == list(range(GAMES[0].rows, run.progress.rows))
    assert (again.trainer.replay.total, again.report(lambda: False)["run/corrupt"]) == (run.progress.rows, 1)


def test_a_network_of_one_board_learns_from_its_games_among_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    larger = [random_record(7, seed) for seed in range(3)]
    mixed, seven = written(tmp_path / "mixed.gzr", [*larger, *GAMES]), written(tmp_path / "larger.gzr", larger)
    only = ("network=mlp2x8", "stage.2.sizes={5=1}")
    owns(begun(tmp_path / "run", mixed, overrides=only), GAMES)
    arguments = ["--preset", "tiny", "--run", str(tmp_path / "x"), "--records", str(seven)]
    assert train.main([*arguments, *(part for each in only for part in ("--set", each))]) == 2
    assert "games on size 7, but network mlp2x8 plays on 5 only" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_only_the_runs_own_games_are_measured(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", written(tmp_path / "a.gzr", GAMES), overrides=("selfplay.full_share=0.5",))
    report = run.report(lambda: False)
    assert report["run/generation"] == 1
    assert not [name for name in report if name.startswith(("games", "resign"))]
    run.save()
    again = Run(settings("selfplay.full_share=0.25"), tmp_path / "run")
    assert again.progress.full_share == 0.5, "what the games in flight may have"


def test_a_shard_that_is_named_twice_is_learned_from_once(tmp_path: Path) -> None:
    shard = written(tmp_path / "run" / "records" / "000001.gzr", GAMES)
    (tmp_path / "link").symlink_to(tmp_path / "run")
    owns(begun(tmp_path / "new", tmp_path / "run", shard, tmp_path / "link"), GAMES)


def test_a_link_to_a_shard_is_called_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"no shard")
    link = tmp_path / "mine.gzr"
    link.symlink_to(tmp_path / "store")
    assert f"--records {link}: not a shard" in refused(tmp_path / "run", link)


def test_the_first_checkpoint_says_what_it_plays(tmp_path: Path) -> None:
    run = begun(tmp_path / "new", written(tmp_path / "mine.gzr", GAMES))
    found = weights.load(run.folder / "checkpoints" / "000001.pt")
    assert (found.config, found.game, found.size) == (run.trainer.learner.config, "go", 5)
