"""`gozero-gtp`: settings, the take-over of standard output, and the commands of all groups under one protocol.

Nothing heavy is imported before the first command that needs a board, so that `name` is answered at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from gozero import __version__ as VERSION
from gtp.arguments import path_of
from gtp.protocol import Command, FatalError, LineReader, Output, Protocol, Signals, serve
from gtp.session import DEFAULT_SECONDS, DEFAULT_VISITS, BoardCommands, PlayCommands, Session, say
from gtp.settings import Settings, SettingsError, from_arguments

NAME = "gozero"
FAILURE = 2
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Serve GTP until ``quit`` or the end of the input; exit code 0, or 2 after one line on stderr that says what was wrong."""
    try:
        settings = from_arguments(sys.argv[1:] if arguments is None else arguments, VERSION)
        log = open_log(settings.log)
        code = run(settings, Output.take_over(log))
    except (SettingsError, FatalError) as error:
        say(str(error))
        code = FAILURE
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the controller has gone
        code = 0
    sys.stderr.flush()
    os._exit(code)  # a thread may still be loading or reading; nothing that it does matters any more


def run(settings: Settings, output: Output) -> int:
    """One sitting. Returns the exit code 0; FatalError where the weights are of no use."""
    from gozero.weights import WeightsError, find
    from gtp.loading import Loader

    try:
        path = find(settings.weights)
    except WeightsError as error:
        raise FatalError(str(error)) from None
    say(greeting(settings, path))
    signals = Signals()
    reader = LineReader(0, signals)
    loader = Loader(settings, path)
    protocol = make_protocol(Session(settings, loader.player, signals))
    serve(protocol, reader, output, when_idle=lambda: loader.load_in_background(reader.fail))
    return 0


def make_protocol(session: Session, on_bug: Callable[[Command, Exception], None] | None = None) -> Protocol:
    """Every command of gozero-gtp; ``on_bug`` as in ``Protocol``."""
    from gtp import clock, handicap, records, scoring

    protocol = Protocol(NAME, VERSION, on_bug)
    for group in (BoardCommands, PlayCommands, handicap.HandicapCommands, scoring.ScoringCommands, records.RecordCommands):
        protocol.register(group(session).commands())
    protocol.register(clock.commands(session.clock))
    return protocol


def greeting(settings: Settings, path: Path) -> str:
    """The line on stderr that says with what it plays."""
    visits, seconds = settings.visits, settings.time
    limits = [f"{visits} visits"] if visits else []
    limits += [f"{seconds:g} s"] if seconds else []
    move = " or ".join(limits) or f"{DEFAULT_VISITS} visits or {DEFAULT_SECONDS:g} s unless a clock is set"
    return f"{NAME} {VERSION}, weights {path}, {settings.size}x{settings.size}, {settings.rules} rules; a move: {move}"


def open_log(name: str | None) -> TextIO | None:
    """The log file, opened for appending."""
    if name is None:
        return None
    path = path_of(name)
    try:
        return path.open("a", encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise SettingsError(f"cannot write the log {path}: {(error.strerror or 'unwritable').lower()}") from None


if __name__ == "__main__":
    main()
