"""The commands on games of self-play, which `training.commands.records` lists, and games as text. A damaged record is
skipped and counted, here as in training.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterable
from itertools import chain, count, islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from gozero.games import GO_FAMILY
from gozero.games.game import BLACK, TO_PLAY, WHITE, Game
from gozero.records import sgf
from gozero.records.move_list import written
from gozero.system.console import say
from gozero.system.errors import UserError
from gozero.system.words import counted
from training.records import library
from training.records.library import Entry, Library
from training.records.records import COLUMNS, Target
from training.records.rows import CorruptRecordError, states_of


def _chosen(options: argparse.Namespace, selected: Library) -> Iterable[Entry]:
    """The games that the options ask for, in their order."""
    entries: Iterable[Entry] = (entry for entry in selected.entries() if _is_wanted(entry, options))
    if options.sort:
        entries = sorted(entries, key=lambda entry: _sort_key(entry, options.sort), reverse=options.reverse)
    elif options.reverse:
        entries = reversed(list(entries))
    return islice(entries, options.limit)


def _is_wanted(entry: Entry, options: argparse.Namespace) -> bool:
    """Whether a game passes the filters."""
    record, moves = entry.record, len(entry.record.moves)
    first, last = options.generation or (record.generation, record.generation)
    return (
        options.min_length <= moves
        and (options.max_length is None or moves <= options.max_length)
        and options.result in (None, "draw" if record.score == 0 else "BW"[record.score < 0])
        and (not options.size or record.size in options.size)
        and (not options.ending or record.ending in options.ending)
        and first <= record.generation <= last
    )


def _sort_key(entry: Entry, column: str) -> Any:
    """The key by which a column is sorted: Black's lead for the result; games of unknown surprise come first."""
    value = entry.record.score if column == "result" else facts(entry)[column]
    return -1.0 if value is None else value


def facts(entry: Entry) -> dict[str, Any]:
    """A game as plain values, by name of `COLUMNS`; surprise in nats, None where the record has none."""
    record = entry.record
    values = (record.generation, record.size, record.komi, len(record.moves), entry.result, record.ending, record.rows)
    known = [target.surprise for target in record.targets if target.surprise is not None]
    surprise = round(sum(known) / len(known), 2) if known else None  # the mean
    return dict(zip(COLUMNS, (entry.name, *values, surprise), strict=True))


def show_list(options: argparse.Namespace) -> int:
    """`list`: text is written as it is found, JSON at the end."""
    selected = Library(options.paths)
    rows = (facts(entry) for entry in _chosen(options, selected))
    if options.json:
        print(json.dumps(list(rows), indent=1))
    else:
        width = max(len(path) for path in options.paths) + 14  # a shard's stem and a number
        layout = f"{{:<{width}}} {{:>10}} {{:>4}} {{:>5}} {{:>5}} {{:<8}} {{:<9}} {{:>4}} {{:>8}}"
        print(layout.format(*COLUMNS))
        is_empty = True
        for row in rows:
            print(layout.format(*map(_cell, row.values())))
            is_empty = False
        if is_empty:
            say("no game is as the options ask")
    selected.complain()
    return 0


def _cell(value: Any) -> str:
    return "-" if value is None else format(value, "g") if isinstance(value, float) else str(value)


def show_game(options: argparse.Namespace) -> int:
    """`show`: the header, then boards with the searches beside them."""
    entry = library.find(options.game)
    record, game = entry.record, entry.game()
    if options.ply is not None and not 0 <= options.ply <= len(record.moves):
        raise UserError(f"--ply {options.ply} is not in this game: it has {counted(len(record.moves), 'move')}")
    last = len(record.moves) if options.ply is None else options.ply
    wanted = {last} | set(range(0, last, options.every) if options.every else ())
    searches = {target.ply: target for target in record.targets}
    print(headline(entry))
    try:
        for ply, state in enumerate(states_of(record, game)):
            if ply in wanted:
                lines = position_lines(entry, ply, searches.get(ply), int(state[TO_PLAY]), options.top)
                print("\n" + beside(game.to_text(state), lines))
    except CorruptRecordError as error:
        raise UserError(f"{entry.name} is no game under its rules: {error}") from None
    return 0


def check_all(options: argparse.Namespace) -> int:
    """`check`: whether the learner would accept every record, and the bytes that they take."""
    selected, faults = Library(options.paths), dict[str, str]()
    counts = {"shards": len(selected.shards), "games": 0, "rows": 0}
    for entry in selected.entries():
        counts["games"] += 1
        counts["rows"] += entry.record.rows
        if reason := library.fault(entry):
            faults[entry.name] = reason
    if options.json:
        damaged = {"damaged": selected.corrupt, "damaged_shards": [str(path) for path in selected.damaged]}
        print(json.dumps({**counts, "bytes": selected.bytes, **damaged, "impossible": faults}, indent=1))
    else:
        for name, reason in faults.items():
            print(f"{name}: {reason}")
        held = ", ".join(counted(count, name.removesuffix("s")) for name, count in counts.items())
        print(f"{held}, {selected.bytes:,} bytes ({selected.bytes / max(1, counts['games']):,.0f} bytes a game)")
        verdict = "none of them is trained on" if selected.corrupt or faults else "all is well"
        print(f"{selected.corrupt} damaged records, {len(faults)} impossible games: {verdict}")
    selected.complain()
    return 1 if selected.corrupt or faults else 0


def export_sgf(options: argparse.Namespace) -> int:
    """`export`: RUN-SHARD-NUMBER.sgf, or .txt, for each sound game; existing files of that name are replaced, but for
    those of another game of this call.
    """
    selected, files = Library(options.paths), set[Path]()
    try:
        options.sgf.mkdir(parents=True, exist_ok=True)
        for entry in _chosen(options, selected):
            if reason := library.fault(entry):
                say(f"{entry.name} is left out: {reason}")
                continue
            target, record = free_path(options.sgf, entry, files), sgf_record(entry, options.top)
            if record.game in sgf.GAME_NUMBERS:
                target.write_bytes(sgf.serialise(record))
            else:
                text = written(entry.game(), record.moves, headline(entry))
                target.with_suffix(".txt").write_text(text, encoding="utf-8", errors="backslashreplace")
            files.add(target)
    except OSError as error:
        raise UserError(f"cannot write {error.filename or options.sgf}: {error.strerror}") from None
    print(f"{counted(len(files), 'game')} written to {options.sgf}")
    selected.complain()
    return 0


# Games as text


def headline(entry: Entry) -> str:
    """The game in one line: its terms, its length, its result."""
    record, game = entry.record, entry.game()
    komi = f"komi {record.komi:g}" if game.name in GO_FAMILY else ""
    network = f"network {entry.settings['network']}" if "network" in entry.settings else ""
    terms = (game.dimensions, entry.rules, komi, f"generation {record.generation}", network)
    return (
        f"{entry.name}: {', '.join(filter(None, terms))}; "
        f"{counted(len(record.moves), 'move')}, {record.openings} of them drawn as an opening; "
        f"{entry.result} ({record.ending}); {counted(record.rows, 'full search')}"
    )


def position_lines(entry: Entry, ply: int, target: Target | None, to_play: int, top: int) -> list[str]:
    """The lines beside the position after `ply` moves: last move, next move, and the search if it was full."""
    record, game = entry.record, entry.game()
    lines = [f"after {ply} of {len(record.moves)} moves"]
    moves = [game.vertex(action) for action in record.moves.tolist()]
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
    return [*lines, *(f"{game.vertex(int(target.actions[k])):<5} {target.shares[k]:6.1%}" for k in best)]


def beside(board: str, lines: list[str]) -> str:
    """The lines to the right of the board's rows, from its second line."""
    left = board.splitlines()
    width = max(map(len, left)) + 3
    pairs = zip_longest(left, ["", *lines], fillvalue="")
    return "\n".join(f"{one:<{width}}{other}".rstrip() for one, other in pairs)


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
    searches = ((target.ply, search_lines(target, game, colours[target.ply], top)) for target in record.targets)
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
