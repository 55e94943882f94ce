"""From the games of a tournament to its table: who won how often, against whom, and how strong that makes each entrant;
as text for the terminal, as results.csv, as results.json and as a page, which needs no network and no server.

A forfeit is a game of an entrant that could not be started: not played, not rated.
"""

from __future__ import annotations

import html
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gozero.system.words import counted
from training.elo import Z95, Decision, MatchScore, Ratings, judge, rate
from training.matches.match import MatchGame, total_of
from training.matches.tables import aligned, table_html
from training.matches.tournament.field import SPRT, Entrant, Field
from training.matches.tournament.journal import missing
from training.records.scoring import GO

MatchScores = Mapping[tuple[str, str], MatchScore]
COLUMNS = ("", "entrant", "Elo, 95 %", "LOS", "games", "won", "drawn", "lost", "score", "faults", "s/move")
STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1080px; padding: 0 1em; color: #222 }
table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { padding: .2em .7em; text-align: right; white-space: nowrap } th { border-bottom: 1px solid #999 }
td:nth-child(2), th:nth-child(2) { text-align: left } tr:nth-child(even) { background: #f6f6f6 }
.plot { width: 300px } .interval { height: 3px; background: #269 }"""


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
    """A tournament so far, and everything that follows from it."""

    field: Field
    games: Sequence[MatchGame]
    withdrawn: Mapping[str, str]  # entrants that could not be started: why, as the end of a sentence

    @cached_property
    def found(self) -> MatchScores:
        return totals(self.games)

    @cached_property
    def ratings(self) -> Ratings:
        return rate(self.field.names, self.found)

    @cached_property
    def table(self) -> list[Standing]:
        """Best first: by Elo, entrants that are not rated last."""
        rows = [_standing(self, entrant) for entrant in self.field.entrant]
        return sorted(rows, key=lambda row: (math.isnan(row.elo), -row.elo if not math.isnan(row.elo) else 0.0))

    @property
    def faults(self) -> list[MatchGame]:
        return [game for game in self.games if game.detail]

    @property
    def disputed(self) -> list[MatchGame]:
        return [game for game in self.games if not game.agreed]

    @property
    def left(self) -> int:
        """Games that are neither played nor forfeited; none once an SPRT is decided."""
        if self.is_decided:
            return 0
        return sum(missing(self.field, self.games).values()) - self.forfeits(*self.withdrawn)

    def forfeits(self, *names: str) -> int:
        """The games that these entrants did not play, if they have been withdrawn."""
        gone = self.withdrawn.keys() & set(names)
        counts = missing(self.field, self.games) if gone else {}
        return sum(count for pair, count in counts.items() if gone & set(pair))

    @property
    def decision(self) -> Decision | None:
        """How far the SPRT has come; None: there is none."""
        if self.field.kind != SPRT:
            return None
        first = self.field.names[0]
        points = {game.index: 0.5 if not game.winner else float(game.winner == first) for game in self.games}
        return judge((points.get(index) for index in range(self.field.games)), self.field.sprt)

    @property
    def is_decided(self) -> bool:
        return self.decision is not None and bool(self.decision.accepted)


def totals(games: Iterable[MatchGame]) -> dict[tuple[str, str], MatchScore]:
    """Each pairing's total from the first one's side, the pair in the order of the alphabet."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for game in games:
        counts.setdefault(game.pair, Counter())[game.winner] += 1
    return {(a, b): MatchScore(count[a], count[b], count[""]) for (a, b), count in counts.items()}


def score(found: MatchScores, a: str, b: str) -> MatchScore | None:
    """a's total against b; None if they have not met."""
    if (a, b) in found:
        return found[a, b]
    mirrored = found.get((b, a))
    return None if mirrored is None else MatchScore(mirrored.losses, mirrored.wins, mirrored.draws)


def _standing(results: Results, entrant: Entrant) -> Standing:
    name = entrant.name
    own = [(game, game.pair.index(name)) for game in results.games if name in game.pair]
    answers = sum(game.answers[place] for game, place in own)
    seconds = sum(game.seconds[place] for game, place in own)
    total = total_of(results.games, name)
    return Standing(
        name,
        entrant.player,
        *results.ratings.of(name),
        total.games,
        total.wins,
        total.draws,
        total.losses,
        total.score,
        *total.interval,
        faults=sum(game.faulty == name for game, _ in own),
        forfeits=results.forfeits(name),
        random_moves=sum(game.replaced[place] for game, place in own),
        seconds_a_move=seconds / answers if answers else math.nan,
        longest_move=max((game.longest[place] for game, place in own), default=0.0),
    )


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
        how = ", who counts no stone as dead," if results.field.game == GO else ""
        lines.append(f"a player named another winner than the referee{how} in {count}, the first of them {first}")
    if results.left:
        lines.append(f"{counted(results.left, 'game')} left")
    return lines


def _faults(results: Results) -> list[str]:
    """A line for each entrant and kind of fault, with the first of them; the journal has them all."""
    kinds: dict[tuple[str, str], list[MatchGame]] = {}
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
        f"{a} and {b} played only {counted(different[a, b], 'different game')} of {total}: play more opening moves"
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


def where(game: MatchGame) -> str:
    """`A - B, game 3`."""
    return f"{game.pair[0]} - {game.pair[1]}, game {game.index + 1}"


def numbers(results: Results) -> list[dict[str, Any]]:
    """The table as plain values, for results.csv and results.json."""
    return [
        {"place": place}
        | {name: _finite(value) if isinstance(value, float) else value for name, value in vars(row).items()}
        for place, row in enumerate(results.table, 1)
    ]


def json_text(results: Results) -> str:
    """The field, the table, and each pairing with its difference in Elo; the games are in the journal."""
    pairings = []
    for a, b in sorted(results.found):
        total, (difference, error) = results.found[a, b], results.ratings.difference(a, b)
        counts = {"won": total.wins, "drawn": total.draws, "lost": total.losses}
        pairings.append({"a": a, "b": b, **counts, "elo": _finite(difference), "standard_error": _finite(error)})
    document = {"field": results.field.facts, "left": results.left, "table": numbers(results), "pairings": pairings}
    document |= {"withdrawn": results.withdrawn}
    if results.decision is not None:
        document["sprt"] = vars(results.field.sprt) | vars(results.decision)
    return json.dumps(document, indent=1) + "\n"


def _finite(number: float) -> float | None:
    return None if math.isnan(number) else round(number, 5)


def page(results: Results, head: Iterable[str] = ()) -> str:
    """tournament.html; the HTML in `head` follows the title."""
    title = html.escape(f"Tournament: {results.field}")
    parts = [
        f"<h1>{title}</h1>",
        *head,
        table_html([COLUMNS, *rows(results)], intervals(results.table)),
        "<p>LOS: how likely the entrant is stronger than the next one below. Elo: with the 95 % interval, which the "
        "bars show too, the mean of all at 0.</p>",
        *(f"<p>{html.escape(line)}</p>" for line in remarks(results)),
        "<h2>Crosstable</h2>",
        "<p>The row's points of the games against the column. All games are in the folder games.</p>",
        table_html(crosstable(results)),
    ]
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def intervals(table: Sequence[Standing]) -> list[str]:
    """The 95 % interval of each entrant's Elo as a bar, all on one scale; empty for one that is not rated."""
    ends = [(row.elo - Z95 * row.standard_error, row.elo + Z95 * row.standard_error) for row in table]
    rated = [end for pair in ends for end in pair if not math.isnan(end)]
    start, span = min(rated, default=0.0), max(rated, default=0.0) - min(rated, default=0.0) or 1.0
    return [
        ""
        if math.isnan(low)
        else f'<div class="interval" style="margin-left:{100 * (low - start) / span:.1f}%;'
        f'width:{100 * (high - low) / span:.1f}%"></div>'
        for low, high in ends
    ]
