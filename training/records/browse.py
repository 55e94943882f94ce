"""`gozero records`: look at games of self-play: list, show, summarise, check, and export them as SGF.

    gozero records list runs/go13 --size 13 --sort moves --limit 20
    gozero records show runs/go13/000012:7 --every 20
    gozero records summary runs/go13
    gozero records check runs/go13
    gozero records export runs/go13 --generation 30-33 --sgf /tmp/games

PATH is a run folder, a folder of shards or a shard; `list` prints the name of each game, which `show` takes. Tables and
boards go to stdout, complaints to stderr. Exit code: 0; 1 when `check` finds a damaged or impossible game; 2 for a
request that makes no sense. This module changes no record: a damaged one is skipped and counted, here as in training.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from gozero.games.game import TO_PLAY
from gozero.records import sgf
from gozero.system.console import Parser, finite, positive, run_command, say
from gozero.system.errors import ChoiceError
from gozero.system.words import counted
from training.records import describe, export, library, scoring, summary
from training.records.library import Entry, Filter, Library, LibraryError
from training.records.records import ENDINGS
from training.records.rows import CorruptRecordError, states_of

COLUMNS = ("game", "generation", "size", "komi", "moves", "result", "ending", "rows", "surprise")


def main(arguments: Sequence[str] | None = None) -> int:
    """One command; the exit code is described above."""
    options = _parser().parse_args(arguments)
    return run_command("gozero records", lambda: int(options.run(options)), (LibraryError,))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="gozero records", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="list | show | summary | check | export")
    listing = _command(commands, "list", show_list, "a line for each game", filters=True)
    listing.add_argument("--csv", action="store_true", help="comma-separated values")
    summarising = _command(
        commands, "summary", show_summary, "lengths, results, endings and openings of each board size", filters=True
    )
    check = _command(commands, "check", check_all, "play every game again under its rules")
    for command in (listing, summarising, check):
        command.add_argument("--json", action="store_true", help="for machines")
    exporting = _command(
        commands,
        "export",
        export_sgf,
        "one SGF file a game, with what the searches saw; of Connect-4 and tic-tac-toe, which SGF does not know, a "
        "list of moves",
        filters=True,
    )
    exporting.add_argument("--sgf", type=Path, required=True, metavar="FOLDER", help="where the files go")
    show = commands.add_parser("show", help="boards, with what the searches saw")
    show.set_defaults(run=show_game)
    show.add_argument("game", metavar="GAME", help="a name that `list` printed")
    show.add_argument("--ply", type=int, metavar="N", help="the position after N moves (default: the last)")
    show.add_argument("--every", type=int, metavar="K", help="the positions after 0, K, 2K ... moves, and the last")
    for command in (exporting, show):
        command.add_argument(
            "--top", type=positive, default=5, metavar="M", help="moves of a search to name (default 5)"
        )
    return parser


def _command(commands: Any, name: str, run: Any, about: str, filters: bool = False) -> argparse.ArgumentParser:
    """A command on PATHs, with the filters if it has them."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=about)
    command.set_defaults(run=run)
    command.add_argument("paths", nargs="+", metavar="PATH", help="run folder, folder of shards, or shard")
    if filters:
        command.add_argument("--min-length", type=int, default=0, metavar="MOVES")
        command.add_argument("--max-length", type=int, metavar="MOVES")
        command.add_argument("--result", choices=("B", "W", "draw"))
        command.add_argument(
            "--size", type=int, action="append", default=[], metavar="N", help="may be given more than once"
        )
        command.add_argument(
            "--ending", choices=ENDINGS, action="append", default=[], help="may be given more than once"
        )
        command.add_argument("--generation", type=_range, metavar="A-B", help="one generation, or from A to B")
        command.add_argument(
            "--surprise-at-least", type=finite, metavar="NATS", help="mean surprise of its full searches"
        )
        command.add_argument("--limit", type=positive, metavar="N", help="at most N games")
        command.add_argument("--sort", choices=COLUMNS, help="order by a column of `list`")
        command.add_argument("--reverse", action="store_true", help="largest first")
    return command


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not text.isascii() or not first.isdigit() or not (last or first).isdigit() or int(last or first) < int(first):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a generation nor a range such as 10-20")
    return int(first), int(last or first)


def _chosen(options: argparse.Namespace, found: Library) -> Iterable[Entry]:
    """The games that the options ask for, in their order. ChoiceError where no game could be among them."""
    if options.max_length is not None and options.max_length < options.min_length:
        raise ChoiceError(f"--max-length {options.max_length} is below --min-length {options.min_length}; change one")
    wanted = Filter(
        min_length=options.min_length,
        max_length=options.max_length,
        result=options.result,
        sizes=tuple(options.size),
        endings=tuple(options.ending),
        generations=options.generation,
        least_surprise=options.surprise_at_least,
    )
    entries: Iterable[Entry] = (entry for entry in found.entries() if wanted.wants(entry))
    if options.sort:
        entries = sorted(entries, key=lambda entry: _sort_key(entry, options.sort), reverse=options.reverse)
    elif options.reverse:
        entries = reversed(list(entries))
    return islice(entries, None if options.limit is None else min(options.limit, sys.maxsize))


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
    rows = _begun(facts(entry) for entry in _chosen(options, found))
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


def _begun(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same rows, the first of them found already: what cannot be read is said before a heading is printed."""
    return chain(list(islice(rows, 1)), rows)


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
                print(
                    "\n"
                    + describe.beside(
                        game.to_text(state),
                        describe.notes(entry, ply, searches.get(ply), int(state[TO_PLAY]), options.top),
                    )
                )
    except CorruptRecordError as error:
        raise LibraryError(f"{entry.name} is no game under its rules: {error}") from None
    return 0


def check_all(options: argparse.Namespace) -> int:
    """`check`: whether the learner would accept every record, and the bytes that they take."""
    found, games, rows, faults = Library(options.paths), 0, 0, []
    for entry in found.entries():
        games, rows = games + 1, rows + entry.record.rows
        if reason := library.fault(entry):
            faults.append((entry.name, reason))
    if options.json:
        counts = {"shards": found.shards, "games": games, "rows": rows, "bytes": found.bytes, "damaged": found.corrupt}
        print(
            json.dumps(
                {**counts, "damaged_shards": [str(path) for path in found.damaged], "impossible": dict(faults)},
                indent=1,
            )
        )
    else:
        for name, reason in faults:
            print(f"{name}: {reason}")
        size = f"{found.bytes / max(1, games):,.0f} bytes a game"
        print(
            f"{counted(found.shards, 'shard')}, {counted(games, 'game')}, {counted(rows, 'row')}, {found.bytes:,} bytes ({size})"
        )
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
        block = summary.summarise(entries)
        blocks[f"{game} {size}" if several else str(size)] = block
        texts.append((f"{game}, " if several else "") + summary.as_text(entries[0].game(), block))
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
            target = export.free_path(options.sgf, entry, written)
            if entry.game().name in sgf.GAME_NUMBERS:
                target.write_bytes(sgf.serialise(export.sgf_record(entry, options.top)))
            else:
                target.with_suffix(".txt").write_text(export.move_list(entry), encoding="utf-8")
            written.add(target)
    except OSError as error:
        raise LibraryError(f"cannot write {error.filename or options.sgf}: {error.strerror}") from None
    print(f"{counted(len(written), 'game')} written to {options.sgf}")
    _complain(found)
    return 0
