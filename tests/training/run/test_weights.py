"""What a run writes beside its checkpoints."""

from pathlib import Path

import pytest

from gozero.evaluators import factory, graphs
from gozero.nets import weights
from training.run.run import Run
from training.settings import presets


def test_weights_play_without_torch_and_on_the_board_of_most_rows_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`go13` has a few rows of 19x19 too."""
    monkeypatch.setattr("training.run.run.carry_graph", factory.carry_graph)
    settings = presets.load(presets.path_of("go13"), "go13", ["network=b1c8", "simulator=numba"])
    Run(settings, tmp_path).save()
    assert max(settings.stage[-1].sizes) == 19
    assert weights.header(tmp_path / "weights.pt").size == 13
    monkeypatch.setattr(graphs, "convert", lambda net: pytest.fail("torch makes the graph"))
    graphs.load(tmp_path / "weights.pt", "go")
