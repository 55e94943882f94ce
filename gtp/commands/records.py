"""Games in and out as SGF, with the engine's evaluations, and what servers (KGS, CGOS) and gomill say and ask of one.

None of the latter changes the board, and none is refused: CGOS's client ends at an error. `kgs-chat` is not offered:
newer clients of KGS crash where it is listed.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from gozero import __version__
from gozero.games.colours import BLACK, COLOUR_WORDS, WHITE, opponent, result_text
from gozero.system import files
from gozero.system.errors import ChoiceError, SetUpError
from gozero.system.streams import reason
from gtp.commands.scoring import format_score
from gtp.protocol import Command, GtpError
from gtp.session import Commands, Session, say

if TYPE_CHECKING:
    from gozero.records.sgf import GameRecord

ENGINE = f"gozero {__version__}"
LARGEST_FILE = 20_000_000
"""Bytes; what is longer is not the record of a game."""


def split_path(text: str) -> tuple[str, int | None]:
    """Path and move number in the arguments of loadsgf: the path may hold blanks and quotes, the number is optional."""
    path, _, last = text.rpartition(" ")
    is_file = os.path.isfile(files.full(text))  # noqa: PTH113 - no error, however odd the text
    if path and last.isdecimal() and not is_file:
        return unquoted(path.rstrip()), int(last[:9])
    return unquoted(text), None


def unquoted(text: str) -> str:
    """A path without the quotes around it, if there are any."""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def loadsgf(session: Session, command: Command) -> str:
    """``loadsgf FILE [N]``: the main line up to before move N; answers the colour to move. After an error the board
    is as before.
    """
    from gozero.games.go.rules import named_rules
    from gozero.records.sgf import RecordError

    name, before_move = split_path(command.text)
    if not name:
        raise GtpError("syntax error: expected a file name")
    path = files.full(name)
    game = session.go_game
    before = game.rules
    try:
        if not path.is_file():
            raise RecordError("it is no file")
        if path.stat().st_size > LARGEST_FILE:
            raise RecordError(f"{path.stat().st_size:,} bytes are too many for a game record")
        record = _take_over(session, path.read_bytes(), before_move)
        session.warn_of_size(game.size)
    except (OSError, UnicodeError, RecordError, ChoiceError, SetUpError) as error:
        say(f"cannot load {path}: {reason(error)}")
        raise GtpError("cannot load file") from None
    for remark in record.remarks:
        say(f"{path}: {remark}")
    given = record.rules[:80]
    if given.strip() and named_rules(record.rules) != game.rules:
        say(f"the rules of {path}, {given}, are not kept: moves and score are by {game.rules.name} rules")
    elif given.strip() and game.rules != before:
        say(f"{path}: moves and score are by its rules, {given}, until another game begins")
    session.clock.reset()
    return COLOUR_WORDS[game.position.to_play]


def _take_over(session: Session, data: bytes, before_move: int | None) -> GameRecord:
    """The record that the game now is: a file's, up to the first move that cannot be played."""
    from gozero.games.position import IllegalMove
    from gozero.records import sgf

    game, found = session.go_game, sgf.first_game(data)
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


def printsgf(session: Session, command: Command) -> str | None:
    """``printsgf [FILE]``: the game so far as the answer, or into a file (``-`` is the answer too)."""
    from gozero.records import sgf

    data = sgf.serialise(_record(session))
    if command.text in ("", "-"):
        return data.decode("utf-8").rstrip()
    path = files.full(unquoted(command.text))
    try:
        files.write(path, data)
    except (OSError, UnicodeError) as error:
        say(f"cannot save {path}: {reason(error)}")
        raise GtpError("cannot save file") from None
    return None


def _record(session: Session) -> GameRecord:
    """The game so far, with known names, its result, and the engine's evaluations of its moves as comments."""
    game = session.go_game
    record = game.record()
    own = {note.colour for note in game.notes.by_move.values()}
    names = [ENGINE if colour in own else session.opponent if own else "" for colour in (BLACK, WHITE)]
    notes = sorted(game.notes.by_move.items())
    return replace(
        record,
        black_name=record.black_name or names[0],
        white_name=record.white_name or names[1],
        result=_result(session, record.result),
        comments=tuple((number, session.summary(note)) for number, note in notes),
    )


def _result(session: Session, given: str) -> str:
    """The result as in SGF and GTP, where there is one the one that a file gave; "" while the game is not over."""
    game = session.go_game
    if game.resigned:
        return result_text(opponent(game.resigned), "R")
    return given or (format_score(session.go_ending.settled_score()) if game.position.is_over else "")


def explain_last_move(session: Session, command: Command) -> str:
    """The evaluation behind the last ``genmove``, also a resignation; empty without a choice."""
    last = session.game.notes.last
    return "" if last is None else session.summary(last)


def game_over(session: Session, command: Command) -> None:
    """Stop pondering; the board stays, since the game may only be adjourned."""
    session.stop_pondering()


def opponent_name(session: Session, command: Command) -> None:
    """Note the opponent's name for records."""
    session.opponent = command.text


COMMANDS: Commands = {
    "gomill-explain_last_move": explain_last_move,
    "gomill-describe_engine": lambda session, command: session.describe(session.settings),
}
GO: Commands = {
    "loadsgf": loadsgf,
    "printsgf": printsgf,
    "kgs-game_over": game_over,
    "cgos-opponent_name": opponent_name,
    "cgos-opponent_rating": lambda session, command: "",
    "cgos-gameover": game_over,
}
