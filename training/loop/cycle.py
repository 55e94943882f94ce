"""The whole training cycle: self-play -> records -> learner -> weights -> self-play, a generation at a time.

    python -m training.loop --config training/settings/go13.toml

Vocabulary.
  generation  a stretch of self-play that finishes `generation_rows` rows, and the learner's steps that those rows pay
              for.
  sequential  one after the other: play, learn, hand over.
  semi-asynchronous  self-play of a generation and learning from the one before it at the same time, each waiting for
                     the other at its end.
  asynchronous  self-play never waits, but for one step at a checkpoint: the learner takes the steps that rows have paid
              for and hands over a network every so many, in the middle of games. Generations that end while one is
              reported are reported with the next.

A run that is killed continues from its last checkpoint. In the first two modes, on a CPU with one thread, it ends with
the same weights, bit for bit, as a run that was not killed. Stopping (Ctrl-C, SIGTERM) saves at once and loses no
finished game, no game in flight and no step. The parts are in `training.run.run`; only their order is here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch

from training.doctor.monitor import Monitor
from training.run.run import Run
from training.storage import storage

Stop = Callable[[], bool]
PATIENCE = 0.1  # seconds that an idle learner waits before it looks again whether to stop


def cycle(run: Run, watch: Monitor, stop: Stop) -> None:
    """Generation after generation until the run is finished or told to stop; what is done by then is saved.

    Raises:
        StorageError: a file cannot be written; the run can be continued from its last checkpoint.
    """
    if run.is_new:
        run.save()  # so that a crash before the first checkpoint is like any other
    {"sequential": sequential, "semi-asynchronous": semi_asynchronous, "asynchronous": asynchronous}[run.settings.mode](
        run, watch, stop
    )


def sequential(run: Run, watch: Monitor, stop: Stop) -> None:
    """Play, learn, hand over, in turns."""
    while not run.finished() and not stop():
        if not run.progress.learning:
            run.play(stop)
            if not stop():
                run.absorb()
                run.complete()
                run.save()
        if not stop():
            run.learn(stop, rest=run.save)
        if not stop() and run.hand_over(stop):
            _tell(run, watch, stop)
            run.advance()
        run.save()


def semi_asynchronous(run: Run, watch: Monitor, stop: Stop) -> None:
    """Play with the previous network while learning from the games before; meet at the end of the generation."""
    torch.set_num_threads(run.actor.threads)
    while not run.finished() and not stop():
        together(run.play, run.learn, stop)
        if not stop() and run.hand_over(stop):
            run.absorb()
            run.complete()
            _tell(run, watch, stop)
            run.advance()
        run.save()
    if not stop():  # the steps that the last games have paid for
        run.learn(stop)
        run.hand_over(stop)
        run.save()


def asynchronous(run: Run, watch: Monitor, stop: Stop) -> None:
    """Play without waiting; learn as rows pay for steps; hand over every `swap_steps` steps, in the middle of games."""
    torch.set_num_threads(run.actor.threads)
    news, complete, over = threading.Event(), threading.Event(), threading.Event()

    def take() -> None:
        with run.turn():
            run.absorb()
        run.save()
        news.set()

    def play(halt: Stop) -> None:
        try:
            while not run.finished() and not halt():
                run.play(halt, rest=take)
                if not halt():
                    with run.turn():
                        run.absorb()
                        run.complete()
                        run.advance()
                    complete.set()
                run.save()
        finally:
            over.set()

    def learn(halt: Stop) -> None:
        while not halt():
            ended = over.is_set()
            run.learn(lambda: halt() or complete.is_set() or run.unseen_steps() >= run.settings.swap_steps)
            if ended or run.unseen_steps() >= run.settings.swap_steps:
                run.hand_over(halt)
            if complete.is_set():
                complete.clear()
                _tell(run, watch, halt)
            elif run.progress.steps_owed < 1 or not run.replay.sizes():
                if ended:
                    break
                news.wait(PATIENCE)
                news.clear()

    together(play, learn, stop)
    if complete.is_set():  # a generation that was complete when the learner was told to stop
        _tell(run, watch, stop)
    run.save()


def together(other: Callable[[Stop], None], mine: Callable[[Stop], None], stop: Stop) -> None:
    """Run both at the same time, `other` in a thread of its own.

    If one fails the other is stopped, and the error is raised when both have ended.
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

    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(guarded, other)
        guarded(mine)
        future.result()


def _tell(run: Run, watch: Monitor, stop: Stop) -> None:
    """Report the generation; the monitor adds what it measures itself."""
    report = run.report(stop)
    with run.timeline.during("monitor"), storage.writing(run.folder / "log.jsonl"):
        watch.generation(report, run, stop)
