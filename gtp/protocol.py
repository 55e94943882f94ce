"""The Go Text Protocol, version 2: framing, dispatch and the loop around them. It knows no Go and holds no board.

Every command gets exactly one answer, which ends in exactly one blank line; blank lines, comments and a lone id get
none. A handler returns the text of its answer, or writes it to a stream, line by line while it works. The line
``# interrupt`` is GoGui's way to ask a running command to finish at once; any other line ends an analysis.
"""

from __future__ import annotations

import math
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Set
from typing import NamedTuple

from gozero.system import console
from gozero.system.errors import UserError, lack_of_memory
from gozero.system.streams import Log, ProtocolOutput

Handler = Callable[["Command"], str | None]  # the text of its answer, if it has any
StreamHandler = Callable[["Command", "Stream"], None]
Write = Callable[[str], None]

INTERRUPT = "# interrupt"
SHUTDOWN_GRACE = 0.3
"""Seconds that a running search may continue after ``quit`` or the end of the input has been read."""
SCRIPT_PAUSE = 0.1
"""Seconds without a line before the end, from which on the input is no script but a client that waited."""
IDLE_AFTER = 0.3
"""Seconds without a command after which the controller is taken to wait for its user."""
LONGEST_REASON = 500
"""Characters of an error that are answered."""

_CONTROL: dict[int, str | None] = {**dict.fromkeys((*range(32), 127)), ord("\t"): " "}
_COMMAND = re.compile(r"([0-9]*)\s*(\S*)\s*(.*)")


class GtpError(Exception):
    """The command failed; the message is the text after ``?``."""


class FatalError(UserError):
    """The engine cannot go on, for example with unreadable weights: one line on stderr and exit code 2."""


class Command(NamedTuple):
    """One parsed line."""

    id: str  # the digits that the client put in front, or ""
    name: str
    text: str  # all that follows the name, trimmed; for arguments that contain spaces, such as a path

    @property
    def arguments(self) -> list[str]:
        return self.text.split()


def parse_line(line: str) -> Command | None:
    """The command in ``line``, or None if the line is blank, a comment or an id alone."""
    match = _COMMAND.fullmatch(line.translate(_CONTROL).partition("#")[0].strip())
    return Command(*match.groups()) if match is not None and match[2] else None


def format_answer(mark: str, command_id: str, text: str) -> str:
    """The answer as it is sent: ``mark`` is ``=`` or ``?``; blank lines inside ``text`` would end it early and are
    dropped.
    """
    first, *rest = (line.translate(_CONTROL).rstrip() for line in text.splitlines() or [""])
    return "\n".join([f"{mark}{command_id} {first}", *filter(None, rest)]) + "\n\n"


class Stream:
    """The successful answer to one command, each line of which is sent when it is written."""

    def __init__(self, command_id: str, write: Write) -> None:
        self._id, self._write = command_id, write
        self.has_begun = False

    def line(self, text: str) -> None:
        """One line without control characters. From here on the command cannot be refused."""
        if not self.has_begun:
            self.has_begun = True
            self._write(f"={self._id}\n")
        self._write(f"{text}\n")

    def end(self) -> None:
        self._write("\n" if self.has_begun else f"={self._id}\n\n")


def report_bug(command: Command, error: Exception, log: Log | None = None) -> None:
    """Report a bug in a command to the user and the log."""
    console.report_bug("gozero-gtp", error, f" in {command.name!r}", log)


class Protocol:
    """The commands an engine offers, and the answers to them, one line at a time; it uses neither threads nor files.

    Commands: ``protocol_version``, ``name``, ``version``, ``known_command``, ``list_commands``, ``quit`` and whatever
    is registered. ``on_bug`` is called with exceptions that are neither ``GtpError`` nor ``FatalError``; the client
    gets ``? internal error``.
    """

    def __init__(self, name: str, version: str, on_bug: Callable[[Command, Exception], object] = report_bug) -> None:
        self.finished = False  # set once quit has been answered
        self._on_bug = on_bug
        self._handlers: dict[str, Handler] = {
            "protocol_version": lambda command: "2",
            "name": lambda command: name,
            "version": lambda command: version,
            "known_command": lambda command: str(command.text.partition(" ")[0] in self._names()).lower(),
            "list_commands": lambda command: "\n".join(sorted(self._names())),
            "quit": self._quit,
        }
        self._streams: dict[str, StreamHandler] = {}

    def register(self, handlers: Mapping[str, Handler], streams: Mapping[str, StreamHandler] | None = None) -> None:
        """Offer more commands; streams write their answers line by line."""
        self._handlers.update(handlers)
        self._streams.update(streams or {})

    def _names(self) -> Set[str]:
        return self._handlers.keys() | self._streams.keys()

    def answer(self, line: str, write: Write) -> None:
        """Write the answer to ``line``, if it has one; after an error a stream that has begun can only end, and the
        reason goes to stderr. Raises FatalError, or what ``write`` does.
        """
        command = parse_line(line)
        if command is None:
            return
        stream = Stream(command.id, write)
        try:
            if command.name in self._streams:
                self._streams[command.name](command, stream)
                stream.end()
            elif command.name in self._handlers:
                write(format_answer("=", command.id, self._handlers[command.name](command) or ""))
            else:
                raise GtpError("unknown command")
            return
        except GtpError as error:
            reason = str(error)
        except (FatalError, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 - the border: a bug in one command must not take the game with it
            if (said := lack_of_memory(error)) is None:
                self._on_bug(command, error)
            reason = said or f"internal error: {type(error).__name__}: {error}"
        if len(reason) > LONGEST_REASON:  # it names what was sent, however long
            reason = f"{reason[:LONGEST_REASON]}..."
        if stream.has_begun:
            sys.stderr.write(f"gozero-gtp: {command.name} ended early: {reason}\n")
            stream.end()
        else:
            write(format_answer("?", command.id, reason))

    def _quit(self, command: Command) -> None:
        self.finished = True


class Signals:
    """What the reader has seen beyond the line that is being answered; a long command asks ``should_stop`` while it
    thinks.

    An interrupt holds for every line read before it. Scripts send everything at once, so an end of the input that comes
    right behind the line before it hurries nothing. One that comes ``SCRIPT_PAUSE`` seconds later or more means that the
    client is going away: all searches end within ``SHUTDOWN_GRACE`` seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._arrival = threading.Condition()
        self._ended = False
        self._last_read = clock()
        self._lines_read = 0
        self._lines_taken = 0
        self._interrupted_through = -1
        self._stop_time = math.inf

    def line_read(self) -> None:
        with self._arrival:
            self._lines_read += 1
            self._last_read = self._clock()
            self._arrival.notify_all()

    def line_taken(self) -> None:
        """The line that is answered now is the next one."""
        self._lines_taken += 1

    def interrupt(self) -> None:
        with self._arrival:
            self._interrupted_through = self._lines_read
            self._arrival.notify_all()

    def end_of_input(self) -> None:
        """``quit`` or the end of the stream is read; what comes behind the first end counts for nothing."""
        with self._arrival:
            if not self._ended:
                self._ended = True
                if (now := self._clock()) - self._last_read >= SCRIPT_PAUSE:
                    self._stop_time = now + SHUTDOWN_GRACE
            self._arrival.notify_all()

    @property
    def _is_interrupted(self) -> bool:
        return self._lines_taken <= self._interrupted_through

    def should_stop(self) -> bool:
        """Whether the search should end now with the best move it has so far."""
        return self._is_interrupted or self._clock() >= self._stop_time

    def is_wanted_elsewhere(self) -> bool:
        """Whether an analysis must end: another line waits, empty ones too, or no more will come."""
        return self._lines_read > self._lines_taken or self._is_interrupted or self._ended

    def wait(self) -> None:
        """Do nothing until an analysis must end."""
        with self._arrival:
            self._arrival.wait_for(self.is_wanted_elsewhere)


class LineReader(threading.Thread):
    """Reads ``source``, the input's lines as they come, into ``lines``, so that clients may send ahead.

    None is the end; an error in the queue ends the serving loop too.
    """

    def __init__(self, source: Iterable[str], signals: Signals) -> None:
        super().__init__(name="gtp-reader", daemon=True)
        self.lines: queue.SimpleQueue[str | FatalError | None] = queue.SimpleQueue()
        self.signals = signals
        self._source = source

    def run(self) -> None:
        for line in self._source:
            if line.translate(_CONTROL).strip() == INTERRUPT:
                self.signals.interrupt()
                continue
            command = parse_line(line)
            if command and command.name == "quit":
                self.signals.end_of_input()
            self.signals.line_read()
            self.lines.put(line)
        self.signals.end_of_input()
        self.lines.put(None)


def serve(
    protocol: Protocol,
    reader: LineReader,
    output: ProtocolOutput,
    when_idle: Callable[[], None] = lambda: None,
    ponder: Callable[[], None] = lambda: None,
) -> None:
    """Answer lines until ``quit`` or the end of the input.

    ``when_idle`` is called once in each pause of the controller; ``ponder`` before each line, to return when
    ``Signals.is_wanted_elsewhere``.
    """
    reader.start()
    wait: float | None = IDLE_AFTER
    while not protocol.finished:
        ponder()
        try:
            line = reader.lines.get(timeout=wait)
        except queue.Empty:
            wait = None
            when_idle()
            continue
        if line is None:
            return
        if isinstance(line, FatalError):
            raise line
        wait = IDLE_AFTER
        reader.signals.line_taken()
        output.note(line)
        protocol.answer(line, output.write)
