"""The report of a run after a generation: games, mean losses, losses on held-out rows, speed and counters; and the
timeline, which counts when each part of the run was working.

The names in a report are in log.jsonl and are read by `training.doctor`, so they do not change.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from training.learner.trainer import Trainer
from training.records.records import Record
from training.selfplay import resign
from training.selfplay.actor import Actor
from training.storage.checkpoint import Progress

EARLY = 30 / 169  # of the area: a game that ends before that many moves is a sign of passing too soon
REPORTED = ("selfplay", "learner", "gate", "waiting")  # waiting: self-play, for the learner
WHOLE = "whole"  # beside the parts: the time in all


class Timeline:
    """Seconds of work of a run's parts since the last report; `spent` is what an earlier session spent since then. Used
    from several threads at once.
    """

    def __init__(self, spent: Mapping[str, float] | None = None) -> None:
        self._spent = defaultdict[str, float](float, spent or {})
        self._lock = threading.Lock()
        self._begun = {WHOLE: time.monotonic()}  # of the parts at work now

    @contextmanager
    def during(self, part: str, within: str | None = None) -> Iterator[None]:
        """Count the time inside as work of `part`, and not of the part `within` which it may lie."""
        with self._lock:
            self._settle()
            outer = self._begun.pop(within, None) if within else None
            self._begun[part] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._settle()
                del self._begun[part]
                if within and outer is not None:
                    self._begun[within] = time.monotonic()

    def _settle(self) -> None:
        """Count what is under way up to now."""
        now = time.monotonic()
        for part, begun in self._begun.items():
            self._spent[part] += now - begun
        self._begun = dict.fromkeys(self._begun, now)

    def spent(self) -> dict[str, float]:
        """Seconds of work of each `REPORTED` part since the last report, and of the `WHOLE`; work under way counts."""
        with self._lock:
            self._settle()
            return {part: self._spent[part] for part in (*REPORTED, WHOLE)}

    def report(self) -> dict[str, float]:
        """Seconds of work of each `REPORTED` part since the last report, and their share of that time.

        Work that is under way counts up to now, and from now on in the next report.
        """
        spent = self.spent()
        with self._lock:
            for part, seconds in spent.items():
                self._spent[part] -= seconds
        numbers: dict[str, float] = {}
        for part in REPORTED:
            share = min(1.0, spent[part] / max(1e-9, spent[WHOLE]))
            numbers |= {f"speed/{part}_seconds": spent[part], f"speed/{part}_busy": share}
        return numbers


class Measures:
    """Gathers what happened between two reports; `gather` needs the run's lock, `report` does not."""

    def __init__(self, progress: Progress, trainer: Trainer, timeline: Timeline) -> None:
        self.progress, self.trainer, self.timeline = progress, trainer, timeline
        self.numbers: dict[str, float] = {}  # for the next report
        if not progress.spent:  # no time was taken of those before, as in weights/resume
            progress.evaluations_reported = progress.evaluations

    def add_games(self, actor: Actor) -> None:
        """Add the statistics of the generation's games, unless they were played elsewhere."""
        self.numbers["run/generation"] = self.progress.generation
        if self.progress.generation <= self.progress.imported:
            return
        began = self.progress.rows - sum(record.rows for record in actor.games)
        self.numbers["speed/playouts"] = float(actor.settings.stage_at(began).evaluator == "rollouts")
        self.numbers |= game_report(actor.games)
        self.numbers |= resign.report(actor.selfplay.calibrations(), self.progress.generation, actor.games)

    def gather(self) -> dict[str, float]:
        """What was added since the last report, and the rows of the window."""
        numbers, self.numbers = self.numbers, {}
        return {"run/window": self.trainer.replay.drawable} | numbers

    def report(self, gathered: dict[str, float], held_out: dict[str, float]) -> dict[str, float]:
        """The whole report, from what `gather` and the trainer's `held_out` found."""
        progress, trainer = self.progress, self.trainer
        numbers = held_out | trainer.report()
        numbers |= {f"run/{name}": float(value) for name, value in progress.counters().items()}
        corrupt = trainer.unreadable + trainer.replay.corrupt
        numbers |= {"run/steps": trainer.learner.steps, "run/corrupt": corrupt, "train/rate": progress.rate}
        numbers |= gathered | self.timeline.report()
        numbers["speed/learner_threads"] = trainer.pace.threads
        done, seconds = progress.evaluations - progress.evaluations_reported, numbers["speed/selfplay_seconds"]
        if done and seconds:  # else its games were played elsewhere
            numbers["speed/evaluations"] = done / seconds
        progress.evaluations_reported = progress.evaluations
        return numbers


def game_report(records: Sequence[Record]) -> dict[str, float]:
    """The numbers `games<size>/*` of each size.

    count; length: mean, in moves; capped, settled, early, draws, distinct: shares of the games; black: Black's share of
    the points; recorded: share of the moves that left a row.
    """
    numbers: dict[str, float] = {}
    for size in sorted({record.size for record in records}):
        games = [record for record in records if record.size == size]
        lengths = np.array([len(record.moves) for record in games])
        scores, endings = (np.array([getattr(record, name) for record in games]) for name in ("score", "ending"))
        numbers |= {
            f"games{size}/count": len(games),
            f"games{size}/length": float(lengths.mean()),
            f"games{size}/capped": float((endings == "capped").mean()),
            f"games{size}/settled": float((endings == "settled").mean()),
            f"games{size}/early": float((lengths < EARLY * size * size).mean()),
            f"games{size}/black": float((np.sign(scores) / 2 + 0.5).mean()),
            f"games{size}/draws": float((scores == 0).mean()),
            f"games{size}/distinct": len({record.moves.tobytes() for record in games}) / len(games),
            f"games{size}/recorded": sum(record.rows for record in games) / max(1, int(lengths.sum())),
        }
    return numbers
