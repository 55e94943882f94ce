"""A recorded game in words: its headline, and the lines beside a position with what its search found."""

from __future__ import annotations

import numpy as np

from gozero.games import GO_FAMILY, coords
from gozero.games.game import BLACK, Game
from gozero.system.words import counted
from training.records.library import Entry
from training.records.records import Target


def headline(entry: Entry) -> str:
    """The game in one line: its terms, its length, its result."""
    record = entry.record
    game = entry.game()
    terms = [game.dimensions]
    terms += [entry.rules] if entry.rules else []
    terms += [f"komi {record.komi:g}"] if game.name in GO_FAMILY else []
    terms += [f"generation {record.generation}"]
    terms += [f"network {entry.settings['network']}"] if "network" in entry.settings else []
    return (
        f"{entry.name}: {', '.join(terms)}; "
        f"{counted(len(record.moves), 'move')}, {record.openings} of them drawn as an opening; "
        f"{entry.result} ({record.ending}); {counted(record.rows, 'full search')}"
    )


def notes(entry: Entry, ply: int, target: Target | None, to_play: int, top: int) -> list[str]:
    """The lines beside the position after `ply` moves: last move, next move, and the search if it was full."""
    record, game = entry.record, entry.game()
    lines = [f"after {ply} of {len(record.moves)} moves"]
    moves = [coords.vertex(action, game.cols, game.rows) for action in record.moves.tolist()]
    if ply > 0:
        lines.append(f"last move   {moves[ply - 1]}")
    if ply < len(moves):
        lines.append(f"next move   {moves[ply]}{' (opening)' if ply < record.openings else ''}")
    else:
        lines.append(f"result      {entry.result} ({record.ending})")
    return [*lines, *(search_lines(target, game, to_play, top) if target else [])]


def search_lines(target: Target, game: Game, to_play: int, top: int) -> list[str]:
    """A full search in lines: value, surprise, and the `top` moves with the largest shares."""
    side = "Black" if to_play == BLACK else "White"
    lines = [f"value       {target.value:+.2f} for {side} (wins {(1 + target.value) / 2:.0%})"]
    lines += [] if target.surprise is None else [f"surprise    {target.surprise:.2f} nats"]
    best = np.argsort(-target.shares, kind="stable")[:top]
    return [
        *lines,
        *(f"{coords.vertex(int(target.actions[k]), game.cols, game.rows):<5} {target.shares[k]:6.1%}" for k in best),
    ]


def beside(board: str, notes: list[str]) -> str:
    """The notes to the right of the board's rows, from its second line."""
    left = board.splitlines()
    left += [""] * (len(notes) + 1 - len(left))
    right = ["", *notes, *[""] * (len(left) - len(notes) - 1)]
    width = max(map(len, left)) + 3
    return "\n".join(f"{one:<{width}}{other}".rstrip() for one, other in zip(left, right, strict=True))
