"""How games of self-play are played: the settings that hold for a whole run, and those of each stage of the curriculum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isclose
from typing import Any

from gozero.system.options import REQUIRED, SettingsError, setting
from training.settings.sizes import by_size

MOST_GAMES = 65536
MOST_PLIES = 10.0  # of a game, as a multiple of the points
LEARNED_SHARE = 0.1  # of the rows: boards with fewer are hardly learned


def _games(given: Any, where: str) -> dict[int, int]:
    """{size: games} from a table of TOML."""
    values = by_size(given, where)
    for size, games in values.items():
        if isinstance(games, bool) or not isinstance(games, int) or not 1 <= games <= MOST_GAMES:
            raise SettingsError(
                f"{where}: {games!r} games on size {size}: expected a whole number from 1 to {MOST_GAMES}"
            )
    return values


def _untils(given: Any, where: str) -> dict[int, float]:
    """{size: share of the points} from a table of TOML."""
    values = by_size(given, where)
    for size, share in values.items():
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= MOST_PLIES:
            raise SettingsError(
                f"{where}: {share!r} on size {size}: expected a share of the points, above 0, up to {MOST_PLIES:g}"
            )
    return {size: float(share) for size, share in values.items()}


@dataclass(frozen=True)
class SelfPlaySettings:
    """How games are played (training.md's recipe; KataGo = Wu 2019, Gumbel = Danihelka et al. 2022)."""

    precision: str = setting(
        "auto",
        unit="arithmetic of the network that plays; auto = the fastest here",
        choices=("auto", "f32", "bf16", "int8"),
    )
    games: int = setting(32, unit="games at once, one tree each", low=1, high=MOST_GAMES, papers="CZF: 64")
    size_games: dict[int, int] = setting(  # noqa: RUF009 - it makes a field
        {}, unit="board size = games at once on it, instead of `games`", read=_games
    )
    seats: int = setting(
        1, unit="places with `games` games each; on a cluster as many can be played at once", low=1, high=65536
    )
    processes: int = setting(
        1, unit="processes that share out the seats; a GPU wants several, each with a core", low=1, high=256
    )
    groups: int = setting(
        2, unit="groups, one searched while others are evaluated; a GPU wants two a thread", low=1, high=4096
    )
    threads: int = setting(
        1, unit="threads that search the groups; the games are the same with any number", low=1, high=1024
    )
    root: str = setting(
        "gumbel",
        unit="how the root chooses: by sequential halving, or as below it",
        choices=("gumbel", "puct"),
        papers="AlphaGo Zero: puct; Gumbel MuZero: gumbel",
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
    full_until: dict[int, float] = setting(  # noqa: RUF009 - it makes a field
        {},
        unit="board size = share of its points after which many moves none is searched fully; a size not named: never",
        read=_untils,
        papers="ours: to learn the openings of a large board",
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
        unit="first games of each size and seat played at `temperature` throughout, later ones at `temperature_end`; 0 = no (puct root)",
        low=0,
        papers="S3: 10",
    )
    temperature_plies: int = setting(
        0,
        unit="first moves of each game drawn at `temperature`, later ones at `temperature_end`; 0 = no (puct root)",
        low=0,
        papers="AlphaGo Zero: 30",
    )
    dirichlet_weight: float = setting(
        0.25, unit="share of noise in the root's prior (puct root)", low=0, high=1, papers="AlphaGo Zero, S2, S4: 0.25"
    )
    dirichlet_total: float = setting(
        10.83,
        unit="sum of the noise's parameters over the legal moves",
        low=1e-3,
        high=1e6,
        papers="AlphaGo Zero: 0.03 * 361",
    )
    dirichlet_alpha: float = setting(
        0.0,
        unit="the noise's parameter of each legal move; 0 = `dirichlet_total` over the number of legal moves",
        low=0,
        high=1000,
        papers="AlphaGo Zero: 0.03; S2: 0.135; S4: 0.8",
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
        unit="share of games played fully whatever the value, to count false resignations; without such games nobody concedes",
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

    def on(self, size: int) -> SelfPlaySettings:
        """These settings on boards of a size, with its own number of games at once."""
        return replace(self, games=self.size_games.get(size, self.games))


def _shares(given: Any, where: str) -> dict[int, float]:
    """{size: share} from a table of TOML, the shares scaled to sum to 1."""
    shares: dict[int, float] = {}
    for size, share in by_size(given, where).items():
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < float("inf"):
            raise SettingsError(f"{where}: share {share!r} of size {size} must be a number, 0 or more")
        shares[size] = float(share)
    total = sum(shares.values())
    if total <= 0:
        raise SettingsError(f"{where}: the shares sum to {total:g}; give one size a share above 0")
    total = 1.0 if isclose(total, 1.0) else total  # so that shares stay as they were written
    return {size: share / total for size, share in shares.items() if share > 0}


@dataclass(frozen=True)
class Stage:
    """A stretch of the curriculum; the last stage lasts to the end of the run."""

    rows: int = setting(REQUIRED, unit="rows until the next stage", low=1)
    sizes: dict[int, float] = setting(REQUIRED, unit="board size = share of the rows", read=_shares)  # noqa: RUF009 - it makes a field
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
        papers="ours: playouts play the first games",
    )

    @property
    def main_size(self) -> int:
        """The board size of most rows; of two with as many, the larger."""
        return max(self.sizes, key=lambda size: (self.sizes[size], size))

    @property
    def learned_size(self) -> int:
        """The largest board that has `LEARNED_SHARE` of the rows, or else the one of most rows."""
        return max((size for size, share in self.sizes.items() if share >= LEARNED_SHARE), default=self.main_size)
