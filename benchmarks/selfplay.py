"""Self-play with a network, end to end: the claim is at least 90 % of the evaluator's own rate at the same batch.

    python -m benchmarks.selfplay --device cpu                          # as the preset go13 plays
    python -m benchmarks.selfplay --device cuda --network b10c96 --games 256 --groups 4 --threads 2 --processes 6
    python -m benchmarks.selfplay --device none                         # the price of everything but the network
    python -m benchmarks.selfplay --size 9 --network agz9c32 --games 16 --groups 1 --simulator pachi-tree

What runs is training's own pool of games with a network of random weights, whose speed does not depend on them; `none`
answers at once: all moves alike, value 0. Finished games are encoded, as a run does it. The evaluator's own rate is
that of batches as large as the pool's mean one, with as many under way as the pool has groups. Both are measured in
turn, so the machine's slow moments hit both: compare the two, not runs. The games are brought into their middle first,
for as long as one run. With `--processes` each of so many processes has a pool of `--games`, an evaluator and an
interpreter of its own (`selfplay.processes` of a run), all at once; the figures are those of all together. On the GPU
the aim is 150,000 evaluations/s with b10c96 at 13x13.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.harness import Row, finish, machine, measure, parser, ratio, report
from benchmarks.search import Counted
from gozero.evaluators.base import PRECISIONS, Evaluator, submitter
from gozero.evaluators.rollout import UniformEvaluator
from gozero.games.game import Game
from gozero.nets import model
from gozero.system.console import positive, seed, whole
from gozero.system.machine import available_threads
from gozero.system.workers import SPAWN
from training.records import scoring
from training.records.records import Record, encode
from training.run.backend import device_of
from training.selfplay.leaves import Resources, network_evaluator
from training.selfplay.pool import Pool
from training.selfplay.simulators import DESCRIPTIONS
from training.settings import presets
from training.settings.config import TREE_SIMULATOR, SelfPlaySettings, Stage

CLAIM = 0.90
AIM = 150_000  # evaluations/s on one large GPU with 16 cores
LATER_GENERATION = 1000  # the rules for first generations no longer hold


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    result = parser(__doc__ or "")
    add, usual = result.add_argument, presets.load(presets.path_of("go13"), "go13").selfplay
    add("--device", choices=("cpu", "cuda", "none"), default="cpu", help="where the network runs; none: no network")
    add("--network", default="b10c64", help="its name (default b10c64)")
    add("--features", type=positive, default=1, help="version of its input features (default 1)")
    add("--precision", choices=PRECISIONS, default="auto", help="of the network (default auto)")
    add("--size", type=int, default=13, help="board size (default 13)")
    add("--games", type=positive, default=usual.games, help="games at once (default as in go13, %(default)s)")
    add("--groups", type=positive, default=usual.groups, help="groups of games (default as in go13, %(default)s)")
    add("--threads", type=positive, default=usual.threads, help="that search (default as in go13, %(default)s)")
    add("--processes", type=positive, default=1, help="processes at once, each with --games (default 1)")
    add("--network-threads", type=whole(0), default=0, help="CPU threads of each network (default: all it may use)")
    add("--full-visits", type=positive, default=64, help="simulations of a recorded move (default 64)")
    add("--cheap-visits", type=positive, default=16, help="simulations of the other moves (default 16)")
    add("--whole-rounds", action="store_true", help="evaluate a round of the root's moves at once, as in gpu13")
    boards = "on which games are played; pachi-tree with a PUCT root (default numba)"
    add("--simulator", choices=tuple(DESCRIPTIONS), default="numba", help=boards)
    add("--seconds", type=positive, default=10, help="of one run (default 10)")
    add("--seed", type=seed, default=1, help="of the games (default 1)")
    chosen = result.parse_args(arguments)
    if chosen.short:
        chosen.runs, chosen.seconds = 1, 0.5
    if chosen.device == "cuda":
        device_of(chosen.device)
    return chosen


def evaluator_of(chosen: argparse.Namespace, game: Game) -> Evaluator:
    """The evaluator of the chosen device with random weights, or one that costs nothing."""
    if chosen.device == "none":
        return UniformEvaluator(game)
    net = model.build(model.config(chosen.network, game, chosen.features), seed=1)
    return network_evaluator(
        net, game, Resources(chosen.network_threads, chosen.device, chosen.precision, chosen.groups)
    )


class Measured:
    """What is measured in one process: self-play, and its evaluator alone."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.seconds = chosen.seconds
        self.game = scoring.make("go", chosen.size, "chinese", SelfPlaySettings().max_length)
        self.evaluator = evaluator_of(chosen, self.game)
        self.counted = Counted(self.evaluator)
        stage = Stage(1, {chosen.size: 1.0}, full_visits=chosen.full_visits, cheap_visits=chosen.cheap_visits)
        settings = SelfPlaySettings(
            games=chosen.games, groups=chosen.groups, threads=chosen.threads, whole_rounds=chosen.whole_rounds
        )
        if chosen.simulator == TREE_SIMULATOR:
            settings = replace(settings, root="puct", forced_playouts=0.0)
        self.pool = Pool(self.game, settings, (chosen.seed,), chosen.simulator)
        self.pool.use(self.counted, stage, LATER_GENERATION)
        self.finished: list[Record] = []

    def play(self) -> int:
        """Play for `--seconds`, and encode the finished games. Returns how many positions were evaluated."""
        before, end = sum(self.counted.batches), time.perf_counter() + self.seconds
        for record in self.pool.play(float("inf"), lambda: time.perf_counter() >= end):
            encode(record)
            self.finished.append(record)
        return sum(self.counted.batches) - before

    def alone(self, size: int) -> int:
        """Evaluate first positions for `--seconds`, always a batch of this size pending for each group. Returns how
        many.
        """
        states, submit = self.game.new_states(size), submitter(self.evaluator)
        count, end = 0, time.perf_counter() + self.seconds
        pending = deque(submit(states) for _ in self.pool.groups)
        while pending:
            pending.popleft().result()
            count += size
            if time.perf_counter() < end:
                pending.append(submit(states))
        return count

    def batch(self) -> int:
        """Positions of a batch so far, the mean."""
        return round(float(np.mean(self.counted.batches)))

    def counts(self) -> np.ndarray:
        """float64 [6]: moves, rows and games so far; seconds searched, waited and spent on moves."""
        flying = self.pool.games
        moves = sum(len(game.moves) for game in flying) + sum(len(record.moves) for record in self.finished)
        rows = sum(len(game.targets) for game in flying) + sum(record.rows for record in self.finished)
        return np.array([moves, rows, len(self.finished), *self.pool.clock.values()], float)

    def processor(self) -> float:
        """Processor seconds of this process so far."""
        return time.process_time()


Ask = Callable[..., list[Any]]
"""Call a method of each `Measured`, all at once: its name and arguments. Returns their answers."""


def measured(chosen: argparse.Namespace, stack: ExitStack) -> Ask:
    """One in this process, or one in each of `--processes` processes, which end with `stack`."""
    if chosen.processes == 1:
        here = Measured(chosen)
        return lambda what, *arguments: [getattr(here, what)(*arguments)]
    chosen.network_threads = chosen.network_threads or max(1, available_threads() // chosen.processes)
    processes = [stack.enter_context(ProcessPoolExecutor(1, SPAWN)) for _ in range(chosen.processes)]
    for begun in [process.submit(_begin, chosen, number) for number, process in enumerate(processes)]:
        begun.result()

    def ask(what: str, *arguments: Any) -> list[Any]:
        asked = [process.submit(_answer, what, *arguments) for process in processes]
        return [each.result() for each in asked]

    return ask


_measured: Measured  # of a process of its own


def _begin(chosen: argparse.Namespace, number: int) -> None:
    global _measured  # noqa: PLW0603 - what a process of an executor keeps has no other place
    chosen.seed += number
    _measured = Measured(chosen)


def _answer(what: str, *arguments: Any) -> Any:
    return getattr(_measured, what)(*arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(arguments)
    with ExitStack() as stack:
        measure_and_print(chosen, measured(chosen, stack))


def measure_and_print(chosen: argparse.Namespace, ask: Ask) -> None:
    """Measure self-play and the evaluator alone in turn, and print what was seen."""
    ask("play")
    batch = ask("batch")[0]  # those of the other processes are much alike
    many = f"{chosen.processes} x " if chosen.processes > 1 else ""
    alone = f"evaluator, {many}{min(chosen.groups, chosen.games)} batches of {batch}"
    whole = f"self-play, {many}{chosen.games} games"
    before = sum(ask("counts"))
    cores = available_threads()  # how busy a network on all of them keeps them is not known beforehand
    rows = measure(
        {alone: lambda: sum(ask("alone", batch)), whole: lambda: sum(ask("play"))},
        unit="evaluations",
        runs=chosen.runs,
        warm_ups=0,
        clock=lambda: sum(ask("processor")),
        cores=cores if chosen.device != "cuda" and chosen.processes >= cores else 0,
    )
    counts = np.asarray(sum(ask("counts")) - before)
    print(machine())
    report(f"Self-play, {chosen.network} on {chosen.device}, Go {chosen.size}x{chosen.size}", rows)
    if chosen.device != "none":
        aim = f"aim {AIM:,}/s with b10c96" if chosen.device == "cuda" else f"claimed at least {CLAIM:.0%}"
        share = ratio(rows, whole, alone)
        by_processor = share * rows[alone].cpu_share / rows[whole].cpu_share  # a busy machine divides it unequally
        print(f"  end to end: {share:.1%} of the evaluator, {by_processor:.1%} by processor time; {aim}")
    print_counts(counts, rows[whole], chosen)


def print_counts(counts: np.ndarray, whole: Row, chosen: argparse.Namespace) -> None:
    """Print what self-play did, float64 [6] of `Measured.counts`, and what it took."""
    moves, recorded, games, *clock = counts
    seconds = whole.seconds * chosen.runs
    rates = f"{moves / seconds:,.0f} moves/s, {3600 * recorded / seconds:,.0f} rows/h"
    print(f"  {rates}, {3600 * games / seconds:,.0f} games/h")
    search, waiting, python = np.array(clock) / sum(clock)
    network = f"handing over and waiting for the network {waiting:.1%}"
    print(f"  each thread's time: search {search:.1%}, {network}, moves {python:.1%}")
    outside = 1e6 * clock[2] * whole.cpu_share / chosen.processes / max(moves, 1)
    print(f"  about {outside:.0f} us of processor a move outside the search's kernels")


if __name__ == "__main__":
    finish(main)
