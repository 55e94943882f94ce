"""The results of a tournament as text for the terminal, as results.csv and as results.json."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gozero.system.words import counted
from training.matches.elo import Z95, wilson
from training.matches.tournament.conductor import Conductor
from training.matches.tournament.field import Field
from training.matches.tournament.journal import PlayedGame
from training.matches.tournament.rating import Ratings, Standing, Tallies, rate, score, standings, tallies
from training.matches.tournament.sprt import Decision


@dataclass(frozen=True)
class Results:
    """Everything that follows from the games so far."""

    field: Field
    games: Sequence[PlayedGame]
    found: Tallies
    ratings: Ratings
    table: list[Standing]
    withdrawn: dict[str, str]
    left: int
    decision: Decision | None

    @classmethod
    def of(cls, conductor: Conductor) -> Results:
        """Of a sitting."""
        field, games = conductor.field, list(conductor.journal.games)
        found = tallies(games)
        ratings = rate(field.names, found)
        players = {entrant.name: entrant.player for entrant in field.entrant}
        table = standings(players, games, ratings, conductor.forfeits)
        return cls(field, games, found, ratings, table, conductor.withdrawn, conductor.left, conductor.decision)

    @property
    def faults(self) -> list[PlayedGame]:
        return [game for game in self.games if game.detail]


def signed(elo: float) -> str:
    """`+35`, `-35`, `0`."""
    return f"{round(elo):+d}" if round(elo) else "0"


def elo_text(elo: float, error: float) -> str:
    """`+35 ± 21`, the half-width of the 95 % interval behind; a dash without a rating."""
    return "-" if math.isnan(elo) else f"{signed(elo)} ± {Z95 * error:.0f}"


def share_text(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


COLUMNS = ("", "entrant", "Elo, 95 %", "LOS", "games", "won", "drawn", "lost", "score", "faults", "s/move")


def rows(results: Results) -> list[tuple[str, ...]]:
    """The table's cells in the order of `COLUMNS`; LOS is the likelihood of being stronger than the next one below."""
    cells = []
    for place, row in enumerate(results.table, 1):
        below = results.table[place].name if place < len(results.table) else ""
        los = results.ratings.superiority(row.name, below) if below else math.nan
        tally = row.tally
        counts = (str(count) for count in (tally.games, tally.wins, tally.draws, tally.losses))
        seconds = "-" if math.isnan(row.seconds) else f"{row.seconds:.3f}"
        elo = "forfeits" if row.forfeits and not tally.games else elo_text(row.elo, row.error)
        start = (str(place), row.name, elo, share_text(los))
        cells.append((*start, *counts, share_text(tally.score), str(row.faults), seconds))
    return cells


def cross(results: Results) -> list[list[str]]:
    """The crosstable's cells: the row's points of the games against the column, `-` on the diagonal."""
    names = [row.name for row in results.table]

    def cell(a: str, b: str) -> str:
        tally = score(results.found, a, b)
        return "-" if a == b else "" if tally is None else f"{tally.points:g}/{tally.games}"

    return [[cell(a, b) for b in names] for a in names]


def text(results: Results) -> str:
    """Table, crosstable, faults, and what the SPRT says."""
    numbers = [str(place) for place in range(1, len(results.table) + 1)]
    crosses = [
        (number, row.name, *cells) for number, row, cells in zip(numbers, results.table, cross(results), strict=True)
    ]
    lines = [str(results.field), "", *aligned([COLUMNS, *rows(results)]), "", "points against"]
    lines += [*aligned([("", "entrant", *numbers), *crosses]), "", *remarks(results)]
    return "\n".join(lines).rstrip()


def remarks(results: Results) -> list[str]:
    """Lines on forfeits, faults, random moves under the course's clock, repeated games, and the test."""
    forfeits = {row.name: counted(row.forfeits, "game") for row in results.table}
    lines = [
        f"{name} forfeits {forfeits[name]}: it {why}" for name, why in results.withdrawn.items()
    ]
    lines += [
        f"{row.name} overran its clock: {row.replaced} of its moves were drawn at random"
        for row in results.table
        if row.replaced
    ]
    lines += _faults(results)
    lines += _repetitions(results)
    if results.decision is not None:
        lines.append(verdict(results))
    if results.left:
        lines.append(f"{counted(results.left, 'game')} left: the same command goes on")
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
    """Pairings that played the same games again: they prove less than their number says."""
    kinds = Counter(game.pair for game in {(game.pair, game.moves): game for game in results.games}.values())
    found = Counter(game.pair for game in results.games)
    return [
        f"{a} and {b} played only {kinds[a, b]} different games of {count}: raise opening_moves"
        for (a, b), count in found.items()
        if kinds[a, b] < 0.9 * count and results.field.opening_moves < 8
    ]


def verdict(results: Results) -> str:
    """The SPRT in a line."""
    decision, sprt = results.decision, results.field.sprt
    assert decision is not None
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


def aligned(cells: Sequence[Sequence[str]], left: Sequence[int] = (1,)) -> list[str]:
    """Rows as lines with columns of equal width; some columns to the left, by default that of names, all else to the
    right.
    """
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def csv_text(results: Results) -> str:
    """One line for each entrant, best first."""
    made = [_numbers(place, row) for place, row in enumerate(results.table, 1)]
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, fieldnames=list(made[0]))
    writer.writeheader()
    writer.writerows(made)
    return buffer.getvalue()


def _numbers(place: int, row: Standing) -> dict[str, Any]:
    low, high = wilson(row.tally.points, row.tally.games)
    return {
        "place": place,
        "entrant": row.name,
        "player": row.player,
        "elo": _finite(row.elo),
        "standard_error": _finite(row.error),
        "games": row.tally.games,
        "won": row.tally.wins,
        "drawn": row.tally.draws,
        "lost": row.tally.losses,
        "score": _finite(row.tally.score),
        "score_low": round(low, 5),
        "score_high": round(high, 5),
        "faults": row.faults,
        "forfeits": row.forfeits,
        "random_moves": row.replaced,
        "seconds_a_move": _finite(row.seconds),
        "longest_move": row.longest,
    }


def json_text(results: Results) -> str:
    """The field, the table, each pairing with its difference in Elo and likelihood of superiority, and the faults."""
    document = {
        "field": results.field.facts,
        "left": results.left,
        "table": [_numbers(place, row) for place, row in enumerate(results.table, 1)],
        "pairings": [_pairing(results, a, b) for a, b in sorted(results.found)],
        "superiority": {
            row.name: {
                other.name: _finite(results.ratings.superiority(row.name, other.name))
                for other in results.table
                if other is not row
            }
            for row in results.table
        },
        "withdrawn": results.withdrawn,
        "faults": [
            {"game": where(game), "entrant": game.faulty, "ended": game.ended, "detail": game.detail}
            for game in results.faults
        ],
    }
    if results.decision is not None:
        document["sprt"] = vars(results.field.sprt) | vars(results.decision)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _pairing(results: Results, a: str, b: str) -> dict[str, Any]:
    tally = results.found[a, b]
    difference, error = results.ratings.difference(a, b)
    counts = {"won": tally.wins, "drawn": tally.draws, "lost": tally.losses}
    return {"a": a, "b": b, **counts, "elo": _finite(difference), "standard_error": _finite(error)}


def _finite(number: float) -> float | None:
    return None if math.isnan(number) else round(number, 5)
