"""The engine process of a game, for the server: its start, its requests and reports, its end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from gozero.frontends.web.settings import PROGRAM
from gozero.system.console import say
from gozero.system.files import from_json

LAST_SECONDS = 0.3  # that a process has to end by itself: the server has its game
LONGEST_REPORT = 2**26  # bytes
MOST_UNREAD = 2**23  # bytes of requests


class EngineProcess:
    """A running `gozero.frontends.web.engine` with these arguments of its command line."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.on_report: Callable[[dict[str, Any]], None] = _ignore  # callback with each report
        self.on_exit: Callable[[], None] = _ignore  # callback at the end of the process, unless `end` was called
        self._pipe: asyncio.StreamWriter | None = None
        self._waiting: list[bytes] = []  # requests until there is a pipe
        self._task = asyncio.create_task(self._run(arguments))

    @property
    def is_running(self) -> bool:
        return not self._task.done()

    @property
    def is_behind(self) -> bool:
        """Whether many requests wait that the process has not read."""
        return self._pipe is not None and self._pipe.transport.get_write_buffer_size() > MOST_UNREAD

    def send(self, request: dict[str, Any]) -> None:
        """Pass a request on; without effect once the process has gone."""
        self._waiting.append(json.dumps(request).encode() + b"\n")
        self._write()

    def end(self) -> None:
        """Let it end, without a report; forcibly if it takes long."""
        self.on_report = self.on_exit = _ignore
        if self._pipe is not None:
            self._pipe.close()
        asyncio.get_running_loop().call_later(LAST_SECONDS, self._task.cancel)

    async def has_ended(self) -> None:
        """Return when it has ended."""
        await asyncio.wait([self._task])

    async def _run(self, arguments: Sequence[str]) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                # -P: no package of the working directory's
                *(sys.executable, "-P", "-m", "gozero.frontends.web.engine", *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is the server's
                limit=LONGEST_REPORT,
            )
        except OSError as error:
            say(f"{PROGRAM}: the engine cannot be started: {error.strerror or error}")
            self.on_exit()
            return
        self._pipe = process.stdin
        self._write()
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                with suppress(ValueError):  # a line that was cut off by the end of the process
                    self.on_report(from_json(line))
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        self.on_exit()

    def _write(self) -> None:
        if self._pipe is not None and not self._pipe.is_closing():
            self._pipe.writelines(self._waiting)
            self._waiting.clear()


def _ignore(*values: Any) -> None:
    """A callback that does nothing."""
