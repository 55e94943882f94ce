"""The commands on games of self-play, which `training.commands.records` lists. A damaged record is skipped and counted,
here as in training.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from gozero.games.game import TO_PLAY
from gozero.records import sgf
from gozero.system.console import say
from gozero.system.words import counted
from training.records import describe, library, scoring
from training.records.library import Entry, Library, LibraryError
from training.records.records import COLUMNS
from training.records.replay import CorruptRecordError, states_of


def _chosen(options: argparse.Namespace, found: Library) -> Iterable[Entry]:
    """The games that the options ask for, in their order."""
    entries: Iterable[Entry] = (entry for entry in found.entries() if _is_wanted(entry, options))
    if options.sort:
        entries = sorted(entries, key=lambda entry: _sort_key(entry, options.sort), reverse=options.reverse)
    elif options.reverse:
        entries = reversed(list(entries))
    return islice(entries, None if options.limit is None else min(options.limit, sys.maxsize))


def _is_wanted(entry: Entry, options: argparse.Namespace) -> bool:
    """Whether a game passes the filters; games of unknown surprise have too little of it."""
    record, moves = entry.record, len(entry.record.moves)
    first, last = options.generation or (record.generation, record.generation)
    known = library.surprise(record)
    return (
        options.min_length <= moves
        and (options.max_length is None or moves <= options.max_length)
        and options.result in (None, library.winner(record))
        and (not options.size or record.size in options.size)
        and (not options.ending or record.ending in options.ending)
        and first <= record.generation <= last
        and (options.surprise_at_least is None or (known is not None and known >= options.surprise_at_least))
    )


def _sort_key(entry: Entry, column: str) -> Any:
    """The key by which a column is sorted: Black's lead for the result; games of unknown surprise come first."""
    value = entry.record.score if column == "result" else facts(entry)[column]
    return -1.0 if value is None else value


def facts(entry: Entry) -> dict[str, Any]:
    """A game as plain values, by name of `COLUMNS`; surprise in nats, None where the record has none."""
    record = entry.record
    values = (record.generation, record.size, record.komi, len(record.moves), entry.result, record.ending, record.rows)
    surprise = library.surprise(record)
    return dict(zip(COLUMNS, (entry.name, *values, None if surprise is None else round(surprise, 2)), strict=True))


def _complain(found: Library) -> None:
    """Say on stderr which damaged records were skipped."""
    if found.complaint:
        say(found.complaint)


def show_list(options: argparse.Namespace) -> int:
    """`list`: text is written as it is found, JSON at the end."""
    found = Library(options.paths)
    rows = (facts(entry) for entry in _chosen(options, found))
    if options.json:
        print(json.dumps(list(rows), indent=1))
    elif options.csv:
        writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        width = max(len(path) for path in options.paths) + 14  # a shard's stem and a number
        layout = f"{{:<{width}}} {{:>10}} {{:>4}} {{:>5}} {{:>5}} {{:<8}} {{:<9}} {{:>4}} {{:>8}}"
        print(layout.format(*COLUMNS))
        for row in rows:
            print(layout.format(*map(_cell, row.values())))
    _complain(found)
    return 0


def _cell(value: Any) -> str:
    return "-" if value is None else format(value, "g") if isinstance(value, float) else str(value)


def show_game(options: argparse.Namespace) -> int:
    """`show`: the header, then boards with the searches beside them."""
    entry = library.find(options.game)
    record, game = entry.record, entry.game()
    if options.ply is not None and not 0 <= options.ply <= len(record.moves):
        raise LibraryError(f"--ply {options.ply} is not in this game: it has {counted(len(record.moves), 'move')}")
    if options.every is not None and options.every < 1:
        raise LibraryError(f"--every {options.every}: expected 1 or more")
    last = len(record.moves) if options.ply is None else options.ply
    wanted = {last} | set(range(0, last, options.every) if options.every else ())
    searches = {target.ply: target for target in record.targets}
    print(describe.headline(entry))
    try:
        for ply, state in enumerate(states_of(record, game)):
            if ply in wanted:
                lines = describe.position_lines(entry, ply, searches.get(ply), int(state[TO_PLAY]), options.top)
                print("\n" + describe.beside(game.to_text(state), lines))
    except CorruptRecordError as error:
        raise LibraryError(f"{entry.name} is no game under its rules: {error}") from None
    return 0


def check_all(options: argparse.Namespace) -> int:
    """`check`: whether the learner would accept every record, and the bytes that they take."""
    found, faults = Library(options.paths), dict[str, str]()
    counts = {"shards": len(found.shards), "games": 0, "rows": 0}
    for entry in found.entries():
        counts["games"] += 1
        counts["rows"] += entry.record.rows
        if reason := library.fault(entry):
            faults[entry.name] = reason
    if options.json:
        damaged = {"damaged": found.corrupt, "damaged_shards": [str(path) for path in found.damaged]}
        print(json.dumps({**counts, "bytes": found.bytes, **damaged, "impossible": faults}, indent=1))
    else:
        for name, reason in faults.items():
            print(f"{name}: {reason}")
        held = ", ".join(counted(count, name.removesuffix("s")) for name, count in counts.items())
        print(f"{held}, {found.bytes:,} bytes ({found.bytes / max(1, counts['games']):,.0f} bytes a game)")
        verdict = "none of them is trained on" if found.corrupt or faults else "all is well"
        print(f"{found.corrupt} damaged records, {len(faults)} impossible games: {verdict}")
    _complain(found)
    return 1 if found.corrupt or faults else 0


def show_summary(options: argparse.Namespace) -> int:
    """`summary`: one block for each board size, and for each game where there are several."""
    found = Library(options.paths)
    groups: dict[tuple[str, int], list[Entry]] = {}
    for entry in _chosen(options, found):
        groups.setdefault((entry.settings.get("game", scoring.GO), entry.record.size), []).append(entry)
    several = len({game for game, _ in groups}) > 1
    blocks, texts = {}, []
    for (game, size), entries in sorted(groups.items()):
        block = describe.summarise(entries)
        blocks[f"{game} {size}" if several else str(size)] = block
        texts.append((f"{game}, " if several else "") + describe.summary_text(entries[0].game(), block))
    if options.json:
        print(json.dumps(blocks, indent=1))
    else:
        print("\n\n".join(texts) or "no games")
    _complain(found)
    return 0


def export_sgf(options: argparse.Namespace) -> int:
    """`export`: RUN-SHARD-NUMBER.sgf, or .txt, for each sound game; existing files of that name are replaced, but for
    those of another game of this call.
    """
    found, written = Library(options.paths), set[Path]()
    try:
        options.sgf.mkdir(parents=True, exist_ok=True)
        for entry in _chosen(options, found):
            if reason := library.fault(entry):
                say(f"{entry.name} is left out: {reason}")
                continue
            target = describe.free_path(options.sgf, entry, written)
            if entry.game().name in sgf.GAME_NUMBERS:
                target.write_bytes(sgf.serialise(describe.sgf_record(entry, options.top)))
            else:
                target.with_suffix(".txt").write_text(describe.move_list(entry), encoding="utf-8")
            written.add(target)
    except OSError as error:
        raise LibraryError(f"cannot write {error.filename or options.sgf}: {error.strerror}") from None
    print(f"{counted(len(written), 'game')} written to {options.sgf}")
    _complain(found)
    return 0
