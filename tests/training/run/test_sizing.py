"""The sizing table: its arithmetic by hand, and its bytes against those of a small run."""

import math
from pathlib import Path

import pytest

from tests.training import crashes
from training.commands import train
from training.cycle import sitting
from training.cycle.cycle import cycle
from training.records.records import Writer
from training.run import sizing
from training.run.estimate import Cost
from training.run.sizing import Bytes
from training.run.trainer import LocalTrainer
from training.settings import presets
from training.settings.config import LoopSettings
from training.storage import storage

pytestmark = pytest.mark.usefixtures("one_thread")
COST = Cost(speeds={("network", 5): 200.0}, step={5: 0.5})
COUNTED = Bytes(
    network=10_000,
    file=20_000,
    checkpoint=50_000,
    game_row=180.0,
    record_row=15.0,
    window_row=1_000.0,
    states={5: 2_000},
)


def settings(*overrides: str) -> LoopSettings:
    usual = ("stage.2.sizes={5=1}", "learner.reuse=4", "learner.batch=32", "selfplay.full_share=1", "records_mb=2")
    return presets.load(presets.path_of("tiny"), "tiny", [*usual, *overrides])


def sized(workers: int, *overrides: str) -> sizing.Load:
    chosen = settings(*overrides)
    return sizing.load(chosen, chosen.stage[-1], COST, COUNTED, workers)


def test_what_the_asynchronous_mode_takes_follows_from_what_was_measured() -> None:
    found = sized(32, "mode=asynchronous", "generation_rows=6400", "swap_steps=500", "checkpoint_rows=1600")
    # 8 evaluations a row at 200 a second: 25 rows a second, 90,000 an hour from each of 32 workers
    assert (found.evaluations, found.rows, found.games) == pytest.approx((23_040_000, 2_880_000, 115_200))
    assert found.steps == pytest.approx(360_000)  # 4 uses of a row in batches of 32
    assert found.load == pytest.approx(50)  # of 7,200 steps that the learner takes
    assert found.rows_here == pytest.approx(57_600)
    assert found.versions == pytest.approx(720)
    # 50 rows of 1,600 a stretch, and each of 32 cut by each version
    assert found.stretches == pytest.approx(57_600 + 32 * 720)
    assert found.weights_out == pytest.approx(720 * 10_000 * 2)  # two machines of 16
    assert found.games_in == pytest.approx(2_880_000 * 180)
    assert found.states == pytest.approx(2 * 80_640 * 2_000)
    assert found.traffic == pytest.approx((14.4e6 + 518.4e6 + 322.56e6) * 8 / 3600 / 1e6)
    assert found.checkpoint == pytest.approx(50_000 + 32 * 2_000)
    assert found.records_day == pytest.approx(24 * 2_880_000 * 15)
    # 450 generations an hour, with 10 checkpoints each, and half a shard with each
    assert found.copied_day == pytest.approx(24 * (4_500 * (114_000 + 48_000) + 720 * 20_000))
    assert found.held_day == pytest.approx(2_000_000 + 4 * 114_000 + 20_000)


def test_what_the_sequential_mode_takes_follows_from_what_was_measured() -> None:
    found = sized(4, "generation_rows=1000", "checkpoint_rows=0", "replay.growing=false")
    assert found.rows == pytest.approx(360_000)
    assert found.rows_here == pytest.approx(3600 / (1 / 100 + 0.5 * 4 / 32))  # the workers wait for the learner
    assert found.versions == pytest.approx(360)
    assert found.stretches == pytest.approx(360 * 4)  # one of each worker a generation
    assert found.weights_out == pytest.approx(360 * 10_000)
    assert found.window_day == pytest.approx(1_000 * 1_000)
    one, many = sized(1), sized(64)
    assert many.rows == pytest.approx(64 * one.rows)
    assert many.load == pytest.approx(64 * one.load)


def test_the_bytes_are_those_of_a_run(tmp_path: Path) -> None:
    stage = [{**crashes.SETTINGS["stage"][0], "sizes": {"5": 1.0}}]
    wanted = crashes.settings(generations=1, generation_rows=240, stage=stage)
    run = sitting.prepare(wanted, tmp_path)
    cycle(run, crashes.Watch(tmp_path, wanted), lambda: False)  # type: ignore[arg-type]
    counted = sizing.count(wanted, wanted.stage[0])
    rows, trainer = run.progress.rows, run.trainer
    assert isinstance(trainer, LocalTrainer)
    shard, empty = storage.shard(tmp_path, 1), tmp_path / "empty.gzr"
    Writer(empty, wanted.portable()).close()
    window = sum(sum(array.nbytes for array in vars(shelf).values()) for shelf in trainer.replay.shelves.values())
    held = sum(len(shelf) for shelf in trainer.replay.shelves.values())
    newest = max((tmp_path / "checkpoints").glob("*.pt"))
    for name, real, expected, within in (
        ("weights.pt", (tmp_path / "weights.pt").stat().st_size, counted.file, 0.3),
        (
            "a row of a shard",
            (shard.stat().st_size - empty.stat().st_size) / rows,
            counted.record_row,
            0.8,
        ),  # short games: heads weigh more
        ("a row of the window", window / held, counted.window_row, 0.1),
        ("a checkpoint", newest.stat().st_size, counted.checkpoint + counted.states[5], 0.5),
    ):
        assert real == pytest.approx(expected, rel=within), name
    assert 4 * sum(tensor.numel() for tensor in trainer.learner.net.parameters()) < counted.network
    pool = run.actor.state_dict()[5]
    assert len(pool["games"]) == wanted.selfplay.games


def test_the_table_has_a_column_for_each_number_of_workers() -> None:
    chosen = settings("threads=1", "selfplay.games=4", "mode=asynchronous")
    text = sizing.report(chosen, (1, 100_000), seconds=0.2)
    lines = {line[:42].strip(): line[42:].split() for line in text.splitlines()}
    assert lines["workers"] == ["1", "100,000"]
    rows = [float(number.replace(",", "")) for number in lines["rows an hour"]]
    assert math.isclose(rows[1] / rows[0], 100_000, rel_tol=0.1)
    assert "the learner measured here does not keep up" in text


def test_the_command_prints_it_and_refuses_nonsense(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sizing, "report", lambda settings, workers: f"for {workers} workers")
    assert train.main(["--preset", "tiny", "--sizing"]) == 0
    assert capsys.readouterr().out == "for (1, 8, 64, 1000) workers\n"
    with pytest.raises(SystemExit) as left:
        train.main(["--preset", "tiny", "--sizing", "8,0"])
    assert left.value.code == 2
    assert "argument --sizing: '8,0': expected whole numbers above 0, such as 8,64" in capsys.readouterr().err
