"""What tests of matches share."""

import pytest

from gozero import games
from gozero.games.game import Game
from training.matches.tournament import runner


@pytest.fixture(autouse=True)
def signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runner keeps its own signal handlers."""
    monkeypatch.setattr(runner, "stop_on_signals", lambda doing: lambda: False)


@pytest.fixture(scope="module")
def go() -> Game:
    return games.make("go", size=5, komi=7.5)
