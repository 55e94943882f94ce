"""A run on a cluster: what killed processes cost it, and how many workers one coordinator serves. Both need Ray.

    python -m benchmarks.cluster chaos --minutes 3 --every 20
    python -m benchmarks.cluster load --workers 10 100 1000

chaos  Several Ray nodes on this machine train a small network on 7x7. Every so many seconds a process drawn by `--seed`
       is killed with SIGKILL: a worker, the learner, or a whole node, for which another joins. At the
       end the run is stopped as by Ctrl-C and examined: games in the window and in the shards, games that occur twice,
       frames that cannot be read, the most memory of each kind of process. Claimed: every game counts once, no frame is
       corrupt. Linux. The run that was killed so often can be matched with an undisturbed one by `gozero match`.
load   Simulated workers that compute nothing answer a coordinator through Ray: four games after four times `--game`
       seconds, with the state of a pool of `--state` KB. A line gives the answers a second, those that the pace of the
       workers would allow, and the share of a core that the coordinator's process used.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import logging
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
from gozero import __version__
from gozero.system.console import BAD_INPUT, positive, say, seed, whole
from gozero.system.errors import ChoiceError
from gozero.system.machine import megabytes

try:
    import ray
    from ray.cluster_utils import Cluster
except ModuleNotFoundError:
    say("benchmarks.cluster: Ray is not installed; run: pip install '.[distributed]' in the folder of the source")
    raise SystemExit(BAD_INPUT) from None

from training.cluster import WORKER
from training.cluster.pool import ClusterPool
from training.cluster.worker import About
from training.records import records
from training.records.records import Record
from training.selfplay.local import Task, TaskEnd
from training.selfplay.remote import NetworkVersion, PackedPool, PlayTask, TaskResult
from training.settings.config import LoopSettings
from training.storage import checkpoint
from training.storage.checkpoint import Snapshot

TITLES = {"worker": "ray::Worker", "learner": "ray::Learner"}
KINDS = (*TITLES, "node")
NODE_BYTES = 100_000_000  # of each node's object store
STOP_SECONDS = 180.0
GAMES = 4  # between two states of a simulated worker


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
        f"generation {progress.generation}: {games} games in the shards, {twice} of them twice, {corrupt} frames corrupt",
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


class Host:
    """A process with many simulated workers."""

    def __init__(self, game: float, state: int) -> None:
        self.game = game
        self.state = PackedPool(np.random.default_rng(1).bytes(state), ())

    async def about(self) -> About:
        return About("host", os.getpid(), __version__)

    async def cut(self, number: int) -> None:
        pass

    async def work(self, order: PlayTask) -> TaskResult:
        """Games that nobody plays."""
        moves, began = np.arange(120, dtype=np.int32), time.monotonic()
        await asyncio.sleep(GAMES * self.game)
        records = [Record(13, 7.5, 1, moves, (), 0.5, "passes") for _ in range(GAMES)]
        return TaskResult(records, TaskEnd(0), self.state, time.monotonic() - began)


def measure(workers: int, hosts: list[Any], seconds: float, game: float) -> str:
    turn, settings = itertools.cycle(hosts), LoopSettings()
    pool = ClusterPool(settings, 1, workers, start=lambda resource: next(turn))
    pool.open()

    def order(slot: int) -> PlayTask:
        task = Task(13, slot, settings.stage[0], 1, 4.0, "games")
        return PlayTask(pool.number(), task, PackedPool(b"\0" * 1000, ()), NetworkVersion(0, 0, None))

    jobs = {pool.submit(order(slot)) for slot in range(workers)}
    while len(pool.counts()[0]) < workers:
        time.sleep(0.1)
    began, used, answers = time.monotonic(), time.process_time(), 0
    while time.monotonic() < began + seconds:
        done = pool.first_done(jobs, lambda: False)
        answers += len(done)
        jobs = jobs - done | {pool.submit(order(0)) for _ in done}
    passed, used = time.monotonic() - began, time.process_time() - used
    pool.close()
    possible = workers / (GAMES * game)
    rate = f"{answers / passed:7.0f} answers/s of {possible:7.0f}"
    return f"{workers:5} workers: {rate}, coordinator {used / passed:5.0%} of a core"


def load(options: argparse.Namespace) -> None:
    ray.init(
        num_cpus=options.hosts, include_dashboard=False, logging_level=logging.ERROR, object_store_memory=200_000_000
    )
    host: Any = ray.remote(Host)
    host = host.options(num_cpus=0, max_concurrency=2000)
    for workers in options.workers:
        hosts = [host.remote(options.game, 1000 * options.state) for _ in range(options.hosts)]
        print(measure(workers, hosts, options.seconds, options.game), flush=True)


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = plain_parser("benchmarks.cluster", __doc__ or "")
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    killing = kinds.add_parser("chaos", help="kill processes of a run")
    killing.set_defaults(measure=chaos)
    killing.add_argument("--minutes", type=above_zero, default=30.0, help="(default 30)")
    killing.add_argument("--every", type=above_zero, default=20.0, help="seconds between two kills (default 20)")
    killing.add_argument("--nodes", type=positive, default=2, help="beside the head (default 2)")
    killing.add_argument("--mode", default="asynchronous", help="of the run (default asynchronous)")
    killing.add_argument("--seed", type=seed, default=1, help="of what is killed (default 1)")
    killing.add_argument("--run", metavar="FOLDER", help="run folder (default: a temporary one)")
    many = kinds.add_parser("load", help="simulate workers")
    many.set_defaults(measure=load)
    many.add_argument("--workers", type=positive, nargs="+", default=[10, 100, 1000], help="(default 10 100 1000)")
    many.add_argument("--hosts", type=positive, default=2, help="processes that simulate them (default 2)")
    many.add_argument("--seconds", type=above_zero, default=20.0, help="of each measurement (default 20)")
    many.add_argument("--game", type=above_zero, default=1.0, help="seconds between two games of a worker (default 1)")
    many.add_argument("--state", type=whole(0), default=50, help="KB of a pool's state (default 50)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments)
    print(machine(), flush=True)
    options.measure(options)


if __name__ == "__main__":
    finish(main)
