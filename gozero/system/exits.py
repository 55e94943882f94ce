"""How a program ends: its exit code, and one line about what was wrong, for its user and in its log. `exit_after` is for
programs that serve a protocol, `printing` for those that print results.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import NoReturn, Protocol, TypeVar

from gozero.system.options import SettingsError
from gozero.system.output import (
    Log,
    ProtocolOutput,
    UnwritableError,
    discard_results,
    open_log,
    open_results,
    open_streams,
    secure_streams,
    tell,
)

SUCCESS, FAILURE, INTERRUPTED = 0, 2, 130


class Logged(Protocol):
    """Settings that name a log."""

    @property
    def log(self) -> str | None: ...


S = TypeVar("S", bound=Logged)


def exit_after(
    read_settings: Callable[[], S],
    sit: Callable[[S, Log | None], int],
    say: Callable[[str], None],
    useless: type[Exception],
) -> NoReturn:
    """End the process with the exit code of a sitting.

    SettingsError, UnwritableError and ``useless``, the error with which ``sit`` gives up, are reported to the user and
    the log and end the process with FAILURE; a bug goes into the log and is raised. Threads that still load, search or
    wait for a line are not joined.
    """
    talk, log = secure_streams(), None
    try:
        settings = read_settings()
        log = open_log(settings.log)
        code = sit(settings, log)
    except (SettingsError, UnwritableError, useless) as error:
        say(str(error))
        if log is not None:
            log.say(str(error))
        code = FAILURE
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the client has gone
        code = SUCCESS
    except Exception as error:
        if log is not None:
            log.say("".join(traceback.format_exception(error)))
        raise
    talk.drain()
    os._exit(code)


def leave_when_unread(output: ProtocolOutput) -> None:
    """From now on end the process, whatever it is doing, when the client has closed its end and answers cannot be
    read.
    """

    def leave() -> None:
        output.wait_until_unread()
        os._exit(SUCCESS)

    threading.Thread(target=leave, name="leaver", daemon=True).start()


def printing(program: str, command: Callable[[], int]) -> int:
    """Run a command that prints results, and return its exit code.

    Standard output that cannot be written is one line and FAILURE. Where its reader has gone (`| head`) or it was closed
    from the start, what is not read is dropped, and the code is SUCCESS, or the command's own.
    """
    open_streams()
    open_results()
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()
    except UnwritableError as error:
        discard_results()
        tell(program, str(error))
        return FAILURE
    except BrokenPipeError:
        discard_results()
        return SUCCESS
