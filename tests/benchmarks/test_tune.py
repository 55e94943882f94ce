"""The optimiser of the search's settings: ranges are read, and what it finds is held against the engine's own."""

import importlib.util
from pathlib import Path

import pytest

from benchmarks import tune, variants
from tests.benchmarks.labels import labelled

installed = pytest.mark.skipif(
    importlib.util.find_spec("nevergrad") is None, reason="nevergrad is not installed: make bench"
)


@pytest.mark.parametrize(
    "words, message",
    [
        ("speed=1:2", "no number among the search settings is named 'speed'"),
        ("root=1:2", "no number among the search settings is named 'root'"),
        ("c_puct=1", "expected c_puct=LOW:HIGH"),
        ("c_puct=2:1", "c_puct=2:1: expected 0 <= LOW < HIGH"),
        ("c_puct=1:2 --trials 0", "--trials 0: expected 1 or more"),
    ],
)
def test_a_range_that_makes_no_sense_is_one_line(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune.main([*words.split(), "--yardstick", "nowhere.gz"]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


@installed
def test_a_range_is_searched_in_logarithms_where_it_is_wide() -> None:
    import nevergrad

    assert isinstance(tune.Span.read("c_puct=0.5:4").parameter(), nevergrad.p.Log)
    assert not isinstance(tune.Span.read("fpu=0:0.5").parameter(), nevergrad.p.Log)
    assert isinstance(tune.Span.read("leaves=1:16").parameter().value, int)


@installed
def test_what_is_found_is_judged_on_positions_that_no_trial_saw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(variants, "DEEP", 40)
    positions = labelled(tmp_path, ([], ["D4"], ["D4", "C3"], ["E5", "C3", "E3"], ["C3"]))
    told = []
    for _ in range(2):
        words = f"c_puct=0.5:4 leaves=1:4 --visits 8 --trials 4 --threads 1 --yardstick {positions}"
        assert tune.main(words.split()) == 0
        told.append(capsys.readouterr().out.splitlines()[1:])
    assert told[0] == told[1], "the seed fixes the trials"
    assert "the engine's own: regret" in told[0][1] and "over 3 positions" in told[0][1]
    assert told[0][2].startswith("trial 1: regret ")
    assert "on 2 positions that no trial saw" in told[0][-2]
    assert told[0][-1].startswith("python -m benchmarks.variants match c_puct=")
