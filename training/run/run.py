"""A run in its folder: the coordinator, which owns the run's progress and files, and decides what is done next.

The run folder has settings.json, records/ (one shard a generation), checkpoints/, weights.pt (the network that plays),
log.jsonl and tensorboard/. Games are played by `training.selfplay.actor`, learned from by `training.learner.trainer`;
`training.run.modes` decides in which order, and which of them overlap. A thread that changes the progress while another
works holds the lock `locked()`; the thread that plays counts its evaluations without it.
"""

from __future__ import annotations

import contextlib
import copy
import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torch import nn

from gozero.evaluators.factory import carry_graph
from gozero.nets import weights
from gozero.system.console import progress_bar, say
from gozero.system.errors import UserError, lack_of_memory_told
from training.learner.trainer import Trainer
from training.matches.match import total_of
from training.run import gate
from training.run.backend import LOCAL, LocalBackend, device_of, pace_of, return_memory
from training.run.gate import GateResult
from training.run.measures import Measures, Timeline
from training.selfplay.actor import Actor
from training.settings.config import LoopSettings
from training.storage import checkpoint, storage
from training.storage.checkpoint import Progress, Snapshot
from training.storage.storage import FolderError

LEARNING_SHARE = 0.25  # of the time of self-play that learning from its games takes, before it was measured


class RunLimits:
    """The limits of a run (hours, generations, games, evaluations; 0 is none), of which the first that is reached ends
    it; and its hours of work, counted from now on.
    """

    def __init__(self, settings: LoopSettings, progress: Progress) -> None:
        self.settings, self.progress = settings, progress
        self._tick = time.monotonic()

    def count_time(self) -> None:
        """Add the time since the last call to the hours of work."""
        now = time.monotonic()
        self.progress.hours += (now - self._tick) / 3600
        self._tick = now

    def seconds_left(self) -> float:
        """Until the limit in hours; infinite without one, and but for the sequential mode: the others end at a whole
        generation.
        """
        left = 3600 * (self.settings.hours - self.progress.hours) - (time.monotonic() - self._tick)
        return left if self.settings.hours and self.settings.mode == "sequential" else math.inf

    def done(self) -> dict[str, float]:
        """How much is done of what may have a limit."""
        done = {name: getattr(self.progress, name) for name in ("hours", "games", "evaluations")}
        return {**done, "generations": self.progress.generation - (0 if self.progress.learning else 1)}

    def shares(self) -> dict[str, float]:
        """The share of the run that is done, by each of its limits; 0 and more."""
        return {name: done / limit for name, done in self.done().items() if (limit := getattr(self.settings, name))}

    def elapsed(self) -> float:
        """The share of the run that is done, 0..1, by the nearest of its limits; 0 if it has none."""
        return max(self.shares().values(), default=0.0)

    def ending(self) -> str:
        """Why the run has ended, and how to continue it; one line. One that has not learned from its last games yet was
        stopped.
        """
        reached = [name for name, share in self.shares().items() if share >= 1]
        if not reached or self.progress.learning:
            return "stopped, all is saved; the same command continues"
        limits = {name: getattr(self.settings, name) for name in reached}
        twice = {name: math.ceil(2 * done) for name, done in self.done().items() if name in reached}
        listed = " and ".join(f"{name} = {limit:g}" for name, limit in limits.items())
        # the option --hours goes over --set hours
        higher = " ".join(f"--hours {n}" if name == "hours" else f"--set {name}={n}" for name, n in twice.items())
        remedy = f"the same command with a higher one, such as {higher}, continues it"
        return f"the run has reached its limit, {listed}; {remedy}"


class Run:
    """A run in a folder: new, or as its newest readable checkpoint left it."""

    def __init__(self, settings: LoopSettings, folder: Path, backend: LocalBackend = LOCAL) -> None:
        """Open the folder; say what had to be cut. Raises UserError for a folder that cannot be continued."""
        self.settings, self.folder, self.backend = settings, folder, backend
        self.device = device_of(settings.device)
        self.trainer = Trainer(settings, self.device, pace_of(settings, self.device))
        self.watch: Callable[[dict[str, float]], None] = lambda match: None  # called with each match of the gate
        self.saved: Callable[[], None] = lambda: None  # called after each checkpoint
        self._lock, self._next = threading.Lock(), threading.Lock()
        snapshot, complaints = self._snapshot()
        self.is_new = not snapshot.learner
        self._identity = storage.identity(folder)
        self.progress = snapshot.progress
        self.progress.full_share = max(self.progress.full_share, settings.selfplay.full_share)
        self.timeline = Timeline(self.progress.spent)
        self.limits = RunLimits(settings, self.progress)
        self._learning_share = LEARNING_SHARE
        self.selfplay = backend.selfplay(settings, self.trainer.learner.ema)
        self.actor = Actor(settings, folder, self.selfplay)
        complaints += self.selfplay.load_state_dict(snapshot.pools, snapshot.playing)
        if snapshot.shard_bytes is not None:
            complaints += storage.rewind(folder, self.progress.generation, snapshot.shard_bytes)
        storage.clean(folder, self.progress.generation, self.progress.handed_steps)
        self.trainer.load_window(folder, self.progress)
        self.measures = Measures(self.progress, self.trainer, self.timeline)
        self.actor.open(self.progress.generation)
        if self.progress.learning:
            self.measures.add_games(self.actor)
        for complaint in complaints:
            say(complaint)

    def finished(self) -> bool:
        """Whether the limits of the settings are reached."""
        return self.limits.elapsed() >= 1

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the trainer, the progress and the checkpoints.

        A thread that waits is next: with a bare lock one of two threads could wait forever.
        """
        with self._next:
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    def play(self, stop: Callable[[], bool], pause: Callable[[], None] | None = None) -> None:
        """Play what the generation still lacks; games that are finished when stopped are on disk. `pause` is called at
        each checkpoint, instead of `save`.
        """
        with self.timeline.during("selfplay"):
            absorbed = sum(record.rows for record in self.actor.games[: self.progress.absorbed])
            stage = self.settings.stage_at(self.progress.rows - absorbed)  # the one in which the generation began
            begun = time.monotonic()

            def must_end() -> bool:
                """Whether it is stopped, or the time that is left is needed to learn from the games played here."""
                return stop() or self.limits.seconds_left() <= (time.monotonic() - begun) * self._learning_share

            self.actor.play(stage, self.progress, pause or self.save, must_end)

    def absorb(self) -> None:
        """Take the generation's new games into the window; their rows pay for steps."""
        progress, fresh = self.progress, self.actor.games[self.progress.absorbed :]
        progress.absorbed += len(fresh)
        progress.games += len(fresh)
        self.trainer.add_games(fresh)
        progress.rows = self.trainer.replay.total
        progress.rate = self.settings.learner.rate(self.limits.elapsed())

    def complete(self) -> None:
        """End the generation's self-play: absorb it, carry over what its sizes lack, and release old shards."""
        progress, rows = self.progress, sum(record.rows for record in self.actor.games)
        progress.learning = True
        self.limits.count_time()
        self.absorb()
        backlog = self.actor.backlog(self.settings.stage_at(progress.rows - rows), progress)
        setattr(progress, f"{self.actor.unit}_backlog", backlog)
        self.measures.add_games(self.actor)
        self.trainer.note_shard(progress.generation, self.actor.games)
        with storage.writing(self.folder / "records"):
            needed = self.trainer.needed_from(progress.generation)
            for line in storage.retire(self.folder, needed, self.settings.records_mb):
                say(line)

    def learn(self, stop: Callable[[], bool], pause: Callable[[], None] | None = None) -> None:
        """Take the steps that rows have paid for. `pause`, if given, is called as often as in self-play."""
        steps, progress = self.trainer.steps_ready(), self.progress
        every = steps  # between two checkpoints
        if rows := self.settings.checkpoint_rows:
            every = max(1, round(self.trainer.paid_by(rows, rows * progress.games / max(1, progress.rows))))
        with self.timeline.during("learner"), progress_bar(steps, f"learning {progress.generation}", " steps") as bar:
            done = 0
            while done < steps and not stop() and self.limits.seconds_left() > 0:
                with self.locked():
                    if self.settings.hours:  # the rate falls with the time, also within a generation
                        self.limits.count_time()
                        progress.rate = self.settings.learner.rate(self.limits.elapsed())
                    if not self.trainer.steps_ready():  # the window has been emptied
                        break
                    width = self.trainer.step(progress.rate)
                    progress.trained_sizes = sorted({width, *progress.trained_sizes})
                done += 1
                bar.update(1)
                if pause is not None and done % every == 0 and done < steps:
                    pause()
        spent = self.timeline.spent()
        if spent["selfplay"] and done == steps:
            self._learning_share = spent["learner"] / spent["selfplay"]

    def promote(self, stop: Callable[[], bool]) -> bool:
        """Let the learner's average play, if it has changed and passes the gate. False if stopped before that."""
        if self.unseen_steps() == 0:
            return True
        if not self.settings.gate.games:
            with self.locked():  # a checkpoint of another thread must not see half of it
                self.progress.handed_steps = self.trainer.learner.steps
                self._let_play(self.trainer.learner.ema)
            return True
        with self.locked():
            candidate, steps = copy.deepcopy(self.trainer.learner.ema), self.trainer.learner.steps
        with self.timeline.during("gate"):
            verdict = self._judged(candidate, steps, stop)
        if verdict is None:
            return False
        with self.locked():
            self._report_match(verdict, steps)
            self.progress.handed_steps = steps
            if verdict.passed:
                self._let_play(candidate)
        return True

    def is_ahead(self) -> bool:
        """Whether self-play is so far ahead of the learner that it must wait (asynchronous mode)."""
        settings, most, done = self.settings, self.settings.generations_ahead, self.progress
        games = settings.generation_games
        rows = games * done.rows / max(1, done.games) if games else settings.generation_rows
        limit = self.trainer.paid_by(most * rows, most * games)
        return most > 0 and self.trainer.steps_ready() > max(1.0, limit)

    def unseen_steps(self) -> int:
        """The learner's steps since it was last handed over, or refused by the gate."""
        return self.trainer.learner.steps - self.progress.handed_steps

    def report(self, stop: Callable[[], bool]) -> dict[str, float]:
        """What happened since the last report: games, mean losses, held-out measures, speed, and the run's counters."""
        with self.locked():  # at once: what ends from here on belongs to the next report
            gathered = self.measures.gather() | self.selfplay.report()
        held_out = self.trainer.held_out(self.locked, stop)
        with self.locked():
            return self.measures.report(gathered, held_out)

    def advance(self) -> None:
        self.progress.generation += 1
        self.progress.learning, self.progress.absorbed = False, 0
        self.actor.open(self.progress.generation)
        return_memory()

    def save(self) -> None:
        """Write a checkpoint; no self-play may be under way. StorageError if it cannot be written: earlier ones are as
        they were. FolderError if the folder was removed, or is another run's by now.
        """
        self._check_folder()
        with self.locked():
            self.limits.count_time()
            self.progress.spent, self.progress.steps_backlog = self.timeline.spent(), self.trainer.steps_backlog
            shard = storage.shard(self.folder, self.progress.generation)
            with storage.writing(shard):
                written = storage.length(shard)
            state, playing = self.trainer.learner.state_dict(), self.selfplay.playing.state_dict()
            about = weights.metadata_of(self.trainer.learner.config, **self._facts())
            snapshot = Snapshot(self.progress, state, playing, self.selfplay.state_dict(), written, about)
            checkpoint.save(self.folder / "checkpoints", snapshot, self.settings.to_dict(), self.settings.keep)
            if not (self.folder / "weights.pt").exists():
                self._save_weights()
        self.saved()

    def _check_folder(self) -> None:
        """FolderError if the folder was removed, or is another run's by now."""
        if storage.identity(self.folder) != self._identity:
            raise FolderError(self.folder, "it was removed or replaced while the run worked in it")

    def _judged(self, candidate: nn.Module, steps: int, stop: Callable[[], bool]) -> GateResult | None:
        """The gate's match of the learner's average after so many steps; None if stopped before it was over."""
        parts = gate.parts(self.settings.stage_at(self.progress.rows).main_size, self.settings, steps)
        games = self.backend.play_match(parts, candidate, self.selfplay.playing, stop)
        if games is None:
            return None
        verdict = GateResult(total_of(games, gate.CANDIDATE), self.settings.gate.share)
        say(str(verdict))
        return verdict

    def _report_match(self, verdict: GateResult, steps: int) -> None:
        """Report a match that is decided, in the log at once and, if it is the last one, in the next report."""
        progress, found, numbers = self.progress, verdict.report(), self.measures.numbers
        progress.refused = 0 if verdict.passed else progress.refused + 1
        numbers |= {**found, "gate/refused": float(progress.refused)}
        numbers["gate/matches"] = numbers.get("gate/matches", 0.0) + 1
        where = {"gate/generation": float(progress.generation), "gate/steps": float(steps)}
        self.watch({**where, **found, "run/evaluations": float(progress.evaluations)})

    def _let_play(self, net: nn.Module) -> None:
        progress = self.progress
        self.selfplay.take_weights(net.state_dict())
        if self.settings.gate.games and self.settings.gate.drop_window:  # only games from here on count
            self.trainer.replay.rows.clear()  # the backlog of steps is taken on the rows that follow
            start = (progress.generation + 1, 0) if progress.learning else (progress.generation, progress.absorbed)
            progress.window_start, progress.window_skip = start
        self._save_weights()

    def _save_weights(self) -> None:
        """Write the network that plays, with the run's counters and settings. Raises StorageError or FolderError."""
        self._check_folder()  # else a folder that was moved would be made again
        path = self.folder / "weights.pt"
        with storage.writing(path):
            weights.save(path, self.selfplay.playing, self.trainer.learner.config, **self._facts())
            carry_graph(path)

    def _facts(self) -> dict[str, Any]:
        """What the run's weights say of themselves: the keywords of `weights.save`."""
        settings, progress = self.settings, self.progress
        counters = {"run": self.folder.name, "steps": progress.handed_steps, **progress.counters()}
        size, provenance = settings.stage[-1].main_size, {**counters, "settings": settings.portable()}
        return {"game": settings.game, "size": size, "trained_sizes": progress.trained_sizes, "provenance": provenance}

    def _snapshot(self) -> tuple[Snapshot, list[str]]:
        """(the newest readable snapshot of the folder, or the first of a new run; a line for each newer one that cannot
        be read). The trainer takes its weights. UserError for a folder that cannot be continued.
        """
        found = checkpoint.latest(self.folder / "checkpoints")
        if found is None:
            return Snapshot(Progress(full_share=self.settings.selfplay.full_share), {}), []
        snapshot, complaints = found
        try:
            with lack_of_memory_told():
                self.trainer.learner.load_state_dict(snapshot.learner)
        except RuntimeError:
            # settings.json, which would have shown it, is gone
            network = f"{self.settings.network} for {self.settings.game}"
            what = f"the checkpoints in {self.folder.absolute()} are not of {network}"
            raise UserError(f"{what}; give another --run, or the settings that they were made with") from None
        if snapshot.playing is None:
            snapshot.progress.handed_steps = self.trainer.learner.steps
        return snapshot, complaints
