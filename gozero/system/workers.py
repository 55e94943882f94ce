"""A worker process of this machine: started with a pipe to it, ended at the latest with the process that started it.

What it does is said by its target; self-play and tournaments have one each.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from gozero.system.console import STOPPING

IGNORED = STOPPING  # by workers: the process that started them decides when they end
SPAWN = multiprocessing.get_context("spawn")  # threads of PyTorch and numba do not survive a fork
WINDOWS = not hasattr(os, "killpg")


@dataclass
class WorkerProcess:
    """A running worker, as the process that started it sees it."""

    process: Any  # of multiprocessing
    connection: Connection

    @classmethod
    def start(cls, target: Callable[..., None], *arguments: Any, name: str, ignored: Sequence[int]) -> Self:
        """Run `target(connection, *arguments)`, which is to call `settle_in` first, in a new process. Signals that are
        to be ignored do not reach it before it can do so.
        """
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(target=target, args=(theirs, *arguments), name=name, daemon=True)
        with blocked(ignored):
            process.start()
        theirs.close()
        return cls(process, ours)

    def end(self, seconds: float = 0.0, *, group: bool = False) -> None:
        """Close the pipe, wait for the worker to end by itself, then kill it: with its group if it leads one."""
        self.connection.close()
        if seconds:
            self.process.join(seconds)
        if group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end_group(self.process.pid)
        self.process.kill()
        self.process.join()


def settle_in(ignored: Sequence[int], *, group: bool = False) -> None:
    """Called by a worker: ignore these signals, lead a group if asked to, and end with the parent."""
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    if group and not WINDOWS:
        os.setsid()
    threading.Thread(target=_end_with_parent, args=(group,), daemon=True).start()


def end_group(pid: int) -> None:
    """Kill a worker with the processes that it has started."""
    if WINDOWS:
        os.kill(pid, signal.SIGTERM)
    else:
        os.killpg(pid, signal.SIGKILL)


def _end_with_parent(group: bool) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    if group:
        end_group(os.getpid())
    os._exit(0)


@contextlib.contextmanager
def blocked(signals: Sequence[int]) -> Iterator[None]:
    """A process that is started here inherits the blocked signals: its imports take seconds."""
    if WINDOWS:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    resource_tracker.ensure_running()  # multiprocessing's own process, which unblocks SIGINT as it starts
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
