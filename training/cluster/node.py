"""Offers this machine's workers to a cluster: a Ray node of their own, started again whenever it was cut off.

    python -m training.worker --address 10.0.0.5:6379

Vocabulary.
  node  Ray's processes on this machine. It offers slots (`training.cluster.squad`); whoever coordinates a run starts a
        worker in each.

The node runs until this command is ended by Ctrl-C or SIGTERM. Work that is lost with it is done by others.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from gozero.options import SettingsError
from gozero.threads import available_threads
from training.cluster.driver import reach
from training.cluster.worker import GPU_SLOT, SLOT
from training.console import Parser, run_command, say, stop_on_signals

PROGRAM = "training.worker"
RETRY_SECONDS = 5.0  # between two attempts to join
JOIN_SECONDS = 30.0  # a first node that ends within them could not join
LEAVE_SECONDS = 15.0  # that the node is given to end
LOOK = 0.2  # seconds between two looks at whether to stop
MEGABYTE = 1_000_000


def parser() -> Parser:
    """The command line."""
    options = Parser(prog=f"python -m {PROGRAM}", description="Offer this machine's workers to a cluster.")
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
        threads = max(1, cpus // (gpus + (workers or 0))) if gpus > 0 else 1
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
            began = time.monotonic()
            why = _once(address, command, stop)
            if why and not joined and time.monotonic() - began < JOIN_SECONDS:
                raise SettingsError(f"--address {address}: no node can join from here: {why}")
            joined = True
            if why:
                say(f"{PROGRAM}: Ray's node has ended ({why}); it joins again")
        for _ in range(round(RETRY_SECONDS / LOOK)):
            if stop():
                break
            pause.wait(LOOK)
    return 0


def _once(address: str, command: list[str], stop: Callable[[], bool]) -> str:
    """Run the node until it ends or is to stop. Returns why it ended, "" if it was told to."""
    say(f"{PROGRAM}: joining {address}")
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    node = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    last: list[str] = []

    def listen() -> None:
        assert node.stdout is not None
        for line in node.stdout:
            if line.strip():
                last[:] = [*last[-4:], line.strip()]

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    while node.poll() is None and not stop():
        try:
            node.wait(LOOK)
        except subprocess.TimeoutExpired:
            continue
    if node.poll() is not None:
        listener.join(LEAVE_SECONDS)
        return f"code {node.returncode}: {last[-1].rpartition('ray.exceptions.')[2] if last else 'without a word'}"
    node.terminate()
    try:
        node.wait(LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(node.pid, signal.SIGKILL)
    return ""
