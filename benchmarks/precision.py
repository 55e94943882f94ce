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

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.harness import finish, machine, measure, parser, pin, report
from benchmarks.search import evaluator_alone
from gozero.evaluators import graphs
from gozero.evaluators.base import Evaluation
from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
from gozero.games.game import Game
from gozero.nets.locations import find
from gozero.system.console import positive
from gozero.system.errors import ChoiceError
from training.records import records, scoring
from training.records.rows import states_of
from training.settings.config import SelfPlaySettings

BATCHES = (8, 64)
CLAIM = 1.4  # times bf16, batch 64; AMX makes both fast
KINDS = ("f32", "bf16", "int8")
EVALUATIONS = 1024  # of one run


def positions(folder: Path, game: Game, count: int) -> np.ndarray:
    """States int32 [count, S]: every fourth position of the newest recorded games on the game's board."""
    found: list[np.ndarray] = []
    for path in sorted(folder.glob("*.gzr"), reverse=True):
        for record in records.read(path).records:
            if record.size == game.size:
                found += [state.copy() for state in islice(states_of(record, game), 0, len(record.moves), 4)]
        if len(found) >= count:
            return np.stack(found[:count])
    have = f"{folder} holds {len(found)} positions of {game.dimensions}, {count} are wanted"
    raise ChoiceError(f"{have}; give another --records or --size")


def opened(path: Path, game: Game) -> Iterator[tuple[str, OpenVINOEvaluator]]:
    """The number types that this processor has; what it has not is printed."""
    stored = graphs.load(path, game.name)
    for kind in KINDS:
        try:
            yield kind, OpenVINOEvaluator(stored.graph.clone(), game, threads=1, precision=kind, ranges=stored.ranges)
        except ChoiceError as error:
            print(f"  not measured: {error}")


def evaluated(evaluator: OpenVINOEvaluator, states: np.ndarray) -> Evaluation:
    return Evaluation.joined([evaluator.evaluate(part) for part in np.array_split(states, -(-len(states) // 64))])


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


def main(arguments: list[str] | None = None) -> None:
    options = parser(__doc__ or "")
    add, records_of_best = options.add_argument, Path("weights/resume/records")
    add("--weights", default="best.pt", help="weights file of Go (default best.pt)")
    add("--records", type=Path, default=records_of_best, help="folder of shards (default: best.pt's)")
    add("--size", type=int, default=13, help="board size (default 13)")
    add("--positions", type=positive, default=1000, help="recorded positions to compare on (default 1000)")
    chosen = options.parse_args(arguments)
    if chosen.short:
        chosen.runs, chosen.positions = 1, 64
    pin(chosen.core)
    path, game = find(chosen.weights), scoring.make("go", chosen.size, "", SelfPlaySettings().max_length)
    states = positions(chosen.records, game, chosen.positions)
    evaluators = dict(opened(path, game))
    contenders = {
        f"{kind}, batch {batch}": evaluator_alone(evaluator, states[:batch], 128 if chosen.short else EVALUATIONS)
        for batch in BATCHES
        for kind, evaluator in evaluators.items()
    }
    rows = measure(contenders, unit="evaluations", runs=chosen.runs)
    print(machine())
    report(f"Number types, {path.name}, Go {game.dimensions}, one thread", rows)
    for batch in BATCHES:
        measured = {kind: rows[f"{kind}, batch {batch}"] for kind in evaluators}
        # of processor time, on which other programs have less effect
        rates = {kind: row.rate / row.cpu_share for kind, row in measured.items()}
        listed = " / ".join(f"{rate:,.0f}" for rate in rates.values())
        ratio = f"; int8 {rates['int8'] / rates['bf16']:.2f} times bf16" if len(rates) == len(KINDS) else ""
        print(f"  batch {batch}, by processor time: {listed} in {' / '.join(rates)}{ratio}")
    print(f"  claimed: int8 at least {CLAIM} times bf16 with batch 64, without AMX")
    exact = evaluated(evaluators.pop("f32"), states)
    for kind, evaluator in evaluators.items():
        print(f"  {kind} against f32, {len(states)} positions: {differences(exact, evaluated(evaluator, states))}")


if __name__ == "__main__":
    finish(main)
