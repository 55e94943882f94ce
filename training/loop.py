"""The whole training cycle: self-play -> records -> learner -> weights -> self-play, a generation at a time.

    python -m training.loop --config training/configs/go13.toml

Vocabulary.
  generation  a stretch of self-play with one network (`generation_rows` rows), then the learner's steps that those rows pay for.
  run folder  settings.json, records/ (one shard a generation), checkpoints/, weights.pt (the EMA network, after each generation),
              log.jsonl and tensorboard/. Starting again with the same folder goes on where it stopped.

Stopping (Ctrl-C, SIGTERM) loses no finished game and no step; a killed process loses the steps since its last checkpoint and the games
in flight. The modes in which self-play and learner overlap, and the exact resume of games in flight, are not here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from gozero import nets, weights
from gozero.games.game import Game
from training import checkpoint, monitor, records, scoring
from training.checkpoint import Progress
from training.config import LoopSettings, Stage
from training.learner import Learner
from training.pool import Pool, leaf_evaluator
from training.replay import Replay, window_rows

HELD_OUT_ROWS = 1024  # most rows of each size in the measurement after a generation


class Run:
    """A run in a folder: everything that the cycle works on."""

    def __init__(self, settings: LoopSettings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self.learner = Learner(nets.config(settings.network), settings.learner, settings.seed)
        self.progress = Progress()
        self.pools: dict[int, Pool] = {}
        self._tick = time.monotonic()
        found = checkpoint.latest(folder / "checkpoints")
        if found:
            self.progress, state, complaints = found
            self.learner.load_state_dict(state)
            for complaint in complaints:
                monitor.say(complaint)
        self.replay = self._load_window()

    def count_time(self) -> None:
        """Add the time since the last call to the hours of work."""
        now = time.monotonic()
        self.progress.hours += (now - self._tick) / 3600
        self._tick = now

    def finished(self) -> bool:
        """Whether the limits of the settings are reached."""
        return self._elapsed() >= 1

    def play(self, stop: Callable[[], bool]) -> dict[str, float]:
        """Complete the generation's self-play. A report; empty if stopped before it was complete (what was finished is on disk)."""
        progress, stage = self.progress, self.settings.stage_at(self.progress.rows)
        began, evaluations = time.monotonic(), progress.evaluations
        shard = self._shard(progress.generation)
        games = records.read(shard).records if shard.exists() else []  # those of a sitting that was cut off here
        owed = {size: progress.rows_owed.get(size, 0.0) + share * self.settings.generation_rows for size, share in stage.sizes.items()}
        for record in games:
            owed[record.size] = owed.get(record.size, 0.0) - record.rows
        writer = records.Writer(shard, self.settings.to_dict())
        with monitor.bar(round(sum(owed.values())), f"self-play {progress.generation}", " rows") as bar:
            for size in sorted(owed):
                for record in self._games(size, stage, owed[size], stop):
                    writer.append(record)
                    games.append(record)
                    owed[record.size] -= record.rows
                    bar.update(record.rows)
        writer.close()
        if stop():
            return {}
        progress.rows_owed, progress.learning = owed, True
        progress.games += len(games)
        added = self.replay.add(games)
        progress.rows = self.replay.total
        progress.steps_owed += added * self.settings.learner.reuse / self.settings.learner.batch
        seconds = time.monotonic() - began
        speed = {"speed/evaluations": (progress.evaluations - evaluations) / seconds, "speed/selfplay_seconds": seconds}
        return {**monitor.game_report(games), **speed}

    def learn(self, stop: Callable[[], bool]) -> dict[str, float]:
        """Take the steps that are owed. The mean training losses and the EMA network's held-out measures."""
        began, rate, sums = time.monotonic(), self._rate(), []
        steps = int(self.progress.steps_owed) if self.replay.sizes() else 0
        with monitor.bar(steps, f"learning {self.progress.generation}", " steps") as bar:
            for _ in range(steps):
                if stop():
                    break
                generator = np.random.default_rng([self.settings.seed, self.learner.steps])
                sums.append(self.learner.train(self.replay.sample(self.settings.learner.batch, generator), rate))
                self.progress.steps_owed -= 1
                bar.update(1)
        report = {f"train/{name}": float(np.mean([float(losses[name]) for losses in sums])) for name in (sums[0] if sums else ())}
        seconds = time.monotonic() - began
        return {**report, **self._held_out(), "speed/learner_seconds": seconds, "train/rate": rate}

    def save(self) -> None:
        """Write the checkpoint and the weights that play."""
        settings = self.settings.to_dict()
        checkpoint.save(self.folder / "checkpoints", self.progress, self.learner.state_dict(), settings, self.settings.keep)
        counters = {name: getattr(self.progress, name) for name in ("generation", "games", "rows", "evaluations", "hours")}
        provenance = {"run": self.folder.name, **counters, "steps": self.learner.steps, "settings": settings}
        size = max(self.settings.stage[-1].sizes)
        weights.save(
            self.folder / "weights.pt", self.learner.ema, self.learner.config, game=self.settings.game, size=size, provenance=provenance
        )

    def counters(self) -> dict[str, float]:
        """The run's counters as a report."""
        names = ("generation", "games", "rows", "evaluations", "hours")
        found = {f"run/{name}": float(getattr(self.progress, name)) for name in names}
        window = sum(self.replay.sizes().values())
        return {**found, "run/steps": self.learner.steps, "run/window": window, "run/corrupt": self.replay.corrupt}

    def _games(self, size: int, stage: Stage, rows: float, stop: Callable[[], bool]) -> Iterator[records.Record]:
        """Records of one size; its pool is made on first use and keeps its games in flight."""
        if rows <= 0 or stop():
            return
        game = self._game(size)
        if size not in self.pools:
            self.pools[size] = Pool(game, self.settings.selfplay, (self.settings.seed, self.progress.generation))
        pool = self.pools[size]
        evaluator = leaf_evaluator(
            stage.evaluator, game, self.learner.ema, self.settings.threads, self.settings.seed + self.progress.generation
        )
        pool.use(evaluator, stage, self.progress.generation)
        before = pool.evaluations
        yield from pool.play(round(rows), stop)
        self.progress.evaluations += pool.evaluations - before

    def _game(self, size: int) -> Game:
        return scoring.make(self.settings.game, size, self.settings.rules, self.settings.selfplay.max_length)

    def _shard(self, generation: int) -> Path:
        return self.folder / "records" / f"{generation:06d}.gzr"

    def _load_window(self) -> Replay:
        """The window as it was at the checkpoint, from the newest shards that it needs."""
        replay = Replay(self.settings.replay, self._game)
        newest, wanted = self.progress.generation - (not self.progress.learning), window_rows(self.progress.rows, self.settings.replay)
        shards: list[list[records.Record]] = []
        while newest > 0 and wanted > 0:
            shard = self._shard(newest)
            found = records.read(shard) if shard.exists() else records.Shard()
            replay.corrupt += found.corrupt
            wanted -= sum(record.rows for record in found.records)
            shards.append(found.records)
            newest -= 1
        replay.total = self.progress.rows - sum(record.rows for shard in shards for record in shard)
        for games in reversed(shards):
            replay.add(games)
        replay.total = self.progress.rows
        return replay

    def _elapsed(self) -> float:
        """How much of the run is done, 0..1, by the nearer of its limits; 0 where it has none."""
        hours = self.progress.hours / self.settings.hours if self.settings.hours else 0.0
        generations = (self.progress.generation - 1) / self.settings.generations if self.settings.generations else 0.0
        evaluations = self.progress.evaluations / self.settings.evaluations if self.settings.evaluations else 0.0
        return max(hours, generations, evaluations)

    def _rate(self) -> float:
        """Factor of the learning rate: 1, then falling linearly over the last `anneal` of the run."""
        learner = self.settings.learner
        left = 1 - min(1.0, self._elapsed())
        if learner.anneal == 0 or left >= learner.anneal:
            return 1.0
        return learner.anneal_to + (1 - learner.anneal_to) * left / learner.anneal

    def _held_out(self) -> dict[str, float]:
        """Losses and measures on held-out games: of each size, and their mean weighted by rows."""
        sizes = self.replay.sizes(held_out=True)
        found = {size: self.learner.evaluate(self.replay.held_out(size, HELD_OUT_ROWS)) for size in sizes}
        counts = np.array([min(count, HELD_OUT_ROWS) for count in sizes.values()], float)
        report = {f"held{size}/{name}": value for size, values in found.items() for name, value in values.items()}
        for name in next(iter(found.values()), {}):
            report[f"held/{name}"] = float(np.average([values[name] for values in found.values()], weights=counts))
        return report


def cycle(run: Run, watch: monitor.Monitor, stop: Callable[[], bool]) -> None:
    """Generation after generation until the run is finished or told to stop; what is done by then is saved."""
    report: dict[str, float] = {}
    while not run.finished() and not stop():
        if not run.progress.learning:
            report = run.play(stop)
        if run.progress.learning and not stop():
            report |= run.learn(stop)
        run.count_time()
        if not stop():
            watch.generation({"speed/evaluations": 0.0, **report, **run.counters()}, run, stop)
            run.progress.generation += 1
            run.progress.learning = False
        run.save()


if __name__ == "__main__":
    from training.startup import main

    sys.exit(main())
