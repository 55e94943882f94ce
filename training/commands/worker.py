"""The command `gozero worker`: offers this machine's workers to a cluster: `gozero worker --address 10.0.0.5:6379`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from gozero.system.console import Parser
from gozero.system.machine import available_threads
from gozero.system.options import SettingsError
from training.cluster import GPU_WORKER, WORKER

MEGABYTE = 1_000_000


def parser() -> Parser:
    options = Parser(prog="gozero worker", description="Offer this machine's workers to a cluster.")
    add = options.add_argument
    add("--address", required=True, metavar="HOST:PORT", help="of the cluster's head")
    add("--workers", type=int, metavar="N", help="workers (default: as many as fit the CPUs)")
    gpus = "workers with a GPU, at most two for each; then no others by default"
    add("--gpus", type=int, default=0, metavar="N", help=gpus)
    threads = "CPUs of each worker (default 1; with --gpus all, shared out)"
    add("--threads", type=int, metavar="N", help=threads)
    memory = "most of Ray's object store on this machine (default 200)"
    add("--memory", type=int, default=200, metavar="MB", help=memory)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped. The exit code: 0, or 2 where the cluster cannot be joined at first."""
    return parser().run(_serve, arguments)


def _serve(options: argparse.Namespace) -> int:
    command = start_command(options)
    from training.cluster import connection

    return connection.serve(options.address, command)


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
    slots = {name: count for name, count in ((WORKER, workers), (GPU_WORKER, gpus)) if count}
    return [
        sys.executable, "-P", "-c", "from ray.scripts.scripts import main; main()", "start",
        f"--address={options.address}", "--block", "--disable-usage-stats", f"--num-cpus={(workers + gpus) * threads}",
        f"--resources={json.dumps(slots)}", f"--object-store-memory={options.memory * MEGABYTE}",
    ]  # fmt: skip
