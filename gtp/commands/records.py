"""loadsgf and printsgf: games in and out, with the engine's evaluations. `gozero.records.sgf` handles the format."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gozero import __version__
from gozero.games.colours import BLACK, COLOUR_WORDS, WHITE
from gozero.system import files
from gozero.system.errors import ChoiceError, SetUpError
from gtp.commands.scoring import format_score
from gtp.protocol import Command, GtpError, Handler
from gtp.session import CommandGroup, say

if TYPE_CHECKING:
    from gozero.records.sgf import GameRecord

ENGINE = f"gozero {__version__}"
LARGEST_FILE = 20_000_000
"""Bytes; what is longer is not the record of a game."""

_QUOTED = re.compile(r"""(["'])(.*)\1""")
_NUMBERED = re.compile(r"""(.*\S\s|(["']).*\2)\s*(\d+)""")


def split_path(text: str) -> tuple[str, int | None]:
    """Path and move number in the arguments of loadsgf: the path may hold blanks and quotes, the number is optional."""
    is_file = os.path.isfile(files.full(text))  # noqa: PTH113 - no error, however odd the text
    if (numbered := _NUMBERED.fullmatch(text)) and not is_file:
        return unquoted(numbered[1].rstrip()), int(numbered[3][:9])
    return unquoted(text), None


def unquoted(text: str) -> str:
    """A path without the quotes around it, if there are any."""
    quoted = _QUOTED.fullmatch(text)
    return quoted[2] if quoted else text


def reason(error: Exception) -> str:
    """The message of an error, without the number and path of system errors."""
    return getattr(error, "strerror", None) or str(error)


class RecordCommands(CommandGroup):
    """The two commands."""

    def commands(self) -> Mapping[str, Handler]:
        return {"loadsgf": self.loadsgf, "printsgf": self.printsgf}

    def loadsgf(self, command: Command) -> str:
        """``loadsgf FILE [N]``: the main line up to before move N; answers the colour to move. After an error the board
        is as before.
        """
        from gozero.games.go.rules import named_rules
        from gozero.records.sgf import RecordError

        name, before_move = split_path(command.text)
        if not name:
            raise GtpError("syntax error: expected a file name")
        path = files.full(name)
        game = self._session.go_game
        before = game.rules
        try:
            if not path.is_file():
                raise RecordError("it is no file")
            if path.stat().st_size > LARGEST_FILE:
                raise RecordError(f"{path.stat().st_size:,} bytes are too many for a game record")
            record = self._take_over(path.read_bytes(), before_move)
            self._session.warn_of_size(game.size)
        except (OSError, UnicodeError, RecordError, ChoiceError, SetUpError) as error:
            say(f"cannot load {path}: {reason(error)}")
            raise GtpError("cannot load file") from None
        for remark in record.remarks:
            say(f"{path}: {remark}")
        if record.rules.strip() and named_rules(record.rules) != game.rules:
            given, used = record.rules[:80], game.rules.name
            say(f"the rules of {path}, {given}, are not kept: moves and score are by {used} rules")
        elif record.rules.strip() and game.rules != before:
            say(f"{path}: moves and score are by {game.rules.name} rules until another game begins")
        self._session.clock.reset()
        return COLOUR_WORDS[game.position.to_play]

    def _take_over(self, data: bytes, before_move: int | None) -> GameRecord:
        """The record that the game now is: a file's, up to the first move that cannot be played."""
        from gozero.games.position import IllegalMove
        from gozero.records import sgf

        game, found = self._session.go_game, sgf.first_game(data)
        record = found.record(before_move)
        try:
            game.load_record(record)
        except IllegalMove as error:
            refused = found.unplayable(error.number)
            if error.number == 1:
                raise sgf.RecordError(refused) from None
            said = (*record.remarks, f"{refused}: the game was read up to there")
            record = replace(record, moves=record.moves[: error.number - 1], next_to_play=None, result="", remarks=said)
            game.load_record(record)
        return record

    def printsgf(self, command: Command) -> str:
        """``printsgf [FILE]``: the game so far as the answer, or into a file (``-`` is the answer too)."""
        from gozero.records import sgf
        from gozero.system import files

        data = sgf.serialise(self._record())
        if command.text in ("", "-"):
            return data.decode("utf-8").rstrip()
        path = files.full(unquoted(command.text))
        try:
            files.write(path, data)
        except (OSError, UnicodeError) as error:
            say(f"cannot save {path}: {reason(error)}")
            raise GtpError("cannot save file") from None
        return ""

    def _record(self) -> GameRecord:
        """The game so far, with known names, its result, and the engine's evaluations of its moves as comments."""
        game = self._session.go_game
        record = game.record()
        own = {note.colour for note in game.notes.by_move.values()}
        names = [ENGINE if colour in own else self._session.opponent if own else "" for colour in (BLACK, WHITE)]
        notes = sorted(game.notes.by_move.items())
        return replace(
            record,
            black_name=record.black_name or names[0],
            white_name=record.white_name or names[1],
            result=self._result(record.result),
            comments=tuple((number, self._session.summary(note)) for number, note in notes),
        )

    def _result(self, given: str) -> str:
        """The result as in SGF and GTP, where there is one the one that a file gave; "" while the game is not over."""
        game = self._session.go_game
        if game.resigned:
            return f"{'W' if game.resigned == BLACK else 'B'}+R"
        return given or (format_score(self._session.go_ending.settled_score()) if game.position.is_over else "")
