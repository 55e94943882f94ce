"""`python -m training.records`: look at games of self-play: list, show, summarise, check, and export them as SGF.

    python -m training.records list runs/go13 --size 13 --sort moves --limit 20
    python -m training.records show runs/go13/000012:7 --every 20
    python -m training.records summary runs/go13
    python -m training.records check runs/go13
    python -m training.records export runs/go13 --generation 30-33 --sgf /tmp/games

PATH is a run folder, a folder of shards or a shard; `list` prints the name of each game, which `show` takes. Tables and
boards go to stdout, complaints to stderr. Exit code: 0; 1 when `check` finds a damaged or impossible game; 2 for a
request that makes no sense. This module changes no record: a damaged one is skipped and counted, here as in training.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gozero import coords, sgf
from gozero.games import GO_FAMILY
from gozero.games.game import BLACK, TO_PLAY, WHITE, Game
from training.records import library
from training.records.library import Entry, Filter, Library, LibraryError
from training.records.records import ENDINGS, Target
from training.records.replay import CorruptRecordError, states_of

COLUMNS = ("game", "generation", "size", "komi", "moves", "result", "ending", "rows", "surprise")
BINS = 8  # bars of a histogram
OPENING_MOVES = 4  # what `summary` counts as the same opening


def main(arguments: Sequence[str] | None = None) -> int:
    """One command; the exit code is described above."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except LibraryError as error:
        print(f"training.records: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `| head`: the reader has seen enough; nothing more may be written, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.records", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="list | show | summary | check | export")
    listing = _command(commands, "list", show_list, "a line for each game", filters=True)
    listing.add_argument("--csv", action="store_true", help="comma-separated values")
    summary = _command(
        commands, "summary", show_summary, "lengths, results, endings and openings of each board size", filters=True
    )
    check = _command(commands, "check", check_all, "play every game again under its rules")
    for command in (listing, summary, check):
        command.add_argument("--json", action="store_true", help="for machines")
    export = _command(
        commands,
        "export",
        export_sgf,
        "one SGF file a game, with what the searches saw; of Connect-4 and tic-tac-toe, which SGF does not know, a "
        "list of moves",
        filters=True,
    )
    export.add_argument("--sgf", type=Path, required=True, metavar="FOLDER", help="where the files go")
    show = commands.add_parser("show", help="boards, with what the searches saw")
    show.set_defaults(run=show_game)
    show.add_argument("game", metavar="GAME", help="a name that `list` printed")
    show.add_argument("--ply", type=int, metavar="N", help="the position after N moves (default: the last)")
    show.add_argument("--every", type=int, metavar="K", help="the positions after 0, K, 2K ... moves, and the last")
    for command in (export, show):
        command.add_argument("--top", type=_count, default=5, metavar="M", help="moves of a search to name (default 5)")
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
            "--surprise-at-least", type=float, metavar="NATS", help="mean surprise of its full searches"
        )
        command.add_argument("--limit", type=_count, metavar="N", help="at most N games")
        command.add_argument("--sort", choices=COLUMNS, help="order by a column of `list`")
        command.add_argument("--reverse", action="store_true", help="largest first")
    return command


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not first.isdigit() or not (last or first).isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a generation nor a range such as 10-20")
    return int(first), int(last or first)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _chosen(options: argparse.Namespace, found: Library) -> Iterable[Entry]:
    """The games that the options ask for, in their order."""
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
    return islice(entries, options.limit)


def _sort_key(entry: Entry, column: str) -> Any:
    """What a column is ordered by; the result by Black's lead, games of unknown surprise before all others."""
    value = entry.record.score if column == "result" else facts(entry)[column]
    return -1.0 if value is None else value


def facts(entry: Entry) -> dict[str, Any]:
    """A game as plain values, by name of `COLUMNS`; surprise in nats, None where the record has none."""
    record = entry.record
    values = (record.generation, record.size, record.komi, len(record.moves), entry.result, record.ending, record.rows)
    surprise = library.surprise(record)
    return dict(zip(COLUMNS, (entry.name, *values, None if surprise is None else round(surprise, 2)), strict=True))


def _complain(found: Library) -> None:
    """Say on stderr what had to be skipped."""
    if found.corrupt:
        print(f"skipped {found.corrupt} damaged record(s) in {', '.join(map(str, found.damaged))}", file=sys.stderr)


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
        raise LibraryError(f"--ply {options.ply} is not in this game: it has {len(record.moves)} moves")
    if options.every is not None and options.every < 1:
        raise LibraryError(f"--every {options.every}: expected 1 or more")
    last = len(record.moves) if options.ply is None else options.ply
    wanted = {last} | set(range(0, last, options.every) if options.every else ())
    searches = {target.ply: target for target in record.targets}
    print(_headline(entry))
    try:
        for ply, state in enumerate(states_of(record, game)):
            if ply in wanted:
                print(
                    "\n"
                    + beside(
                        game.to_text(state), _notes(entry, ply, searches.get(ply), int(state[TO_PLAY]), options.top)
                    )
                )
    except CorruptRecordError as error:
        raise LibraryError(f"{entry.name} is no game under its rules: {error}") from None
    return 0


def _headline(entry: Entry) -> str:
    record = entry.record
    game = entry.game()
    terms = [game.dimensions]
    terms += [entry.rules] if entry.rules else []
    terms += [f"komi {record.komi:g}"] if game.name in GO_FAMILY else []
    terms += [f"generation {record.generation}"]
    terms += [f"network {entry.settings['network']}"] if "network" in entry.settings else []
    return (
        f"{entry.name}: {', '.join(terms)}; "
        f"{len(record.moves)} moves, {record.openings} of them drawn as an opening; "
        f"{entry.result} ({record.ending}); {record.rows} full searches"
    )


def _notes(entry: Entry, ply: int, target: Target | None, to_play: int, top: int) -> list[str]:
    """What stands beside the position after `ply` moves: the move before, the move after, and the search if it was
    full.
    """
    record, game = entry.record, entry.game()
    notes = [f"after {ply} of {len(record.moves)} moves"]
    moves = [coords.vertex(action, game.cols, game.rows) for action in record.moves.tolist()]
    if ply > 0:
        notes.append(f"last move   {moves[ply - 1]}")
    if ply < len(moves):
        notes.append(f"next move   {moves[ply]}{' (opening)' if ply < record.openings else ''}")
    else:
        notes.append(f"result      {entry.result} ({record.ending})")
    return [*notes, *(_search(target, game, to_play, top) if target else [])]


def _search(target: Target, game: Game, to_play: int, top: int) -> list[str]:
    """A full search in lines: value, surprise, and the moves with the largest shares."""
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


def check_all(options: argparse.Namespace) -> int:
    """`check`: what the learner would do with every record, and the bytes that it takes."""
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
        print(f"{found.shards} shards, {games} games, {rows} rows, {found.bytes:,} bytes ({size})")
        verdict = "none of them is trained on" if found.corrupt or faults else "all is well"
        print(f"{found.corrupt} damaged records, {len(faults)} impossible games: {verdict}")
    _complain(found)
    return 1 if found.corrupt or faults else 0


def show_summary(options: argparse.Namespace) -> int:
    """`summary`: one block for each board size."""
    found = Library(options.paths)
    by_size: dict[int, list[Entry]] = {}
    for entry in _chosen(options, found):
        by_size.setdefault(entry.record.size, []).append(entry)
    blocks = {size: summarise(entries) for size, entries in sorted(by_size.items())}
    if options.json:
        print(json.dumps(blocks, indent=1))
    else:
        print("\n\n".join(_block(by_size[size][0].game(), block) for size, block in blocks.items()) or "no games")
    _complain(found)
    return 0


def summarise(entries: Sequence[Entry]) -> dict[str, Any]:
    """The games of one size in numbers: lengths in moves, shares of results and endings, a histogram, the commonest
    openings.
    """
    games = [entry.record for entry in entries]
    lengths = np.array([len(game.moves) for game in games])
    step = -(-(int(np.ptp(lengths)) + 1) // BINS)  # moves a bar
    bars = [(low, low + step - 1) for low in range(int(lengths.min()), int(lengths.max()) + 1, step)]
    histogram = [
        {"from": low, "to": high, "games": int(((lengths >= low) & (lengths <= high)).sum())} for low, high in bars
    ]
    openings = Counter(library.opening(entry.record, entry.game(), OPENING_MOVES) for entry in entries)
    return {
        "games": len(games),
        "rows": sum(game.rows for game in games),
        "length": {
            "mean": round(float(lengths.mean()), 1),
            "least": int(lengths.min()),
            "most": int(lengths.max()),
            "histogram": histogram,
        },
        "results": {name: sum(library.winner(game) == name for game in games) for name in ("B", "W", "draw")},
        "endings": dict(Counter(game.ending for game in games).most_common()),
        "openings": {"different": len(openings), "commonest": dict(openings.most_common(5))},
        "repeated": len(games) - len({(game.komi, game.moves.tobytes()) for game in games}),
    }


def _block(game: Game, block: dict[str, Any]) -> str:
    """A summary as text."""
    games, length = block["games"], block["length"]
    most = max(bar["games"] for bar in length["histogram"])
    shares = (
        " ".join(f"{name} {count} ({count / games:.0%})" for name, count in block[group].items())
        for group in ("results", "endings")
    )
    openings = block["openings"]
    return "\n".join(
        [
            f"{game.dimensions}: {games} games, {block['rows']} rows, {block['repeated']} games that repeat another",
            *(f"  {name:<9}{text}" for name, text in zip(("results", "endings"), shares, strict=True)),
            f"  moves    {length['mean']} on average, {length['least']} to {length['most']}",
            *(
                f"  {bar['from']:>5}-{bar['to']:<5}{bar['games']:>6} {'#' * round(40 * bar['games'] / most)}"
                for bar in length["histogram"]
            ),
            f"  openings {openings['different']} different ones of {OPENING_MOVES} moves, symmetries counted as one; "
            "the commonest:",
            *(f"    {count / games:6.1%}  {text}" for text, count in openings["commonest"].items()),
        ]
    )


def export_sgf(options: argparse.Namespace) -> int:
    """`export`: RUN-SHARD-NUMBER.sgf, or .txt, for each possible game; files of that name are written anew."""
    found, written = Library(options.paths), 0
    try:
        options.sgf.mkdir(parents=True, exist_ok=True)
        for entry in _chosen(options, found):
            if reason := library.fault(entry):
                print(f"{entry.name} is left out: {reason}", file=sys.stderr)
                continue
            target = options.sgf / _file_name(entry)
            if entry.game().name in sgf.GAME_NUMBERS:
                target.write_bytes(sgf.serialise(sgf_record(entry, options.top)))
            else:
                target.with_suffix(".txt").write_text(move_list(entry), encoding="utf-8")
            written += 1
    except OSError as error:
        raise LibraryError(f"cannot write {error.filename or options.sgf}: {error.strerror}") from None
    print(f"{written} games written to {options.sgf}")
    _complain(found)
    return 0


def _file_name(entry: Entry) -> str:
    folder = entry.shard.resolve().parent
    run = folder.parent if folder.name == "records" else folder
    return f"{run.name}-{entry.shard.stem}-{entry.number:04}.sgf"


def sgf_record(entry: Entry, top: int) -> sgf.GameRecord:
    """The game as an SGF record; the comment of a move is what the full search before it saw."""
    record, game = entry.record, entry.game()
    player = f"gozero {entry.settings.get('network', '')}".strip() + f", generation {record.generation}"
    colours = [BLACK if ply % 2 == 0 else WHITE for ply in range(len(record.moves))]
    searches = ((target.ply, _search(target, game, colours[target.ply], top)) for target in record.targets)
    comments = [(ply + 1, "\n".join(["searched before this move:", *lines])) for ply, lines in searches]
    return sgf.GameRecord(
        record.size,
        tuple(zip(colours, record.moves.tolist(), strict=True)),
        komi=record.komi if game.name in GO_FAMILY else None,
        result=entry.result,
        rules=entry.rules,
        black_name=player,
        white_name=player,
        comments=((0, _headline(entry)), *comments),
        game=game.name,
    )


def move_list(entry: Entry) -> str:
    """The game as a move a line, `black D4`, under its headline: of games that SGF has no number for."""
    game, moves = entry.game(), entry.record.moves.tolist()
    lines = [
        f"{('black', 'white')[ply % 2]} {coords.vertex(action, game.cols, game.rows)}"
        for ply, action in enumerate(moves)
    ]
    return "\n".join([f"# {_headline(entry)}", *lines, ""])
