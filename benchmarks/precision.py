"""What the number type of the network costs and gains: evaluations a second in f32, bf16 and int8, and how far each is
from f32.

The positions are recorded ones of self-play, none of which int8's ranges were found on (these come from random games).
Errors are those against f32: the divergence of the policies (Kullback-Leibler, nats), the mean and the 99th percentile
of the values' absolute differences, the share of positions whose best move is the same, and the mean absolute
difference of the scores in points.

    python -m benchmarks.precision
    python -m benchmarks.precision --weights runs/go13/weights.pt --records runs/go13/records --size 9
    ONEDNN_MAX_CPU_ISA=AVX2_VNNI python -m benchmarks.precision    # as a processor with fewer units computes
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Contender, above_zero, finish, machine, measure, parser, pin, report
from gozero.evaluators import graphs
from gozero.evaluators.base import Evaluation
from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
from gozero.games.game import Game
from gozero.nets.locations import find
from gozero.nets.weights import load
from gozero.system.console import positive
from gozero.system.errors import ChoiceError
from training.records import records, scoring
from training.records.replay import Replay
from training.records.rows import unpack
from training.settings.config import ReplaySettings, SelfPlaySettings

if TYPE_CHECKING:
    from gozero.evaluators.torch_evaluator import TorchEvaluator

BATCHES = (8, 64)
CLAIM = 1.4  # times bf16, batch 64
KINDS = ("f32", "bf16", "int8")
Inputs = tuple[np.ndarray, ...]  # an array [n, ...] for each input of the network


def positions(folder: Path, size: int, count: int, version: int) -> Inputs:
    """The newest recorded positions of a board size, encoded by that version of the input features."""
    game = scoring.make("go", size, "", SelfPlaySettings().max_length)
    replay = Replay(ReplaySettings(held_out=0.0), lambda _: game, version)
    for path in sorted(folder.glob("*.gzr"), reverse=True):
        replay.add(record for record in records.read(path).records if record.size == size)
        if replay.total >= count:
            return unpack(replay.rows[False, size], np.arange(count), game).inputs
    found = f"{folder} holds {replay.total} positions of {size}x{size}, {count} are wanted"
    raise ChoiceError(f"{found}; give another --records or --size")


def opened(path: Path, game: Game) -> Iterator[tuple[str, OpenVINOEvaluator]]:
    """The number types that this processor has; what it has not is printed."""
    stored = graphs.load(path, game.name)
    for kind in KINDS:
        try:
            yield kind, OpenVINOEvaluator(stored.graph.clone(), game, threads=1, precision=kind, ranges=stored.ranges)
        except ChoiceError as error:
            print(f"  not measured: {error}")


def said(evaluator: OpenVINOEvaluator, inputs: Inputs) -> Evaluation:
    parts = [
        evaluator.infer(*(array[start : start + 64] for array in inputs)) for start in range(0, len(inputs[0]), 64)
    ]
    return Evaluation.joined(parts)


def differences(exact: Evaluation, found: Evaluation) -> str:
    """The distance of an evaluation from that in f32, as text."""
    one, two = (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True) for logits in (exact.logits, found.logits))
    divergence = np.sum(np.exp(one) * (one - two), axis=1).mean()
    errors = np.abs(exact.value - found.value)
    text = f"policy {divergence:.5f}, value {errors.mean():.4f} (99 %: {np.quantile(errors, 0.99):.3f})"
    text += f", best move equal in {np.mean(exact.logits.argmax(1) == found.logits.argmax(1)):.1%}"
    if exact.score is not None and found.score is not None:
        text += f", score {np.abs(exact.score - found.score).mean():.2f} points"
    return text


def evaluations(evaluator: OpenVINOEvaluator | TorchEvaluator, inputs: Inputs, batch: int, seconds: float) -> Contender:
    """Evaluate the same batch, or all positions where they are fewer, for so many seconds."""
    part = tuple(array[:batch] for array in inputs)

    def run() -> int:
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            evaluator.infer(*part)
            count += len(part[0])
        return count

    return run


def options(arguments: list[str] | None) -> argparse.Namespace:
    result = parser(__doc__ or "")
    result.add_argument("--weights", default="best.pt", help="weights file of Go (default best.pt)")
    result.add_argument(
        "--records", type=Path, default=Path("weights/resume/records"), help="folder of shards (default: best.pt's)"
    )
    result.add_argument("--size", type=int, default=13, help="board size (default 13)")
    result.add_argument(
        "--positions", type=positive, default=1000, help="recorded positions to compare on (default 1000)"
    )
    result.add_argument("--seconds", type=above_zero, default=1.0, help="of one run (default 1)")
    chosen = result.parse_args(arguments)
    if chosen.short:
        chosen.runs, chosen.seconds, chosen.positions = 1, 0.2, 64
    return chosen


def main(arguments: list[str] | None = None) -> None:
    chosen = options(arguments)
    pin(chosen.core)
    path, game = find(chosen.weights), scoring.make("go", chosen.size, "", SelfPlaySettings().max_length)
    inputs = positions(chosen.records, chosen.size, chosen.positions, load(path).feature_version)
    evaluators = dict(opened(path, game))
    contenders = {
        f"{kind}, batch {batch}": evaluations(evaluator, inputs, batch, chosen.seconds)
        for batch in BATCHES
        for kind, evaluator in evaluators.items()
    }
    rows = measure(contenders, unit="evaluations", runs=chosen.runs)
    print(machine())
    report(f"Number types, {path.name}, Go {chosen.size}x{chosen.size}, one thread", rows)
    for batch in BATCHES:
        measured = {kind: rows[f"{kind}, batch {batch}"] for kind in evaluators}
        # of processor time, on which other programs have less effect
        rates = {kind: row.rate / row.cpu_share for kind, row in measured.items()}
        listed = " / ".join(f"{rate:,.0f}" for rate in rates.values())
        ratio = f"; int8 {rates['int8'] / rates['bf16']:.2f} times bf16" if len(rates) == len(KINDS) else ""
        print(f"  batch {batch}, by processor time: {listed} in {' / '.join(rates)}{ratio}")
    print(f"  claimed: int8 at least {CLAIM} times bf16 with batch 64")
    exact = said(evaluators["f32"], inputs)
    for kind, evaluator in evaluators.items():
        if kind != "f32":
            print(f"  {kind} against f32, {chosen.positions} positions: {differences(exact, said(evaluator, inputs))}")


if __name__ == "__main__":
    finish(main)
