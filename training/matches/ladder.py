"""The score against ever stronger opponents, and the mean over them, with intervals. The command is `gozero ladder`.

The mean gives every opponent the same weight; its interval takes all games for one match, which is a little too wide,
never too narrow.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gozero import plots
from gozero.system import files
from gozero.system.console import say
from gozero.system.errors import ChoiceError
from gozero.system.words import counted
from training.matches import perfect
from training.matches.elo import MatchScore
from training.matches.interface import POLICY, Conditions
from training.matches.match import MatchGame, MatchSettings, distinct_games, match_score, play_match
from training.matches.options import SIMS, described, in_parallel, open_game
from training.matches.players import open_player
from training.matches.tables import csv_text

HEADING = "    visits   opponent games  wins draws losses   score  95 % interval   Black  White"


@dataclass(frozen=True)
class Rung:
    """A climber's match against one opponent."""

    climber: str
    opponent: str
    simulations: int
    records: Sequence[MatchGame]

    @property
    def visits(self) -> str:
        """The climber's simulations a move, or `policy`; empty for a perfect player, who needs none."""
        return self.climber.partition(":")[2].rpartition(":")[2]

    @property
    def total(self) -> MatchScore:
        return match_score(self.records)

    def as_colour(self, player: int) -> float:
        """The climber's score with Black (0) or White (1)."""
        return match_score([record for record in self.records if record.black == player]).score


def play(options: argparse.Namespace) -> int:
    """Play the ladder that the options of `training.commands.ladder` ask for; the exit code."""
    game, komi = open_game(options)
    opponents = _opponents(options)
    climbers = _climbers(options)
    for climber in climbers:  # a file that cannot be used is refused before hours of matches
        open_player(climber, Conditions(game, komi, 0, 1, options.move_seconds, options.threads)).close()
    print(
        f"{described(game, komi, options)}; {counted(options.games, 'game')} per opponent and colour, seed {options.seed}"
    )
    rungs: list[Rung] = []
    for climber in climbers:
        parallel = in_parallel(options, climber, *opponents)
        conditions = Conditions(game, komi, options.seed, parallel, options.move_seconds, options.threads)
        for rung in _climb(climber, opponents, options, conditions):
            rungs.append(rung)
            if options.csv:
                files.write(options.csv, csv_text([_fields(each) for each in rungs]).encode())
    print("\n" + "\n".join(_means(rungs)))
    if options.plot:
        files.write(options.plot, _picture(rungs, game.name))
    return 1 if any(record.detail for rung in rungs for record in rung.records) else 0


def _opponents(options: argparse.Namespace) -> list[str]:
    """Descriptions of the opponents, in the order of --sims."""
    if options.opponent is None:
        return [f"{options.rollouts}:{count}" for count in options.sims]
    return ["gtp:" + options.opponent.replace(SIMS, str(count)) for count in options.sims]


def _climbers(options: argparse.Namespace) -> list[str]:
    """Descriptions of the climbers, controls last. Says on stderr why there is no perfect player among them."""
    climbers = [f"weights:{file}:{visits}" for file in options.weights for visits in options.visits]
    if options.opponent is None and not options.no_controls:
        climbers += [f"{options.rollouts}:{visits}" for visits in options.visits if visits != POLICY]
        try:
            perfect.solver(open_game(options)[0])
            climbers.append("perfect")
        except perfect.UnsolvedError as error:
            say(f"gozero ladder: climbs without a perfect player beside it, for {error}")
    if not climbers:
        raise ChoiceError("there is no player to measure: give --weights, or leave out --no-controls and --opponent")
    return climbers


def _climb(
    climber: str, opponents: Sequence[str], options: argparse.Namespace, conditions: Conditions
) -> Iterator[Rung]:
    """One match after the other, each printed when it is over."""
    settings = MatchSettings(2 * options.games, options.seed, options.opening_moves, parallel=conditions.parallel)
    with closing(open_player(climber, conditions)) as player:
        run = _run_of(climber)
        print(f"\n{run and f'{run}/'}{player.name}\n{HEADING}", flush=True)
        for simulations, opponent in zip(options.sims, opponents, strict=True):
            with closing(open_player(opponent, conditions)) as other:
                rung = Rung(
                    climber, opponent, simulations, list(play_match((player, other), conditions.game, settings))
                )
            print(_row(rung), flush=True)
            if (different := distinct_games(rung.records)) < len(rung.records):
                say(
                    f"gozero ladder: {different} different games of {len(rung.records)} against {opponent}: the "
                    "interval takes them as independent; give --opening-moves, or a larger number of them"
                )
            for record in rung.records:
                if record.detail:
                    say(f"gozero ladder: game {record.number + 1} against {opponent}: {record.detail}")
            yield rung


def _row(rung: Rung) -> str:
    total = rung.total
    low, high = total.interval
    counts = f"{total.games:5} {total.wins:5} {total.draws:5} {total.losses:6}"
    sides = f"{rung.visits:>10} {rung.simulations:>10}"
    colours = f"{rung.as_colour(0):.3f}  {rung.as_colour(1):.3f}"
    return f"{sides} {counts}   {total.score:.3f}  {low:.3f} - {high:.3f}   {colours}"


def _by_climber(rungs: Sequence[Rung]) -> dict[str, list[Rung]]:
    return {
        climber: [rung for rung in rungs if rung.climber == climber]
        for climber in dict.fromkeys(rung.climber for rung in rungs)
    }


def _means(rungs: Sequence[Rung]) -> list[str]:
    """The mean score of each climber, beside the perfect player's."""
    totals = {
        climber: match_score([record for rung in own for record in rung.records])
        for climber, own in _by_climber(rungs).items()
    }
    lines = ["mean over opponents"]
    for climber, total in totals.items():
        low, high = total.interval
        line = f"  {climber}: {total.score:.3f} (95 % interval {low:.3f} - {high:.3f})"
        if "perfect" in totals and climber != "perfect":
            line += f", {total.score / totals['perfect'].score:.2f} times the perfect player's"
        lines.append(line)
    return lines


def _fields(rung: Rung) -> dict[str, object]:
    """A row of the file of --csv."""
    total = rung.total
    low, high = total.interval
    shares = {"score": total.score, "low": low, "high": high, "black": rung.as_colour(0), "white": rung.as_colour(1)}
    return {
        "climber": rung.climber,
        "visits": rung.visits,
        "opponent": rung.opponent,
        "simulations": rung.simulations,
        "games": total.games,
        "wins": total.wins,
        "losses": total.losses,
        "draws": total.draws,
        **{name: f"{share:.4f}" for name, share in shares.items()},
    }


def _run_of(climber: str) -> str:
    """The name of the run folder of a `weights.pt`, which others have too; else nothing."""
    file = Path(climber.removeprefix("weights:").rpartition(":")[0])
    return file.parent.name if file.name == "weights.pt" else ""


def _label(climber: str) -> str:
    """`ttt.pt, 50` for a network, the folder's name for the `weights.pt` of a run; else the climber's name."""
    if not climber.startswith("weights:"):
        return climber
    path, _, visits = climber.partition(":")[2].rpartition(":")
    return f"{_run_of(climber) or Path(path).name}, {visits}"


def _picture(rungs: Sequence[Rung], name: str) -> bytes:
    """PNG: a curve for each climber over the opponents' simulations, on a logarithmic scale."""
    curves = []
    for climber, own in _by_climber(rungs).items():
        reports = [rung.total.report() for rung in own]
        scores, low, high = ([report[key] for report in reports] for key in ("score", "low", "high"))
        curves.append(plots.Curve(_label(climber), [rung.simulations for rung in own], scores, low, high))
    return plots.curves([plots.Panel(f"{name}: score", curves, across="simulations of the opponent", logarithmic=True)])
