"""The strength of the levels of `gozero-gtp --level`: a tournament of neighbours, and of every third, in one process.

    python -m benchmarks.levels --csv benchmarks/matches/levels-9.csv --plot docs/levels.png
    python -m benchmarks.levels --size 13 --levels 1 5 10 15 --games 20

Each level plays the next one and the one three further up, the slow ones fewer games than the others; below level 1
there are random moves. Both sides choose their moves as `gozero-gtp --level` does, by the same search and the same
draw, and resign as it does. Ratings are those of the whole pool (`training.matches.elo.pool`).
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.harness import finish, machine
from gozero import engine, files, games, locations
from gozero.endgame import candidates
from gozero.errors import ChoiceError
from gozero.evaluators.base import Evaluator
from gozero.evaluators.factory import open_evaluator
from gozero.games.game import Game
from gozero.levels import LEVELS, STRONGEST, WEAKEST, Level
from gozero.player import PlayerSettings
from gozero.search.choose import choose
from gozero.search.request import SearchRequest
from gozero.search.search import Search
from training.console import Parser, finite, positive
from training.matches.commands import check_files
from training.matches.elo import Z95, Tally, pool
from training.matches.match import MatchGame, MatchSettings, match_fixtures, play_schedule, tally
from training.matches.players import MatchPlayer, RandomPlayer, Turn

RANDOM = 0
"""The number of the player below level 1."""
FEWEST_GAMES = 6
PARALLEL = 32
PLIES_PER_POINT = 0.85
"""Approximate length of a game."""


class LevelPlayer:
    """A level in a match: a player in the sense of `training.matches.players`."""

    def __init__(self, level: Level, evaluator: Evaluator, parallel: int) -> None:
        self.name = f"{level.visits} visits, temperature {level.temperature:g}"
        self._visits = level.visits
        self._settings = PlayerSettings(temperature=level.temperature, resign=level.resigns)
        search = replace(engine.search_settings(level.visits, evaluator.game.name), max_nodes=level.visits + 1)
        self._search = Search(evaluator.game, evaluator, search, trees=parallel)
        self._generators: dict[int, np.random.Generator] = {}
        self._low_values: dict[int, int] = {}  # moves in a row with a lost value

    def begin(self, slot: int, *, seed: int) -> None:
        self._generators[slot] = np.random.default_rng(seed)
        self._low_values[slot] = 0

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        for slot, position in ((turn.slot, turn.position) for turn in turns):
            self._search.begin(
                slot,
                SearchRequest(position.state, position.history_row(0), self._visits, root_mask=candidates(position)),
            )
        self._search.run()
        return [self._chosen(turn) for turn in turns]

    def _chosen(self, turn: Turn) -> int:
        settings, game, result = self._settings, turn.position.game, self._search.result(turn.slot)
        self._low_values[turn.slot] = self._low_values[turn.slot] + 1 if result.value < settings.resign_threshold else 0
        early = turn.position.ply < settings.resign_not_before * game.points
        if settings.resign and not early and self._low_values[turn.slot] >= settings.resign_moves:
            return game.resign_action
        return choose(
            result, settings.temperature_at(turn.position), self._generators[turn.slot], undrawn=game.pass_action
        )

    def final_score(self, turn: Turn) -> None:
        return None

    def close(self) -> None:
        pass


def pairs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The pairings, the weaker player first: neighbours in this order, and every third."""
    return [pair for step in (1, 3) for pair in zip(numbers, numbers[step:], strict=False)]


def affordable(weaker: int, stronger: int, game: Game, options: argparse.Namespace) -> int:
    """The games of a match: as many as its share of evaluations buys, even, `FEWEST_GAMES` to `options.games`, which is
    even too.
    """
    visits = sum(LEVELS[number - 1].visits for number in (weaker, stronger) if number != RANDOM)
    games_paid = options.evaluations / (visits * PLIES_PER_POINT * game.points / 2)
    return min(options.games, max(FEWEST_GAMES, 2 * round(games_paid / 2)))


def tournament(numbers: Sequence[int], game: Game, options: argparse.Namespace) -> dict[tuple[int, int], Tally]:
    """Play every match; all games share the batches. One that ends is printed, and listed in the file `options.csv`.
    Returns the tallies by (stronger, weaker).
    """
    evaluator = open_evaluator(options.weights, game, threads=options.threads)
    players: list[MatchPlayer] = [
        RandomPlayer() if number == RANDOM else LevelPlayer(LEVELS[number - 1], evaluator, PARALLEL)
        for number in numbers
    ]
    wanted = {pair: affordable(*pair, game, options) for pair in pairs(numbers)}
    fixtures = [
        fixture
        for (weaker, stronger), games in wanted.items()
        for fixture in match_fixtures(games, options.seed, (numbers.index(stronger), numbers.index(weaker)))
    ]
    limits, ended = MatchSettings(), dict[tuple[int, int], Tally]()
    played: dict[tuple[int, int], list[MatchGame]] = {(stronger, weaker): [] for weaker, stronger in wanted}
    schedule = play_schedule(players, fixtures, game, limits.opening_moves, limits.max_moves, PARALLEL)
    for fixture, _, record in schedule:
        stronger, weaker = (numbers[place] for place in fixture.pair)
        played[stronger, weaker].append(record)
        if len(played[stronger, weaker]) == wanted[weaker, stronger]:
            ended[stronger, weaker] = tally(played[stronger, weaker])
            print(f"level {stronger:2} against {name_of(weaker)}: {ended[stronger, weaker]}", flush=True)
            if options.csv:
                write_csv(options.csv, ended)
    return ended


def name_of(number: int) -> str:
    return "random" if number == RANDOM else f"level {number}"


@dataclass(frozen=True)
class Rating:
    """One player of the pool."""

    number: int
    elo: float  # above the first player
    error: float  # standard error of that
    games: int


def ratings(numbers: Sequence[int], matches: Mapping[tuple[int, int], Tally]) -> list[Rating]:
    """The pool's ratings, the first player at 0."""
    places = {number: place for place, number in enumerate(numbers)}
    elos, errors = pool(len(numbers), {(places[a], places[b]): tally for (a, b), tally in matches.items()})
    played = [sum(tally.games for pair, tally in matches.items() if number in pair) for number in numbers]
    return [Rating(*row) for row in zip(numbers, elos.tolist(), errors.tolist(), played, strict=True)]


def table(rated: Sequence[Rating]) -> str:
    """The ratings with 95 % intervals, as a table of Markdown."""
    lines = ["| level | visits | temperature | Elo | games |", "|---|---|---|---|---|"]
    for rating in rated:
        level = LEVELS[rating.number - 1]
        how = "random moves | –" if rating.number == RANDOM else f"{level.visits} | {level.temperature:g}"
        name = "–" if rating.number == RANDOM else str(rating.number)
        lines.append(f"| {name} | {how} | {rating.elo:,.0f} ± {Z95 * rating.error:.0f} | {rating.games} |")
    return "\n".join(lines)


def write_csv(path: Path, matches: Mapping[tuple[int, int], Tally]) -> None:
    """One line for each match."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["stronger", "weaker", "wins", "losses", "draws"])
    writer.writerows([*map(name_of, pair), tally.wins, tally.losses, tally.draws] for pair, tally in matches.items())
    files.write(path, text.getvalue().encode())


def draw(path: Path, rated: Sequence[Rating], title: str) -> None:
    """Elo with its 95 % interval over the level."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axis = figure.subplots()
    axis.errorbar(
        [r.number for r in rated], [r.elo for r in rated], [Z95 * r.error for r in rated], marker="o", capsize=3
    )
    axis.set(xlabel="level", ylabel=f"Elo above {name_of(rated[0].number)}", title=title)
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main(arguments: list[str] | None = None) -> int:
    """Play, rate, write; the exit code: 0."""
    parser = Parser(
        prog="python -m benchmarks.levels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--weights", default="best.pt", metavar="FILE", help="the network (default %(default)s)")
    parser.add_argument("--size", type=int, default=9, help="of the board (default %(default)s)")
    parser.add_argument("--komi", type=finite, default=7.5, help="points for White (default %(default)s)")
    parser.add_argument(
        "--levels",
        type=int,
        nargs="+",
        choices=range(RANDOM, STRONGEST + 1),
        default=list(range(RANDOM, STRONGEST + 1)),
        metavar="N",
        help="default: all; 0: random moves",
    )
    parser.add_argument("--games", type=positive, default=48, help="of each match, at most, even (default 48)")
    parser.add_argument(
        "--evaluations", type=positive, default=100_000, metavar="N", help="of each match, about (default 100,000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of openings and levels (default %(default)s)")
    parser.add_argument("--threads", type=positive, default=1, help="for the network (default %(default)s)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="save the matches, each as it ends")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the Elo of the levels")
    parser.add_argument("--short", action="store_true", help="two levels on 5x5, to see that it runs")
    options = parser.parse_args(arguments)
    if options.short:
        options.levels, options.size, options.games = [RANDOM, WEAKEST], 5, FEWEST_GAMES
    MatchSettings(games=options.games, seed=options.seed)  # refuses what makes no match
    numbers = sorted(set(options.levels))
    if len(numbers) < 2:
        raise ChoiceError(f"--levels {numbers[0]}: it takes two or more to play")
    check_files(options.csv, options.plot)
    game = games.make("go", size=options.size, rules="chinese", komi=options.komi)
    options.weights = locations.find(options.weights)
    print(machine())
    matches = tournament(numbers, game, options)
    rated = ratings(numbers, matches)
    print(table(rated))
    if options.plot:
        draw(options.plot, rated, f"{game.dimensions}, {options.weights.name}, komi {options.komi:g}, 95 % intervals")
    return 0


if __name__ == "__main__":
    finish(main)
