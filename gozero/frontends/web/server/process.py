"""The engine process of a game, for the server: its start, its requests and reports, its end."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

MOST_QUEUED = 1000  # requests that a process has not read
LAST_SECONDS = 2.0  # that a process has to end by itself


class EngineProcess:
    """A running `gozero.frontends.web.engine`.

    Its reports and its end go to the callbacks of `listen`, in the event loop.

    Args:
        arguments: of its command line.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        paths = [path for path in sys.path if path]
        self._process = subprocess.Popen(
            # -P: no package of the working directory's
            [sys.executable, "-P", "-m", "gozero.frontends.web.engine", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl-C is the server's
        )
        self._listening = threading.Lock()
        self._has_ended = False
        self._on_report: Callable[[dict[str, Any]], None] = _ignore
        self._on_end: Callable[[], None] = _ignore
        self._loop: asyncio.AbstractEventLoop | None = None
        self._requests: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="engine-reports", daemon=True).start()
        threading.Thread(target=self._write, name="engine-requests", daemon=True).start()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def listen(self, on_report: Callable[[dict[str, Any]], None], on_end: Callable[[], None]) -> None:
        """Call these in the running loop, with reports and at the end of the process, also if it has ended already."""
        with self._listening:
            self._on_report, self._on_end, self._loop = on_report, on_end, asyncio.get_running_loop()
            if self._has_ended:
                self._soon(on_end)

    def _soon(self, act: Callable[..., None], *values: Any) -> None:
        """Do it in the event loop, if that still runs."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act, *values)

    def send(self, request: dict[str, Any]) -> None:
        """Pass a request on, when the process reads it; one that reads none of very many is ended. Without effect once
        the process has gone, which ``on_end`` reports.
        """
        if self._requests.qsize() < MOST_QUEUED:
            self._requests.put(request)
        else:
            self._process.kill()

    def end(self) -> None:
        """Let it end, without a report; forcibly if it takes long."""
        with self._listening:
            self._on_report, self._on_end = _ignore, _ignore
        self._requests.put(None)
        threading.Thread(target=self._wait_or_kill, name="engine-end", daemon=False).start()

    def _wait_or_kill(self) -> None:
        try:
            self._process.wait(LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _write(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError), self._process.stdin as pipe:
            while (request := self._requests.get()) is not None:
                pipe.write(json.dumps(request).encode() + b"\n")
                pipe.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with suppress(ValueError):  # a line that was cut off by the end of the process
                self._soon(self._on_report, json.loads(line))
        self._process.wait()
        self._requests.put(None)
        with self._listening:
            self._has_ended = True
            self._soon(self._on_end)


def _ignore(*values: Any) -> None:
    """A callback that does nothing."""
