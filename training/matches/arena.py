"""`gozero match A B`: a match between any two players, refereed, listed game by game, with its interval.

    gozero match weights:weights/best.pt:100 random --size 9 --games 100 --seed 1
    gozero match "gtp:gozero-gtp --visits 100 --no-resign" "gtp:gnugo --mode gtp --level 1" --sgf games/
    gozero match uct:1000 perfect --game connect4

What A and B may be is listed in `training.matches.players`; how games are played and end in `training.matches.match`.
The table and the verdict go to stdout, progress and complaints to stderr. Exit code: 0 when every game was sound; 1
when a player made an illegal move, failed, or named another winner than the referee; 2 when the request makes no sense,
or a player lost three games in a row, or both of two, by illegal moves, and then there is no verdict; 130 after Ctrl-C.
Games that are won by no number of points have the results `B+`, `W+` and `0`.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from gozero import games
from gozero.games import GO_FAMILY
from gozero.games.game import Game
from gozero.records import sgf
from gozero.system import files
from gozero.system.console import Parser, run_command
from gozero.system.errors import ChoiceError
from gozero.system.words import counted
from training.matches import players
from training.matches.commands import (
    add_game,
    add_play,
    check_files,
    check_folder,
    described,
    in_parallel,
    open_game,
)
from training.matches.elo import wilson
from training.matches.match import MatchGame, MatchSettings, distinct_games, play_match, tally
from training.matches.players import Conditions

LETTERS = "AB"
FILE_KEPT, GAMES_KEPT = "what it held before is kept", "the games before are in it"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one match from the command line; the exit code is described above."""
    options = _parser().parse_args(arguments)
    return run_command("gozero match", lambda: _run(options), interrupted="no game was finished")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="gozero match", description=__doc__.split("\n\n")[0], epilog=players.__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("a", metavar="A", help="the player whose score is counted")
    parser.add_argument("b", metavar="B", help="the opponent")
    add_game(parser)
    add_play(parser)
    parser.add_argument(
        "--games", type=int, default=20, help="even: each opening is played with both colours (default 20)"
    )
    parser.add_argument(
        "--opening-moves", type=int, default=0, metavar="N", help="random plies before the players begin (default 0)"
    )
    parser.add_argument(
        "--max-moves", type=int, default=700, metavar="N", help="plies after which the board is counted (default 700)"
    )
    parser.add_argument("--sgf", type=Path, metavar="DIR", help="save every game of Go as DIR/game-NNN.sgf")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="save the list of games, each as it ends")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save settings, result and games")
    return parser


def _run(options: argparse.Namespace) -> int:
    game, komi = open_game(options)
    if options.sgf and game.name not in GO_FAMILY:
        raise ChoiceError(f"--sgf saves games of Go only: --csv and --json hold the moves of {game.name}")
    check_files(options.csv, options.json)
    if options.sgf:
        check_folder(options.sgf)
    parallel = in_parallel(options, options.a, options.b)
    settings = MatchSettings(options.games, options.seed, options.opening_moves, options.max_moves, parallel)
    conditions = Conditions(game, komi, options.seed, parallel, options.move_seconds, options.threads)
    start = time.perf_counter()
    with ExitStack() as opened:
        first, second = (
            opened.enter_context(closing(players.open_player(text, conditions))) for text in (options.a, options.b)
        )
        print(f"A = {options.a}  ({first.name})\nB = {options.b}  ({second.name})")
        print(f"{described(game, komi, options)}; {settings}")
        print("game black white result   moves ended         A says   B says", flush=True)
        match = Match(options, (first.name, second.name), settings, conditions, [])
        try:
            for record in play_match((first, second), game, settings):
                print(row(record), flush=True)
                match.keep(record)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(match.kept()) from None
        finally:  # what was finished is kept, however the match ends
            match.finish()
    print("\n".join(verdict(match.records, time.perf_counter() - start)))
    return 0 if all(record.agreed and not record.detail for record in match.records) else 1


@contextmanager
def _writing(path: Path, kept: str = FILE_KEPT) -> Iterator[None]:
    """Turn a disk error into a ChoiceError that names the file, and says what is in it."""
    try:
        yield
    except OSError as error:
        raise ChoiceError(f"cannot write {path}: {error.strerror or error}; {kept}") from None


@dataclass(frozen=True)
class Match:
    """The finished games of a match and the files that they are saved in, as the options ask for."""

    options: argparse.Namespace
    names: tuple[str, str]
    settings: MatchSettings
    conditions: Conditions
    records: list[MatchGame]

    def keep(self, record: MatchGame) -> None:
        """Take a game that has just ended: its row and its SGF file are on disk at once."""
        self.records.append(record)
        is_first = len(self.records) == 1
        if self.options.csv:
            with _writing(self.options.csv, FILE_KEPT if is_first else GAMES_KEPT):
                write_csv(self.options.csv, [record], self.conditions.game, append=not is_first)
        if self.options.sgf:
            with _writing(self.options.sgf, GAMES_KEPT):
                write_sgf(self.options.sgf, record, self.names, self.conditions, self.options.rules)

    def finish(self) -> None:
        """Write the games in the order of their numbers, each file whatever becomes of the other. Files are left alone
        where no game was finished.
        """
        self.records.sort(key=lambda record: record.number)
        with ExitStack() as to_do:  # which is left in the opposite order
            if self.records and self.options.json:
                to_do.callback(self._finish_json)
            if self.records and self.options.csv:
                to_do.callback(self._finish_csv)

    def _finish_csv(self) -> None:
        with _writing(self.options.csv):
            write_csv(self.options.csv, self.records, self.conditions.game)

    def _finish_json(self) -> None:
        with _writing(self.options.json):
            write_json(self.options.json, self.options, self.names, self.settings, self.records, self.conditions)

    def kept(self) -> str:
        """Half a line about what an interrupted match leaves."""
        if not self.records:
            return "no game was finished"
        files = [str(file) for file in (self.options.csv, self.options.json, self.options.sgf) if file]
        count = f"{len(self.records)} of {self.settings.games} games were finished"
        return f"{count} and are kept in {' and '.join(files)}" if files else f"{count}, listed above"


def row(record: MatchGame) -> str:
    """One game as a line of the table; faults and disagreements are spelled out with the last position."""
    black, white = LETTERS[record.black], LETTERS[1 - record.black]
    says = "  ".join(f"{claim or '-':<7}" for claim in record.claims)
    end = f"{record.result:<8} {len(record.moves):5} {record.ended:<13}"
    line = f"{record.number + 1:4} {black:^5} {white:^5} {end} {says}".rstrip()
    if record.detail:
        line += f"\n     {record.detail}"
    if not record.agreed:
        line += f"\n     the players do not name the referee's winner, {record.result}:\n{record.diagram}"
    return line


def verdict(records: Sequence[MatchGame], seconds: float) -> list[str]:
    """The match in a few lines: score with interval, by colour, how games ended, whether all agreed."""
    ways = Counter(record.ended for record in records)
    asked = [record for record in records if any(claim is not None for claim in record.claims)]
    plies = sum(len(record.moves) for record in records)
    return [
        f"A scored {tally(records)}",
        f"  as Black {tally([r for r in records if r.black == 0])}",
        f"  as White {tally([r for r in records if r.black == 1])}",
        f"ended: {', '.join(f'{way} {count}' for way, count in ways.most_common())}",
        f"different games: {distinct_games(records)} of {len(records)}",
        f"final scores asked in {len(asked)} games; all named the referee's winner in {sum(r.agreed for r in asked)}",
        f"{counted(plies, 'move')} in {seconds:.0f} s ({1000 * seconds / max(1, plies):.1f} ms a move)",
    ]


def _fields(record: MatchGame, game: Game) -> dict[str, object]:
    """A game as plain values for CSV and JSON; moves as `B D4 W pass ...`."""
    fields = asdict(record)
    fields.pop("diagram")
    claims = fields.pop("claims")
    fields |= {
        "game": record.number + 1,
        "black": LETTERS[record.black],
        "A says": claims[0],
        "B says": claims[1],
        "agreed": record.agreed,
    }
    fields["winner"] = None if record.winner is None else LETTERS[record.winner]
    fields["moves"] = record.moves_text(game)
    fields.pop("number")
    return fields


def write_csv(path: Path, records: Sequence[MatchGame], game: Game, append: bool = False) -> None:
    """Write a line for each game, at least one; a heading first, unless they are appended to a file that has it."""
    rows, text = [_fields(record, game) for record in records], io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    if append:
        writer.writerows(rows)
        _append(path, text.getvalue().encode())
    else:
        writer.writeheader()
        writer.writerows(rows)
        files.write(path, text.getvalue().encode())


def listing(match: Iterable[MatchGame], path: Path | None, game: Game) -> Iterator[MatchGame]:
    """Yield each game of a match when its row is in the file, if there is one."""
    for number, record in enumerate(match):
        if path:
            write_csv(path, [record], game, append=number > 0)
        yield record


def _append(path: Path, content: bytes) -> None:
    """Write at a file's end, all or nothing. OSError where that fails."""
    with path.open("ab", buffering=0) as file:
        before = file.tell() if file.seekable() else None
        try:
            written = file.write(content)
            if written < len(content):  # the disk is full
                file.write(content[written:])
        except OSError:
            if before is not None:
                with suppress(OSError):
                    file.truncate(before)
            raise


def write_json(
    path: Path,
    options: argparse.Namespace,
    names: tuple[str, str],
    settings: MatchSettings,
    records: Sequence[MatchGame],
    conditions: Conditions,
) -> None:
    """Everything of the match: conditions, result with interval, games."""
    total, game = tally(records), conditions.game
    rules = options.rules or games.usual(game.name, "rules")
    document = {
        "players": [{"player": options.a, "name": names[0]}, {"player": options.b, "name": names[1]}],
        "game": {"name": game.name, "size": game.size, "komi": conditions.komi, "rules": rules},
        "settings": asdict(settings),
        "result": {
            **asdict(total),
            "score": total.score,
            "interval95": wilson(total.points, total.games),
            "text": str(total),
        },
        "games": [_fields(record, game) for record in records],
    }
    files.write(path, (json.dumps(document, indent=1) + "\n").encode())


def write_sgf(
    folder: Path, record: MatchGame, names: tuple[str, str], conditions: Conditions, rules: str | None
) -> None:
    """Save one game of Go as `game-NNN.sgf`."""
    saved = sgf.GameRecord(
        conditions.game.size,
        record.moves,
        komi=conditions.komi,
        result=record.result,
        rules=rules or games.usual(conditions.game.name, "rules"),
        black_name=names[record.black],
        white_name=names[1 - record.black],
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"game-{record.number + 1:03}.sgf").write_bytes(sgf.serialise(saved))
