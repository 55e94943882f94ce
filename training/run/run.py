"""A run in its folder: everything that the cycle works on, and how it is saved and opened again.

Vocabulary.
  run folder  settings.json, records/ (one shard a generation), checkpoints/, weights.pt (the network that plays, after each hand-over),
              log.jsonl and tensorboard/.
  absorb      to take the games of the generation into the window; their rows then pay for steps of the learner.
  hand over   to let the learner's average (EMA) play from now on; with a gate, only if it wins its match.

The order of the parts, and which of them overlap, is `training.loop`'s to decide. `play` may run in a thread of its own beside the rest.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from gozero import weights
from gozero.threads import available_threads
from training.actor import resign
from training.actor.actor import Actor
from training.console import bar as progress_bar
from training.console import say
from training.learner.learner import Learner
from training.learner.pace import Pace
from training.records import records
from training.records.replay import Batch, Replay, window_rows
from training.records.statistics import game_report
from training.run import gate
from training.run.timeline import Timeline
from training.settings.config import ConfigError, LoopSettings
from training.storage import checkpoint, storage
from training.storage.checkpoint import CheckpointError, Progress, Snapshot

COUNTERS = ("generation", "games", "rows", "evaluations", "hours")  # of the progress, in reports and in the weights
HELD_OUT_ROWS = 1024  # most rows of each size in the measurement after a generation


class Run:
    """A run in a folder: made anew, or opened where its newest readable checkpoint left it."""

    def __init__(self, settings: LoopSettings, folder: Path) -> None:
        """Raises CheckpointError for a folder that cannot be continued; says what is cut or begun anew."""
        self.settings, self.folder = settings, folder
        self.device = device_of(settings.device)
        self.learner = Learner.of(settings, self.device)
        self.pace = pace_of(settings, self.device)
        self.progress = Progress()
        self.timeline = Timeline()
        self.notes: dict[str, float] = {}  # for the next report
        self._tick = time.monotonic()
        self._turn, self._next = threading.Lock(), threading.Lock()
        self._losses: list[dict[str, torch.Tensor]] = []  # of the steps since the last report
        self._shard_rows: dict[int, int] = {}  # generation -> rows of its shard, for those that the window may need
        found = checkpoint.latest(folder / "checkpoints")
        self.is_new = found is None
        snapshot, complaints = found or (Snapshot(self.progress, self.learner.state_dict()), [])
        self.progress = snapshot.progress
        try:
            self.learner.load_state_dict(snapshot.learner)
        except RuntimeError:  # settings.json, which would have told, is gone
            what = f"the checkpoints in {folder.absolute()} are not of {settings.network} for {settings.game}"
            raise CheckpointError(f"{what}; give another --run, or the settings that they were made with") from None
        if self.learner.steps and not self.progress.trained_sizes:  # a checkpoint that does not tell
            self.progress.trained_sizes = self.settings.sizes_by(self.progress.rows)
        if snapshot.playing is None:
            self.progress.handed_steps = self.learner.steps
        self.actor = Actor(settings, folder, self.learner.ema, threads_of(settings, self.device), self.device)
        complaints += self.actor.load_state_dict(snapshot.pools, snapshot.playing)
        if snapshot.shard_bytes is not None:
            complaints += storage.rewind(folder, self.progress.generation, snapshot.shard_bytes)
        storage.clean(folder, self.progress.generation)
        self._reported = self.progress.evaluations  # at the last report
        self.replay = self._load_window()
        self.actor.open(self.progress.generation)
        if self.progress.learning:
            self._note_games()
        for complaint in complaints:
            say(complaint)

    def count_time(self) -> None:
        """Add the time since the last call to the hours of work."""
        now = time.monotonic()
        self.progress.hours += (now - self._tick) / 3600
        self._tick = now

    def finished(self) -> bool:
        """Whether the limits of the settings are reached."""
        return self._elapsed() >= 1

    def ending(self) -> str:
        """Why the run is at rest, and how to go on; one line."""
        reached = [f"{name} = {getattr(self.settings, name):g}" for name, share in self._shares().items() if share >= 1]
        if reached:
            return f"the run has reached its limit, {' and '.join(reached)}; the same command with a higher one goes on"
        return "stopped, all is saved; the same command goes on"

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Alone with the learner, the window and the checkpoints. Whoever waits is next: a bare lock would starve one of two threads."""
        with self._next:
            self._turn.acquire()
        try:
            yield
        finally:
            self._turn.release()

    def play(self, stop: Callable[[], bool], rest: Callable[[], None] | None = None) -> None:
        """Play what the generation still owes; what was finished when stopped is on disk. `rest`: at each checkpoint, instead of a save."""
        with self.timeline.during("selfplay"):
            absorbed = sum(record.rows for record in self.actor.games[: self.progress.absorbed])
            stage = self.settings.stage_at(self.progress.rows - absorbed)  # the one in which the generation began
            self.actor.play(stage, self.progress, rest or self.save, stop)

    def absorb(self) -> None:
        """Take the generation's new games into the window; their rows pay for steps."""
        progress, fresh = self.progress, self.actor.games[self.progress.absorbed :]
        progress.absorbed += len(fresh)
        progress.games += len(fresh)
        added = self.replay.add(fresh)
        progress.rows = self.replay.total
        progress.steps_owed += self._paid_by(added)
        progress.rate = self.settings.learner.rate(self._elapsed())

    def complete(self) -> None:
        """The generation's self-play is done and absorbed: what its sizes owe is carried on, what the window no longer needs may go."""
        progress, rows = self.progress, sum(record.rows for record in self.actor.games)
        progress.rows_owed = self.actor.owed(self.settings.stage_at(progress.rows - rows), progress)
        progress.learning = True
        self._note_games()
        self._shard_rows[progress.generation] = rows
        with storage.writing(self.folder / "records"):
            for line in storage.retire(self.folder, self._needed_from(), self.settings.records_mb):
                say(line)

    def learn(self, stop: Callable[[], bool], rest: Callable[[], None] | None = None) -> None:
        """Take the steps that are owed; `rest`, if given, as often as in self-play. A step is a function of the seed and its number."""
        steps = int(self.progress.steps_owed) if self.replay.sizes() else 0
        every = max(1, round(self._paid_by(self.settings.checkpoint_rows))) if self.settings.checkpoint_rows else steps
        with self.timeline.during("learner"), progress_bar(steps, f"learning {self.progress.generation}", " steps") as bar:
            for done in range(1, steps + 1):
                if stop():
                    break
                self._step()
                bar.update(1)
                if rest is not None and done % every == 0 and done < steps:
                    rest()

    def hand_over(self, stop: Callable[[], bool]) -> bool:
        """Let the learner's average play, if it has changed and the gate lets it pass. False if stopped before that was decided."""
        progress = self.progress
        if self.unseen_steps() == 0:
            return True
        passed = True
        if self.settings.gate.games:
            with self.timeline.during("gate"):
                size, threads = self.settings.stage_at(progress.rows).main_size, self.actor.threads
                candidate, best = self.learner.ema, self.actor.playing
                verdict = gate.match(candidate, best, size, self.settings, self.learner.steps, threads, stop, self.device)
            if verdict is None:
                return False
            say(str(verdict))
            self.notes |= verdict.report()
            passed = verdict.passed
        with self.turn():  # all of it or nothing, in a checkpoint of the other thread
            progress.handed_steps = self.learner.steps
            if passed:
                self._let_play()
        return True

    def unseen_steps(self) -> int:
        """Steps that the network that plays has not had, unless the gate refused them."""
        return self.learner.steps - self.progress.handed_steps

    def report(self, stop: Callable[[], bool]) -> dict[str, float]:
        """What happened since the last report: games, mean losses, held-out measures, speed, and the run's counters."""
        progress = self.progress
        losses, self._losses = self._losses, []
        with self.turn():
            batches = {size: self.replay.held_out(size, HELD_OUT_ROWS) for size in self.replay.sizes(held_out=True)}
            notes, self.notes = self.notes, {}
            window = sum(self.replay.sizes().values())
        found = self._held_out(batches, stop)
        for name in losses[0] if losses else ():
            found[f"train/{name}"] = float(np.mean([float(step[name]) for step in losses]))
        found |= {f"run/{name}": float(getattr(progress, name)) for name in COUNTERS}
        found |= {"run/steps": self.learner.steps, "run/window": window, "run/corrupt": self.replay.corrupt, "train/rate": progress.rate}
        found |= notes | self.timeline.report()
        found["speed/learner_threads"] = self.pace.threads
        found["speed/evaluations"] = (progress.evaluations - self._reported) / max(1e-9, found["speed/selfplay_seconds"])
        self._reported = progress.evaluations
        return found

    def advance(self) -> None:
        """The next generation."""
        self.progress.generation += 1
        self.progress.learning, self.progress.absorbed = False, 0
        self.actor.open(self.progress.generation)
        return_memory()

    def save(self) -> None:
        """Write a checkpoint; self-play must be at rest. Raises StorageError, with the checkpoints before it as they were."""
        with self.turn():
            self.count_time()
            shard = storage.shard(self.folder, self.progress.generation)
            with storage.writing(shard):
                written = storage.length(shard)
            state, playing = self.learner.state_dict(), self.actor.playing.state_dict()
            snapshot = Snapshot(self.progress, state, playing, self.actor.state_dict(), written)
            checkpoint.save(self.folder / "checkpoints", snapshot, self.settings.to_dict(), self.settings.keep)
            if not (self.folder / "weights.pt").exists():
                self._save_weights()

    def _step(self) -> None:
        with self.turn():
            generator = np.random.default_rng([self.settings.seed, self.learner.steps])
            batch = self.replay.sample(self.settings.learner.batch, generator)
            with self.pace.piece(batch.planes.shape) as threads:
                torch.set_num_threads(threads)
                self._losses.append(self.learner.train(batch, self.progress.rate))
            if (columns := batch.planes.shape[-1]) not in self.progress.trained_sizes:
                self.progress.trained_sizes.append(columns)
            self.progress.steps_owed -= 1

    def _note_games(self) -> None:
        self.notes |= {**game_report(self.actor.games), "run/generation": self.progress.generation}
        self.notes |= resign.report([pool.resign for pool in self.actor.pools.values()], self.progress.generation, self.actor.games)

    def _paid_by(self, rows: int) -> float:
        """Steps that so many new rows pay for: their own uses, or their part of a generation's passes over the window."""
        settings, uses = self.settings.learner, rows * self.settings.learner.reuse
        if settings.epochs:
            uses = settings.epochs * sum(self.replay.sizes().values()) * rows / self.settings.generation_rows
        return uses / settings.batch

    def _let_play(self) -> None:
        self.actor.hand_over(self.learner.ema)
        if self.settings.gate.games and self.settings.gate.drop_window:
            progress = self.progress
            self.replay.shelves.clear()
            start = (progress.generation + 1, 0) if progress.learning else (progress.generation, progress.absorbed)
            progress.window_start, progress.window_skip = start
            progress.steps_owed = 0.0  # the rows that have paid for them are gone
        self._save_weights()

    def _save_weights(self) -> None:
        counters = {name: getattr(self.progress, name) for name in COUNTERS}
        provenance = {"run": self.folder.name, **counters, "steps": self.learner.steps, "settings": self.settings.portable()}
        size, path = max(self.settings.stage[-1].sizes), self.folder / "weights.pt"
        with storage.writing(path):
            weights.save(
                path,
                self.actor.playing,
                self.learner.config,
                game=self.settings.game,
                size=size,
                trained_sizes=self.progress.trained_sizes,
                provenance=provenance,
            )

    def _load_window(self) -> Replay:
        """The window as it was at the checkpoint, from the newest shards that it needs."""
        progress, replay = self.progress, Replay(self.settings.replay, self.actor.game, self.settings.features)
        wanted, shards = window_rows(progress.rows, self.settings.replay), []
        for generation in range(progress.generation, progress.window_start - 1, -1):
            path = storage.shard(self.folder, generation)
            found = records.read(path) if path.exists() else records.Shard()
            games = found.records
            if generation == progress.generation and not (progress.learning and progress.absorbed == 0):
                games = games[: progress.absorbed]
            if generation == progress.window_start:
                games = games[progress.window_skip :]
            replay.corrupt += found.corrupt
            self._shard_rows[generation] = sum(record.rows for record in games)
            wanted -= self._shard_rows[generation]
            shards.append(games)
            if wanted <= 0:
                break
        replay.total = progress.rows - sum(self._shard_rows.values())
        for games in reversed(shards):
            replay.add(games)
        replay.total = progress.rows
        return replay

    def _needed_from(self) -> int:
        """The oldest generation whose shard the window needs, also at the oldest checkpoint kept."""
        wanted, generation = window_rows(self.progress.rows, self.settings.replay), self.progress.generation
        while wanted > 0 and generation in self._shard_rows:
            wanted -= self._shard_rows[generation]
            generation -= 1
        return generation - self.settings.keep

    def _elapsed(self) -> float:
        """How much of the run is done, 0..1, by the nearest of its limits; 0 where it has none."""
        return max(self._shares().values(), default=0.0)

    def _shares(self) -> dict[str, float]:
        """How much of the run is done by each of its limits, 0 and more."""
        progress = self.progress
        done = {"hours": progress.hours, "generations": progress.generation - 1, "evaluations": progress.evaluations}
        limits = {name: getattr(self.settings, name) for name in done}
        return {name: done[name] / limit for name, limit in limits.items() if limit}

    def _held_out(self, batches: dict[int, Batch], stop: Callable[[], bool]) -> dict[str, float]:
        """Losses and measures on held-out rows of each size, and their mean weighted by rows; nothing if stopped."""
        found: dict[int, dict[str, float]] = {}
        for size, batch in batches.items():
            if stop():
                return {}
            found[size] = self.learner.evaluate(batch) | {"rows": float(len(batch.value))}
        counts = [len(batch.value) for batch in batches.values()]
        report = {f"held{size}/{name}": value for size, values in found.items() for name, value in values.items()}
        for name in [name for name in next(iter(found.values()), {}) if name != "rows"]:
            report[f"held/{name}"] = float(np.average([values[name] for values in found.values()], weights=counts))
        return report


def return_memory() -> None:
    """Give the system back what was freed. glibc keeps what lies between living blocks; a window that is renewed leaves much of that."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library needs it less
        ctypes.CDLL(None).malloc_trim(0)


def device_of(wanted: str) -> str:
    """`cpu` or `cuda`, what `wanted` (cpu, cuda or auto) means here; ConfigError if cuda is wanted and is not there."""
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise ConfigError("device = 'cuda': PyTorch sees no NVIDIA GPU here; use device = 'cpu' or 'auto'")
    return "cuda" if available and wanted != "cpu" else "cpu"


def threads_of(settings: LoopSettings, device: str) -> int:
    """CPU threads of self-play and of the learner each: all, or half where both work on the CPU at once."""
    threads = settings.threads or available_threads()
    return threads if settings.mode == "sequential" or device == "cuda" else max(1, threads // 2)


def pace_of(settings: LoopSettings, device: str) -> Pace:
    """How many CPU threads the learner works with: as many as the settings say, or as many as help where it works on the CPU."""
    most = threads_of(settings, device)

    def tell(threads: int) -> None:
        say(f"the learner works with {threads} of {most} threads from now on: that is faster just now")

    return Pace(most if settings.threads or device == "cuda" else 0, most, tell)
