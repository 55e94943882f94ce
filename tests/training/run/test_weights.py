"""What a run writes beside its checkpoints."""

from pathlib import Path

from gozero.nets import weights
from training.run.run import Run
from training.settings import presets


def test_weights_play_on_the_board_of_most_rows_unless_told_otherwise(tmp_path: Path) -> None:
    """`go13` has a few rows of 19x19 too."""
    settings = presets.load(presets.path_of("go13"), "go13", ["network=b1c8", "simulator=numba"])
    Run(settings, tmp_path).save()
    assert max(settings.stage[-1].sizes) == 19
    assert weights.header(tmp_path / "weights.pt").size == 13
