"""Memory of programs that run for long (Linux): the claim is that it grows by at most 5 % once it has settled.

    python -m benchmarks.memory                      both
    python -m benchmarks.memory engine --games 100   one `gozero-gtp`
    python -m benchmarks.memory web --minutes 60     `gozero web` and its engine

engine   plays both colours of each game to its end, with an analysis, an undo, the score and the game's record on the
         way. Its resident memory is read between games, from the eleventh on.
web      a page without a browser, on a WebSocket, lets it analyse on 13x13 and plays the best move every few seconds.
         The resident memory of the server and of its engine is read each minute, from the fourth on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchmarks.harness import Measurements, above_zero, finish, measure_each, need_module, parser
from gozero.system.console import whole
from gozero.system.errors import ChoiceError
from gozero.system.machine import megabytes
from gtp.client import GtpEngine

if TYPE_CHECKING:
    import aiohttp

CLAIM = 0.05
SETTLED_GAMES, SETTLED_MINUTES = 10, 3  # after which caches, trees and pools no longer grow
FEWEST_GAMES, FEWEST_MINUTES = SETTLED_GAMES + 2, SETTLED_MINUTES + 2  # so that there are two readings to compare
LONGEST = 2.2  # plies of a game, for each point
MOVE_EVERY = 5.0  # seconds
MOVES = 150  # of a game on the page
SETUP = {"game": "go", "size": 13, "person": "both"}


def verdict(name: str, found: Sequence[float]) -> str:
    """The line about the megabytes read since the memory settled; a short measurement has nothing to compare."""
    if len(found) < 2:
        return f"{name}: too few readings to compare"
    return (
        f"{name}: {found[0]:.1f} MB at first, {max(found[1:]):.1f} at most later, "
        f"{100 * (max(found[1:]) / found[0] - 1):+.1f} %; claimed at most {100 * CLAIM:.0f} %"
    )


def used(number: int) -> float:
    """Megabytes of a process; ChoiceError if this system does not say."""
    found = megabytes(Path(f"/proc/{number}/status"), "VmRSS")
    if found is None:
        raise ChoiceError("this system does not say how much memory a process uses; run it on Linux")
    return found


def engine(options: argparse.Namespace) -> None:
    games = FEWEST_GAMES if options.short else options.games
    size, visits = (5, 4) if options.short else (13, 32)
    settings = f"--weights best.pt --size {size} --visits {visits} --threads 1 --seed 1 --no-resign"
    print(f"Memory of gozero-gtp over {games} games, {size}x{size}, {visits} visits", flush=True)
    found: list[float] = []
    with GtpEngine([sys.executable, "-m", "gtp", *settings.split()], timeout=600) as program:
        for game in range(1, games + 1):
            plies, result = play(program, size)
            found.append(used(program.pid))
            if game % max(1, games // 10) == 0:
                print(f"  after game {game:>4}: {found[-1]:.0f} MB (the last: {plies} plies, {result})", flush=True)
    print(f"  {verdict('engine', found[SETTLED_GAMES:])}")


def play(engine: GtpEngine, size: int) -> tuple[int, str]:
    """Play one game with the other commands of a client. Returns its length in plies and its result."""
    engine.send("clear_board")
    ply, passes = 0, 0
    while passes < 2 and ply < LONGEST * size * size:
        vertex = engine.send(f"genmove {'bw'[ply % 2]}").lower()
        if vertex == "resign":
            break
        passes, ply = (passes + 1 if vertex == "pass" else 0), ply + 1
        if ply == size:
            engine.send("undo")
            engine.send(f"play {'bw'[(ply - 1) % 2]} {vertex}")
            engine.send(f"kata-genmove_analyze {'bw'[ply % 2]} ownership true")
            engine.send("undo")
    result = engine.send("final_score")
    for command in ("final_status_list dead", "printsgf"):
        engine.send(command)
    return ply, result


@contextmanager
def served(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Context manager: (gozero web, its address), with these options."""
    command = [sys.executable, "-m", "gozero.frontends.web", "--no-browser", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        if "http://" not in said:
            raise ChoiceError(f"gozero web did not start: {said.strip()}")
        yield process, said[said.index("http://") :].split()[0]
    finally:
        process.terminate()
        process.wait()


def family(number: int) -> list[int]:
    """The ids of a process and its children (Linux)."""
    children = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii").split()
    return [number, *map(int, children)]


def web(options: argparse.Namespace) -> None:
    need_module("aiohttp", "aiohttp", "pip install 'gozero[web]'")
    minutes = 0.2 if options.short else options.minutes
    print(f"Memory of gozero web, an analysis of {minutes:g} minutes on 13x13", flush=True)
    with served("--threads", "1") as (process, address):
        readings = asyncio.run(analyse(address, process.pid, minutes))
    for name, found in zip(("server", "engine"), zip(*readings, strict=True), strict=True):
        print(f"  {verdict(name, found[SETTLED_MINUTES:])}")


async def analyse(address: str, server: int, minutes: float) -> list[tuple[float, float]]:
    """Let the server analyse for so long; a game that is over, or long, is followed by another.

    Returns the megabytes of the server and of its engines together, read each minute and at the end.
    """
    import aiohttp

    host, readings = urlsplit(address).netloc, list[tuple[float, float]]()
    begun, moves, look = time.monotonic(), 0, None
    end, next_move = begun + 60 * minutes, begun + MOVE_EVERY
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"http://{host}/socket", headers={"Origin": f"http://{host}"}, max_msg_size=0) as page,
    ):
        await page.send_json({"do": "new", "setup": SETUP})
        await page.send_json({"do": "analyse", "on": True})
        while (now := time.monotonic()) < end:
            report = await next_report(page)
            if report["is"] == "look":
                look = report
            elif report["is"] == "view" and (report["over"] or report["number"] >= MOVES):
                await page.send_json({"do": "new", "setup": SETUP})
            if look is not None and now >= next_move:
                await page.send_json({"do": "play", "vertex": look["moves"][0]["vertex"]})
                moves, next_move, look = moves + 1, now + MOVE_EVERY, None
            if time.monotonic() >= min(end, begun + 60 * (len(readings) + 1)):
                own, *engines = (used(each) for each in family(server))
                readings.append((own, sum(engines)))
                text = f"server {own:.1f} MB, engine {sum(engines):.0f} MB, {moves} moves"
                print(f"  minute {len(readings):>3}: {text}", flush=True)
    return readings


async def next_report(page: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    """The next report; one of nothing if none comes in a second, as when the analysis has paused."""
    import aiohttp

    try:
        message = await page.receive(timeout=1.0)
    except TimeoutError:
        return {"is": "nothing"}
    if message.type != aiohttp.WSMsgType.TEXT:
        raise ChoiceError(f"the server has closed the connection: {message.data}")
    return json.loads(message.data)


MEASUREMENTS: Measurements = {"engine": engine, "web": web}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser(__doc__ or "", MEASUREMENTS)
    add = options.add_argument
    add("--games", type=whole(FEWEST_GAMES), default=100, help=f"{FEWEST_GAMES} or more (default 100)")
    add("--minutes", type=above_zero, default=5.0, help=f"{FEWEST_MINUTES} or more (default 5)")
    chosen = options.parse_args(arguments)
    if chosen.minutes < FEWEST_MINUTES:
        options.error(f"argument --minutes: {chosen.minutes:g} is below {FEWEST_MINUTES}: there is nothing to compare")
    return measure_each(MEASUREMENTS, chosen)


if __name__ == "__main__":
    finish(main)
