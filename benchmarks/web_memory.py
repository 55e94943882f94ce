"""Memory of the board in the browser during a long analysis: the claim is that after three minutes it grows by at most
5 %.

A page without a browser, on a WebSocket, lets `gozero-web` analyse on 13x13 and plays the best move every few seconds;
a game that is over, or long, is followed by another. The resident memory of the server and of its engine is read each
minute (Linux). Run it with `python -m benchmarks.web_memory --minutes 60`.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.harness import above_zero, finish, growth, leave_without, machine, parser
from gozero.errors import ChoiceError
from gozero.machine import megabytes
from training.console import positive

try:
    import aiohttp
except ModuleNotFoundError:
    leave_without("aiohttp", "pip install 'gozero[web]'")

CLAIM = 0.05
SETTLED = 3  # minutes after which trees and pools no longer grow
FEWEST = SETTLED + 2  # minutes: the first reading after these, and one to compare with it
MOVE_EVERY = 5.0  # seconds
LONGEST = 150  # moves of a game
SETUP = {"game": "go", "size": 13, "person": "both"}


@contextmanager
def served(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """(gozero-web, its address), with these options; it is ended afterwards."""
    command = [sys.executable, "-m", "web", "--no-browser", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        if "http://" not in said:
            raise SystemExit(f"gozero-web did not start: {said.strip()}")
        yield process, said[said.index("http://") :].split()[0]
    finally:
        process.terminate()
        process.wait()


def used(number: int) -> tuple[float, float]:
    """Megabytes of the server of that process id, and of its engines together."""
    found = [megabytes(Path(f"/proc/{each}/status"), "VmRSS") or 0.0 for each in family(number)]
    return found[0], sum(found[1:])


def family(number: int) -> list[int]:
    """The ids of a process and its children (Linux)."""
    children = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii").split()
    return [number, *map(int, children)]


class Minutes:
    """What was measured each minute."""

    def __init__(self, number: int, most: float) -> None:
        self._number = number
        self._begun = time.monotonic()
        self._end = self._begun + 60 * most
        self.found: list[tuple[float, float]] = []

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    def look(self, moves: int) -> None:
        """Measure if a minute is over, or the last of the time."""
        if self.is_over or time.monotonic() - self._begun >= 60 * (len(self.found) + 1):
            self.found.append(used(self._number))
            server, engine = self.found[-1]
            print(
                f"  minute {len(self.found):>3}: server {server:.1f} MB, engine {engine:.0f} MB, {moves} moves",
                flush=True,
            )


async def analyse(address: str, minutes: Minutes) -> None:
    """Let the server analyse until the time is over."""
    host = urlsplit(address).netloc
    moves, next_move, look = 0, time.monotonic() + MOVE_EVERY, None
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"http://{host}/socket", headers={"Origin": f"http://{host}"}, max_msg_size=0) as page,
    ):
        await page.send_json({"do": "new", "setup": SETUP})
        await page.send_json({"do": "analyse", "on": True})
        while not minutes.is_over:
            report = await heard(page)
            if report["is"] == "look":
                look = report
            elif report["is"] == "view" and (report["over"] or report["number"] >= LONGEST):
                await page.send_json({"do": "new", "setup": SETUP})
            if look is not None and time.monotonic() >= next_move:
                await page.send_json({"do": "play", "vertex": look["moves"][0]["vertex"]})
                moves, next_move, look = moves + 1, time.monotonic() + MOVE_EVERY, None
            minutes.look(moves)


async def heard(page: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    """The next report; one of nothing where none comes in a second, as when the analysis has paused."""
    try:
        message = await page.receive(timeout=1.0)
    except TimeoutError:
        return {"is": "nothing"}
    if message.type != aiohttp.WSMsgType.TEXT:
        raise SystemExit(f"web_memory: the server has closed the connection: {message.data}")
    report: dict[str, Any] = json.loads(message.data)
    return report


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--minutes", type=above_zero, default=10.0, help=f"{FEWEST} or more (default 10)")
    options.add_argument("--threads", type=positive, default=1)
    chosen = options.parse_args()
    most = 0.2 if chosen.short else chosen.minutes
    if not chosen.short and most < FEWEST:
        raise ChoiceError(f"--minutes {most:g}: expected {FEWEST} or more, so that there is something to compare")
    print(f"Memory of gozero-web, an analysis of {most:g} minutes on 13x13\n  {machine()}", flush=True)
    with served("--threads", str(chosen.threads)) as (process, address):
        minutes = Minutes(process.pid, most)
        asyncio.run(analyse(address, minutes))
    for line in verdict(minutes.found):
        print(f"  {line}")


def verdict(found: Sequence[tuple[float, float]]) -> list[str]:
    """A line about each program's megabytes of all minutes; a short measurement has none to compare."""
    settled = found[SETTLED:]
    if len(settled) < 2:
        return [f"too few readings to compare: {len(found)}"]
    return [
        f"{name}: {sizes[0]:.1f} MB at first, {max(sizes[1:]):.1f} at most in the {len(sizes) - 1} minutes after, "
        f"{100 * growth(sizes):+.1f} %; claimed at most {100 * CLAIM:.0f} %"
        for name, sizes in zip(("server", "engine"), zip(*settled, strict=True), strict=True)
    ]


if __name__ == "__main__":
    finish(main)
