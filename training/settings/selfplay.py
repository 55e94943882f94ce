"""How games of self-play are played: settings of a whole run, and of each stage of the curriculum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import isclose
from typing import Any

from gozero.system.machine import MOST_THREADS
from gozero.system.options import REQUIRED, Reader, SettingsError, expected, setting

LEARNED_SHARE = 0.1  # of the rows: boards with fewer are hardly learned
SMALLEST, LARGEST = 2, 19  # boards


def by_number(
    key: str, low: int, high: int, what: str, allowed: Callable[[float], bool], kind: type = float
) -> Reader:
    """Reads {number: number} from a table of TOML, whose keys are text: each `key` is from `low` to `high`, and `what`
    says which values are `allowed`.
    """

    def read(given: Any, where: str) -> dict[int, Any]:
        values: dict[Any, Any] = expected(given, dict, where)
        for number, value in values.items():
            if not str(number).isdecimal() or not low <= int(number) <= high:
                raise SettingsError(f"{where}: {key} {number!r} is out of range: {low} to {high}")
            if type(value) not in (int, kind) or not allowed(value):
                raise SettingsError(f"{where}: {value!r} for {key} {number}: expected {what}")
        return {int(number): kind(value) for number, value in values.items()}

    return read


by_size = partial(by_number, "board size", SMALLEST, LARGEST)
_games = by_size("a whole number of games from 1 to 65536", lambda games: 1 <= games <= 65536, int)
_untils = by_size("a share of the points, above 0, up to 10", lambda share: 0 < share <= 10)
_any_shares = by_size("a share, a number from 0 to 1e9", lambda share: 0 <= share <= 1e9)


@dataclass(frozen=True)
class SelfPlaySettings:
    """How games are played. Settings that name a root are used by that root alone."""

    precision: str = setting(
        "auto",
        "number type of the network that plays; auto = the fastest here", choices=("auto", "f32", "bf16", "int8")
    )
    games: int = setting(
        32, "games at once on a board size, one tree each; 32 fill a CPU, 64 a fast one", 1, 65536, "S2: 64"
    )
    size_games: dict[int, int] = setting(  # noqa: RUF009 - it makes a field
        {}, "board size = games at once on it, instead of `games`; fewer for a size with few rows and long games",
        read=_games
    )
    slots: int = setting(
        1, "places with `games` games each; on a cluster, the most workers that play at once", 1, 65536
    )
    processes: int = setting(1, "processes that share the slots; a GPU needs several, each with a core", 1, 256)
    groups: int = setting(
        2, "groups of games, one searched while others are evaluated; a GPU needs two a thread", 1, 4096
    )
    threads: int = setting(1, "threads that search the groups; the games are the same with any number", 1, MOST_THREADS)
    root: str = setting(
        "gumbel",
        "how the root chooses: gumbel = sequential halving, learns from few visits; puct = as below the root",
        papers="AlphaGo Zero: puct; Gumbel MuZero: gumbel", choices=("gumbel", "puct")
    )
    gumbel_m: int = setting(16, "moves considered at the root (gumbel)", 1, 512, "Gumbel: 16 at n = 200 (Go 9x9)")
    whole_rounds: bool = setting(
        False,
        "true: a leaf of each considered move is evaluated at once, so that few games fill a GPU; the choices are as good "
        "(gumbel)"
    )
    c_visit: float = setting(
        50.0, "in (c_visit + most visits) * c_scale, the weight of values against the policy (gumbel)",
        0, 1000, "Gumbel: 50"
    )
    c_scale: float = setting(
        1.0, "see c_visit (gumbel)", 0, 100, "Gumbel: 1.0 (Go), 0.1 (Atari)"
    )
    c_puct: float = setting(1.1, "weight of the prior below the root", 0, 100, "KataGo: 1.1; S3: 1.0")
    fpu: float = setting(0.2, "value subtracted for an unvisited child", 0, 2, "KataGo: 0.2")
    score_weight: float = setting(
        0.0, "weight of the points a move gains, beside its value: a side far ahead then still plays well",
        0, 10, "KataGo: 0.1 and 0.3; AGZ: 0"
    )
    full_share: float = setting(
        0.25, "share of moves searched fully and recorded; in a run of hours rows are scarce, take 1",
        0.01, 1, "KataGo: 0.25"
    )
    full_until: dict[int, float] = setting(  # noqa: RUF009 - it makes a field
        {}, "board size = share of its points; after so many moves none is searched fully; a size not named: no limit",
        papers="ours: to learn the openings of a large board", read=_untils
    )
    varied_komi: bool = setting(
        True, "true: komi differs from game to game; false: the usual", papers="KataGo: true; S3: false"
    )
    opening_share: float = setting(
        0.9, "share of games with moves drawn from the raw policy first", 0, 1, "KataGo: 0.95"
    )
    opening_mean: float = setting(0.04, "mean number of those moves, as a share of the area", 0, 1, "KataGo: 0.04")
    opening_temperature: float = setting(
        1.0, "temperature of these draws; above 1, unlikely moves come more often", 0.1, 100, "KataGo: 1"
    )
    temperature: float = setting(
        0.75, "temperature of moves drawn at the start, halfway to the end each board width (puct)",
        0, 10, "KataGo: 0.8"
    )
    temperature_end: float = setting(
        0.15, "temperature of moves drawn late in the game (puct)", 0, 10, "KataGo: 0.2; S3: 0.4"
    )
    temperature_games: int = setting(
        0,
        "first games of each size and slot played at `temperature`, later ones at `temperature_end`; 0 = no (puct)",
        0, papers="S3: 10"
    )
    temperature_plies: int = setting(
        0, "first moves of each game drawn at `temperature`, later ones at `temperature_end`; 0 = no (puct)", 0,
        papers="AlphaGo Zero: 30"
    )
    dirichlet_weight: float = setting(
        0.25, "share of noise in the root's prior (puct)", 0, 1, "AlphaGo Zero, S2, S4: 0.25"
    )
    dirichlet_total: float = setting(
        10.83, "sum of the noise's parameters over the legal moves", 1e-3, 1e6, "AlphaGo Zero: 0.03 * 361"
    )
    dirichlet_alpha: float = setting(
        0.0, "the noise's parameter of each legal move; 0 = `dirichlet_total` over the number of legal moves", 0, 1000,
        "AlphaGo Zero: 0.03; S2: 0.135; S4: 0.8"
    )
    root_temperature: float = setting(
        1.25, "temperature of the root's prior in full searches, at the start (puct)",
        0.1, 10, "KataGo: 1.25; others: 1"
    )
    root_temperature_end: float = setting(1.1, "the same, late in the game", 0.1, 10, "KataGo: 1.1; others: 1")
    forced_playouts: float = setting(
        2.0, "k: a full search tries each move sqrt(k P N) times, which its target leaves out (puct)", 0, 100,
        "KataGo: 2"
    )
    resign_threshold: float = setting(
        0.9,
        "root value, in five moves of a side in a row, at which the other concedes: the rest is played cheaply; 0 = never",
        0, 1,
        "S1, AGZ: 0.9"
    )
    resign_generations: int = setting(10, "first generations in which no game is conceded", 0)
    unresigned_share: float = setting(
        0.1,
        "share of games never conceded, to measure how often that is wrong: the threshold rises until it is under 5 "
        "%; 0 = no game is conceded",
        0, 1, "AlphaGo Zero: 0.1"
    )
    conceded_share: float = setting(
        0.1, "in a conceded game, searches are full at this share of `full_share`, else cheap", 0, 1,
        "KataGo: 0.1"
    )
    max_length: float = setting(
        2.2, "moves after which the game is counted, as a multiple of the area", 0.1, 10, "S3: 400/169"
    )
    no_pass_until: float = setting(0.25, "share of the area that must be played before a pass", 0, 1)
    no_pass_generations: int = setting(10, "first generations in which that holds", 0)

    def on(self, size: int) -> SelfPlaySettings:
        """These settings on boards of a size, with its own number of games at once."""
        return replace(self, games=self.size_games.get(size, self.games))


def _shares(given: Any, where: str) -> dict[int, float]:
    """{size: share} from a table of TOML, the shares scaled to sum to 1."""
    shares = _any_shares(given, where)
    total = sum(shares.values())
    if total <= 0:
        raise SettingsError(f"{where}: the shares sum to {total:g}; give one size a share above 0")
    total = 1.0 if isclose(total, 1.0) else total  # so that shares stay as they were written
    return {size: share / total for size, share in shares.items() if share > 0}


@dataclass(frozen=True)
class Stage:
    """A part of the curriculum; the last one lasts to the end of the run."""

    rows: int = setting(REQUIRED, "rows until the next stage", 1)
    sizes: dict[int, float] = setting(  # noqa: RUF009 - it makes a field
        REQUIRED, "board size = share of the rows", read=_shares
    )
    full_visits: int = setting(
        32, "visits of a recorded move", 1, 1_000_000, "KataGo: 600-1000; Gumbel: 16-200; S3: 100"
    )
    cheap_visits: int = setting(8, "visits of the other moves", 1, 1_000_000, "KataGo: 100-200")
    evaluator: str = setting(
        "network", "what evaluates leaves: the network, or random playouts",
        papers="ours: playouts play the first games", choices=("network", "rollouts")
    )

    @property
    def main_size(self) -> int:
        """The board size of most rows; of two with as many, the larger."""
        return max(self.sizes, key=lambda size: (self.sizes[size], size))

    @property
    def learned_size(self) -> int:
        """The largest board that has `LEARNED_SHARE` of the rows, or else the one of most rows."""
        return max((size for size, share in self.sizes.items() if share >= LEARNED_SHARE), default=self.main_size)
