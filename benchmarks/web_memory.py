"""Memory of the board in the browser during a long analysis: the claim is that after three minutes it stays within 5 %.

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

try:
    import aiohttp
except ModuleNotFoundError:
    raise SystemExit("web_memory: this needs aiohttp; run: pip install 'gozero[web]'") from None

from benchmarks.harness import finish, machine, parser
from gozero.machine import megabytes

CLAIM = 0.05
SETTLED = 3  # minutes after which trees and pools no longer grow
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
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--threads", type=int, default=1)
    chosen = options.parse_args()
    most = 0.2 if chosen.short else chosen.minutes
    print(f"Memory of gozero-web, an analysis of {most:g} minutes on 13x13\n  {machine()}", flush=True)
    with served("--threads", str(chosen.threads)) as (process, address):
        minutes = Minutes(process.pid, most)
        asyncio.run(analyse(address, minutes))
    settled = minutes.found[min(SETTLED, len(minutes.found) - 1) :]
    for name, sizes in zip(("server", "engine"), zip(*settled, strict=True), strict=True):
        growth = 100 * (sizes[-1] / sizes[0] - 1)
        print(
            f"  {name}: {sizes[0]:.1f} to {sizes[-1]:.1f} MB in the last {len(sizes)} readings, {growth:+.1f} %; "
            f"claimed within {100 * CLAIM:.0f} %"
        )


if __name__ == "__main__":
    finish(main)
