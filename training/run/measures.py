"""The report of a run after a generation: games, mean losses, losses on held-out rows, speed and counters.

The names in a report are in log.jsonl and are read by `training.doctor`, so they do not change.
"""

from __future__ import annotations

from training.learner.trainer import Trainer
from training.records.statistics import game_report
from training.run.files import COUNTERS
from training.run.timeline import Timeline
from training.selfplay import resign
from training.selfplay.actor import Actor
from training.storage.checkpoint import Progress


class Measures:
    """Gathers what happened between two reports; `gather` needs the run's turn, `report` does not."""

    def __init__(self, progress: Progress, trainer: Trainer, timeline: Timeline) -> None:
        self.progress, self.trainer, self.timeline = progress, trainer, timeline
        self.found: dict[str, float] = {}  # for the next report
        if progress.evaluations_reported is None:
            progress.evaluations_reported = progress.evaluations

    def add_games(self, actor: Actor) -> None:
        """Add the statistics of the generation's games, unless they were played elsewhere."""
        self.found["run/generation"] = self.progress.generation
        if self.progress.generation <= self.progress.imported:
            return
        began = self.progress.rows - sum(record.rows for record in actor.games)
        self.found["speed/playouts"] = float(actor.settings.stage_at(began).evaluator == "rollouts")
        self.found |= game_report(actor.games)
        self.found |= resign.report(actor.crew.calibrations(), self.progress.generation, actor.games)

    def add_match(self, found: dict[str, float]) -> None:
        """Add a match of the gate: the next report has the numbers of the last one and how many there were."""
        self.found |= {**found, "gate/matches": self.found.get("gate/matches", 0.0) + 1}

    def gather(self) -> dict[str, float]:
        """What was added since the last report, and the rows of the window."""
        found, self.found = self.found, {}
        return {"run/window": self.trainer.window.drawable} | found

    def report(self, gathered: dict[str, float], held_out: dict[str, float]) -> dict[str, float]:
        """The whole report, from what `gather` and the trainer's `held_out` found."""
        progress, trainer = self.progress, self.trainer
        found = held_out | trainer.report()
        found |= {f"run/{name}": float(getattr(progress, name)) for name in COUNTERS}
        corrupt = trainer.unreadable + trainer.window.corrupt
        found |= {"run/steps": trainer.steps, "run/corrupt": corrupt, "train/rate": progress.rate}
        found |= gathered | self.timeline.report()
        found["speed/learner_threads"] = trainer.threads
        done, seconds = progress.evaluations - (progress.evaluations_reported or 0), found["speed/selfplay_seconds"]
        if done and seconds:  # else its games were played elsewhere
            found["speed/evaluations"] = done / seconds
        progress.evaluations_reported = progress.evaluations
        return found
