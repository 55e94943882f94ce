"""The time of a move: the claim is at most 40 ms for 50 simulations of NoGo on two cores, with the shipped weights.

The engine's own player plays games against itself, both colours from one tree as in a sitting of `gozero-gtp`. Run it
with `python -m benchmarks.moves --game nogo --visits 50`.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from benchmarks.harness import finish, machine, parser
from gozero import games
from gozero.engine import Evaluators, find_weights, search_settings
from gozero.game_tree import Limits
from gozero.player import PlayerSettings
from gozero.players import make_player
from training.console import positive

CLAIM = 0.040  # seconds, NoGo 9x9 at 50 simulations


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument(
        "--game",
        default="nogo",
        choices=sorted(set(games.GAMES) - set(games.GO_FAMILY)),
        help="a game other than those of Go's family (default nogo)",
    )
    options.add_argument("--weights", metavar="FILE", help="default: the game's own")
    options.add_argument("--visits", type=positive, default=50)
    options.add_argument("--games", type=positive, default=5)
    options.add_argument("--threads", type=positive, help="default: as many as this process may use")
    chosen = options.parse_args()
    path, header = find_weights(chosen.weights, chosen.game)
    size = header.size or games.usual(chosen.game, "size")
    settings = PlayerSettings(seed=1, resign=False, search=search_settings(chosen.visits, chosen.game))
    player = make_player(chosen.game, (size,), Evaluators(path, threads=chosen.threads).open, settings, size=size)
    player.load()
    taken, worked = [], time.process_time()
    for _ in range(1 if chosen.short else chosen.games):
        player.game.new_game()
        while not player.game.is_over:
            began = time.perf_counter()
            player.genmove(player.game.position.to_play, Limits(chosen.visits))
            taken.append(time.perf_counter() - began)
    busy = (time.process_time() - worked) / sum(taken)
    print(f"A move of {chosen.game} {size}x{size}, {chosen.visits} visits, {path.name}\n  {machine()}")
    slow = 1000 * float(np.quantile(taken, 0.99))
    print(
        f"  median {1000 * statistics.median(taken):.1f} ms, 99 % within {slow:.1f} ms of {len(taken)} moves; "
        f"{busy:.2f} cores at work"
    )
    print(f"  claimed for nogo 9x9 at 50 visits: {1000 * CLAIM:.0f} ms")


if __name__ == "__main__":
    finish(main)
