"""The benchmark of self-play: it runs, with a network and without, and prints what it promises."""

import pytest

from benchmarks import selfplay
from gozero.system.options import SettingsError
from tests.training.refusals import refusals

TINY = "--short --network b2c16 --size 5 --games 4 --groups 2 --threads 2 --network-threads 1".split()
PRINTED = (" moves/s, ", " rows/h, ", " games/h", "waiting for the network ")


@pytest.mark.parametrize("device", ["cpu", "none"])
def test_it_prints_rates_and_who_waits(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    selfplay.main([*TINY, "--device", device])
    printed = capsys.readouterr().out
    assert ("of the evaluator" in printed) == (device == "cpu")
    for words in ("evaluator, 2 batches of ", "self-play, 4 games", *PRINTED):
        assert words in printed


@pytest.mark.slow
def test_several_processes_are_measured_together(capsys: pytest.CaptureFixture[str]) -> None:
    selfplay.main([*TINY, "--device", "none", "--processes", "2"])
    printed = capsys.readouterr().out
    for words in ("evaluator, 2 x 2 batches of ", "self-play, 2 x 4 games", *PRINTED):
        assert words in printed


@pytest.mark.parametrize("asked", ["--seconds 0", "--runs 0", "--network-threads -1", "--seed -1"])
def test_numbers_that_measure_nothing_are_one_line(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"argument {asked.split()[0]}" in refusals(capsys)(selfplay.options, asked.split())


def test_a_gpu_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(SettingsError, match="PyTorch sees no NVIDIA GPU here"):
        selfplay.main([*TINY, "--device", "cuda", "--processes", "2"])


def test_batches_are_counted() -> None:
    game = selfplay.scoring.make("go", 5, "chinese", 2.2)
    counted = selfplay.Counted(selfplay.UniformEvaluator(game))
    counted.evaluate(game.new_states(3))
    assert list(counted.batches) == [3]
