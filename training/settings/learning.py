"""How rows become weights: the window of rows, the optimiser and its losses, and the match that a network must win."""

from __future__ import annotations

from dataclasses import dataclass

from gozero.system.options import setting
from training.settings.selfplay import by_number, by_size

LOSSES = ("policy", "value", "ownership", "score", "reply")  # each has a weight
SMALLEST_STEP, LARGEST_STEP = 1e-8, 1.0  # step sizes

_weights = by_size("a weight from 0 to 1000", lambda weight: 0 <= weight <= 1000)
_rates = by_number(
    "step",
    0,
    10**12,
    f"a step size from {SMALLEST_STEP:g} to {LARGEST_STEP:g}",
    lambda rate: SMALLEST_STEP <= rate <= LARGEST_STEP,
)


@dataclass(frozen=True)
class ReplaySettings:
    """The window of rows that the learner draws from."""

    window: int = setting(
        100_000, "rows c before old ones leave; of N rows the window then is c(1 + 0.4((N/c)^0.75 - 1)/0.75)",
        1, papers="KataGo: 250,000"
    )
    window_games: int = setting(
        0, "newest games that the window holds, instead of `window` rows; 0 = rows", 0, papers="S2: 100,000"
    )
    growing: bool = setting(
        True, "true: the window grows so; false: it stays at c", papers="KataGo: true; S2: false"
    )
    least_rows: int = setting(0, "rows that the window must hold before a step", 0)
    surprise_share: float = setting(
        0.5, "share of a game's weight that goes to its rows by surprise; 0 = all rows alike", 0, 1, "KataGo: 0.5"
    )
    opening_weight: float = setting(
        1.0,
        "weight of the rows of games recorded in their first quarter alone, as by selfplay.full_until",
        0, 1000, "ours: wide searches give few rows"
    )
    size_weights: dict[int, float] = setting(  # noqa: RUF009 - it makes a field
        {}, "board size = how many times as often its rows are drawn; 0 = never, a size that is not named: 1",
        papers="ours: at the end of a run, more of the rare sizes", read=_weights
    )
    held_out: float = setting(0.05, "share of games never trained on, for measuring", 0, 0.5)


@dataclass(frozen=True)
class LearnerSettings:
    """The optimiser, an exponential moving average, and the weights of the losses."""

    optimiser: str = setting(
        "adamw", "how the gradient becomes a step", papers="AlphaGo Zero, KataGo's older networks, S3: sgd; S0: adam",
        choices=("adamw", "adam", "sgd")
    )
    momentum: float = setting(0.9, "momentum of sgd", 0, 0.9999, "AlphaGo Zero, S3: 0.9")
    learning_rate: float = setting(
        5e-4, "step size; lower it if losses jump",
        SMALLEST_STEP, LARGEST_STEP, "AlphaGo Zero: SGD 1e-2; on one GPU with batch 1024: 1e-3"
    )
    rates: dict[int, float] = setting(  # noqa: RUF009 - it makes a field
        {},
        "step = step size from that step on, instead of `learning_rate`, which holds before the first; empty = none",
        papers="AlphaGo Zero: 0 = 1e-2, 400000 = 1e-3, 600000 = 1e-4", read=_rates
    )
    batch: int = setting(
        256, "rows of a step, all of one board size", 1, 65536, "KataGo: 256; AlphaGo Zero: 2048; S3: 128"
    )
    weight_decay: float = setting(
        1e-4, "adamw: decoupled, per unit of learning rate; adam, sgd: added to the gradient (L2)", 0, 1,
        "AlphaGo Zero, S0: L2 1e-4"
    )
    decay_all: bool = setting(
        False, "true: biases and norms decay too; false: filters and matrices only", papers="AlphaGo Zero, S3: true"
    )
    warm_up: int = setting(100, "steps over which the step size rises at the start", 0)
    anneal: float = setting(
        0.2, "last share of the run, over which the learning rate falls", 0, 1, "KataGo: last drop worth 100-250 Elo"
    )
    anneal_to: float = setting(0.05, "learning rate at the end, as a share", 0, 1)
    fixed_norms: bool = setting(
        True, "true: while the step size is below its highest, the running statistics of renorm are constants",
        papers="common where a trained network is tuned"
    )
    ema: float = setting(
        0.999, "decay of the average that plays, a step; at first (1 + t)/(10 + t); 0 = no average", 0,
        0.999999, "KataGo: SWA; AlphaGo Zero, S0, S2-S4: none"
    )
    clip: float = setting(1.0, "largest norm of the gradient; 0 = any", 0, 1e6, "AlphaGo Zero, S0, S2-S4: none")
    reuse: float = setting(
        4.0, "times each new row is drawn in all; more may overfit the value", 0.01, 1000,
        "S2: 2-4; KataGo: about 4"
    )
    epochs: float = setting(
        0.0, "passes over the window after each generation, instead of `reuse`; 0 = no", 0, 1000, "S3: 10"
    )
    generation_steps: int = setting(
        0, "steps after each generation, instead of `reuse` and `epochs`; 0 = no", 0, papers="S0: 1000"
    )
    policy_weight: float = setting(1.0, "weight of the policy loss: cross-entropy", 0, 100, "AlphaGo Zero: 1")
    value_weight: float = setting(
        1.2, "weight of the value loss: cross-entropy, or squared error of a scalar",
        0, 100, "KataGo: 1.5; AlphaGo Zero: 1"
    )
    root_value_share: float = setting(
        0.25, "share of the root's value in the target of the value; the rest is the result",
        0, 1, "AlphaGo Zero, S2-S4: 0"
    )
    ownership_weight: float = setting(
        1.5, "weight of the ownership loss: binary cross-entropy, mean over points", 0, 100, "KataGo: 1.5"
    )
    score_weight: float = setting(
        0.1, "weight of the score loss: Huber loss of score/20", 0, 100, "KataGo: 0.02 on the distribution"
    )
    reply_weight: float = setting(
        0.15, "weight of the loss of the reply, the move after: cross-entropy", 0, 100, "KataGo: 0.15"
    )
    precision: str = setting(
        "auto", "number type of the forward pass; auto = what is faster here", choices=("auto", "f32", "bf16")
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
        """Factor of the learning rate after a share `done` of the run: 1, then a linear fall over its last `anneal`."""
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
        0, "games of the match, in pairs with one opening and colours swapped; 0 = no gate", 0, 10_000,
        "AGZ: 400"
    )
    share: float = setting(0.55, "share of the points to be won, a draw counts half", 0, 1, "AGZ, S2: 0.55; S4: 0.60")
    visits: int = setting(50, "visits a move", 1, 1_000_000, "AlphaGo Zero: 1600; S2: 400; S4: 100")
    opening_moves: int = setting(6, "random moves at the start of each pair", 0, 100)
    drop_window: bool = setting(False, "true: a new best network empties the window of rows", papers="S4: true")
    pause_minutes: float = setting(0.0, "minutes between two matches (asynchronous)", 0, 10_000, "S4: 60")
