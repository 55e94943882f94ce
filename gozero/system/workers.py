"""What worker processes of this machine share: how they are started, and that they end at the latest with the process
that started them.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import wait

from gozero.system.console import STOPPING

IGNORED = STOPPING  # by workers: the process that started them decides when they end
SPAWN = multiprocessing.get_context("spawn")  # threads of PyTorch and numba do not survive a fork
WINDOWS = not hasattr(os, "killpg")


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
