"""Drive another GTP engine: start it, send one command at a time, read exactly one well-framed answer, stop it.

An engine that refuses a command (`?`) goes on working: `RefusalError`. One that is gone, or silent for too long, is
stopped, since nothing that it says later could be matched to a command: `FailureError`. What the protocol forbids but
cannot be misunderstood is accepted: an answer without the blank after `=`, surplus blank lines, lines outside an
answer, lines that end in CR LF.

Commands have no IDs: some engines take every word for a command, so that `1 name` has two answers, and the arguments of
a command that they do not know have more. Before each command but the first an engine is asked for its
`protocol_version`, whose answer is known, and what comes before that answer is dropped; not after it, since any command
ends an engine's pondering. What an engine writes to stderr is never an error: it is always read (a full pipe would
block the engine), and its last lines are added to the message of a failure.

Vertices and scores pass through as text. Nothing is restarted or pipelined.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO, Self

STDERR_LINES = 3  # quoted in the message of a failure
QUIT_SECONDS = 3.0  # what an engine gets between `quit` and being killed
LANDMARK, KNOWN = "protocol_version", ("=", "2")  # a command that changes nothing, and its answer
SILENCE = 0.5  # seconds after which an engine that does not know the landmark has nothing more to say
MOST_LINES = 100_000  # of one answer, and of those that wait to be read: a flood must not fill the memory
LONGEST_QUOTE = 500  # characters of a line of stderr
LONGEST_LINE = 1 << 20  # characters; what is longer counts as several lines
HEAD = re.compile(r"([=?])(.*)")


class EngineError(Exception):
    """Something went wrong between us and an engine; the message is one line that names the engine and the command."""


class RefusalError(EngineError):
    """The engine answered `?`. It goes on working."""


class FailureError(EngineError):
    """The engine died, timed out or broke the framing. It has been stopped."""


class GtpEngine:
    """A running GTP engine.

    `command` is the program with its arguments, as a list or as one line of shell words (no shell runs).
    `timeout` is how many seconds an answer may take unless `send` is given another timeout.
    Raises `FailureError` if the program cannot be started.
    """

    def __init__(self, command: str | Sequence[str], *, timeout: float = 60.0) -> None:
        self.command = words(command)
        self.timeout = timeout
        self.last_sent = ""  # by the caller
        self._knows_landmark: bool | None = None  # None: not known yet
        self._process = _start(self.command)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()  # None: the engine closed its stdout
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._readers = [
            threading.Thread(target=_pump, args=(self._process.stdout, self._on_line), daemon=True),
            threading.Thread(target=_pump, args=(self._process.stderr, self._on_stderr), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, command: str, timeout: float | None = None) -> str:
        """The text of the answer to one command, without `=`, ID and the blank line.

        Raises `RefusalError` on a `?` answer, `FailureError` when no proper answer comes within `timeout` seconds, and
        ValueError if `command` is not exactly one line.
        """
        if not command.strip() or "\n" in command or "\r" in command:
            raise ValueError(f"a GTP command is one non-empty line, not {command!r}")
        if self.last_sent and self._knows_landmark is not False:
            self._skip_to_landmark()
        self.last_sent = command
        self._write(command)
        status, text = self._answer(self.timeout if timeout is None else timeout)
        if status == "?":
            raise RefusalError(f"{self}: answered '? {text}' to '{command}'")
        return text

    def _write(self, command: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:  # ValueError: our end has been closed by an earlier failure
            raise self._failure("is no longer running", QUIT_SECONDS) from error

    def _skip_to_landmark(self) -> None:
        """Drop what the engine answers beyond its first answer to the last command."""
        self._write(LANDMARK)
        silence = None  # an answer comes in any case, from a busy machine it may take long
        try:
            while self._answer(self.timeout, silence) != KNOWN:
                silence = None if self._knows_landmark else SILENCE
            self._knows_landmark = True
        except queue.Empty:  # it does not know the landmark: one answer to each line has to be believed
            self._knows_landmark = False

    def close(self) -> None:
        """Ask the engine to quit, wait a little, kill it if it stays. Safe to call twice."""
        if self.alive and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.write("quit\n")
        self._stop(QUIT_SECONDS)

    def __str__(self) -> str:
        return shlex.join(self.command)

    def _answer(self, timeout: float, silence: float | None = None) -> tuple[str, str]:
        """Status (`=` or `?`) and text of the next answer; queue.Empty after `silence` seconds without a line."""
        deadline = time.monotonic() + timeout
        while not (head := HEAD.fullmatch(self._line(deadline, timeout, silence))):
            continue
        status, first = head.groups()
        text = [first.strip()]
        while (line := self._line(deadline, timeout)) != "":
            text.append(line)
            if len(text) > MOST_LINES:
                raise self._failure(f"answered with more than {MOST_LINES} lines")
        return status, "\n".join(text).strip()

    def _line(self, deadline: float, timeout: float, silence: float | None = None) -> str:
        """The next line; queue.Empty after `silence` seconds without one, a failure at the deadline."""
        left = deadline - time.monotonic()
        if left <= 0:  # even if lines wait to be read: an engine may write without end
            raise self._failure(f"gave no answer within {timeout:g} s")
        try:
            line = self._lines.get(timeout=left if silence is None else min(left, silence))
        except queue.Empty:
            if silence is not None and silence < left:
                raise
            raise self._failure(f"gave no answer within {timeout:g} s") from None
        if line is None:
            raise self._failure("ended without answering", QUIT_SECONDS)
        return line

    def _failure(self, what: str, seconds: float = 0.0) -> FailureError:
        """Stop the engine (after some seconds if it is ending by itself) and describe what it did and last said."""
        status = self._stop(seconds)
        exited = "" if status is None else f" (exit status {status})"
        said = f"; it last said: {' | '.join(self._stderr)}" if self._stderr else ""
        return FailureError(f"{self}: {what}{exited}, last command '{self.last_sent}'{said}")

    def _stop(self, seconds: float) -> int | None:
        """End the process, killing it after this many seconds; its exit status, None if it had to be killed. A child of
        the process that has its pipes open is not waited for long.
        """
        killed = False
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            _kill(self._process)
            self._process.wait()
            killed = True
        for reader in self._readers:
            reader.join(QUIT_SECONDS)
        return None if killed else self._process.returncode

    def _on_line(self, line: str | None) -> None:
        if line is None or self._lines.qsize() < MOST_LINES:
            self._lines.put(line)

    def _on_stderr(self, line: str | None) -> None:
        if line:
            self._stderr.append(line[:LONGEST_QUOTE])


def words(command: str | Sequence[str]) -> list[str]:
    """The program and its arguments. Raises `FailureError` when the line is empty or its quotes do not close."""
    if not isinstance(command, str):
        return list(command)
    try:
        split = shlex.split(command)
    except ValueError as error:
        raise FailureError(f"cannot read the engine command {command!r}: {error}") from None
    if not split:
        raise FailureError("the engine command is empty")
    return split


def _start(command: list[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8", errors="replace",
            process_group=0,
        )  # fmt: skip
    except OSError as error:
        raise FailureError(f"cannot start the engine '{shlex.join(command)}': {error.strerror or error}") from None


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill an engine with what it has started, such as the program that a shell script waits for."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows
        process.kill()


def _pump(stream: IO[str] | None, take: Callable[[str | None], None]) -> None:
    """Pass every line of `stream` to `take` without its line end, then None; close it."""
    assert stream is not None
    with contextlib.suppress(OSError, ValueError), stream:
        while line := stream.readline(LONGEST_LINE):
            take(line.rstrip("\r\n"))
    take(None)
