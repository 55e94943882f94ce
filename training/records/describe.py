"""Recorded games as text: a headline, the lines beside a board, a summary of many games, and files for other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from gozero.games import GO_FAMILY, coords
from gozero.games.game import BLACK, WHITE, Game
from gozero.records import sgf
from gozero.records.move_list import written
from gozero.system.words import counted
from training.records import library
from training.records.library import Entry
from training.records.records import Target

BINS = 8  # bars of a histogram
OPENING_PLIES = 4  # what counts as the same opening


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


def position_lines(entry: Entry, ply: int, target: Target | None, to_play: int, top: int) -> list[str]:
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


def beside(board: str, lines: list[str]) -> str:
    """The lines to the right of the board's rows, from its second line."""
    left = board.splitlines()
    left += [""] * (len(lines) + 1 - len(left))
    right = ["", *lines, *[""] * (len(left) - len(lines) - 1)]
    width = max(map(len, left)) + 3
    return "\n".join(f"{one:<{width}}{other}".rstrip() for one, other in zip(left, right, strict=True))


def summarise(entries: Sequence[Entry]) -> dict[str, Any]:
    """The games of one size in numbers: lengths in moves with a histogram, results, endings, the commonest openings."""
    games = [entry.record for entry in entries]
    lengths = np.array([len(game.moves) for game in games])
    step = -(-(int(np.ptp(lengths)) + 1) // BINS)  # moves a bar
    histogram = [
        {"from": low, "to": low + step - 1, "games": int(((lengths >= low) & (lengths < low + step)).sum())}
        for low in range(int(lengths.min()), int(lengths.max()) + 1, step)
    ]
    openings = Counter(library.opening(entry.record, entry.game(), OPENING_PLIES) for entry in entries)
    length = {"mean": round(float(lengths.mean()), 1), "least": int(lengths.min()), "most": int(lengths.max())}
    return {
        "games": len(games),
        "rows": sum(game.rows for game in games),
        "length": {**length, "histogram": histogram},
        "results": {name: sum(library.winner(game) == name for game in games) for name in ("B", "W", "draw")},
        "endings": dict(Counter(game.ending for game in games).most_common()),
        "openings": {"different": len(openings), "commonest": dict(openings.most_common(5))},
        "repeated": len(games) - len({(game.komi, game.moves.tobytes()) for game in games}),
    }


def summary_text(game: Game, summary: dict[str, Any]) -> str:
    """A summary as text."""
    games, length, openings = summary["games"], summary["length"], summary["openings"]
    most = max(bar["games"] for bar in length["histogram"])
    return "\n".join(
        [
            f"{game.dimensions}: {counted(games, 'game')}, {counted(summary['rows'], 'row')}, "
            f"{summary['repeated']} games that repeat another",
            *(
                f"  {group:<9}" + " ".join(f"{name} {n} ({n / games:.0%})" for name, n in summary[group].items())
                for group in ("results", "endings")
            ),
            f"  moves    {length['mean']} on average, {length['least']} to {length['most']}",
            *(
                f"  {bar['from']:>5}-{bar['to']:<5}{bar['games']:>6} {'#' * round(40 * bar['games'] / most)}"
                for bar in length["histogram"]
            ),
            f"  openings {openings['different']} different ones of {OPENING_PLIES} moves, symmetries counted as one; "
            "the commonest:",
            *(f"    {n / games:6.1%}  {text}" for text, n in openings["commonest"].items()),
        ]
    )


def free_path(folder: Path, entry: Entry, taken: Collection[Path]) -> Path:
    """RUN-SHARD-NUMBER.sgf in a folder; RUN-SHARD-NUMBER-2.sgf and so on if a game of a run of the same name has it."""
    place = entry.shard.resolve().parent
    run = place.parent if place.name == "records" else place
    stem = f"{run.name}-{entry.shard.stem}-{entry.number:04}"
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(path for name in names if (path := folder / f"{name}.sgf") not in taken)


def sgf_record(entry: Entry, top: int) -> sgf.GameRecord:
    """The game as an SGF record; the comment of a move is what the full search before it saw."""
    record, game = entry.record, entry.game()
    player = f"gozero {entry.settings.get('network', '')}".strip() + f", generation {record.generation}"
    colours = [BLACK if ply % 2 == 0 else WHITE for ply in range(len(record.moves))]
    searches = (
        (target.ply, search_lines(target, game, colours[target.ply], top)) for target in record.targets
    )
    comments = [(ply + 1, "\n".join(["searched before this move:", *lines])) for ply, lines in searches]
    return sgf.GameRecord(
        record.size,
        tuple(zip(colours, record.moves.tolist(), strict=True)),
        komi=record.komi if game.name in GO_FAMILY else None,
        result=entry.result,
        rules=entry.rules,
        black_name=player,
        white_name=player,
        comments=((0, headline(entry)), *comments),
        game=game.name,
    )


def move_list(entry: Entry) -> str:
    """The game as a list of moves, with its headline: of games that SGF has no number for."""
    moves = ((WHITE if ply % 2 else BLACK, action) for ply, action in enumerate(entry.record.moves.tolist()))
    return written(entry.game(), moves, headline(entry))
