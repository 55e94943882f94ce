"""How many workers one coordinator stands: real messages through Ray from workers that compute nothing.

    python -m benchmarks.cluster_load --workers 10 100 1000

Simulated workers share a few processes (`--hosts`). Each answers the orders of the coordinator's squad as a real one
does: a game every `--game` seconds, four games a stretch, and at its end the state of a pool of `--state` KB. The line
for each number of workers gives the answers a second, those that the pace of the workers would allow, the share of a
core that the coordinator's process used, and by how much the stretches were late for want of a core for the workers.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from benchmarks.harness import RAY, above_zero, finish, leave_without, machine
from training.console import Parser, positive, whole

try:
    import ray
except ModuleNotFoundError:
    leave_without("Ray", RAY)

from training.actor.crew import Stretch
from training.cluster.messages import About, Answer, Games, Initialize, NetworkVersion, PackedPool, SelfPlay, StretchEnd
from training.cluster.squad import Squad
from training.cluster.worker import versions
from training.records.records import Record
from training.settings.config import LoopSettings

GAMES = 4  # of a stretch


class Host:
    """A process with many simulated workers."""

    def __init__(self, game: float, state: int) -> None:
        self.game = game
        self.state = PackedPool(np.random.default_rng(1).bytes(state), ())

    async def about(self) -> About:
        return About("host", os.getpid(), versions())

    async def cut(self, number: int) -> None:
        pass

    async def work(self, order: SelfPlay) -> AsyncIterator[Answer]:
        """A stretch of games that nobody plays."""
        moves, began = np.arange(120, dtype=np.int32), time.monotonic()
        for number in range(GAMES):
            await asyncio.sleep(self.game)
            yield Games((Record(13, 7.5, 1, moves, (), 0.5, "passes", number=order.number * GAMES + number),))
        yield StretchEnd(self.state, 0, time.monotonic() - began)


def measure(workers: int, hosts: list[Any], seconds: float, game: float) -> str:
    """The line for so many workers."""
    turn, settings, inbox = itertools.cycle(hosts), LoopSettings(), SimpleQueue[Any]()
    squad = Squad(Initialize(settings, 1), workers, hire=lambda order, slot: next(turn))
    squad.open()

    def submit(seat: int) -> None:
        stretch = Stretch(13, seat, settings.stage[0], 1, 4.0, "games")
        squad.submit(SelfPlay(squad.number(), stretch, PackedPool(b"\0" * 1000, ()), NetworkVersion(0, 0, None)), inbox)

    for seat in range(workers):
        submit(seat)
    while len(squad.counts()[0]) < workers:
        time.sleep(0.1)
    began, used = time.monotonic(), time.process_time()
    answers, late = _listen(inbox, submit, seconds, game)
    passed, used = time.monotonic() - began, time.process_time() - used
    squad.close()
    possible = workers * (GAMES + 1) / (GAMES * game)
    behind = "no stretch ended" if late is None else f"stretches late by {late:.2f} s"
    return (
        f"{workers:5} workers: {answers / passed:7.0f} answers/s of {possible:7.0f}, coordinator {used / passed:5.0%} of "
        f"a core, {behind}"
    )


def _listen(
    inbox: SimpleQueue[Any], submit: Callable[[int], None], seconds: float, game: float
) -> tuple[int, float | None]:
    """(the answers that came in so many seconds, by how much stretches were late in the mean or None where none ended);
    ended ones begin anew.
    """
    answers, late, end = 0, list[float](), time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            job, answer = inbox.get(timeout=0.1)
        except Empty:
            continue
        if isinstance(answer, BaseException):
            raise answer
        answers += 1
        if isinstance(answer, StretchEnd):
            late.append(answer.seconds - GAMES * game)
            submit(job.order.stretch.seat)
    return answers, float(np.mean(late)) if late else None


def main() -> None:
    """Print a line for each number of workers."""
    options = Parser(
        prog="python -m benchmarks.cluster_load",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--workers", type=positive, nargs="+", default=[10, 100, 1000])
    options.add_argument("--hosts", type=positive, default=2, help="processes that simulate them")
    options.add_argument("--seconds", type=above_zero, default=20.0, help="of each measurement")
    options.add_argument("--game", type=above_zero, default=1.0, help="seconds between two games of a worker")
    options.add_argument("--state", type=whole(0), default=50, help="KB of a pool's state, which travels compressed")
    chosen = options.parse_args()
    ray.init(
        num_cpus=chosen.hosts, include_dashboard=False, logging_level=logging.ERROR, object_store_memory=200_000_000
    )
    print(machine())
    for workers in chosen.workers:
        host: Any = ray.remote(Host)
        room = host.options(num_cpus=0, max_concurrency=2000)
        hosts = [room.remote(chosen.game, 1000 * chosen.state) for _ in range(chosen.hosts)]
        print(measure(workers, hosts, chosen.seconds, chosen.game), flush=True)


if __name__ == "__main__":
    finish(main)
