"""`gozero match`: a tournament of two, whose games are listed as they end."""

from __future__ import annotations

import argparse
from collections import Counter

from training.matches.match import MatchGame, total_of
from training.matches.options import field_values
from training.matches.tables import csv_text
from training.matches.tournament import field as fields
from training.matches.tournament import runner
from training.matches.tournament.results import Results, remarks
from training.matches.tournament.runner import View

LETTERS = "AB"


def play(options: argparse.Namespace) -> int:
    """Play the match that the options of `training.commands.match` ask for; the exit code."""
    a, b = (" ".join(player.split()) for player in (options.a, options.b))
    names = (a, b if b != a else f"{b} (B)")
    entrants = [{"player": player, "name": name} for player, name in zip((options.a, options.b), names, strict=True)]
    field = fields.made(field_values(options) | {"entrant": entrants, "games": options.games}, "the match")
    view = View(
        text=verdict,
        line=lambda game: game_line(game, names),
        files=lambda found: {options.csv.absolute(): games_csv(found)} if options.csv else {},
    )
    return runner.play_once(field, options, view)


def game_line(game: MatchGame, names: tuple[str, str]) -> str:
    """One game as a line of the list; faults and other winners than the referee's are spelled out below it."""
    black = LETTERS[names.index(game.black)]
    says = "".join(
        f"; player {LETTERS[names.index(name)]} says {claim}"
        for name, claim in zip(game.pair, game.claims, strict=True)
        if claim is not None
    )
    moves = f"{len(game.moves.split()) // 2:5} moves"
    line = f"{game.index + 1:4}  player {black} is Black  {game.result:<8} {moves}, {game.ended}{says}"
    detail = [game.detail] if game.detail else []
    if not game.agreed:
        detail.append(f"the players do not name the referee's winner, {game.result}")
    return "\n      ".join([line, *detail])


def verdict(results: Results) -> str:
    """The match in a few lines: score with interval, by colour, how games ended, what is to be said of them."""
    a, b = results.field.names
    ways = Counter(game.ended for game in results.games)
    scored = [total_of([game for game in results.games if name in ("", game.black)], a) for name in ("", a, b)]
    lines = [
        f"A = {a}, B = {b}",
        f"A scored {scored[0]}",
        f"  as Black {scored[1]}",
        f"  as White {scored[2]}",
        f"ended: {', '.join(f'{way} {count}' for way, count in ways.most_common())}",
    ]
    return "\n".join([*(lines if results.games else []), *remarks(results)])


def games_csv(results: Results) -> str:
    """A line for each game, in the order of the schedule; empty before the first."""
    columns = ("black", "white", "winner", "result", "moves", "ended", "detail", "agreed")
    games = sorted(results.games, key=lambda game: game.index)
    rows = [{"game": game.index + 1} | {name: getattr(game, name) for name in columns} for game in games]
    return csv_text(rows) if rows else ""
