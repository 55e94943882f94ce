"""A weights file in half precision: half the bytes, the same answers but for rounding, the same facts."""

from pathlib import Path

import pytest
import torch

from gozero import games
from gozero.nets import model, weights
from tests.trained import random_states, trained_like
from tools import halve_weights


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A weights file of a small network on 7x7."""
    game = games.make("go", size=7)
    net = trained_like(model.config("b4c48", game), random_states(game, 32))
    facts = {"size": 7, "trained_sizes": (7, 9), "provenance": {"run": "small"}}
    weights.save(tmp_path / "whole.pt", net, net.config, **facts)
    return tmp_path / "whole.pt"


def test_half_the_bytes_give_nearly_the_same_answers(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    half = whole.with_name("half.pt")
    assert halve_weights.main([str(whole), str(half)]) == 0
    assert f"{half}: {half.stat().st_size:,} bytes" in capsys.readouterr().out
    assert half.stat().st_size < 0.6 * whole.stat().st_size
    before, after = weights.load(whole), weights.load(half)
    for fact in ("config", "game", "size", "trained_sizes", "provenance", "feature_version"):
        assert getattr(after, fact) == getattr(before, fact)
    planes = torch.rand(8, 11, 7, 7, generator=torch.Generator().manual_seed(1)).round()
    inputs = planes, torch.zeros(8, 7)
    with torch.inference_mode():
        for exact, rounded in zip(before.network()(*inputs), after.network()(*inputs), strict=True):
            assert rounded.dtype == torch.float32
            assert (rounded - exact).abs().max() < 0.02 * exact.abs().max()  # 0.008 at most with 200 other seeds


def test_in_place_the_size_before_is_that_of_the_old_file(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = whole.stat().st_size
    assert halve_weights.main([str(whole), str(whole)]) == 0
    assert f"{whole.stat().st_size:,} bytes, {before:,} before" in capsys.readouterr().out


def test_what_half_precision_cannot_hold_is_one_line(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded, target = weights.load(whole), whole.with_name("half.pt")
    name = "stem.conv.weight"
    too_large = loaded.state_dict | {name: loaded.state_dict[name] + 70_000.0}
    weights.save(whole, too_large, loaded.config, size=7)
    assert halve_weights.main([str(whole), str(target)]) == 2
    assert f"tensor '{name}' has a number that half precision cannot hold" in capsys.readouterr().err
    assert not target.exists()
    assert halve_weights.main([str(whole.with_name("none.pt")), str(target)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
