"""How rows become weights: the window of rows, the optimiser and its losses, and the match that a network must win."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gozero.system.options import SettingsError, expected, setting
from training.settings.sizes import by_size

SMALLEST_STEP, LARGEST_STEP = 1e-8, 1.0  # step sizes
MOST_WEIGHT = 1000.0  # of a board size


def _rates(given: Any, where: str) -> dict[int, float]:
    """{step: step size} from a table of TOML, by ascending steps."""
    values: dict[Any, Any] = expected(given, dict, where)
    rates: dict[int, float] = {}
    for step, rate in values.items():
        if not str(step).isdecimal():
            raise SettingsError(f"{where}: step {step!r} is no whole number of 0 or more")
        if type(rate) not in (int, float) or not SMALLEST_STEP <= rate <= LARGEST_STEP:
            allowed = f"a number from {SMALLEST_STEP:g} to {LARGEST_STEP:g}"
            raise SettingsError(f"{where}: step size {rate!r} from step {step} on must be {allowed}")
        rates[int(step)] = float(rate)
    return dict(sorted(rates.items()))


def _weights(given: Any, where: str) -> dict[int, float]:
    """{board size: weight} from a table of TOML."""
    weights = by_size(given, where)
    for size, weight in weights.items():
        if type(weight) not in (int, float) or not 0 <= weight <= MOST_WEIGHT:
            raise SettingsError(f"{where}: weight {weight!r} of size {size} must be a number from 0 to {MOST_WEIGHT:g}")
    return {size: float(weight) for size, weight in weights.items()}


@dataclass(frozen=True)
class ReplaySettings:
    """The window of rows that the learner draws from."""

    window: int = setting(
        100_000, unit="rows c: the window is c(1 + 0.4((N/c)^0.75 - 1)/0.75) of N", low=1, papers="KataGo: 250,000"
    )
    window_games: int = setting(
        0, unit="newest games that the window holds, instead of `window` rows; 0 = rows", low=0, papers="S2: 100,000"
    )
    growing: bool = setting(
        True, unit="true: the window grows as said; false: it stays at c", papers="KataGo: true; S2: false"
    )
    least_rows: int = setting(0, unit="rows that the window must hold before a step is taken", low=0)
    surprise_share: float = setting(
        0.5,
        unit="share of a game's weight that goes to its rows by surprise; 0 = all rows alike",
        low=0,
        high=1,
        papers="KataGo: 0.5",
    )
    opening_weight: float = setting(
        1.0,
        unit="times as often as otherwise are drawn the rows of games that have none but in their first quarter: those of "
        "selfplay.full_until",
        low=0,
        high=1000,
        papers="ours: what usual searches say of openings, nearly nothing, stands against what wide ones say",
    )
    size_weights: dict[int, float] = setting(  # noqa: RUF009 - it makes a field
        {},
        unit="board size = times as often as its rows are drawn otherwise; 0 = never, a size that is not named: 1",
        read=_weights,
        papers="ours: at the end of a run, more of what it has seen little of",
    )
    held_out: float = setting(0.05, unit="share of games never trained on", low=0, high=0.5)


@dataclass(frozen=True)
class LearnerSettings:
    """The optimiser, an exponential moving average, and the weights of the losses."""

    optimiser: str = setting(
        "adamw",
        unit="how the gradient becomes a step",
        choices=("adamw", "adam", "sgd", "muon"),
        papers="AlphaGo Zero, KataGo's older networks, S3: sgd; S0: adam; KataGo today: muon",
    )
    momentum: float = setting(0.9, unit="of sgd", low=0, high=0.9999, papers="AlphaGo Zero, S3: 0.9")
    muon_scale: float = setting(
        1.6,
        unit="root mean square of a step of muon, in learning rates; biases, norms and small layers take adamw's steps",
        low=0.01,
        high=100,
        papers="Moonlight: 0.2",
    )
    learning_rate: float = setting(
        5e-4,
        unit="step size",
        low=SMALLEST_STEP,
        high=LARGEST_STEP,
        papers="AlphaGo Zero: SGD 1e-2; on one GPU with batch 1024: 1e-3",
    )
    rates: dict[int, float] = setting(  # noqa: RUF009 - it makes a field
        {},
        unit="step = step size from that step on, instead of `learning_rate`, which holds before the first; empty = none",
        read=_rates,
        papers="AlphaGo Zero: 0 = 1e-2, 400000 = 1e-3, 600000 = 1e-4",
    )
    batch: int = setting(
        256, unit="rows, all of one board size", low=1, high=65536, papers="KataGo: 256; AlphaGo Zero: 2048; S3: 128"
    )
    weight_decay: float = setting(
        1e-4,
        unit="adamw, muon: decoupled, per unit of learning rate; adam, sgd: added to the gradient (L2)",
        low=0,
        high=1,
        papers="AlphaGo Zero, S0: L2 1e-4",
    )
    decay_all: bool = setting(
        False,
        unit="true: biases and norms decay too; false: filters and matrices only",
        papers="AlphaGo Zero, S3: true",
    )
    warm_up: int = setting(100, unit="steps", low=0)
    anneal: float = setting(
        0.2,
        unit="share of the run over which the learning rate falls",
        low=0,
        high=1,
        papers="KataGo: last drop worth 100-250 Elo",
    )
    anneal_to: float = setting(0.05, unit="learning rate at the end, as a share", low=0, high=1)
    fixed_norms: bool = setting(
        True,
        unit="true: while the step size is below its highest, renorm keeps its running statistics, as constants",
        papers="common where a trained network is tuned",
    )
    ema: float = setting(
        0.999,
        unit="decay a step of the average that plays, reached by a warm-up of (1 + t)/(10 + t); 0 = no average",
        low=0,
        high=0.999999,
        papers="KataGo: SWA; AlphaGo Zero, S0, S2-S4: none",
    )
    clip: float = setting(
        1.0, unit="norm of the gradient, at most; 0 = any", low=0, high=1e6, papers="AlphaGo Zero, S0, S2-S4: none"
    )
    reuse: float = setting(
        4.0,
        unit="times a new row is drawn in all; for those of held-out games others are",
        low=0.01,
        high=1000,
        papers="CZF: 2-4; KataGo: about 4",
    )
    epochs: float = setting(
        0.0,
        unit="passes over the window after each generation, instead of `reuse`; 0 = no",
        low=0,
        high=1000,
        papers="S3: 10",
    )
    generation_steps: int = setting(
        0, unit="steps after each generation, instead of `reuse` and `epochs`; 0 = no", low=0, papers="S0: 1000"
    )
    policy_weight: float = setting(1.0, unit="cross-entropy", low=0, high=100, papers="AlphaGo Zero: 1")
    value_weight: float = setting(
        1.2,
        unit="cross-entropy of win/draw/loss, or squared error",
        low=0,
        high=100,
        papers="KataGo: 1.5; AlphaGo Zero: 1",
    )
    root_value_share: float = setting(
        0.25,
        unit="share of the root's value in the value's target, the rest is the result",
        low=0,
        high=1,
        papers="AlphaGo Zero, S2-S4: 0",
    )
    ownership_weight: float = setting(
        1.5, unit="binary cross-entropy, mean over points", low=0, high=100, papers="KataGo: 1.5"
    )
    score_weight: float = setting(
        0.1, unit="Huber loss of score/20", low=0, high=100, papers="KataGo: 0.02 on the distribution"
    )
    reply_weight: float = setting(0.15, unit="cross-entropy", low=0, high=100, papers="KataGo: 0.15")
    processes: int = setting(
        1,
        unit="processes that share each batch, on a cluster (--address); each has a GPU if there is any",
        low=1,
        high=64,
    )
    precision: str = setting(
        "auto", unit="arithmetic of the forward pass; auto = what is faster here", choices=("auto", "f32", "bf16")
    )

    def step_size(self, steps: int) -> float:
        """The step size after so many steps, before its warm-up and its fall at the end."""
        reached = [step for step in self.rates if step <= steps]
        return self.rates[max(reached)] if reached else self.learning_rate

    def has_fallen(self, steps: int, rate: float) -> bool:
        """Whether the step size after so many steps, at `rate` times the learning rate, is below the highest before."""
        had = [size for step, size in self.rates.items() if step <= steps]
        if 0 not in self.rates:
            had.append(self.learning_rate)
        return self.step_size(steps) * rate < max(had)

    def rate(self, done: float) -> float:
        """Factor of the learning rate after a share `done` of the run: 1, then falling linearly over its last `anneal`."""
        left = 1 - min(1.0, done)
        if self.anneal == 0 or left >= self.anneal:
            return 1.0
        return self.anneal_to + (1 - self.anneal_to) * left / self.anneal


@dataclass(frozen=True)
class GateSettings:
    """The match that a new network must win before it plays the games of self-play; off by default, as in AlphaZero and
    KataGo.
    """

    games: int = setting(
        0,
        unit="games of the match, in pairs with colours swapped, so of an odd number one more; 0 = no gate",
        low=0,
        high=10_000,
        papers="AGZ: 400",
    )
    share: float = setting(
        0.55, unit="share of the points to be won, a draw counts half", low=0, high=1, papers="AGZ, S2: 0.55; S4: 0.60"
    )
    visits: int = setting(
        50, unit="visits a move", low=1, high=1_000_000, papers="AlphaGo Zero: 1600; S2: 400; S4: 100"
    )
    opening_moves: int = setting(6, unit="random moves at the start of each pair", low=0, high=100)
    drop_window: bool = setting(False, unit="true: a new best network empties the window of rows", papers="S4: true")
    pause_minutes: float = setting(
        0.0, unit="minutes between two matches in the asynchronous mode", low=0, high=10_000, papers="S4: 60"
    )
