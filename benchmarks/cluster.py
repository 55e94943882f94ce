"""What killed processes cost a run on a cluster. It needs Ray and Linux.

    python -m benchmarks.cluster --minutes 3 --every 20

Several Ray nodes on this machine train a small network on 7x7. Every so many seconds a process drawn by `--seed` is
killed with SIGKILL: a worker, or a whole node, for which another joins. At the end the run is stopped as
by Ctrl-C and examined: games in the window and in the shards, games that occur twice, frames that cannot be read, the
most memory of each kind of process. Claimed: every game counts once, no frame is corrupt. The run that was killed so
often can be matched with an undisturbed one by `gozero match`.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import above_zero, finish, machine, plain_parser
from gozero.system.console import BAD_INPUT, positive, say, seed
from gozero.system.errors import ChoiceError
from gozero.system.machine import megabytes

try:
    from ray.cluster_utils import Cluster
except ModuleNotFoundError:
    say("benchmarks.cluster: Ray is not installed; run: pip install '.[distributed]' in the folder of the source")
    raise SystemExit(BAD_INPUT) from None

from training.cluster import WORKER
from training.records import records
from training.storage import checkpoint
from training.storage.checkpoint import Snapshot

TITLES = {"worker": "ray::Worker"}
KINDS = (*TITLES, "node")
NODE_BYTES = 100_000_000  # of each node's object store
STOP_SECONDS = 180.0


def processes(title: str, parents: set[int]) -> Iterator[int]:
    """Processes whose command line begins so and that are children of these."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if path.joinpath("cmdline").read_bytes().startswith(title.encode()):
                parent = int(path.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1])
                if parent in parents:
                    yield int(path.name)
        except OSError:
            continue


class Nodes:
    """The nodes of a cluster on this machine, and what was killed there."""

    def __init__(self, nodes: int, seed: int) -> None:
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": NODE_BYTES}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.generator = np.random.default_rng(seed)
        self.nodes = [self.join() for _ in range(nodes)]
        self.killed: Counter[str] = Counter()
        self.most: dict[str, float] = {}  # MB by kind

    def join(self) -> Any:
        return self.cluster.add_node(num_cpus=1, resources={WORKER: 1}, object_store_memory=NODE_BYTES)

    def found(self, kind: str) -> list[int]:
        nodes = [self.cluster.head_node, *self.nodes]
        raylets = {int(node.all_processes["raylet"][0].process.pid) for node in nodes}
        return list(processes(TITLES[kind], raylets))

    def read_memory(self) -> None:
        for kind in TITLES:
            for process in self.found(kind):
                used = megabytes(Path(f"/proc/{process}/status"), "RssAnon") or 0.0
                self.most[kind] = max(self.most.get(kind, 0.0), used)

    def kill_one(self) -> None:
        """Kill a process or a node drawn at random, if there is one of its kind."""
        kind = KINDS[self.generator.integers(len(KINDS))]
        if kind == "node":
            self.cluster.remove_node(self.nodes.pop(0), allow_graceful=False)
            self.nodes.append(self.join())
        elif found := self.found(kind):
            os.kill(found[self.generator.integers(len(found))], signal.SIGKILL)
        else:
            return
        self.killed[kind] += 1


def command(options: argparse.Namespace, folder: Path, address: str) -> list[str]:
    changes = {
        "network": "b2c16", "generation_rows": "1000", "checkpoint_rows": "250", "swap_steps": "50",
        "monitor.strength_every": "0", "monitor.report_every": "0", "selfplay.games": "8",
        "selfplay.slots": str(options.nodes + 1),
    }  # fmt: skip
    line = [sys.executable, "-m", "gozero", "train", "--preset", "go7", "--simulator", "numba", "--threads", "1"]
    line += ["--mode", options.mode, "--run", str(folder), "--address", address]
    return line + [word for name, value in changes.items() for word in ("--set", f"{name}={value}")]


def kill_until(end: float, every: float, nodes: Nodes, driver: subprocess.Popen[bytes]) -> int:
    """Kill something every so many seconds until the time is up, then stop the run. Returns its exit code."""
    next_one = time.monotonic() + 2 * every
    while time.monotonic() < end and driver.poll() is None:
        time.sleep(1)
        nodes.read_memory()
        if time.monotonic() > next_one:
            next_one += every
            nodes.kill_one()
    driver.send_signal(signal.SIGINT)
    return driver.wait(STOP_SECONDS)


def verdict(folder: Path, found: Snapshot) -> list[str]:
    """What the run folder shows, whose newest checkpoint this is."""
    progress, games, corrupt, in_window = found.progress, 0, 0, 0
    lines: Counter[tuple[int, ...]] = Counter()
    for path in sorted((folder / "records").glob("*.gzr")):
        shard = records.read(path)
        corrupt += shard.corrupt
        games += len(shard.records)
        in_window += progress.absorbed if int(path.stem) == progress.generation else len(shard.records)
        lines.update(tuple(record.moves.tolist()) for record in shard.records)
    twice = sum(count - 1 for count in lines.values())
    return [
        f"generation {progress.generation}: {games} games in the shards, {twice} twice, {corrupt} frames corrupt",
        f"{progress.games} games counted, {in_window} of the shards' games are in the window; {progress.rows} rows, "
        f"{found.learner['steps']} steps",
    ]


def chaos(options: argparse.Namespace) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    folder = Path(options.run or tempfile.mkdtemp(prefix="chaos-")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    nodes, log = Nodes(options.nodes, options.seed), folder / "driver.txt"
    with log.open("w") as out:
        driver = subprocess.Popen(command(options, folder, nodes.cluster.address), stderr=out)
        code = kill_until(time.monotonic() + 60 * options.minutes, options.every, nodes, driver)
    nodes.cluster.shutdown()
    print(f"killed: {', '.join(f'{name} {count}' for name, count in nodes.killed.items())}; exit code {code}")
    print(f"most memory of a process, MB: {', '.join(f'{name} {most:.0f}' for name, most in nodes.most.items())}")
    print(f"the run's messages: {log}")
    found = checkpoint.latest(folder / "checkpoints")
    if found is None:
        raise ChoiceError("no checkpoint was written: give more --minutes")
    print("\n".join(verdict(folder, found[0])))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = plain_parser("benchmarks.cluster", __doc__ or "")
    parser.add_argument("--minutes", type=above_zero, default=30.0, help="(default 30)")
    parser.add_argument("--every", type=above_zero, default=20.0, help="seconds between two kills (default 20)")
    parser.add_argument("--nodes", type=positive, default=2, help="beside the head (default 2)")
    parser.add_argument("--mode", default="asynchronous", help="of the run (default asynchronous)")
    parser.add_argument("--seed", type=seed, default=1, help="of what is killed (default 1)")
    parser.add_argument("--run", metavar="FOLDER", help="run folder (default: a temporary one)")
    options = parser.parse_args(arguments)
    print(machine(), flush=True)
    chaos(options)


if __name__ == "__main__":
    finish(main)
