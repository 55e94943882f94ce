"""Whether a network believes the side to move better off than it is, on each board size: its values on recorded games.

    python -m benchmarks.bias
    python -m benchmarks.bias --weights runs/nogo/weights.pt --records runs/nogo --held-out

Pairs of positions, one ply apart and spread over each game. In one of the two the winner is to move, in the other the
loser, so the results sum to zero, and the mean of the values should too.

bias     mean of the values, -1 to 1, with a standard error (of games, whose positions resemble each other); claim:
         within 0.05 on every size
winner   share of the positions in which the value's sign names the winner; drawn games count half
sure     mean size of the values; that of a network which is as often right as it believes is 2 * winner - 1

The newest games of each size that the network plays are measured. The network has learned from most of a run's games:
--held-out takes only those that none of its steps was taken on, where the run had the usual share of them. Games that
were searched fully in their opening alone are left out: they were played on with few visits, so their results say less.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict, deque
from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.harness import plain_parser
from gozero.evaluators.base import Evaluator
from gozero.evaluators.factory import open_evaluator
from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.play.engine import find_weights, supported_sizes
from gozero.system.console import positive, run_command, say
from gozero.system.errors import ChoiceError
from training.records.library import Entry, Library
from training.records.records import Record
from training.records.rows import CorruptRecordError, is_held_out, is_opening, states_of
from training.settings.config import ReplaySettings

BATCH = 64
HELD_OUT = ReplaySettings().held_out


class Row(NamedTuple):
    """What was found on one board size; see the module."""

    size: int
    games: int
    positions: int
    bias: float
    error: float
    winner: float
    sure: float

    def __str__(self) -> str:
        error = f"± {self.error:.3f}" if self.games > 1 else " " * 7  # of one game it is not known
        return (
            f"{self.size:>4} {self.games:>6} {self.positions:>10} {self.bias:>+9.3f} {error} "
            f"{self.winner:>8.1%} {self.sure:>6.2f}"
        )


def newest(library: Library, name: str, most: int, held_out: bool, sizes: Container[int]) -> dict[int, deque[Entry]]:
    """The newest games of each of these board sizes, at most so many; with `held_out` only those never learned from.

    ChoiceError if the games are of another game than `name`, or there are none of these.
    """
    found: dict[int, deque[Entry]] = defaultdict(lambda: deque(maxlen=min(most, sys.maxsize)))
    for entry in library.entries():
        record, played = entry.record, entry.game().name
        if played != name:
            raise ChoiceError(f"{entry.name} is a game of {played}, the weights play {name}; give other --records")
        has_pairs = record.size in sizes and len(record.moves) > 1 and not is_opening(record)
        if has_pairs and (not held_out or is_held_out(record, HELD_OUT)):
            found[record.size].append(entry)
    if not found:
        raise ChoiceError(f"no such game in {library.paths[0]} on a board that the weights play; give other --records")
    return dict(sorted(found.items()))


def pairs_of(record: Record, game: Game, pairs: int) -> np.ndarray:
    """States int32 [2n, S] of at most so many pairs of successive plies, spread over the game."""
    first = np.unique(np.linspace(0, len(record.moves) - 2, min(pairs, len(record.moves) - 1)).round().astype(int))
    plies = np.stack([first, first + 1], axis=1).ravel().tolist()
    states = {ply: state.copy() for ply, state in enumerate(states_of(record, game)) if ply in plies}
    return np.stack([states[ply] for ply in plies])


def measure(evaluator: Evaluator, entries: Sequence[Entry], pairs: int) -> Row:
    means, winners, sizes = [], [], []
    for entry in entries:
        record = entry.record
        states = pairs_of(record, entry.game(), pairs)
        parts = (states[start : start + BATCH] for start in range(0, len(states), BATCH))
        values = np.concatenate([evaluator.evaluate(part).value for part in parts])
        result = np.sign(record.score) * np.where(states[:, TO_PLAY] == BLACK, 1, -1)
        means.append(values.mean())
        winners.append((1 + np.sign(values) * result) / 2)
        sizes.append(np.abs(values))
    error = np.std(means, ddof=1) / len(means) ** 0.5 if len(means) > 1 else np.nan
    winner, sure = np.concatenate(winners), np.concatenate(sizes)
    return Row(record.size, len(entries), len(sure), np.mean(means), error, winner.mean(), sure.mean())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure from the command line; exit code 0, or 2 for a request that makes no sense."""
    parser = plain_parser("benchmarks.bias", __doc__ or "")
    add = parser.add_argument
    add("--weights", default="best.pt", metavar="FILE", help="the network (default %(default)s)")
    add("--records", default="weights/resume", metavar="PATH", help="run folder or shard (default: the run of best.pt)")
    add("--games", type=positive, default=300, metavar="N", help="most games of a size (default 300)")
    add("--pairs", type=positive, default=12, metavar="N", help="pairs of positions of a game (default 12)")
    add("--held-out", action="store_true", help="only games that a run keeps from its learner")
    add("--threads", type=positive, metavar="N", help="CPU threads (default: all this process may use)")
    options = parser.parse_args(arguments)
    return run_command("benchmarks.bias", lambda: _run(options), (CorruptRecordError,))


def _run(options: argparse.Namespace) -> int:
    path, header = find_weights(options.weights, None)
    library = Library([options.records])
    found = newest(library, header.game, options.games, options.held_out, supported_sizes(header))
    if library.complaint:
        say(library.complaint)
    which = "held-out games" if options.held_out else "games"
    print(f"{path.name}, {header.game}, {which} of {options.records}")
    print(f"{'size':>4} {'games':>6} {'positions':>10} {'bias':>17} {'winner':>8} {'sure':>6}")
    for entries in found.values():
        evaluator = open_evaluator(path, entries[0].game(), threads=options.threads)
        print(measure(evaluator, entries, options.pairs), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
