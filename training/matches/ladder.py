"""`gozero ladder`: the score against ever stronger opponents, and the mean over them, with intervals.

    gozero ladder --game connect4 --weights connect4.pt --visits 50 --plot ladder.png
    gozero ladder --game tictactoe --weights ttt.pt ttt-mlp.pt ttt-vgg.pt --plot ladder.png
    gozero ladder --game nogo --weights nogo.pt --visits 50 400 --opponent "hahanogo {sims}" --sims
    20000 50000

Vocabulary
    rung      one opponent: plain UCT of so many simulations, from 10 doubling to 20,480, or the program of --opponent
              with {sims} set
    climber   the player that meets every rung in a match of --games games with each colour: each of the weights at so
              many visits, or `policy`: without a search
    control   another climber to compare with: plain UCT of as many visits, and a perfect player where the game is
              solved; only against plain UCT, so that all means belong to the same opponents

The mean gives every opponent the same weight; its interval takes all games for one match, which is a little too wide,
never too narrow. The table goes to stdout, complaints to stderr; the file of --csv holds it from the first match on.
Exit code: 0; 1 when a player failed or made an illegal move; 2 when the request makes no sense, or a player lost three
games in a row, or both of two, by illegal moves: that match is not counted; 130 after Ctrl-C. Games are played by
`training.matches.match`; no ratings are computed.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gozero import plots
from gozero.system import files
from gozero.system.console import Parser, run_command, say
from gozero.system.errors import ChoiceError
from gozero.system.words import counted
from training.matches import perfect
from training.matches.commands import (
    SIMS,
    add_game,
    add_play,
    check_files,
    check_opponent,
    described,
    in_parallel,
    open_game,
)
from training.matches.elo import Tally, wilson
from training.matches.match import MatchGame, MatchSettings, distinct_games, play_match, tally
from training.matches.players import POLICY, ROLLOUT_PLAYERS, Conditions, count_of, open_player

SIMULATIONS = tuple(10 * 2**rung for rung in range(12))  # of the plain UCT opponents
COLUMNS = (
    "climber",
    "visits",
    "opponent",
    "simulations",
    "games",
    "wins",
    "losses",
    "draws",
    "score",
    "low",
    "high",
    "black",
    "white",
)
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
    def tally(self) -> Tally:
        return tally(self.records)

    def as_colour(self, player: int) -> float:
        """The climber's score with Black (0) or White (1)."""
        return tally([record for record in self.records if record.black == player]).score


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ladder from the command line; the exit code is described above."""
    options = _parser().parse_args(arguments)
    finished = "the matches above are all that were finished"
    return run_command("gozero ladder", lambda: _run(options), interrupted=finished)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="gozero ladder", description=__doc__.partition("\n")[0], epilog=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_game(parser)
    parser.add_argument(
        "--weights", nargs="+", default=[], metavar="FILE", help="the networks that climb (default: the controls alone)"
    )
    parser.add_argument(
        "--visits",
        type=_visits,
        nargs="+",
        default=["50"],
        metavar="N",
        help="of the climber, each in turn; policy: its network without a search (default 50)",
    )
    parser.add_argument(
        "--rollouts",
        choices=ROLLOUT_PLAYERS,
        default=ROLLOUT_PLAYERS[0],
        help="the opponents and their control: plain UCT, or PUCT with rollouts and one prior for all (default uct)",
    )
    parser.add_argument(
        "--opponent", metavar="COMMAND", help="a GTP engine instead of plain UCT; {sims} stands for its simulations"
    )
    parser.add_argument(
        "--sims",
        type=int,
        nargs="+",
        default=SIMULATIONS,
        metavar="N",
        help="of the opponents (default 10 20 ... 20480)",
    )
    parser.add_argument("--games", type=int, default=10, help="per opponent and colour (default 10)")
    parser.add_argument(
        "--opening-moves", type=int, default=0, metavar="N", help="random plies before the players begin (default 0)"
    )
    add_play(parser)
    parser.add_argument(
        "--no-controls", action="store_true", help="without plain UCT and the perfect player as climbers"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="save the table")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.png", help="save the score against the opponents' simulations"
    )
    return parser


def _visits(text: str) -> str:
    """The type of --visits: a whole number, or `policy`."""
    return POLICY if text == POLICY else str(int(text))


_visits.__name__ = "number"  # argparse names the type in its message


def _run(options: argparse.Namespace) -> int:
    game, komi = open_game(options)
    if options.games < 1:
        raise ChoiceError(f"--games {options.games}: expected 1 or more for each opponent and colour")
    check_files(options.csv, options.plot)
    for name in ("weights", "visits", "sims"):
        _check_once(name, getattr(options, name))
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
                _write_csv(options.csv, rungs)
    print("\n" + "\n".join(_means(rungs)))
    if options.plot:
        files.write(options.plot, _picture(rungs, game.name))
    return 1 if any(record.detail for rung in rungs for record in rung.records) else 0


def _check_once(name: str, given: Sequence[object]) -> None:
    """ChoiceError for what is given twice: the same games would count as others."""
    for number, value in enumerate(given):
        if value in given[:number]:
            raise ChoiceError(f"--{name} {value} is given twice: name each once")


def _opponents(options: argparse.Namespace) -> list[str]:
    """Descriptions of the opponents, in the order of --sims."""
    searches = [int(visits) for visits in options.visits if visits != POLICY]
    if any(count < 1 for count in (*options.sims, *searches)):
        raise ChoiceError("--sims and --visits are at least 1")
    for count in (*searches, *(options.sims if options.opponent is None else ())):
        count_of(str(count), "--sims and --visits")
    if options.opponent is None:
        return [f"{options.rollouts}:{count}" for count in options.sims]
    check_opponent(options.opponent)
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
    total = rung.tally
    low, high = wilson(total.points, total.games)
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
        climber: tally([record for rung in own for record in rung.records])
        for climber, own in _by_climber(rungs).items()
    }
    lines = ["mean over opponents"]
    for climber, total in totals.items():
        low, high = wilson(total.points, total.games)
        line = f"  {climber}: {total.score:.3f} (95 % interval {low:.3f} - {high:.3f})"
        if "perfect" in totals and climber != "perfect":
            line += f", {total.score / totals['perfect'].score:.2f} times the perfect player's"
        lines.append(line)
    return lines


def _write_csv(path: Path, rungs: Sequence[Rung]) -> None:
    """A row for each match; see COLUMNS. The file appears whole or stays as it was."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for rung in rungs:
        total = rung.tally
        shares = (total.score, *wilson(total.points, total.games), rung.as_colour(0), rung.as_colour(1))
        counts = (total.games, total.wins, total.losses, total.draws)
        names = (rung.climber, rung.visits, rung.opponent, rung.simulations)
        writer.writerow([*names, *counts, *(f"{share:.4f}" for share in shares)])
    files.write(path, text.getvalue().encode())


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
        reports = [rung.tally.report() for rung in own]
        scores, low, high = ([report[key] for report in reports] for key in ("score", "low", "high"))
        curves.append(plots.Curve(_label(climber), [rung.simulations for rung in own], scores, low, high))
    return plots.curves([plots.Panel(f"{name}: score", curves, across="simulations of the opponent", logarithmic=True)])
