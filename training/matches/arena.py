"""A match between two players: its games as they end, its files, its verdict. The command is `gozero match`."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from gozero import games
from gozero.games.game import Game
from gozero.records import sgf
from gozero.system import files
from gozero.system.errors import ChoiceError
from gozero.system.words import counted
from training.matches import players
from training.matches.interface import Conditions
from training.matches.match import MatchGame, MatchSettings, distinct_games, match_score, play_match
from training.matches.options import described, in_parallel, open_game
from training.matches.tables import csv_text

LETTERS = "AB"
FILE_KEPT, GAMES_KEPT = "what it held before is kept", "the games before are in it"


def play(options: argparse.Namespace) -> int:
    """Play the match that the options of `training.commands.match` ask for; the exit code."""
    game, komi = open_game(options)
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
                match.save(record)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(match.saved()) from None
        finally:  # what was finished is saved, however the match ends
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

    def save(self, record: MatchGame) -> None:
        """Take a game that has just ended: its row and its SGF file are on disk at once."""
        self.records.append(record)
        is_first = len(self.records) == 1
        if self.options.csv:
            with _writing(self.options.csv, FILE_KEPT if is_first else GAMES_KEPT):
                write_csv(self.options.csv, [record], self.conditions.game, append=not is_first)
        if self.options.sgf:
            with _writing(self.options.sgf, GAMES_KEPT):
                self._write_sgf(record)

    def finish(self) -> None:
        """Write the games in the order of their numbers, each file whatever becomes of the other. If no game was
        finished, files are left alone.
        """
        self.records.sort(key=lambda record: record.number)
        with ExitStack() as to_do:  # which is left in the opposite order
            if self.records and self.options.json:
                to_do.callback(self._write_json)
            if self.records and self.options.csv:
                to_do.callback(self._write_csv)

    def saved(self) -> str:
        """Half a line about what an interrupted match leaves."""
        if not self.records:
            return "no game was finished"
        written = [str(file) for file in (self.options.csv, self.options.json, self.options.sgf) if file]
        count = f"{len(self.records)} of {self.settings.games} games were finished"
        return f"{count} and are kept in {' and '.join(written)}" if written else f"{count}, listed above"

    def _write_csv(self) -> None:
        with _writing(self.options.csv):
            write_csv(self.options.csv, self.records, self.conditions.game)

    def _write_json(self) -> None:
        """Everything of the match: conditions, result with interval, games."""
        total, game = match_score(self.records), self.conditions.game
        described_players = zip((self.options.a, self.options.b), self.names, strict=True)
        rules = self.options.rules or games.usual(game.name, "rules")
        document = {
            "players": [{"player": player, "name": name} for player, name in described_players],
            "game": {"name": game.name, "size": game.size, "komi": self.conditions.komi, "rules": rules},
            "settings": asdict(self.settings),
            "result": asdict(total) | {"score": total.score, "interval95": total.interval, "text": str(total)},
            "games": [_fields(record, game) for record in self.records],
        }
        with _writing(self.options.json):
            files.write(self.options.json, (json.dumps(document, indent=1) + "\n").encode())

    def _write_sgf(self, record: MatchGame) -> None:
        """Save one game of Go as `game-NNN.sgf`."""
        game = self.conditions.game
        saved = sgf.GameRecord(
            game.size,
            record.moves,
            komi=self.conditions.komi,
            result=record.result,
            rules=self.options.rules or games.usual(game.name, "rules"),
            black_name=self.names[record.black],
            white_name=self.names[1 - record.black],
        )
        self.options.sgf.mkdir(parents=True, exist_ok=True)
        (self.options.sgf / f"game-{record.number + 1:03}.sgf").write_bytes(sgf.serialise(saved))


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
        f"A scored {match_score(records)}",
        f"  as Black {match_score([r for r in records if r.black == 0])}",
        f"  as White {match_score([r for r in records if r.black == 1])}",
        f"ended: {', '.join(f'{way} {count}' for way, count in ways.most_common())}",
        f"different games: {distinct_games(records)} of {len(records)}",
        f"final scores asked in {len(asked)} games; all named the referee's winner in {sum(r.agreed for r in asked)}",
        f"{counted(plies, 'move')} in {seconds:.0f} s ({1000 * seconds / max(1, plies):.1f} ms a move)",
    ]


def _fields(record: MatchGame, game: Game) -> dict[str, object]:
    """A game as plain values for CSV and JSON; moves as `B D4 W pass ...`."""
    return {
        "black": LETTERS[record.black],
        "winner": None if record.winner is None else LETTERS[record.winner],
        "result": record.result,
        "moves": record.moves_text(game),
        "ended": record.ended,
        "detail": record.detail,
        "game": record.number + 1,
        "A says": record.claims[0],
        "B says": record.claims[1],
        "agreed": record.agreed,
    }


def write_csv(path: Path, records: Sequence[MatchGame], game: Game, *, append: bool = False) -> None:
    """Write a line for each game, at least one; a heading first, unless they are appended to a file that has it."""
    text = csv_text([_fields(record, game) for record in records], heading=not append).encode()
    if append:
        with path.open("ab") as file:
            file.write(text)
    else:
        files.write(path, text)
