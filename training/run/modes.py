"""The training cycle in its three modes: self-play -> records -> learner -> weights -> self-play, generation after
generation. Only the order of the parts is here, the parts are in `training.run.run`.

  sequential         one after the other: play, learn, let the new network play.
  semi-asynchronous  self-play of a generation and learning from the one before it at the same time, each waiting for
                     the other at its end.
  asynchronous       self-play does not wait, but for one step at a checkpoint and where it is `generations_ahead` of
                     the learner. That takes the steps that rows have paid for, and every `swap_steps` its network
                     plays, from the middle of games; a gate's match is played meanwhile. Generations that end while one
                     is reported are reported with the next.

A run that is killed continues from its last checkpoint. In the first two modes, on a CPU with one thread, it ends with
the same weights, bit for bit, as a run that was not killed. Stopping (Ctrl-C, SIGTERM) saves at once and loses no
finished game, no game in flight and no step.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch

from training.doctor.monitor import Monitor
from training.run.run import Run
from training.storage import storage

Stop = Callable[[], bool]
POLL = 0.1  # seconds between two looks of an idle thread


def train_in_mode(run: Run, watch: Monitor, stop: Stop) -> None:
    """Generation after generation until the run is finished or stopped; what is done by then is saved. StorageError if
    a file cannot be written: the run can be continued from its last checkpoint.
    """
    if run.is_new:
        run.save()  # so that a crash before the first checkpoint is like any other
    if run.progress.learning and run.settings.mode != "sequential":
        _learn_and_advance(run, watch, stop)
    modes = {"sequential": sequential, "semi-asynchronous": semi_asynchronous, "asynchronous": asynchronous}
    modes[run.settings.mode](run, watch, stop)


def sequential(run: Run, watch: Monitor, stop: Stop) -> None:
    """Play, learn, hand over, in turns."""
    while (run.progress.learning or not run.finished()) and not stop():
        if not run.progress.learning:
            run.play(stop)
            if not stop():
                run.complete()
                run.save()
        _learn_and_advance(run, watch, stop)


def semi_asynchronous(run: Run, watch: Monitor, stop: Stop) -> None:
    """Play with the previous network while learning from the games before; meet at the end of the generation."""
    torch.set_num_threads(run.selfplay.threads)
    finished = run.finished()
    while not finished and not stop():
        together([run.play, run.learn], stop)
        if not stop() and run.promote(stop):
            run.complete()
            finished = run.finished()
            if not finished:
                _report(run, watch, stop)
                run.advance()
        run.save()
    if run.progress.learning:  # the last generation: its report has the steps that its own games have paid for
        _learn_and_advance(run, watch, stop)


def asynchronous(run: Run, watch: Monitor, stop: Stop) -> None:
    """Play without waiting; learn as rows pay for steps; hand over every `swap_steps` steps, in the middle of games.

    With a gate its match goes on beside the other two.
    """
    torch.set_num_threads(run.selfplay.threads)
    parts = Asynchronous(run, watch)
    together([parts.play, parts.judge, parts.learn] if run.settings.gate.games else [parts.play, parts.learn], stop)
    parts.end(stop)


class Asynchronous:
    """The parts of the asynchronous mode, each for its own thread, and the events between them."""

    def __init__(self, run: Run, watch: Monitor) -> None:
        self.run, self.watch = run, watch
        self._absorbed = threading.Event()  # rows have been absorbed
        self._complete = threading.Event()  # a generation's self-play is complete, and not reported yet
        self._played, self._learned = threading.Event(), threading.Event()  # that part has ended

    def play(self, halt: Stop) -> None:
        """Play generation after generation."""
        run, finished = self.run, self.run.finished()
        try:
            while not finished and not halt():
                run.play(halt, pause=lambda: self._absorb(halt))
                if not halt():
                    with run.locked():
                        run.complete()
                        finished = run.finished()
                        if finished:  # it is reported when all is learned, with those that are not reported yet
                            self._complete.clear()
                        else:
                            run.advance()
                            self._complete.set()
                run.save()
                self._wait_for_learner(halt)
        finally:
            self._played.set()

    def learn(self, halt: Stop) -> None:
        """Take the steps that rows pay for, and report generations; without a gate, hand over too."""
        run = self.run
        try:
            while not halt():
                ended = self._played.is_set()
                run.learn(lambda: halt() or self._complete.is_set() or self._hands_over())
                if self._hands_over() or (ended and not run.settings.gate.games):
                    run.promote(halt)
                if self._complete.is_set():
                    self._complete.clear()
                    _report(run, self.watch, halt)
                elif not run.trainer.steps_ready():
                    if ended:
                        break
                    self._absorbed.wait(POLL)
                    self._absorbed.clear()
        finally:
            self._learned.set()

    def judge(self, halt: Stop) -> None:
        """Let the gate decide every `swap_steps` steps, and not sooner than its pause after the match before."""
        run, over = self.run, -math.inf
        pause = 60 * run.settings.gate.pause_minutes
        while not halt():
            ended = self._learned.is_set()
            if ended or (run.unseen_steps() >= run.settings.swap_steps and time.monotonic() >= over + pause):
                run.promote(halt)
                over = time.monotonic()
            if ended:
                break
            self._learned.wait(POLL)

    def end(self, stop: Stop) -> None:
        """Report a generation that was complete when the learner was stopped, and the last one, and save."""
        if self._complete.is_set():
            _report(self.run, self.watch, stop)
        if self.run.progress.learning:
            _learn_and_advance(self.run, self.watch, stop)
        else:
            self.run.save()

    def _absorb(self, halt: Stop) -> None:
        with self.run.locked():
            self.run.absorb()
        self.run.save()
        self._absorbed.set()
        self._wait_for_learner(halt)

    def _wait_for_learner(self, halt: Stop) -> None:
        """Wait while self-play is too far ahead of the learner."""
        if not self.run.is_ahead():
            return
        within = None if self.run.selfplay.streams else "selfplay"  # slots that stream go on meanwhile
        with self.run.timeline.during("waiting", within=within):
            while self.run.is_ahead() and not halt():
                self._learned.wait(POLL)

    def _hands_over(self) -> bool:
        """Whether it is time for the learner to hand over, which it decides itself without a gate."""
        return not self.run.settings.gate.games and self.run.unseen_steps() >= self.run.settings.swap_steps


def together(parts: Sequence[Callable[[Stop], None]], stop: Stop) -> None:
    """Run all at the same time, the last in this thread and each of the others in one of its own.

    If one fails the others are stopped, and its error is raised when all have ended.
    """
    failed = threading.Event()

    def halt() -> bool:
        return failed.is_set() or stop()

    def guarded(part: Callable[[Stop], None]) -> None:
        try:
            part(halt)
        except BaseException:
            failed.set()
            raise

    def last_then_wait(halt: Stop) -> None:
        parts[-1](halt)
        for future in futures:
            future.result()

    with ThreadPoolExecutor(len(parts) - 1) as threads:
        futures = [threads.submit(guarded, part) for part in parts[:-1]]
        guarded(last_then_wait)


def _learn_and_advance(run: Run, watch: Monitor, stop: Stop) -> None:
    """Learn from a generation whose games are complete, hand over, and go to the next; all modes begin so where games
    came from elsewhere (`--records`) or from a session in the sequential mode.
    """
    if not stop():
        run.learn(stop, pause=run.save)
    if not stop() and run.promote(stop):
        _report(run, watch, stop)
        run.advance()
    run.save()


def _report(run: Run, watch: Monitor, stop: Stop) -> None:
    """Report the generation; the monitor adds what it measures itself."""
    report = run.report(stop)
    with run.timeline.during("monitor"), storage.writing(run.folder / "log.jsonl"):
        watch.generation(report, run, stop)
