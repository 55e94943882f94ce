"""Supervised learning: rows from SGF files of every kind, what is known of their targets, and runs that end, resume and
are measured.
"""

from __future__ import annotations

import errno
import os
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gozero.games import coords
from gozero.nets import features, weights
from gozero.records import sgf
from gozero.system.errors import UserError
from tests import ROOT
from tests.training.games import random_record
from tests.training.run.test_resume import same
from training.commands import supervised as supervised_command
from training.learner.learner import Learner
from training.records.browse import sgf_record
from training.records.library import Entry
from training.records.rows import Batch, rows_of
from training.settings.config import LearnerSettings
from training.storage import storage
from training.supervised import collection, trainer
from training.supervised.collection import Wanted
from training.supervised.sgf_rows import LabelledGame, komi_of, labelled, result_of
from training.supervised.trainer import Plan, SupervisedTrainer

NASTY = ROOT / "tests" / "data" / "sgf"


def exported(size: int, seed: int) -> bytes:
    record = random_record(size, seed)
    return sgf.serialise(sgf_record(Entry("x:1", Path("x"), 1, record, {}), 1))


def only(data: bytes) -> LabelledGame:
    return labelled(sgf.games(data)[0])


def moves_of(line: LabelledGame) -> str:
    return " ".join(coords.vertex(int(action), line.size) for action in line.rows.policy.argmax(1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games")
    for seed in range(24):
        (path / str(seed % 3)).mkdir(exist_ok=True)
        (path / str(seed % 3) / f"{seed}.SGF").write_bytes(exported(5 if seed % 4 else 7, seed))
    return path


def test_rows_are_those_of_the_record_that_was_exported() -> None:
    """Positions, komi, result and ownership come out as self-play's replay makes them."""
    record = random_record(5, 1, every=1)
    expected = rows_of(record, Entry("x:1", Path("x"), 1, record, {}).game())
    line = only(exported(5, 1))
    for name in ("planes", "globals", "value", "score"):
        np.testing.assert_array_equal(getattr(line.rows, name), getattr(expected, name), name)
    np.testing.assert_array_equal(line.rows.policy.argmax(1), record.moves)
    np.testing.assert_array_equal(line.rows.reply[:-1].argmax(1), record.moves[1:])
    assert not line.rows.reply[-1].any()
    passed_out = record.ending == "passes"
    assert line.known == (True, True, passed_out)
    if passed_out:
        np.testing.assert_array_equal(line.rows.owner, expected.owner)


def test_ownership_is_taught_only_where_the_count_agrees_with_the_result() -> None:
    moves = b";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]"
    ended = moves + b";B[];W[]"  # 15 points against 10
    assert only(b"(;SZ[5]RU[Chinese]KM[0]RE[B+5]" + ended + b")").known == (True, True, True)
    owner = only(b"(;SZ[5]RU[Chinese]KM[0]RE[B+5]" + ended + b")").rows.owner
    assert (owner[0].reshape(5, 5) == [[1, 1, 1, -1, -1]] * 5).all()
    assert (owner[1] == -owner[0]).all()
    assert only(b"(;SZ[5]KM[0]RE[B+6]" + ended + b")").known == (True, True, False)
    assert only(b"(;SZ[5]KM[0]RE[B+5]" + moves + b")").known == (True, True, False)
    assert only(b"(;SZ[5]KM[0]RE[B+R]" + ended + b")").known == (True, False, False)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("B+3.5", (1, 3.5)), ("W+12", (-1, -12.0)), ("w+0.50", (-1, -0.5)), ("B+R", (1, None)), ("W+Resign", (-1, None)),
        ("0", (0, 0.0)), ("Draw", (0, 0.0)), ("B+3,5", (1, 3.5)), ("W + 3.5 points", (-1, -3.5)),
        ("White wins by 3 1/2", (-1, -3.5)), ("黑中盘胜", (1, None)), ("黒中押し勝ち", (1, None)), ("白胜3目半", (-1, -3.5)),
        ("黑半目勝", (1, 0.5)), ("黑胜1又3/4子", (1, 3.5)),
        *((unknown, (None, None)) for unknown in
          ("", "?", "Void", "B+T", "W+F", "B+", "B+Time", "Black wins", "黑胜", "B+3x", "白时间胜")),
    ],
)  # fmt: skip
def test_results(text: str, found: tuple) -> None:
    assert result_of(text) == found


@pytest.mark.parametrize(
    ("header", "komi"),
    [
        ("KM[6.5]", 6.5), ("KM[375]", 7.5), ("KM[3.75]", 7.5), ("KM[650]", 6.5), ("KM[-5]", -5.0), ("", 7.5),
        ("HA[2]AB[aa][bb]", 0.0), ("KM[0]", 0.0), ("RU[Japanese]", 6.5), ("RU[AGA]", 7.5),
        ("RU[Japanese]HA[2]AB[aa][bb]", 0.0),
    ],
)  # fmt: skip
def test_komi(header: str, komi: float) -> None:
    record = sgf.first_game(f"(;SZ[19]{header};B[cc])".encode()).record()
    assert komi_of(record) == komi


def test_komi_and_handicap_reach_the_network() -> None:
    chinese = only(b"(;SZ[9]KM[0.5]HA[2]AB[cc][gg]RU[Chinese];W[ee];B[ef])")
    japanese = only(b"(;SZ[9]KM[0.5]HA[2]AB[cc][gg]RU[Japanese];W[ee];B[ef])")
    assert chinese.rows.globals[:, 0].tolist() == pytest.approx([2.5 / features.KOMI_SCALE, -2.5 / features.KOMI_SCALE])
    assert japanese.rows.globals[0, 0] == pytest.approx((0.5 + 2 - 0.5) / features.KOMI_SCALE), "two ahead"
    planes = np.unpackbits(chinese.rows.planes, axis=1, count=11 * 81).reshape(-1, 11, 9, 9)
    assert planes[0, 5].sum() == 2, "the handicap stones are White's opponent's"
    assert planes[0, 10].max() == 0


def test_a_line_is_cut_before_a_move_that_breaks_the_rules() -> None:
    line = only(b"(;SZ[5]RE[B+R];B[aa];W[bb];B[aa];W[cc])")
    assert moves_of(line) == "A5 B4"
    assert line.cut == "move 3, A5 is illegal for Black"
    assert not line.rows.reply[-1].any(), "an illegal reply is a target"


def test_a_line_is_cut_before_a_move_that_is_played_after_two_passes() -> None:
    ended = b"(;SZ[5]KM[0]RU[Chinese]RE[B+25];B[aa];W[];B[]"
    resumed = only(ended + b";W[];B[cc])")
    assert moves_of(resumed) == "A5 pass pass"
    assert resumed.cut == "move 4, after two passes"
    assert resumed.known == (True, True, False)
    passes = only(ended + b";W[])")
    assert (moves_of(passes), passes.cut, passes.known) == ("A5 pass pass", "", (True, True, True))


def test_moves_out_of_turn_leave_no_row() -> None:
    line = only(b"(;SZ[9];B[aa];B[bb];W[cc];B[dd])")
    assert moves_of(line) == "A9 C7 D6"
    assert line.rows.reply.sum(1).tolist() == [0, 1, 0]


def test_a_result_that_no_board_gives_is_refused() -> None:
    for result in (b"B+51", b"W+" + b"9" * 400):
        with pytest.raises(ValueError, match="cannot be the result of a 5x5 game"):
            only(b"(;SZ[5]KM[0.5]RE[" + result + b"];B[aa])")
    assert only(b"(;SZ[5]KM[0.5]RE[B+50];B[aa])").known[1]


def test_a_folder_of_bad_and_good_files() -> None:
    said: list[str] = []
    found = collection.read(NASTY, Wanted(9, held_out=0), said.append)
    named = sorted(Path(line.split(".sgf")[0]).name for line in said)
    assert named == ["chess", "chinese-characters", "collection", "empty-game", "rectangle", "suicide", "torn"]
    assert not any("\n" in line for line in said)
    assert any("chess.sgf: line 1, column 2: GM[2] is not Go" in line for line in said)
    assert any("collection.sgf, game 2: " in line for line in said)
    assert found.counts == {
        "files": 10, "games": 5, "bad files": 3, "bad games": 1, "copies": 1, "cut games": 1, "remarks": 2,
        "on 13x13": 1, "on 19x19": 1,
    }  # fmt: skip


def test_a_folder_that_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "a.sgf").write_bytes(b"(;SZ[9];B[aa];W[bb])")
    scan = os.scandir

    def refuse(folder: str) -> Any:
        if Path(folder).name == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    said: list[str] = []
    assert collection.read(tmp_path, Wanted(9, held_out=0), said.append).counts["games"] == 1
    assert ["Permission denied" in line and "locked" in line for line in said] == [True]


def test_what_is_not_read_of_a_file_is_said_also_where_its_first_game_is_bad(tmp_path: Path) -> None:
    data = "(;SZ[99]PB[聂卫平])(;SZ[9]PB[柯洁]RE[B+3x];B[cc];W[gg])(;SZ[9]RE[B+T];B[dd])"
    (tmp_path / "x.sgf").write_bytes(data.encode("gb18030"))
    said: list[str] = []
    found = collection.read(tmp_path, Wanted(9, held_out=0), said.append)
    assert [("encoding" in line, "B+3x" in line) for line in said] == [(False, False), (True, False), (False, True)]
    assert found.counts["remarks"] == 2


def test_no_damage_to_a_file_is_more_than_a_line() -> None:
    generator, whole = np.random.default_rng(1), b"".join(path.read_bytes() for path in sorted(NASTY.iterdir()))
    whole += b"(;SZ[5]KM[inf]RE[B+1e999]HA[9];B[aa])"
    for _ in range(300):
        start = int(generator.integers(len(whole)))
        data = bytearray(whole[start : start + 200])
        data[generator.integers(len(data))] = generator.choice(list(b"[]();\\A0z\xff"))
        try:
            for game in sgf.games(bytes(data)):
                labelled(game)
        except ValueError as error:
            assert "\n" not in str(error)


def test_wanted_sizes_results_and_limits(folder: Path) -> None:
    assert collection.read(folder, Wanted(7), print).counts["games"] == 6
    said: list[str] = []
    limited = collection.read(folder, Wanted(5, most=100, held_out=0), said.append)
    assert 100 <= len(limited.held) < 250
    assert "as many as wanted" in said[-1]
    with pytest.raises(UserError, match=r"nothing on 19x19 .* to train on: 24 files, (6 on 7x7|18 on 5x5)"):
        collection.read(folder, Wanted(19), print)


def test_reading_takes_little_more_memory_than_the_rows(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    # no two are neighbours: all is legal
    points = [f"{chr(97 + x)}{chr(97 + y)}" for x in range(13) for y in range(13) if (x + y) % 2]
    for number in range(60):
        moves = "".join(f";{'BW'[ply % 2]}[{point}]" for ply, point in enumerate(generator.permutation(points)))
        (tmp_path / f"{number}.sgf").write_text(f"(;SZ[13]RE[B+R]{moves})")
    collection.read(tmp_path, Wanted(13, most=1, held_out=0), print)  # what is compiled and imported on the way
    tracemalloc.start()
    found = collection.read(tmp_path, Wanted(13, held_out=0.2), print)
    _, while_reading = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rows = len(found.held)
    assert rows == 60 * len(points)
    assert 1100 * rows < while_reading < 1.5 * 1200 * rows, "bytes"


def test_an_epoch_draws_every_row_once_that_is_not_held_out(folder: Path) -> None:
    found = collection.read(folder, Wanted(5, held_out=0.3), print)
    rows, found.known = np.flatnonzero(~found.held), np.arange(len(found.held))  # a number for each row
    batches = list(found.batches(32, np.random.default_rng(1)))
    assert len(batches) == found.steps(32)
    assert all(batch.known is not None and len(batch.known) == len(batch.planes) == 32 for batch in batches)
    drawn = np.concatenate([batch.known for batch in batches])
    assert (batches[0].planes != found.batch(batches[0].known).planes).any(), "under symmetries"
    assert len(rows) - 31 <= len(drawn) == len(set(drawn.tolist()) & set(rows.tolist())) < len(found.held) - 31


def run(folder: Path, out: Path, *arguments: str) -> int:
    tiny = ["--network", "b1c8", "--size", "5", "--batch", "32", "--threads", "1", "--held-out", "0.2"]
    return supervised_command.main([str(folder), "--out", str(out), *tiny, *arguments])


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Set to [n]: the run is told to stop at the n-th question."""
    left: list[int] = []

    def stop() -> bool:
        if left:
            left[0] -= 1
        return bool(left) and left[0] <= 0

    monkeypatch.setattr(trainer, "stop_on_signals", lambda: stop)
    return left


def test_it_trains_measures_and_writes_weights_that_load(
    folder: Path, tmp_path: Path, signals: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "w.pt"
    assert run(folder, out, "--epochs", "2") == 0
    text = capsys.readouterr()
    assert re.search(r"epoch 2 of 2: policy [\d.]+, value [\d.]+; held out: policy [\d.]+ \(a guess: ", text.err)
    assert text.out == f"weights: {out}\n"
    loaded = weights.load(out)
    assert (loaded.config.name, loaded.provenance["games"], loaded.provenance["how"]) == (
        "b1c8",
        18,
        "supervised, from SGF files",
    )
    assert loaded.network() is not None


def test_an_interrupted_run_goes_on_to_the_same_weights(folder: Path, tmp_path: Path, signals: list[int]) -> None:
    whole, parts = tmp_path / "whole.pt", tmp_path / "parts.pt"
    assert run(folder, whole, "--epochs", "2") == 0
    signals[:] = [9]
    assert run(folder, parts, "--epochs", "2") == 0
    assert weights.load(parts).provenance["steps"] < weights.load(whole).provenance["steps"]
    signals.clear()
    assert run(folder, parts, "--epochs", "2", "--resume") == 0
    assert same(weights.load(whole).state_dict, weights.load(parts).state_dict)


def test_an_epoch_that_was_killed_at_its_end_has_a_mean_loss(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, killed = tmp_path / "w.pt", KeyboardInterrupt()
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "SAVED_EVERY", 1)
        patch.setattr(trainer.SupervisedTrainer, "measured", lambda *asked: (_ for _ in ()).throw(killed))
        run(folder, out, "--epochs", "1", "--batch", "200")
    assert run(folder, out, "--epochs", "1", "--batch", "200", "--resume") == 0
    assert "policy nan" not in capsys.readouterr().err


def test_a_run_that_diverged_goes_on_with_a_smaller_learning_rate(
    folder: Path,
    tmp_path: Path,
    signals: list[int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    healthy = Learner.train

    def poisoned(learner: Learner, batch: Batch, rate: float) -> dict[str, torch.Tensor]:
        bad = learner.steps == wrong - 1 and learner.settings.learning_rate > 1e-3
        return healthy(learner, batch._replace(score=batch.score * np.float32("nan")) if bad else batch, rate)

    def last_line(*arguments: str) -> tuple[int, str]:
        return run(folder, tmp_path / "w.pt", "--epochs", "1", *arguments), capsys.readouterr().err.splitlines()[-1]

    monkeypatch.setattr(Learner, "train", poisoned)
    monkeypatch.setattr(trainer, "SAVED_EVERY", 3)
    what = "gozero supervised: a loss or the gradient is not a number at step"
    advice = "give the same command with a --learning-rate below 0.01"
    wrong = 2
    assert last_line("--learning-rate", "1e-2") == (1, f"{what} 2: {advice}")
    wrong = 5
    assert last_line("--learning-rate", "1e-2") == (1, f"{what} 5: {advice} and --resume, which continues from step 3")
    assert run(folder, tmp_path / "w.pt", "--epochs", "1", "--learning-rate", "1e-3", "--resume") == 0
    assert weights.load(tmp_path / "w.pt").provenance["settings"]["learner"]["learning_rate"] == 1e-3


def test_a_small_network_learns_to_copy_a_player_who_always_plays_the_same(tmp_path: Path) -> None:
    """The centre first, then a pass, whatever the symmetry: the network finds them in games that it never saw."""
    points = [column + row for column in "abcde" for row in "abcde" if column + row != "cc"]
    for number in range(120):
        first, second = np.random.default_rng(number).choice(points, 2, replace=False)
        (tmp_path / f"{number}.sgf").write_text(f"(;SZ[5]RE[B+R]KM[7.5];B[cc];W[{first}];B[];W[{second}])")
    plan = Plan("b1c8", LearnerSettings(batch=16, warm_up=1, learning_rate=1e-2), Wanted(5, held_out=0.2), 8)
    data = collection.read(tmp_path, plan.wanted, print)
    run = SupervisedTrainer(plan, data, tmp_path / "w.pt")
    run.train(lambda: False)
    policy, guess, _, _, move, winner = map(float, re.findall(r"\d+\.\d+", run.measured()))
    assert policy < guess - 1
    assert move >= 45
    assert winner > 90


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such folder"),
        ([__file__], "it is a file: give the folder that it is in"),
        (["{empty}"], "no *.sgf files in it or below it"),
        (["{folder}", "--network", "b6"], "unknown network 'b6'"),
        (["{folder}", "--network", "agz13"], "nothing on 13x13 (--size) to train on: 24 files"),
        (["{folder}", "--network", "agz13", "--size", "9"], "--size 9: network agz13 plays 13x13 only"),
        (["{folder}", "--epochs", "0"], "--epochs 0 is out of range: 1 to 1000000"),
        (["{folder}", "--held-out", "2"], "--held-out 2.0 is out of range: 0 to 0.9"),
        (["{folder}", "--learning-rate", "7"], "learning_rate = 7.0 is out of range"),
        (["{folder}", "--resume", "--network", "b1c8", "--size", "5"], "w.pt.state: No such file or directory; without --resume"),
        (["{folder}", "--out", "{empty}"], "empty: it is a folder; give another file"),
        (["{folder}", "--out", f"{__file__}/w.pt"], "w.pt: Not a directory; give another file"),
    ],
)
def test_a_bad_request_is_one_clear_line(
    folder: Path, tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    values = [argument.format(folder=folder, empty=tmp_path / "empty") for argument in arguments]
    assert supervised_command.main(["--out", str(tmp_path / "w.pt"), *values]) == 2
    said = capsys.readouterr().err.splitlines()
    assert message in said[-1]
    assert said[-1].startswith("gozero supervised: ")
    assert not any(line.startswith("skipped") for line in said)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_weights_do_not_go_into_a_device(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "w.pt")
    assert run(folder, tmp_path / "w.pt") == 2
    assert "w.pt: it is a device or a pipe; give another file" in capsys.readouterr().err


def test_two_trainings_do_not_write_one_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with storage.alone(tmp_path, file="w.pt"):
        assert run(folder, tmp_path / "w.pt") == 2
        assert "w.pt is in use by another gozero command" in capsys.readouterr().err
        assert run(folder, tmp_path / "new" / "w.pt", "--epochs", "1") == 0
    assert run(tmp_path / "none", tmp_path / "other.pt") == 2
    assert run(tmp_path / "none", tmp_path / "empty" / "w.pt") == 2
    assert {path.name for path in tmp_path.rglob("*")} == {"new", "w.pt", "w.pt.state"}


def test_a_state_of_another_run_is_refused(
    folder: Path, tmp_path: Path, signals: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    signals[:] = [3]
    assert run(folder, tmp_path / "w.pt") == 0
    assert run(folder, tmp_path / "w.pt", "--resume", "--seed", "5") == 2
    assert "is of another run: seed was 1, now 5; give what it had" in capsys.readouterr().err.splitlines()[-1]
    assert run(folder, tmp_path / "w.pt", "--resume", "--batch", "7") == 2
    assert re.search(r"of another run: batch was \d+, now 7; give", capsys.readouterr().err)
    for foreign in (torch.zeros(3), [1], {"facts": 1, "epoch": 1, "step": 1, "learner": {}}):
        torch.save(foreign, tmp_path / "w.pt.state")
        assert run(folder, tmp_path / "w.pt", "--resume") == 2
        assert "it is damaged, or no state of a run: remove it; without --resume" in capsys.readouterr().err.splitlines()[-1]
