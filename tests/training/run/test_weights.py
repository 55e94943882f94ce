"""What a run writes beside its checkpoints."""

from pathlib import Path

from gozero.nets import model, weights
from training.run import run
from training.settings import presets
from training.storage.checkpoint import Progress


def test_weights_play_on_the_board_of_most_rows_unless_told_otherwise(tmp_path: Path) -> None:
    """`go13` has a few rows of 19x19 too."""
    settings, config = presets.load(presets.path_of("go13"), "go13", []), model.config("b1c8")
    run.save_weights(tmp_path / "weights.pt", model.build(config, seed=1), config, settings, Progress())
    assert max(settings.stage[-1].sizes) == 19
    assert weights.header(tmp_path / "weights.pt").size == 13
