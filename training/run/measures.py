"""The report of a run after a generation: games, mean losses, losses on held-out rows, speed and counters.

The names in a report are in log.jsonl and are read by `training.doctor`, so they do not change.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from training.actor import resign
from training.actor.actor import Actor
from training.learner.learner import Learner
from training.records.replay import Batch, Replay
from training.records.statistics import game_report
from training.run.files import COUNTERS
from training.run.steps import Steps
from training.run.timeline import Timeline
from training.storage.checkpoint import Progress

HELD_OUT_ROWS = 1024  # most rows of each size in the measurement after a generation


class Measures:
    """Gathers what happened between two reports; `gather` needs the run's turn, `report` does not."""

    def __init__(self, progress: Progress, replay: Replay, steps: Steps, timeline: Timeline) -> None:
        self.progress, self.replay, self.steps, self.timeline = progress, replay, steps, timeline
        self.notes: dict[str, float] = {}  # for the next report
        self._reported = progress.evaluations  # at the last report

    def note_games(self, actor: Actor) -> None:
        """Keep the statistics of the generation's games for the next report."""
        self.notes |= {**game_report(actor.games), "run/generation": self.progress.generation}
        self.notes |= resign.report(
            [pool.resign for pool in actor.pools.values()], self.progress.generation, actor.games
        )

    def note_match(self, found: dict[str, float]) -> None:
        """Keep a match of the gate for the next report, which has the numbers of the last one and how many there were."""
        self.notes |= {**found, "gate/matches": self.notes.get("gate/matches", 0.0) + 1}

    def gather(self) -> tuple[dict[int, Batch], dict[str, float]]:
        """(held-out rows of each board size, what was noted since the last report and the rows of the window)."""
        batches = {size: self.replay.held_out(size, HELD_OUT_ROWS) for size in self.replay.sizes(held_out=True)}
        notes, self.notes = self.notes, {}
        return batches, {"run/window": sum(self.replay.sizes().values())} | notes

    def report(self, batches: dict[int, Batch], notes: dict[str, float], stop: Callable[[], bool]) -> dict[str, float]:
        """The whole report, from what `gather` found; without the held-out measures if stopped."""
        progress, learner = self.progress, self.steps.learner
        found = held_out(learner, batches, stop) | self.steps.report()
        found |= {f"run/{name}": float(getattr(progress, name)) for name in COUNTERS}
        found |= {"run/steps": learner.steps, "run/corrupt": self.replay.corrupt, "train/rate": progress.rate}
        found |= notes | self.timeline.report()
        found["speed/learner_threads"] = self.steps.pace.threads
        found["speed/evaluations"] = (progress.evaluations - self._reported) / max(
            1e-9, found["speed/selfplay_seconds"]
        )
        self._reported = progress.evaluations
        return found


def held_out(learner: Learner, batches: dict[int, Batch], stop: Callable[[], bool]) -> dict[str, float]:
    """Losses and measures on held-out rows of each size, and their mean weighted by rows; nothing if stopped."""
    found: dict[int, dict[str, float]] = {}
    for size, batch in batches.items():
        if stop():
            return {}
        found[size] = learner.evaluate(batch) | {"rows": float(len(batch.value))}
    counts = [len(batch.value) for batch in batches.values()]
    report = {f"held{size}/{name}": value for size, values in found.items() for name, value in values.items()}
    for name in [name for name in next(iter(found.values()), {}) if name != "rows"]:
        report[f"held/{name}"] = float(np.average([values[name] for values in found.values()], weights=counts))
    return report
