"""`gozero worker`: offers this machine's workers to a cluster, as a Ray node that is started again whenever it
was cut off.

    gozero worker --address 10.0.0.5:6379

The node offers room (`training.cluster.pool`); the coordinator of a run starts a worker in it. It runs until Ctrl-C or
SIGTERM. Work that is lost with it is done by others.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable

from gozero.system.console import say, stop_on_signals
from gozero.system.options import SettingsError
from training.cluster.connection import reach

PROGRAM = "gozero worker"
RETRY_SECONDS = 5.0  # between two attempts to join
JOINED = "Ray runtime started"  # is said by a node that has joined
JOIN_SECONDS = 120.0  # that it may need for it
LEAVE_SECONDS = 15.0  # that the node is given to end
LOOK = 0.2  # seconds between two looks at whether to stop


def serve(address: str, command: list[str]) -> int:
    """Keep a node going until stopped. Returns the exit code; SettingsError if none can join at first."""
    reach(address)
    stop, joined = stop_on_signals("letting the workers go"), threading.Event()
    while not stop():
        try:
            reach(address)
            say(f"{PROGRAM}: joining {address}")
            why = run_node(command, joined, stop)
            if why and not joined.is_set():
                raise SettingsError(f"--address {address}: no node can join from here: {why}")
            if why:
                say(f"{PROGRAM}: Ray's node has ended ({why}); it joins again")
        except SettingsError as error:
            if not joined.is_set():
                raise
            say(f"{PROGRAM}: {error}; trying again")
        again = time.monotonic() + RETRY_SECONDS
        while time.monotonic() < again and not stop():
            time.sleep(LOOK)
    return 0


def run_node(command: list[str], joined: threading.Event, stop: Callable[[], bool]) -> str:
    """Run Ray's processes on this machine, which one of them starts and watches over, until they end, `stop()` is true,
    or they do not join in time; `joined` is set when they have. Returns why they ended, "" if they were stopped.
    """
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    last, here, late = deque[str](maxlen=5), threading.Event(), time.monotonic() + JOIN_SECONDS

    def listen() -> None:
        assert process.stdout is not None
        for line in filter(str.strip, process.stdout):
            last.append(line.strip())
            if JOINED in line:
                say(f"{PROGRAM}: joined")
                here.set()
                joined.set()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    while not stop() and (here.is_set() or time.monotonic() < late):
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(LOOK)
            listener.join(LEAVE_SECONDS)
            return f"code {code}: {last[-1].rpartition('ray.exceptions.')[2] if last else 'without a word'}"
    why = "" if stop() else f"it had not joined after {JOIN_SECONDS:.0f} s"
    process.terminate()
    try:
        process.wait(LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    return why
