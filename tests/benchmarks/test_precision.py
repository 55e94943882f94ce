"""The benchmark of number types: it runs, and says how far each is from f32."""

import re
from pathlib import Path

import pytest

from benchmarks import precision
from gozero.system.errors import ChoiceError
from gozero.system.machine import float_precision, is_fast_in_int8
from tests.training.games import random_record, write_shard


@pytest.fixture(autouse=True)
def _unpinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests that follow need all cores of this process."""
    monkeypatch.setattr(precision, "pin", lambda core: core)


@pytest.mark.skipif(not is_fast_in_int8(), reason="int8 was measured on x86 alone")
def test_it_prints_rates_and_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = [random_record(7, seed) for seed in range(8)]
    write_shard(tmp_path / "000001.gzr", games, {"game": "go", "rules": "chinese"})
    precision.main(["--short", "--size", "7", "--records", str(tmp_path)])
    printed = capsys.readouterr().out
    kinds = "f32 / bf16 / int8; int8 " if float_precision() == "bf16" else "f32 / int8"
    for words in ("int8, batch 64", f"in {kinds}", "int8 against f32, 64 positions: policy 0.00"):
        assert words in printed
    assert re.search(r"best move equal in (9\d\.\d|100\.0)%", printed)


def test_too_few_positions_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        ChoiceError, match=r"holds 0 positions of 7x7, 64 are wanted; give another --records or --size$"
    ):
        precision.main(["--short", "--size", "7", "--records", str(tmp_path)])
