"""The limits of a run (hours, generations, games, evaluations; 0 is none): how much of each is used up. The run ends at
the first that is reached.
"""

from __future__ import annotations

import math
import time

from training.settings.config import LoopSettings
from training.storage.checkpoint import Progress


class RunLimits:
    """Compares a run's progress with its settings, and counts its hours of work."""

    def __init__(self, settings: LoopSettings, progress: Progress) -> None:
        """Hours of work are counted from now on."""
        self.settings, self.progress = settings, progress
        self._tick = time.monotonic()

    def count_time(self) -> None:
        """Add the time since the last call to the hours of work."""
        now = time.monotonic()
        self.progress.hours += (now - self._tick) / 3600
        self._tick = now

    def shares(self) -> dict[str, float]:
        """The share of the run that is done, by each of its limits; 0 and more."""
        progress = self.progress
        done = {name: getattr(progress, name) for name in ("hours", "games", "evaluations")}
        done["generations"] = progress.generation - 1
        limits = {name: getattr(self.settings, name) for name in done}
        return {name: done[name] / limit for name, limit in limits.items() if limit}

    def _twice(self, name: str, limit: float) -> str:
        """Twice a limit, or twice what is done where that is more."""
        value = 2 * limit * max(1.0, self.shares()[name])
        return f"{value:.3g}" if name == "hours" else f"{math.ceil(value)}"

    def elapsed(self) -> float:
        """The share of the run that is done, 0..1, by the nearest of its limits; 0 where it has none."""
        return max(self.shares().values(), default=0.0)

    def ending(self) -> str:
        """Why the run has ended, and how to continue it; one line. One that has not learned from its last games yet was
        stopped.
        """
        reached = {name: getattr(self.settings, name) for name, share in self.shares().items() if share >= 1}
        if reached and not self.progress.learning:
            limits = " and ".join(f"{name} = {limit:g}" for name, limit in reached.items())
            higher = " ".join(f"--set {name}={self._twice(name, limit)}" for name, limit in reached.items())
            return (
                f"the run has reached its limit, {limits}; the same command with a higher one, such as {higher}, "
                "continues it"
            )
        return "stopped, all is saved; the same command continues"
