"""Plays a published table again: which game and board, in which folder, and what becomes of the results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gozero import games
from gozero.nets.weights import Header
from gozero.play.engine import beyond_training, find_weights, spanned, supported_sizes
from gozero.system.console import INTERRUPTED, say, stop_on_signals
from gozero.system.errors import ChoiceError
from training.matches.table.contest import Contest
from training.matches.table.layout import TableLayout
from training.matches.table.published import PublishedPair, PublishedTable
from training.matches.tournament import runner
from training.matches.tournament.field import Entrant, Field
from training.matches.tournament.presets import OUT
from training.matches.tournament.runner import View

PICTURE, FIGURES = "table.svg", "table.csv"


def play(options: argparse.Namespace, table: PublishedTable, cells: Sequence[PublishedPair]) -> int:
    """Play the cells that the options of `training.commands.table` ask for; the exit code."""
    contest = Contest(table, tuple(options.weights), options.opponent or "", options.opponent_name or "")
    field = _field(options, contest, cells)
    folder = options.out or OUT / _folder_name(options.table, contest, field)
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


def _field(options: argparse.Namespace, contest: Contest, cells: Sequence[PublishedPair]) -> Field:
    table = contest.table
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
    return contest.field(f"the table {options.table}", cells, **values)


def _board(options: argparse.Namespace, table: PublishedTable) -> tuple[str, int]:
    """The game and the board size. WeightsError and ChoiceError if the weights do not play them."""
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
            say(f"gozero table: {file}: {line}")
    return header.game, size


def _usual_size(header: Header, table: PublishedTable) -> int:
    """The table's board where the weights play it, else their own."""
    if header.game == table.game and header.only in (None, table.size):
        return table.size
    return header.only or header.size or int(games.usual(header.game, "size") or 0)
