"""A run on a cluster in which something is killed all the time: is every game counted once, and memory bounded?

    python -m benchmarks.cluster_chaos --minutes 3 --every 20

Several Ray nodes on this machine train a small network on 7x7. Every so many seconds a process drawn by `--seed` is
killed with SIGKILL: a worker, the learner, the coordinator, or a whole node, for which another joins. At the end the run
is stopped as by Ctrl-C and looked through: games in the window and in the shards, games that occur twice, frames that
cannot be read, the most memory of each kind of process. With `--match GAMES` the same run is then made on one machine,
undisturbed, until it has completed as many generations, and the two networks play. Linux; it needs Ray.
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
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import RAY, above_zero, finish, leave_without, machine
from gozero.machine import megabytes
from training.console import Parser, positive, seed, whole

try:
    from ray.cluster_utils import Cluster
except ModuleNotFoundError:
    leave_without("Ray", RAY)

from training.cluster.worker import SLOT
from training.records import records
from training.storage import checkpoint
from training.storage.checkpoint import Snapshot

KINDS = ("worker", "learner", "coordinator", "node")
TITLES = {"worker": "ray::Worker", "learner": "ray::Learner", "coordinator": "ray::Coordinator"}
STORE = 100_000_000  # bytes of each node's object store
LEAVE_SECONDS = 180.0


def processes(title: str, parents: set[int]) -> list[int]:
    """Processes that call themselves so and are children of these."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if path.joinpath("cmdline").read_bytes().startswith(title.encode()):
                parent = int(path.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1])
                found += [int(path.name)] if parent in parents else []
        except OSError:
            continue
    return found


class Chaos:
    """The nodes, and what is done to them."""

    def __init__(self, nodes: int, seed: int) -> None:
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": STORE}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.generator = np.random.default_rng(seed)
        self.nodes = [self.join() for _ in range(nodes)]
        self.killed: Counter[str] = Counter()
        self.most: dict[str, float] = {}  # MB by kind

    def join(self) -> Any:
        """A node with one worker."""
        return self.cluster.add_node(num_cpus=1, resources={SLOT: 1}, object_store_memory=STORE)

    def raylets(self) -> set[int]:
        nodes = [self.cluster.head_node, *self.nodes]
        return {int(node.all_processes["raylet"][0].process.pid) for node in nodes}

    def look(self) -> None:
        """Note the memory in use."""
        for kind, title in TITLES.items():
            for process in processes(title, self.raylets()):
                used = megabytes(Path(f"/proc/{process}/status"), "RssAnon") or 0.0
                self.most[kind] = max(self.most.get(kind, 0.0), used)

    def strike(self) -> None:
        """Kill something."""
        kind = KINDS[self.generator.integers(len(KINDS))]
        if kind == "node":
            self.cluster.remove_node(self.nodes.pop(0), allow_graceful=False)
            self.nodes.append(self.join())
        else:
            found = processes(TITLES[kind], self.raylets())
            if not found:
                return
            os.kill(found[self.generator.integers(len(found))], signal.SIGKILL)
        self.killed[kind] += 1


def verdict(folder: Path, found: Snapshot) -> list[str]:
    """What the run folder shows, whose newest checkpoint this is."""
    progress, games, corrupt = found.progress, 0, 0
    lines: Counter[tuple[int, ...]] = Counter()
    in_window = 0
    for path in sorted((folder / "records").glob("*.gzr")):
        shard = records.read(path)
        corrupt += shard.corrupt
        games += len(shard.records)
        absorbed = progress.absorbed if int(path.stem) == progress.generation else len(shard.records)
        in_window += absorbed
        lines.update(tuple(record.moves.tolist()) for record in shard.records)
    twice = sum(count - 1 for count in lines.values())
    return [
        f"generation {progress.generation}: {games} games in the shards, {twice} of them twice, {corrupt} frames corrupt",
        f"{progress.games} games counted, {in_window} of the shards' games are in the window; {progress.rows} rows, "
        f"{found.learner['steps']} steps",
    ]


def command(chosen: argparse.Namespace, folder: Path, *more: str) -> list[str]:
    """The run."""
    changes = {
        "network": "b2c16", "generation_rows": "1000", "checkpoint_rows": "250", "swap_steps": "50",
        "monitor.strength_every": "0", "monitor.report_every": "0", "selfplay.games": "8",
        "selfplay.seats": str(chosen.nodes + 1),
    }  # fmt: skip
    line = [sys.executable, "-m", "training.loop", "--preset", "go7", "--simulator", "numba", "--threads", "1"]
    line += ["--mode", chosen.mode, "--run", str(folder), *more]
    return line + [word for name, value in changes.items() for word in ("--set", f"{name}={value}")]


def rage(chaos: Chaos, driver: subprocess.Popen[bytes], minutes: float, every: float) -> int:
    """Strike until the time is up, then stop the run. Returns its exit code."""
    end, strike = time.monotonic() + 60 * minutes, time.monotonic() + 2 * every
    while time.monotonic() < end and driver.poll() is None:
        time.sleep(1)
        chaos.look()
        if time.monotonic() > strike:
            strike += every
            chaos.strike()
    driver.send_signal(signal.SIGINT)
    return driver.wait(LEAVE_SECONDS)


def compare(chosen: argparse.Namespace, folder: Path, generations: int) -> None:
    """Make the run again, undisturbed, and let the two networks play."""
    if generations < 1:
        sys.exit("no generation was completed: there is nothing to compare")
    calm = folder / "undisturbed"
    with (folder / "undisturbed.txt").open("w") as out:
        subprocess.run(command(chosen, calm, "--set", f"generations={generations}"), stderr=out, check=True)
    line = [sys.executable, "-m", "training.arena", f"weights:{folder / 'weights.pt'}:{chosen.visits}"]
    line += [f"weights:{calm / 'weights.pt'}:{chosen.visits}", "--size", "7", "--games", str(chosen.match)]
    print(f"against the undisturbed run after {generations} generations:", flush=True)
    subprocess.run([*line, "--parallel", "50", "--opening-moves", "4", "--threads", "1"], check=True)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    options = Parser(
        prog="python -m benchmarks.cluster_chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--minutes", type=above_zero, default=30.0)
    options.add_argument("--every", type=above_zero, default=20.0, help="seconds between two strikes")
    options.add_argument("--nodes", type=positive, default=2, help="beside the head")
    options.add_argument("--mode", default="asynchronous")
    options.add_argument("--seed", type=seed, default=1)
    options.add_argument("--run", help="run folder (default: a temporary one)")
    options.add_argument("--match", type=whole(0), default=0, metavar="GAMES", help="against an undisturbed run")
    options.add_argument("--visits", type=positive, default=64, help="of the match")
    return options


def main() -> None:
    """Run, strike, stop and tell."""
    chosen = parser().parse_args()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    print(machine())
    folder = Path(chosen.run or tempfile.mkdtemp(prefix="chaos-")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    chaos, log = Chaos(chosen.nodes, chosen.seed), folder / "driver.txt"
    with log.open("w") as out:
        driver = subprocess.Popen(command(chosen, folder, "--address", chaos.cluster.address), stderr=out)
        code = rage(chaos, driver, chosen.minutes, chosen.every)
    print(f"killed: {', '.join(f'{name} {count}' for name, count in chaos.killed.items())}; exit code {code}")
    print(f"most memory of a process, MB: {', '.join(f'{name} {most:.0f}' for name, most in chaos.most.items())}")
    chaos.cluster.shutdown()
    print(f"what the run said: {log}")
    found = checkpoint.latest(folder / "checkpoints")
    if found is None:
        sys.exit("no checkpoint was written")
    for line in verdict(folder, found[0]):
        print(line)
    if chosen.match:
        compare(chosen, folder, found[0].progress.generation - 1)


if __name__ == "__main__":
    finish(main)
