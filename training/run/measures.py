"""The report of a run after a generation: games, mean losses, losses on held-out rows, speed and counters.

The names in a report are in log.jsonl and are read by `training.doctor`, so they do not change.
"""

from __future__ import annotations

from training.records.statistics import game_report
from training.run.files import COUNTERS
from training.run.steps import Steps
from training.run.timeline import Timeline
from training.run.window import Window
from training.selfplay import resign
from training.selfplay.actor import Actor
from training.storage.checkpoint import Progress


class Measures:
    """Gathers what happened between two reports; `gather` needs the run's turn, `report` does not."""

    def __init__(self, progress: Progress, window: Window, steps: Steps, timeline: Timeline) -> None:
        self.progress, self.window, self.steps, self.timeline = progress, window, steps, timeline
        self.notes: dict[str, float] = {}  # for the next report
        if progress.evaluations_reported is None:
            progress.evaluations_reported = progress.evaluations

    def note_games(self, actor: Actor) -> None:
        """Keep the statistics of the generation's games for the next report, unless they were played elsewhere."""
        self.notes["run/generation"] = self.progress.generation
        if self.progress.generation <= self.progress.imported:
            return
        began = self.progress.rows - sum(record.rows for record in actor.games)
        self.notes["speed/playouts"] = float(actor.settings.stage_at(began).evaluator == "rollouts")
        self.notes |= game_report(actor.games)
        self.notes |= resign.report(actor.crew.calibrations(), self.progress.generation, actor.games)

    def note_match(self, found: dict[str, float]) -> None:
        """Keep a match of the gate for the next report, which has the numbers of the last one and how many there were."""
        self.notes |= {**found, "gate/matches": self.notes.get("gate/matches", 0.0) + 1}

    def gather(self) -> dict[str, float]:
        """What was noted since the last report, and the rows of the window."""
        notes, self.notes = self.notes, {}
        return {"run/window": self.steps.trainer.holding.drawable} | notes

    def report(self, notes: dict[str, float], held: dict[str, float]) -> dict[str, float]:
        """The whole report, from what `gather` and the trainer's `held_out` found."""
        progress, trainer = self.progress, self.steps.trainer
        found = held | self.steps.report()
        found |= {f"run/{name}": float(getattr(progress, name)) for name in COUNTERS}
        corrupt = self.window.corrupt + trainer.holding.corrupt
        found |= {"run/steps": trainer.steps, "run/corrupt": corrupt, "train/rate": progress.rate}
        found |= notes | self.timeline.report()
        found["speed/learner_threads"] = trainer.threads
        done, seconds = progress.evaluations - (progress.evaluations_reported or 0), found["speed/selfplay_seconds"]
        if done and seconds:  # else its games were played elsewhere
            found["speed/evaluations"] = done / seconds
        progress.evaluations_reported = progress.evaluations
        return found
