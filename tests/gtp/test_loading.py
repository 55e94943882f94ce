"""What happens when rules or network cannot be loaded."""

from pathlib import Path

import pytest

from gozero.evaluators.factory import Evaluators
from gozero.play.engine import find_weights
from gtp.loading import Loader
from gtp.protocol import FatalError
from gtp.settings import GtpSettings


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (RuntimeError("Exception from core.cpp:268:\nfailed to map segment\n"), "failed to map segment"),
        (OSError(12, "Cannot allocate memory"), r"\[Errno 12\] Cannot allocate memory"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_libraries_that_find_no_memory_end_the_engine_in_one_line(
    small_weights: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    settings = GtpSettings(weights=str(small_weights), size=5)
    loader = Loader(settings, *find_weights(settings.weights, None))
    game = loader.player().game.definition
    monkeypatch.setattr(Evaluators, "open", fail)
    with pytest.raises(FatalError, match=f"rules and network cannot be loaded, perhaps for lack of memory: {why}$"):
        loader.evaluator(game)
