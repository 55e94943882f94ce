"""`gozero worker`: offers this machine's workers to a cluster, as a Ray node that is started again whenever it
was cut off.

    gozero worker --address 10.0.0.5:6379

The node offers slots (`training.cluster.pool`); the coordinator of a run starts a worker in each. It runs until Ctrl-C
or SIGTERM. Work that is lost with it is done by others.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable

from gozero.system.console import say, stop_on_signals
from gozero.system.options import SettingsError
from training.cluster.driver import reach

PROGRAM = "gozero worker"
RETRY_SECONDS = 5.0  # between two attempts to join
JOINED = "Ray runtime started"  # is said by a node that has joined
JOIN_SECONDS = 120.0  # that it may need for it
LEAVE_SECONDS = 15.0  # that the node is given to end
LOOK = 0.2  # seconds between two looks at whether to stop


def serve(address: str, command: list[str]) -> int:
    """Keep a node going until stopped. Returns the exit code; SettingsError if nothing is at the address at first."""
    reach(address)
    stop, pause, joined = stop_on_signals("letting the workers go"), threading.Event(), False
    while not stop():
        try:
            reach(address)
        except SettingsError as error:
            say(f"{PROGRAM}: {error}; trying again")
        else:
            say(f"{PROGRAM}: joining {address}")
            node = RayNode(command)
            why = node.serve(stop)
            joined = joined or node.joined.is_set()
            if why and not joined:
                raise SettingsError(f"--address {address}: no node can join from here: {why}")
            if why:
                say(f"{PROGRAM}: Ray's node has ended ({why}); it joins again")
        for _ in range(round(RETRY_SECONDS / LOOK)):
            if stop():
                break
            pause.wait(LOOK)
    return 0


class RayNode:
    """Ray's processes on this machine, which one of them has started and watches over."""

    def __init__(self, command: list[str]) -> None:
        """Start them."""
        self.joined = threading.Event()
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        self._last: list[str] = []  # lines that it has said
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def serve(self, stop: Callable[[], bool]) -> str:
        """Wait until they end, or end them when `stop()` or if they do not join. Returns why, "" if they were stopped."""
        late = time.monotonic() + JOIN_SECONDS
        while not stop() and (self.joined.is_set() or time.monotonic() < late):
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(LOOK)
                self._listener.join(LEAVE_SECONDS)
                said = self._last[-1].rpartition("ray.exceptions.")[2] if self._last else "without a word"
                return f"code {code}: {said}"
        why = "" if stop() else f"it had not joined after {JOIN_SECONDS:.0f} s"
        self._process.terminate()
        try:
            self._process.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
        return why

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if JOINED in line:
                say(f"{PROGRAM}: joined")
                self.joined.set()
            if line.strip():
                self._last[:] = [*self._last[-4:], line.strip()]
