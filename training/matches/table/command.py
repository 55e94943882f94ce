"""`gozero table NAME --weights FILE ...`: a published table of results, played again with networks of ours.

    gozero table s2 --weights nogo9.pt --dry-run
    gozero table s2 --weights nogo9.pt --pairs 50:20k policy:1000 --games 10
    gozero table s2 --weights nogo9.pt runs/s2/weights.pt --opponent "hahanogo {sims}"

NAME is one of TABLES. The table's pairs are played as a tournament (docs/tournaments.md), so the same command continues
one that was stopped, however that happened, and more pairs, games or weights may be added later. The table goes to
stdout, in the layout of the publication beside its figures, progress and complaints to stderr. What comes out lies in
the folder of --out: tournament.html with the table at its head, table.svg, table.csv, results.csv, results.json, games/
and journal.jsonl. Exit code: 0; 1 when a game was lost by a fault or an entrant could not start; 2 when the request
makes no sense; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero import games
from gozero.nets.weights import Header
from gozero.play.engine import beyond_training, find_weights, spanned, supported_sizes
from gozero.system.console import INTERRUPTED, Parser, finite, run_command, say, stop_on_signals
from gozero.system.errors import ChoiceError
from training.matches.commands import SIMS, check_opponent
from training.matches.table import published
from training.matches.table.contest import Contest
from training.matches.table.layout import TableLayout
from training.matches.table.published import PublishedPair, PublishedTable
from training.matches.tournament import runner
from training.matches.tournament.field import Entrant, Field
from training.matches.tournament.runner import FOLDER, View

PROGRAM = "gozero table"
PICTURE, FIGURES = "table.svg", "table.csv"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is asked for; the exit code is described above."""
    options = _parser().parse_args(arguments)
    return run_command(PROGRAM, lambda: _run(options))


def _parser() -> argparse.ArgumentParser:
    about = (__doc__ or "").split("\n\n", 1)[1].replace("TABLES", ", ".join(published.names()))
    parser = Parser(
        prog=PROGRAM, description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", metavar="NAME", help=f"which table: {', '.join(published.names())}")
    parser.add_argument(
        "--weights", nargs="+", required=True, metavar="FILE", help="the networks, each of them in every pair"
    )
    parser.add_argument(
        "--opponent",
        metavar="COMMAND",
        help=f"a GTP engine; {SIMS} stands for its simulations a move (default: plain UCT)",
    )
    parser.add_argument("--opponent-name", metavar="TEXT", help="its name in the table (default: the program's)")
    parser.add_argument(
        "--pairs", nargs="+", metavar="PAIR", help="only these, such as 400:50k or policy:1000 (default: all)"
    )
    parser.add_argument(
        "--games", type=int, metavar="N", help="of each colour in each cell (default: as many as were published)"
    )
    parser.add_argument("--game", type=str.lower, metavar="NAME", help="default: the one that the weights play")
    parser.add_argument(
        "--size", type=int, metavar="N", help="board size (default: the table's, or else that of the weights)"
    )
    _add_play(parser)
    return parser


def _add_play(parser: argparse.ArgumentParser) -> None:
    """The options of how the games are played."""
    parser.add_argument(
        "--workers", type=int, default=0, metavar="N", help="processes that play (default: one for each core)"
    )
    parser.add_argument(
        "--opening-moves", type=int, default=2, metavar="N", help="random plies before the players begin (default 2)"
    )
    parser.add_argument("--seed", type=int, default=1, help="fixes the openings (default 1)")
    parser.add_argument(
        "--answer-seconds", type=finite, default=60.0, metavar="S", help="what any answer may take (default 60)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"folder (default {FOLDER}/table-NAME, behind it the names of another game and of the opponent)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="play nothing; say how many games there are and how long they will take"
    )


def _run(options: argparse.Namespace) -> int:
    contest = _contest(options)
    field = _field(options, contest)
    folder = options.out or FOLDER / _folder_name(options.table, contest, field)
    if options.dry_run:
        return runner.rehearse(field, folder, contest.steps(field))
    layout = TableLayout(contest)
    view = View(layout.text, layout.html, lambda found: {PICTURE: layout.picture(found), FIGURES: layout.csv(found)})
    stop = stop_on_signals("games under way are played anew by the same command")
    code = runner.play(field, folder, stop, view)
    return INTERRUPTED if stop() else code


def _folder_name(table: str, contest: Contest, field: Field) -> str:
    """`table-s2`, with the game's name behind it where it is another one, and the opponent's where it is a program; a
    name that fits into a path.
    """
    game = f"-{field.game}" * (field.game != contest.table.game)
    return Entrant(name=f"table-{table}{game}" + f"-{contest.opponent}" * bool(contest.command)).file_name


def _contest(options: argparse.Namespace) -> Contest:
    """Who plays. ChoiceError and SettingsError for names that cannot be."""
    table = published.load(options.table)
    for number, file in enumerate(options.weights):
        if file in options.weights[:number]:
            raise ChoiceError(f"--weights names {file} twice: give each file once")
    if options.opponent is not None:
        check_opponent(options.opponent)
    elif options.opponent_name:
        raise ChoiceError("--opponent-name names the engine of --opponent: give both, or neither")
    return Contest(table, tuple(options.weights), options.opponent or "", options.opponent_name or "")


def _field(options: argparse.Namespace, contest: Contest) -> Field:
    """The tournament that is asked for."""
    table = contest.table
    if options.games is not None and options.games < 1:
        raise ChoiceError(f"--games {options.games}: expected 1 or more of each colour in each cell")
    game, size = _board(options, table)
    values = {
        "game": game,
        "size": size,
        "games": 2 * (table.games if options.games is None else options.games),
        "opening_moves": options.opening_moves,
        "seed": options.seed,
        "processes": options.workers,
        "answer_seconds": options.answer_seconds,
    }
    return contest.field(f"the table {options.table}", _cells(options, table), **values)


def _cells(options: argparse.Namespace, table: PublishedTable) -> list[PublishedPair]:
    """The pairs to be played. ChoiceError for one that the table does not have."""
    if options.pairs is None:
        return table.pairs
    wanted = {PublishedPair.parse(text, "--pairs") for text in options.pairs}
    for pair in wanted - set(table.pairs):
        known = ", ".join(str(known).replace(" ", "").replace(",", "") for known in table.pairs)
        raise ChoiceError(f"--pairs: {pair} is not in the table {options.table}: expected some of {known}")
    return [pair for pair in table.pairs if pair in wanted]


def _board(options: argparse.Namespace, table: PublishedTable) -> tuple[str, int]:
    """The game and the board size. WeightsError and ChoiceError where the weights do not play them."""
    headers = {file: find_weights(file, options.game)[1] for file in options.weights}
    (first, header), *others = headers.items()
    for file, other in others:
        if other.game != header.game:
            raise ChoiceError(f"--weights: {first} plays {header.game} and {file} plays {other.game}: give one game's")
    size = _usual_size(header, table) if options.size is None else options.size
    for file, each in headers.items():
        if size not in supported_sizes(each):
            raise ChoiceError(f"--size {size}: {file} plays {header.game} on {spanned(supported_sizes(each))}")
        if line := beyond_training(each.trained, size):
            say(f"{PROGRAM}: {file}: {line}")
    return header.game, size


def _usual_size(header: Header, table: PublishedTable) -> int:
    """The table's board where the weights play it, else their own."""
    if header.game == table.game and header.only in (None, table.size):
        return table.size
    return header.only or header.size or int(games.usual(header.game, "size") or 0)
