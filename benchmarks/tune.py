"""Settings of the search found by an optimiser for noisy functions (nevergrad's) instead of by hand.

    python -m benchmarks.tune c_puct=0.5:3 fpu=0:0.6 score_weight=0:1 --yardstick go13.jsonl.gz --visits 100 --trials 60

Each trial takes values from the ranges LOW:HIGH, in their logarithms where LOW is above 0 and HIGH at least four times
as much, and its cost is the mean regret over half of the positions, see `benchmarks.variants`: minutes instead of the
hundreds of games that a match needs for each. At the end the values that the optimiser recommends are held against the
engine's own on the other half, which no trial has seen, with the standard error of the difference. What looks better
there is kept only if it wins a match: the last line is its command.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from benchmarks import variants
from benchmarks.harness import machine
from gozero.errors import ChoiceError
from gozero.evaluators.base import Evaluator
from gozero.search.settings import SearchSettings
from gozero.weights import WeightsError
from training.console import Parser, run_command
from training.matches import yardstick

KINDS = get_type_hints(SearchSettings)
WIDE = 4.0  # from this ratio of its ends on a range is searched in logarithms


class Span(NamedTuple):
    """The range in which a setting is searched."""

    name: str
    low: float
    high: float

    @staticmethod
    def read(text: str) -> Span:
        """The range NAME=LOW:HIGH. ChoiceError where it is none."""
        name, _, ends = text.partition("=")
        if KINDS.get(name) not in (int, float):
            numbers = ", ".join(known for known, kind in KINDS.items() if kind in (int, float))
            raise ChoiceError(f"{text}: no number among the search settings is named {name!r}: expected {numbers}")
        try:
            low, high = map(float, ends.split(":"))
        except ValueError:
            raise ChoiceError(f"{text}: expected {name}=LOW:HIGH, such as {name}=1:4") from None
        if not 0 <= low < high < float("inf"):
            raise ChoiceError(f"{text}: expected 0 <= LOW < HIGH")
        return Span(name, low, high)

    def parameter(self) -> Any:
        """The same for nevergrad."""
        import nevergrad

        scalar = nevergrad.p.Log if self.low > 0 and self.high >= WIDE * self.low else nevergrad.p.Scalar
        made = scalar(lower=self.low, upper=self.high)
        return made.set_integer_casting() if KINDS[self.name] is int else made


def described(values: dict[str, Any]) -> str:
    """The values as a variant of `benchmarks.variants`."""
    return ",".join(f"{name}={value if KINDS[name] is int else format(value, '.4g')}" for name, value in values.items())


class Regret:
    """The cost of values on some positions."""

    def __init__(self, evaluator: Evaluator, states: np.ndarray, worth: np.ndarray, visits: int) -> None:
        """states int32 [n, S] with the worth float32 [n, A] of their moves, see `variants.labels`."""
        self._evaluator, self._states, self._worth, self._visits = evaluator, states, worth, visits

    def of(self, text: str) -> np.ndarray:
        """float32 [n]: what a variant's moves lose."""
        settings = variants.own_search(self._visits, self._evaluator.game.name)
        return variants.regrets(
            self._evaluator, self._states, self._worth, variants.variant(text, settings), self._visits
        )


def tune(options: argparse.Namespace) -> None:
    """Print each trial that is the best so far, and what comes of it on the other half of the positions."""
    try:
        import nevergrad
    except ImportError:
        raise ChoiceError("nevergrad is not installed: run `make bench`, or pip install nevergrad") from None
    space = nevergrad.p.Dict(**{span.name: span.parameter() for span in options.spans})
    if options.optimiser not in nevergrad.optimizers.registry:
        raise ChoiceError(f"--optimiser {options.optimiser}: nevergrad has none of that name; try NGOpt, TBPSA or CMA")
    game, states = variants.positions(options.yardstick, options.positions)
    if len(states) < 2:
        raise ChoiceError(f"{options.yardstick}: {len(states)} balanced positions; it takes 2 or more")
    evaluator = variants.evaluator_of(options, game)
    worth = variants.labels(options, evaluator, states)
    seen, unseen = (Regret(evaluator, states[first::2], worth[first::2], options.visits) for first in (0, 1))
    space.random_state.seed(options.seed)
    space.function.deterministic = False  # NGOpt then takes an optimiser for noisy functions
    optimiser = nevergrad.optimizers.registry[options.optimiser](space, budget=options.trials)
    print(f"the engine's own: regret {seen.of('-').mean():.4f} over {len(states[::2])} positions", flush=True)
    best = float("inf")
    for number in range(1, options.trials + 1):
        with warnings.catch_warnings(action="ignore"):  # of the libraries below it
            asked = optimiser.ask()
        cost = float(seen.of(described(asked.value)).mean())
        optimiser.tell(asked, cost)
        if cost < best:
            best = cost
            print(f"trial {number}: regret {cost:.4f} with {described(asked.value)}", flush=True)
    found = described(optimiser.provide_recommendation().value)
    gain = unseen.of("-") - unseen.of(found)
    print(
        f"{found}: on {len(gain)} positions that no trial saw its regret is {gain.mean():.4f} +- "
        f"{gain.std() / len(gain) ** 0.5:.4f} below the engine's own"
    )
    weights = f" --weights {options.weights}" if options.weights else ""
    print(
        f"python -m benchmarks.variants match {found} - --game {game.name} --size {game.rows}{weights} "
        f"--visits {options.visits} --games 400"
    )


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(
        prog="python -m benchmarks.tune", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ranges", nargs="+", metavar="NAME=LOW:HIGH", help="a number of the search's settings")
    parser.add_argument("--yardstick", type=Path, required=True, metavar="FILE", help="positions")
    variants.add_search_options(parser)
    parser.add_argument("--trials", type=int, default=60, help="(default %(default)s)")
    parser.add_argument("--positions", type=int, default=400, help="at most, halved (default %(default)s)")
    parser.add_argument("--labels", type=Path, metavar="FILE.npz", help="where the deep searches are kept")
    parser.add_argument("--optimiser", default="NGOpt", help="one of nevergrad's (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the optimiser (default %(default)s)")
    options = parser.parse_args(arguments)
    options.spans = [Span.read(text) for text in options.ranges]
    variants.check_least(options, visits=1, trials=1, positions=2)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    return run_command("benchmarks.tune", lambda: _run(arguments), (WeightsError, yardstick.YardstickError))


def _run(arguments: Sequence[str] | None) -> int:
    options = parsed(arguments)
    print(machine(), flush=True)
    tune(options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
