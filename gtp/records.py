"""loadsgf and printsgf: games from files and to files. What SGF is, `gozero.sgf` knows."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from gozero.options import path_of
from gtp.protocol import Command, GtpError, Handler
from gtp.session import COLOUR_NAMES, Session, say

LARGEST_FILE = 20_000_000
"""Bytes; what is longer is not the record of a game."""

_QUOTED = re.compile(r"""(["'])(.*)\1\s*(\d*)""")
_NUMBERED = re.compile(r"(.*\S)\s+(\d+)")


def split_path(text: str) -> tuple[str, int | None]:
    """Path and move number in the arguments of loadsgf: the path may hold blanks and may be quoted, the number may be missing."""
    if quoted := _QUOTED.fullmatch(text):
        return quoted[2], int(quoted[3][:9]) if quoted[3] else None
    if (numbered := _NUMBERED.fullmatch(text)) and not os.path.isfile(path_of(text)):  # noqa: PTH113 - no error, however odd the text
        return numbered[1], int(numbered[2][:9])
    return text, None


def reason(error: OSError | ValueError) -> str:
    """What went wrong, without the number and the path that the system's errors carry."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


class RecordCommands:
    """The two commands."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {"loadsgf": self.loadsgf, "printsgf": self.printsgf}

    def loadsgf(self, command: Command) -> str:
        """``loadsgf FILE [N]``: the main line up to before move N; answers the colour to move. After an error the board is as before."""
        from gozero import sgf

        name, before_move = split_path(command.text)
        path = path_of(name)
        player = self._session.go_player
        try:
            if not path.is_file() or path.stat().st_size > LARGEST_FILE:
                raise ValueError("no such file, or not a game record")
            player.load_record(sgf.parse(path.read_bytes(), before_move))
        except (OSError, ValueError) as error:
            say(f"cannot load {path}: {reason(error)}")
            raise GtpError("cannot load file") from None
        self._session.clock.reset()
        return COLOUR_NAMES[player.position.to_play]

    def printsgf(self, command: Command) -> str:
        """``printsgf [FILE]``: the game so far as the answer, or into a file (``-`` is the answer too)."""
        from gozero import sgf

        data = sgf.serialise(self._session.go_player.record())
        if command.text in ("", "-"):
            return data.decode("utf-8").rstrip()
        path = path_of(split_path(command.text)[0])
        try:
            path.write_bytes(data)
        except (OSError, ValueError) as error:
            say(f"cannot save {path}: {reason(error)}")
            raise GtpError("cannot save file") from None
        return ""
