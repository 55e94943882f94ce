"""A recorded game as a file for other programs: SGF with what the searches saw, or a list of moves."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from gozero.games import GO_FAMILY
from gozero.games.game import BLACK, WHITE
from gozero.records import sgf
from gozero.records.move_list import written
from training.records import describe
from training.records.library import Entry


def file_name(entry: Entry) -> str:
    """RUN-SHARD-NUMBER.sgf."""
    folder = entry.shard.resolve().parent
    run = folder.parent if folder.name == "records" else folder
    return f"{run.name}-{entry.shard.stem}-{entry.number:04}.sgf"


def free_path(folder: Path, entry: Entry, taken: Collection[Path]) -> Path:
    """The path of `file_name` in a folder; RUN-SHARD-NUMBER-2.sgf and so on where a game of a run of the same name has
    taken it.
    """
    path, number = folder / file_name(entry), 1
    while path in taken:
        number += 1
        path = folder / file_name(entry).replace(".sgf", f"-{number}.sgf")
    return path


def sgf_record(entry: Entry, top: int) -> sgf.GameRecord:
    """The game as an SGF record; the comment of a move is what the full search before it saw."""
    record, game = entry.record, entry.game()
    player = f"gozero {entry.settings.get('network', '')}".strip() + f", generation {record.generation}"
    colours = [BLACK if ply % 2 == 0 else WHITE for ply in range(len(record.moves))]
    searches = (
        (target.ply, describe.search_lines(target, game, colours[target.ply], top)) for target in record.targets
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
        comments=((0, describe.headline(entry)), *comments),
        game=game.name,
    )


def move_list(entry: Entry) -> str:
    """The game as a list of moves, with its headline: of games that SGF has no number for."""
    moves = ((WHITE if ply % 2 else BLACK, action) for ply, action in enumerate(entry.record.moves.tolist()))
    return written(entry.game(), moves, describe.headline(entry))
