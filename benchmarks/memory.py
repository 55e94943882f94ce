"""Memory of one engine over many games: the claim is that after the first ten games it grows by at most 5 %.

One `gozero-gtp` plays both colours of each game to its end, with an analysis, an undo, the score and the game's record
on the way, as a controller that is never closed would have it. Its resident memory is read between games (Linux). Run
it with `python -m benchmarks.memory --games 100`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness import finish, growth, machine, parser
from gozero.machine import megabytes
from gtp.client import Engine
from training.console import positive, whole

CLAIM = 0.05
SETTLED = 10  # games after which caches and pools no longer grow
FEWEST = SETTLED + 2  # games: the first after these, and one to compare with it
LONGEST = 2.2  # plies of a game, for each point


def play(engine: Engine, size: int) -> tuple[int, str]:
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


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", default="best.pt", metavar="FILE")
    options.add_argument("--games", type=whole(FEWEST), default=100, help=f"{FEWEST} or more (default 100)")
    options.add_argument("--size", type=int, default=13)
    options.add_argument("--visits", type=positive, default=32)
    options.add_argument("--threads", type=positive, default=1)
    chosen = options.parse_args()
    games = FEWEST if chosen.short else chosen.games
    size, visits = (5, 4) if chosen.short else (chosen.size, chosen.visits)
    settings = (
        f"--weights {chosen.weights} --size {size} --visits {visits} --threads {chosen.threads} --seed 1 --no-resign"
    )
    print(f"Memory over {games} games, {size}x{size}, {visits} visits, {chosen.weights}\n  {machine()}", flush=True)
    found: list[float] = []
    with Engine([sys.executable, "-m", "gtp", *settings.split()], timeout=600) as engine:
        for game in range(1, games + 1):
            plies, result = play(engine, size)
            used = megabytes(Path(f"/proc/{engine.pid}/status"), "VmRSS")
            if used is None:
                raise SystemExit("memory: this system does not tell what a process uses; run it on Linux")
            found.append(used)
            if game % max(1, games // 10) == 0:
                print(f"  after game {game:>4}: {found[-1]:.0f} MB (the last: {plies} plies, {result})", flush=True)
    print(f"  {verdict(found)}")


def verdict(found: Sequence[float]) -> str:
    """The line about the megabytes after each game."""
    settled = found[SETTLED:]
    return (
        f"from game {SETTLED + 1} on: {settled[0]:.0f} MB at first, {max(settled[1:]):.0f} at most later, "
        f"{100 * growth(settled):+.1f} %; claimed at most {100 * CLAIM:.0f} %"
    )


if __name__ == "__main__":
    finish(main)
