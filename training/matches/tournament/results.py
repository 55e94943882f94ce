"""From the games of a tournament to its table: who won how often, against whom, and how strong that makes each entrant;
as text for the terminal, as results.csv and as results.json.

A forfeit is a game of an entrant that could not be started, or was withdrawn: not played, not rated.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gozero.system.words import counted
from training.matches.elo import Z95, Decision, MatchScore, Ratings, rate
from training.matches.tables import aligned
from training.matches.tables import csv_text as as_csv
from training.matches.tournament.conductor import Conductor
from training.matches.tournament.field import Field
from training.matches.tournament.journal import PlayedGame

MatchScores = Mapping[tuple[str, str], MatchScore]
COLUMNS = ("", "entrant", "Elo, 95 %", "LOS", "games", "won", "drawn", "lost", "score", "faults", "s/move")


@dataclass(frozen=True)
class Standing:
    """An entrant's line of the table; the fields are the columns of results.csv. What is not known is no number."""

    entrant: str
    player: str
    elo: float
    standard_error: float
    games: int
    won: int
    drawn: int
    lost: int
    score: float
    score_low: float
    score_high: float
    faults: int  # games lost by one
    forfeits: int
    random_moves: int  # drawn for it, under the course's clock
    seconds_a_move: float  # in the mean
    longest_move: float  # seconds


@dataclass(frozen=True)
class Results:
    """Everything that follows from the games so far."""

    field: Field
    games: Sequence[PlayedGame]
    found: MatchScores
    ratings: Ratings
    table: list[Standing]
    withdrawn: dict[str, str]
    left: int
    decision: Decision | None

    @classmethod
    def of(cls, conductor: Conductor) -> Results:
        field, games = conductor.field, list(conductor.journal.games)
        found = totals(games)
        ratings = rate(field.names, found)
        players = {entrant.name: entrant.player for entrant in field.entrant}
        table = standings(players, games, ratings, conductor.forfeits)
        return cls(field, games, found, ratings, table, conductor.withdrawn, conductor.left, conductor.decision)

    @property
    def faults(self) -> list[PlayedGame]:
        return [game for game in self.games if game.detail]

    @property
    def disputed(self) -> list[PlayedGame]:
        return [game for game in self.games if not game.agreed]


def totals(games: Iterable[PlayedGame]) -> dict[tuple[str, str], MatchScore]:
    """Each pairing's total from the first one's side, the pair in the order of the alphabet."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for game in games:
        counts.setdefault(game.pair, Counter())[game.winner] += 1
    return {(a, b): MatchScore(count[a], count[b], count[""]) for (a, b), count in counts.items()}


def total_of(games: Iterable[PlayedGame], name: str) -> MatchScore:
    """An entrant's total in those of the games that it played."""
    winners = Counter(game.winner for game in games if name in game.pair)
    return MatchScore(winners[name], winners.total() - winners[name] - winners[""], winners[""])


def score(found: MatchScores, a: str, b: str) -> MatchScore | None:
    """a's total against b; None if they have not met."""
    if (a, b) in found:
        return found[a, b]
    mirrored = found.get((b, a))
    return None if mirrored is None else MatchScore(mirrored.losses, mirrored.wins, mirrored.draws)


def standings(
    players: Mapping[str, str], games: Sequence[PlayedGame], ratings: Ratings, forfeits: Mapping[str, int]
) -> list[Standing]:
    """The table, best first: by Elo, entrants that are not rated last. `players`: each name's description; `forfeits`:
    the games that each withdrawn entrant did not play.
    """
    rows = []
    for name, player in players.items():
        own = [(game, game.pair.index(name)) for game in games if name in game.pair]
        answers = sum(game.answers[place] for game, place in own)
        seconds = sum(game.seconds[place] for game, place in own)
        total, (elo, error) = total_of(games, name), ratings.of(name)
        counts = (total.games, total.wins, total.draws, total.losses)
        rows.append(
            Standing(
                name,
                player,
                elo,
                error,
                *counts,
                total.score,
                *total.interval,
                faults=sum(game.faulty == name for game, _ in own),
                forfeits=forfeits.get(name, 0),
                random_moves=sum(game.replaced[place] for game, place in own),
                seconds_a_move=seconds / answers if answers else math.nan,
                longest_move=max((game.longest[place] for game, place in own), default=0.0),
            )
        )
    return sorted(rows, key=lambda row: (math.isnan(row.elo), -row.elo if not math.isnan(row.elo) else 0.0))


def signed(elo: float) -> str:
    """`+35`, `-35`, `0`."""
    return f"{round(elo):+d}" if round(elo) else "0"


def rows(results: Results) -> list[tuple[str, ...]]:
    """The table's cells in the order of `COLUMNS`; LOS is the likelihood of being stronger than the next one below."""
    cells = []
    for place, row in enumerate(results.table, 1):
        below = results.table[place].entrant if place < len(results.table) else ""
        los = results.ratings.superiority(row.entrant, below) if below else math.nan
        elo = "-" if math.isnan(row.elo) else f"{signed(row.elo)} ± {Z95 * row.standard_error:.0f}"
        start = (str(place), row.entrant, "forfeits" if row.forfeits and not row.games else elo, _share(los))
        counts = (str(count) for count in (row.games, row.won, row.drawn, row.lost))
        seconds = "-" if math.isnan(row.seconds_a_move) else f"{row.seconds_a_move:.3f}"
        cells.append((*start, *counts, _share(row.score), str(row.faults), seconds))
    return cells


def crosstable(results: Results) -> list[list[str]]:
    """The crosstable, its heads first: the row's points of the games against the column, `-` on the diagonal."""
    names = [row.entrant for row in results.table]

    def cell(a: str, b: str) -> str:
        total = score(results.found, a, b)
        return "-" if a == b else "" if total is None else f"{total.points:g}/{total.games}"

    heads = ["", "entrant", *(str(place) for place in range(1, len(names) + 1))]
    return [heads, *([str(place), a, *(cell(a, b) for b in names)] for place, a in enumerate(names, 1))]


def _share(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def text(results: Results) -> str:
    """Table, crosstable, faults, and what the SPRT says."""
    lines = [str(results.field), "", *aligned([COLUMNS, *rows(results)]), ""]
    lines += ["points against", *aligned(crosstable(results)), "", *remarks(results)]
    return "\n".join(lines).rstrip()


def remarks(results: Results) -> list[str]:
    """Lines on forfeits, faults, random moves under the course's clock, repeated games, and the test."""
    forfeits = {row.entrant: counted(row.forfeits, "game") for row in results.table}
    lines = [f"{name} forfeits {forfeits[name]}: it {why}" for name, why in results.withdrawn.items()]
    lines += [
        f"{row.entrant} overran its clock: {row.random_moves} of its moves were drawn at random"
        for row in results.table
        if row.random_moves
    ]
    lines += _faults(results) + _repetitions(results)
    if results.decision is not None:
        lines.append(_verdict(results, results.decision))
    if disputed := results.disputed:
        count, first = counted(len(disputed), "game"), where(disputed[0])
        lines.append(f"a player named another winner than the referee in {count}, the first of them {first}")
    if results.left:
        lines.append(f"{counted(results.left, 'game')} left")
    return lines


def _faults(results: Results) -> list[str]:
    """A line for each entrant and kind of fault, with the first of them; results.json and the page have them all."""
    kinds: dict[tuple[str, str], list[PlayedGame]] = {}
    for game in results.faults:
        kinds.setdefault((game.faulty, game.ended), []).append(game)
    return [
        f"{name} lost {counted(len(games), 'game')} by {kind}; {where(games[0])}: {games[0].detail}"
        for (name, kind), games in kinds.items()
    ]


def _repetitions(results: Results) -> list[str]:
    """Pairings that played the same games again: they prove less than their number says. Faults cut games short, so
    that these count in neither number.
    """
    sound = [game for game in results.games if not game.faulty]
    different = Counter(pair for pair, _ in {(game.pair, game.moves) for game in sound})
    return [
        f"{a} and {b} played only {counted(different[a, b], 'different game')} of {total}: raise opening_moves"
        for (a, b), total in Counter(game.pair for game in sound).items()
        if different[a, b] < 0.9 * total and results.field.opening_moves < 8
    ]


def _verdict(results: Results, decision: Decision) -> str:
    sprt = results.field.sprt
    (low, high), (a, b) = sprt.bounds, results.field.names
    state = {
        "H1": f"H1 accepted: {a} is at least {sprt.elo1:g} Elo stronger than {b}, rather than {sprt.elo0:g}",
        "H0": f"H0 accepted: {a} is at most {sprt.elo0:g} Elo stronger than {b}, rather than {sprt.elo1:g}",
        "": "not decided",
    }[decision.accepted]
    return (
        f"SPRT after {counted(decision.games, 'game')}: LLR {decision.llr:+.2f} (bounds {low:.2f}, {high:.2f}); {state}"
    )


def where(game: PlayedGame) -> str:
    """`A - B, game 3`."""
    return f"{game.pair[0]} - {game.pair[1]}, game {game.index + 1}"


def csv_text(results: Results) -> str:
    """One line for each entrant, best first."""
    return as_csv(_numbers(results))


def _numbers(results: Results) -> list[dict[str, Any]]:
    """The table as plain values."""
    return [
        {"place": place}
        | {name: _finite(value) if isinstance(value, float) else value for name, value in vars(row).items()}
        for place, row in enumerate(results.table, 1)
    ]


def json_text(results: Results) -> str:
    """The field, the table, each pairing with its difference in Elo and likelihood of superiority, and the faults."""
    names, pairings = [row.entrant for row in results.table], []
    for a, b in sorted(results.found):
        total, (difference, error) = results.found[a, b], results.ratings.difference(a, b)
        counts = {"won": total.wins, "drawn": total.draws, "lost": total.losses}
        pairings.append({"a": a, "b": b, **counts, "elo": _finite(difference), "standard_error": _finite(error)})
    document = {
        "field": results.field.facts,
        "left": results.left,
        "table": _numbers(results),
        "pairings": pairings,
        "superiority": {a: {b: _finite(results.ratings.superiority(a, b)) for b in names if b != a} for a in names},
        "withdrawn": results.withdrawn,
        "faults": [
            {"game": where(game), "entrant": game.faulty, "ended": game.ended, "detail": game.detail}
            for game in results.faults
        ],
    }
    if results.decision is not None:
        document["sprt"] = vars(results.field.sprt) | vars(results.decision)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _finite(number: float) -> float | None:
    return None if math.isnan(number) else round(number, 5)
