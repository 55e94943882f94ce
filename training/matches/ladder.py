"""`gozero ladder`: a tournament in which each climber meets ever stronger opponents, and the mean score over these."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from gozero import games, plots
from gozero.system.console import say
from gozero.system.errors import ChoiceError
from training.matches import perfect
from training.matches.interface import POLICY
from training.matches.match import total_of
from training.matches.options import SIMS, field_values
from training.matches.tables import aligned
from training.matches.tournament import field as fields
from training.matches.tournament import runner
from training.matches.tournament.field import GAUNTLET
from training.matches.tournament.results import Results, remarks
from training.matches.tournament.runner import View

COLUMNS = ("visits", "simulations", "games", "wins", "draws", "losses", "score", "low", "high", "black", "white")


@dataclass(frozen=True)
class Ladder:
    """Who climbs it, and its opponents, as descriptions; an entrant's name is its description, a climber's with a mark
    behind it, for the same player may stand on the ladder.
    """

    climbers: list[str]
    opponents: dict[str, int]  # with their simulations a move

    def field(self, options: argparse.Namespace) -> fields.Field:
        entrants = [{"player": player, "name": climber_name(player)} for player in self.climbers]
        entrants += [{"player": player} for player in self.opponents]
        values = {"kind": GAUNTLET, "challengers": len(self.climbers), "entrant": entrants, "games": 2 * options.games}
        return fields.made(field_values(options) | values, "the ladder")

    def rows(self, results: Results) -> list[dict[str, Any]]:
        """A row for every match of which a game was played, climber by climber."""
        rows = []
        for climber, (opponent, simulations) in product(self.climbers, self.opponents.items()):
            name, other = climber_name(climber), " ".join(opponent.split())
            played = [game for game in results.games if {name, other} == set(game.pair)]
            if not played:
                continue
            total, (low, high) = total_of(played, name), total_of(played, name).interval
            black, white = (total_of([game for game in played if game.black == side], name) for side in (name, other))
            visits = climber.partition(":")[2].rpartition(":")[2]  # a number or `policy`; a perfect player needs none
            row: dict[str, Any] = {"climber": climber, "visits": visits, "simulations": simulations}
            row |= {"games": total.games, "wins": total.wins, "losses": total.losses, "draws": total.draws}
            row |= {"score": total.score, "low": low, "high": high, "black": black.score, "white": white.score}
            rows.append(row)
        return rows

    def text(self, results: Results) -> str:
        """A table for each climber, their means, and what is to be said of the games."""
        rows, lines = self.rows(results), [str(results.field)]
        for climber in self.climbers:
            own = [[row[column] for column in COLUMNS] for row in rows if row["climber"] == climber]
            cells = [[f"{cell:.3f}" if isinstance(cell, float) else cell for cell in line] for line in own]
            lines += ["", climber, *aligned([COLUMNS, *cells], left=())] if cells else []
        return "\n".join([*lines, "", *self._means(results), *remarks(results)])

    def picture(self, results: Results) -> bytes:
        """PNG: a curve for each climber over the opponents' simulations, on a logarithmic scale."""
        rows, curves = self.rows(results), []
        for climber in self.climbers:
            own = [row for row in rows if row["climber"] == climber]
            x, y, low, high = ([row[name] for row in own] for name in ("simulations", "score", "low", "high"))
            curves.append(plots.Curve(label(climber), x, y, low, high))
        title = f"{results.field.game}: score"
        return plots.curves([plots.Panel(title, curves, across="simulations of the opponent", logarithmic=True)])

    def _means(self, results: Results) -> list[str]:
        """The mean score of each climber that has played, beside the perfect player's."""
        found = {climber: total_of(results.games, climber_name(climber)) for climber in self.climbers}
        totals = {climber: total for climber, total in found.items() if total.games}
        lines = ["mean over opponents"] if totals else []
        for climber, total in totals.items():
            low, high = total.interval
            line = f"  {climber}: {total.score:.3f} (95 % interval {low:.3f} - {high:.3f})"
            if climber != "perfect" and "perfect" in totals and totals["perfect"].points:
                line += f", {total.score / totals['perfect'].score:.2f} times the perfect player's"
            lines.append(line)
        return lines


def play(options: argparse.Namespace) -> int:
    """Play the ladder that the options of `training.commands.ladder` ask for; the exit code."""
    opponent = f"{options.rollouts}:{SIMS}" if options.opponent is None else f"gtp:{options.opponent}"
    ladder = Ladder(_climbers(options), {opponent.replace(SIMS, str(count)): count for count in options.sims})

    def files(results: Results) -> dict[Path, str | bytes]:
        return {options.plot.absolute(): ladder.picture(results)} if options.plot else {}

    return runner.play_once(ladder.field(options), options, View(text=ladder.text, files=files))


def _climbers(options: argparse.Namespace) -> list[str]:
    """The climbers, controls last. Says on stderr why there is no perfect player among them."""
    climbers = [f"weights:{file}:{visits}" for file in options.weights for visits in options.visits]
    if options.opponent is None and not options.no_controls:
        climbers += [f"{options.rollouts}:{visits}" for visits in options.visits if visits != POLICY]
        try:
            perfect.solver(games.make(options.game, size=options.size))
            climbers.append("perfect")
        except perfect.UnsolvedError as error:
            say(f"gozero ladder: no perfect player takes part: {error}")
    if not climbers:
        raise ChoiceError("there is no player to measure: give --weights, or leave out --no-controls and --opponent")
    return climbers


def climber_name(player: str) -> str:
    return f"{player} (climber)"


def label(climber: str) -> str:
    """`ttt.pt, 50` for a network, the folder's name for the `weights.pt` of a run; else the climber's description."""
    if not climber.startswith("weights:"):
        return climber
    path, _, visits = climber.partition(":")[2].rpartition(":")
    file = Path(path)
    return f"{file.parent.name if file.name == 'weights.pt' else file.name}, {visits}"
