"""Runs the training cycle of this process on a cluster: workers play, and a learner elsewhere takes the steps.

The run and its files are in this process, as on one machine; if it dies, the same command continues from the newest
checkpoint. If the learner dies, the run is opened again from there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torch import nn

from gozero.system.console import say
from gozero.system.machine import available_threads
from training.cluster.learner import ClusterTrainer, LearnerLostError, check_room
from training.cluster.pool import TRIES, ClusterPool
from training.cluster.selfplay import ClusterMatches, ClusterSelfPlay
from training.run import session
from training.run.new_run import StartingPoint
from training.selfplay.processes import WorkerLostError
from training.settings.config import LoopSettings
from training.storage.mirror import Uploader


class ClusterBackend:
    """The workers and the learner of a run; see `training.run.backend.Backend`."""

    def __init__(self, workers: ClusterPool, stop: Callable[[], bool]) -> None:
        self.workers, self.matches, self._stop = workers, ClusterMatches(workers), stop
        self._trainer: ClusterTrainer | None = None

    def device(self, settings: LoopSettings) -> str:
        return "cpu"

    def trainer(self, settings: LoopSettings) -> ClusterTrainer:
        self.close()
        self._trainer = ClusterTrainer(settings, self._stop)
        self.workers.open()  # not before: workers could take the learner's GPU
        return self._trainer

    def selfplay(self, settings: LoopSettings, net: nn.Module) -> ClusterSelfPlay:
        return ClusterSelfPlay(settings, net, settings.threads or available_threads(), self.workers)

    @property
    def steps(self) -> int:
        """Of the learner so far."""
        return self._trainer.steps if self._trainer is not None else 0

    def close(self) -> None:
        """End the learner."""
        if self._trainer is not None:
            self._trainer.close()


def train(
    settings: LoopSettings,
    folder: Path,
    start: StartingPoint,
    workers: int,
    program: str,
    stop: Callable[[], bool],
    remote: Uploader | None = None,
    source: str = "a run",
) -> int:
    """Train as `session.open_run` and `session.train` do, on the cluster that this process has joined.

    `workers`: how many to start on the cluster's CPUs; 0: those of `gozero worker`. Returns the exit code.

    Raises:
        SettingsError: the cluster lacks a GPU that the settings ask for.
        WorkerLostError: the learner was lost `TRIES` times without a step in between.
    """
    check_room(settings)
    pool = ClusterPool(settings, max(1, settings.threads) if workers else 0, workers)
    backend, tries, reached = ClusterBackend(pool, stop), 0, -1
    try:
        while True:
            try:
                run, watch = session.open_run(settings, folder, start, backend, source)
                start, source = StartingPoint(), ""  # it has begun, and was introduced
                return session.train(run, watch, program, stop, remote)
            except LearnerLostError as error:
                if stop():
                    say(f"{error}: stopped; the same command continues from the newest checkpoint")
                    return 0
                tries, reached = tries + 1 if backend.steps == reached else 1, backend.steps
                if tries >= TRIES:
                    raise WorkerLostError(f"the learner was lost {TRIES} times after step {reached}") from None
                say(f"{error}: the run is opened again from its newest checkpoint")
                pool.cut_all()  # nobody waits for what is under way
    finally:
        backend.close()
        pool.close()
