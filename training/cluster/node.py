"""`gozero worker`: offers this machine's workers to a cluster, as a Ray node that is started again whenever it was cut
off.

    gozero worker --address 10.0.0.5:6379

The node offers room (`training.cluster.pool`); the command of a run starts a worker in it. It runs until Ctrl-C or
SIGTERM. Work that is lost with it is done by others.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable

from gozero.system.console import say, stop_on_signals
from gozero.system.options import SettingsError
from training.cluster.connection import reach

PROGRAM = "gozero worker"
RETRY_SECONDS = 5.0  # between two attempts to join
JOIN_SECONDS = 20.0  # a node that ends sooner has not joined
LEAVE_SECONDS = 15.0  # that the node is given to end
STDERR = 2  # file descriptor
LOOK = 0.2  # seconds between two looks at whether to stop


def serve(address: str, command: list[str]) -> int:
    """Keep a node going until stopped. Returns the exit code; SettingsError if none can join at first."""
    reach(address)
    stop, joined = stop_on_signals("letting the workers go"), False
    while not stop():
        try:
            reach(address)
            say(f"{PROGRAM}: joining {address}")
            began = time.monotonic()
            code = run_node(command, stop)
            joined = joined or time.monotonic() > began + JOIN_SECONDS
            if stop():
                break
            if not joined:
                raise SettingsError(f"--address {address}: no node can join from here; Ray's messages are above")
            say(f"{PROGRAM}: Ray's node has ended with code {code}")
        except SettingsError as error:
            if not joined:
                raise
            say(f"{PROGRAM}: {error}; trying again")
        again = time.monotonic() + RETRY_SECONDS
        while time.monotonic() < again and not stop():
            time.sleep(LOOK)
    return 0


def run_node(command: list[str], stop: Callable[[], bool]) -> int:
    """Run Ray's processes on this machine, which one of them starts and watches over, until they end or `stop()` is
    true. Their messages go to stderr. Returns the exit code.
    """
    process = subprocess.Popen(command, stdout=STDERR, start_new_session=True)
    while not stop():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK)
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(LEAVE_SECONDS)
    os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
