"""The coordinator: a detached Ray actor that has a run's files and decides, while workers and the learner compute.

Its `__init__` opens the run folder and begins a session in a thread. So a restart by Ray, after its process or machine
died, is a resumption from the newest checkpoint, like that of a run on one machine. What it prints is stored for the
driver, the command that asked for the run (`training.cluster.driver`), which may go and come back.
"""

from __future__ import annotations

import contextlib
import io
import threading
import traceback
from collections.abc import Callable

import ray
import torch
from torch import nn

from gozero.system.console import say
from gozero.system.errors import UserError
from gozero.system.threads import available_threads
from training.cluster.learner import ClusterTrainer, LearnerLostError, check_room
from training.cluster.messages import Assignment, Initialize, Output
from training.cluster.pool import TRIES, ClusterPool, WorkersLostError
from training.cluster.selfplay import ClusterMatches, ClusterSelfPlay
from training.doctor.monitor import Monitor
from training.run import session
from training.run.new_run import StartingPoint
from training.settings.config import LoopSettings
from training.storage import storage
from training.storage.mirror import Uploader

LOCK_SECONDS = 30.0  # that a process which was killed may need to let go of the run folder


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


class Coordinator:
    """The actor. Its methods answer at once; the run has a thread of its own."""

    def __init__(self, asked: Assignment) -> None:
        self._asked, self._stop, self._printed = asked, threading.Event(), io.StringIO()
        self._code: int | None = None
        self._again = bool(ray.get_runtime_context().was_current_actor_reconstructed)
        threading.Thread(target=self._work, name="run", daemon=True).start()

    def asked(self) -> Assignment:
        """What this coordinator works on."""
        return self._asked

    def output(self, seen: int) -> Output:
        """The lines after the first `seen` characters."""
        ended = self._code  # before the lines: then none can be missed
        printed = self._printed.getvalue()
        printed = printed[: printed.rfind("\n") + 1]
        fresh = printed[seen if seen <= len(printed) else 0 :]  # more were counted by another process
        return Output(tuple(fresh.splitlines()), len(printed), ended)

    def stop(self) -> None:
        """Save and end."""
        self._stop.set()

    def _work(self) -> None:
        """The thread: the session."""
        with contextlib.redirect_stderr(self._printed):
            try:
                code = self._session()
            except Exception:  # noqa: BLE001 - a bug: the driver is to print its traceback
                traceback.print_exc()
                code = 1
        self._code = code

    def _session(self) -> int:
        """A session, as `training.commands.train` begins it on one machine. Returns the exit code."""
        asked, program = self._asked, self._asked.program
        if self._again:
            say("the coordinator was lost and continues from the newest checkpoint")
            if asked.storage is None and not (asked.folder / storage.LOCK).exists():
                say(f"{program}: the coordinator has moved to a machine where {asked.folder} is not; share the folder")
                return 2
        torch.set_num_threads(asked.settings.threads or available_threads())
        try:
            with contextlib.ExitStack() as stack:
                # a process of ours that was killed a moment ago may still have the folder
                stack.enter_context(storage.alone(asked.folder, LOCK_SECONDS if self._again else 0.0))
                again = self._again and asked.storage is not None  # from its own process of before
                remote = session.open_remote(asked.storage, asked.take_over or again, asked.folder, asked.settings, stack)
                settings = session.as_begun(asked.settings, asked.folder, asked.chosen)
                if not self._again:
                    check_room(settings)
                workers = ClusterPool(Initialize(settings, asked.threads), asked.workers)
                stack.callback(workers.close)
                backend = ClusterBackend(workers, self._stop.is_set)
                stack.callback(backend.close)
                return session.finish(remote, self._train(settings, backend, remote))
        except (UserError, *session.FAILED, WorkersLostError) as error:
            say(f"{program}: {error}")
            return 1 if isinstance(error, (*session.FAILED, WorkersLostError)) else 2

    def _train(self, settings: LoopSettings, backend: ClusterBackend, remote: Uploader | None) -> int:
        """Train until the run ends or is stopped; open it again whenever the learner is lost.

        WorkersLostError if that is so again and again without a step in between.
        """
        asked, introduced, tries, reached = self._asked, self._again, 0, -1
        start = StartingPoint() if self._again and storage.holds_run(asked.folder) else asked.start
        while True:
            try:
                with storage.writing(asked.folder):
                    run = session.prepare(settings, asked.folder, start, backend)
                    watch = Monitor(run.folder, run.settings)
                if not introduced:
                    session.introduce(run.settings, run.folder)
                introduced = True
                return session.train(run, watch, asked.program, self._stop.is_set, remote)
            except LearnerLostError as error:
                if self._stop.is_set():
                    say(f"{error}: stopped; the same command continues from the newest checkpoint")
                    return 0
                tries = tries + 1 if backend.steps == reached else 1
                reached = backend.steps
                if tries >= TRIES:
                    raise WorkersLostError(
                        f"the learner was lost {TRIES} times after step {reached}; see Ray's logs"
                    ) from None
                say(f"{error}: the run is opened again from its newest checkpoint")
                backend.workers.cut_all()  # nobody waits for what is under way
                start = StartingPoint()  # it has begun
