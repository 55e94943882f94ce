"""Offers this machine's workers to a cluster: a Ray node of their own, started again whenever it was cut off.

    gozero worker --address 10.0.0.5:6379

Vocabulary.
  node  Ray's processes on this machine. It offers slots (`training.cluster.squad`); whoever coordinates a run starts a
        worker in each.

The node runs until this command is ended by Ctrl-C or SIGTERM. Work that is lost with it is done by others.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from gozero.system.console import Parser, run_command, say, stop_on_signals
from gozero.system.options import SettingsError
from gozero.system.threads import available_threads
from training.cluster.driver import reach
from training.cluster.worker import GPU_SLOT, SLOT

PROGRAM = "gozero worker"
RETRY_SECONDS = 5.0  # between two attempts to join
JOINED = "Ray runtime started"  # is said by a node that has joined
JOIN_SECONDS = 120.0  # that it may need for it
LEAVE_SECONDS = 15.0  # that the node is given to end
LOOK = 0.2  # seconds between two looks at whether to stop
MEGABYTE = 1_000_000


def parser() -> Parser:
    """The command line."""
    options = Parser(prog=PROGRAM, description="Offer this machine's workers to a cluster.")
    options.add_argument("--address", required=True, metavar="HOST:PORT", help="of the cluster's head")
    options.add_argument("--workers", type=int, metavar="N", help="workers (default: as many as fit the CPUs)")
    options.add_argument(
        "--gpus",
        type=int,
        default=0,
        metavar="N",
        help="workers with a GPU, at most two for each; then no others by default",
    )
    options.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="CPUs of each worker (default 1; with --gpus all, shared out)",
    )
    options.add_argument(
        "--memory", type=int, default=200, metavar="MB", help="most of Ray's object store on this machine (default 200)"
    )
    return options


def main(arguments: list[str] | None = None) -> int:
    """Serve until stopped. The exit code: 0, or 2 where the cluster cannot be joined at first."""
    options = parser().parse_args(arguments)
    return run_command(PROGRAM, lambda: serve(options.address, start_command(options)), (SettingsError,))


def start_command(options: argparse.Namespace) -> list[str]:
    """What starts the node that the options ask for. SettingsError where they make no sense."""
    gpus, cpus = options.gpus, available_threads()
    threads, workers = options.threads, options.workers
    if threads is None:
        threads = max(1, cpus // max(1, gpus + (workers or 0))) if gpus > 0 else 1
    if workers is None:
        workers = 0 if gpus else max(1, cpus // max(1, threads))
    if min(gpus, workers) < 0 or gpus + workers == 0 or threads < 1 or options.memory < 80:
        raise SettingsError(
            f"--workers {workers} --gpus {gpus} --threads {threads} --memory {options.memory}: "
            "give at least 1 worker, 1 thread and 80 MB"
        )
    slots = {name: count for name, count in ((SLOT, workers), (GPU_SLOT, gpus)) if count}
    return [
        sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", f"--address={options.address}",
        "--block", "--disable-usage-stats", f"--num-cpus={(workers + gpus) * threads}",
        f"--resources={json.dumps(slots)}", f"--object-store-memory={options.memory * MEGABYTE}",
    ]  # fmt: skip


def serve(address: str, command: list[str]) -> int:
    """Keep a node going until told to stop. Returns the exit code; SettingsError if nothing is at the address at first."""
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
