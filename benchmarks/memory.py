"""Memory of a `gozero-gtp` that runs for long (Linux): the claim is that it grows by at most 5 % once it has settled.

    python -m benchmarks.memory --games 100

The engine plays both colours of each game to its end, with an analysis, an undo, the score and the game's record on the
way. Its resident memory is read between games, from the eleventh on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness import finish, machine, parser
from gozero.system.console import whole
from gozero.system.errors import ChoiceError
from gozero.system.machine import megabytes
from gtp.client import GtpEngine

CLAIM = 0.05
SETTLED = 10  # games, after which caches, trees and pools no longer grow
FEWEST = SETTLED + 2  # so that there are two readings to compare
LONGEST = 2.2  # plies of a game, for each point


def growth(found: Sequence[float]) -> str:
    """The line about the megabytes read since the memory settled."""
    most = max(found[1:])
    return f"{found[0]:.1f} MB at first, {most:.1f} at most later, {100 * (most / found[0] - 1):+.1f} %"


def used(process: int) -> float:
    """Megabytes of a process; ChoiceError if this system does not say."""
    found = megabytes(Path(f"/proc/{process}/status"), "VmRSS")
    if found is None:
        raise ChoiceError("this system does not say how much memory a process uses; run it on Linux")
    return found


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


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__ or "")
    options.add_argument("--games", type=whole(FEWEST), default=100, help=f"{FEWEST} or more (default 100)")
    chosen = options.parse_args(arguments)
    games = FEWEST if chosen.short else chosen.games
    size, visits = (5, 4) if chosen.short else (13, 32)
    settings = f"--weights best.pt --size {size} --visits {visits} --threads 1 --seed 1 --no-resign"
    print(f"{machine()}\nMemory of gozero-gtp over {games} games, {size}x{size}, {visits} visits", flush=True)
    found: list[float] = []
    with GtpEngine([sys.executable, "-m", "gtp", *settings.split()], timeout=600) as program:
        for game in range(1, games + 1):
            plies, result = play(program, size)
            found.append(used(program.pid))
            if game % max(1, games // 10) == 0:
                print(f"  after game {game:>4}: {found[-1]:.0f} MB (the last: {plies} plies, {result})", flush=True)
    print(f"  {growth(found[SETTLED:])}; claimed at most {100 * CLAIM:.0f} %")


if __name__ == "__main__":
    finish(main)
