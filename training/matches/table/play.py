"""Plays a published table again: each network at each number of simulations is an entrant of a tournament, each cell a
pairing, and the table shows our cells below the published figures.

A cell of ours, `58.0% [53.6, 62.3] 500`, has the share of the points, its 95 % interval (Wilson's) and the games
played; `4/500` if more are wanted, and `not played` before the first. The field has every entrant of the table, so that
what was played before always belongs to it.
"""

from __future__ import annotations

import argparse
import html
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gozero import games
from gozero.play.engine import beyond_training, find_weights, supported_sizes
from gozero.system.console import say
from gozero.system.errors import ChoiceError
from gozero.system.words import counted, spanned
from training.elo import MatchScore
from training.matches.interface import POLICY
from training.matches.options import OUT, SIMS, field_values
from training.matches.table.published import Part, PublishedPair, PublishedTable
from training.matches.tables import aligned, table_html
from training.matches.tournament import field as fields
from training.matches.tournament import runner
from training.matches.tournament.field import PAIRS, Field, file_name
from training.matches.tournament.results import Results, remarks, score
from training.matches.tournament.runner import View

PLAIN_UCT = "plain UCT"


@dataclass(frozen=True)
class Contest:
    """A table with those who play it."""

    table: PublishedTable
    weights: tuple[str, ...]  # files, as `locations.find` takes them
    command: str = ""  # of a GTP engine, with `SIMS` in it; empty: plain UCT

    @property
    def opponent(self) -> str:
        return Path(shlex.split(self.command)[0]).name if self.command else PLAIN_UCT

    def our_name(self, file: str, pair: PublishedPair) -> str:
        return f"{file}, {counted(pair.ours, 'visit', ',') if pair.ours else pair.our_side}"

    def their_name(self, pair: PublishedPair) -> str:
        return f"{self.opponent}, {counted(pair.theirs, 'simulation', ',')}"

    def field(self, where: str, cells: Sequence[PublishedPair], **values: Any) -> Field:
        """The tournament in which these cells are played by every network; `values` are further keys of a field.
        SettingsError as `fields.load`; `where` begins its line.
        """
        pairs = [
            {"a": self.our_name(file, cell), "b": self.their_name(cell)} for file in self.weights for cell in cells
        ]
        players: dict[str, str] = {}
        for pair in self.table.pairs:
            for file in self.weights:
                players[self.our_name(file, pair)] = f"weights:{file}:{pair.ours or POLICY}"
            command = self.command.replace(SIMS, str(pair.theirs))
            players[self.their_name(pair)] = f"gtp:{command}" if command else f"uct:{pair.theirs}"
        entrants = [{"name": name, "player": player} for name, player in players.items()]
        return fields.made({"kind": PAIRS, "entrant": entrants, "pair": pairs} | values, where)

    def text(self, results: Results) -> str:
        """For the terminal: what is compared, each part, and what is to be said of the games."""
        lines = [*self._about(results), ""]
        for part in self.table.parts:
            cells = self._cells(part, results)
            lines += [part.title, *aligned(cells, left=range(len(cells[0]))), ""]
        return "\n".join([*lines, *remarks(results)]).rstrip()

    def html(self, results: Results) -> Iterator[str]:
        """For the head of the page."""
        yield "".join(f"<p>{html.escape(line)}</p>" for line in self._about(results))
        for part in self.table.parts:
            yield f"<h2>{html.escape(part.title)}</h2>"
            yield table_html(self._cells(part, results))
        yield "<h1>The tournament behind it</h1>"

    def _about(self, results: Results) -> list[str]:
        """What the numbers are."""
        table, field = self.table, results.field
        lines = [
            f"{table.source}.",
            f"{table.game} {table.size}x{table.size}, the network's simulations : the opponent's. Published against "
            f"{table.opponent}, {2 * table.games} games a figure.",
            f"Here against {self.opponent}, {field.games} games wanted in a cell, {field.games // 2} with each "
            "colour: share of the points [95 % interval] games played.",
        ]
        if (field.game, field.size) != (table.game, table.size):
            lines.append(f"Here {field.game} {field.size}x{field.size} is played: the figures are of different games.")
        return lines

    def _cells(self, part: Part, results: Results) -> list[list[str]]:
        """The part as rows of text: its pairs, the published networks, ours."""
        rows = [["simulations", *map(str, part.pairs)]]
        rows += [[name, *figures] for name, figures in part.figures.items()]
        for file in self.weights:
            totals = (score(results.found, self.our_name(file, pair), self.their_name(pair)) for pair in part.pairs)
            cells = (cell_text(total or MatchScore(), results.field.games) for total in totals)
            rows.append([f"here, {file}", *cells])
        return rows


def cell_text(total: MatchScore, wanted: int) -> str:
    """A cell of which so many games are wanted."""
    if not total.games:
        return "not played"
    low, high = total.interval
    games = f"{total.games}" if total.games >= wanted else f"{total.games}/{wanted}"
    return f"{total.score:.1%} [{100 * low:.1f}, {100 * high:.1f}] {games}"


def play(options: argparse.Namespace, table: PublishedTable, cells: Sequence[PublishedPair]) -> int:
    """Play the cells that the options of `training.commands.table` ask for; the exit code."""
    contest = Contest(table, tuple(options.weights), options.opponent or "")
    options.game, options.size = _board(options, table)
    count = 2 * (options.games or table.games)
    field = contest.field(f"the table {options.table}", cells, **field_values(options) | {"games": count})
    another = f"-{field.game}" if field.game != table.game else ""
    other = f"-{contest.opponent}" if contest.command else ""
    folder = OUT / file_name(f"table-{options.table}{another}{other}")
    return runner.play_once(field, options, View(text=contest.text, head=contest.html), folder)


def _board(options: argparse.Namespace, table: PublishedTable) -> tuple[str, int]:
    """The game and the board: the table's if the weights play it, else their own. WeightsError; ChoiceError if they
    have no board in common.
    """
    headers = {file: find_weights(file, options.game)[1] for file in options.weights}
    header = headers[options.weights[0]]
    is_tables = header.game == table.game and header.only in (None, table.size)
    own = header.only or header.size or int(games.usual(header.game, "size") or 0)
    size = (table.size if is_tables else own) if options.size is None else options.size
    for file, each in headers.items():
        if each.game != header.game or size not in supported_sizes(each):
            sizes = spanned(supported_sizes(each))
            raise ChoiceError(f"{file} plays {each.game} on {sizes}, and is to play {header.game} on {size}")
        if warning := beyond_training(each.trained, size):
            say(f"{file}: {warning}")
    return header.game, size
