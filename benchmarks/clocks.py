"""Never a loss on time: whole games against clocks that a referee holds, with a quiet machine and with a busy one.

Vocabulary. A *flag* that fell is a game lost on time; an *overrun* is a move that outlasted the byo-yomi period it
began in, or the first where it began in main time. The *reserve* of a move is what was left when it had been played of
the time whose end would have been one of these; one that ended in main time, with overtime to come, has none. A *burner*
is a process that does nothing, as fast as it can.

The whole front end but the process around it - commands, session, clock and search with real weights - plays in real
time; the referee measures from the command to the answer. Each game runs on the next clock, every second round beside
the burners. Both colours are the engine's, or one is a random opponent, against whom most replies are clear. `--tell`
sends time_left before each move, in whole seconds as CGOS does; without it the engine lives by its own account. Run it
with `python -m benchmarks.clocks --games 200`.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from benchmarks.harness import finish, machine, parser
from gozero.engine import find_weights
from gtp.__main__ import make_protocol
from gtp.loading import Loader
from gtp.protocol import Protocol, Signals
from gtp.session import Session
from gtp.settings import GtpSettings
from gtp.time_controls import Absolute, Byoyomi, Canadian, Fischer, TimeControl, TimeLeft
from training.console import positive, whole

CLOCKS: dict[str, TimeControl] = {
    "time_settings 20 0 0": Absolute(20),
    "time_settings 3 5 5": Canadian(3, 5, 5),
    "time_settings 0 1 1": Canadian(0, 1, 1),
    "kgs-time_settings byoyomi 2 0.5 3": Byoyomi(2, 0.5, 3),
    "kgs-time_settings byoyomi 0 1 5": Byoyomi(0, 1, 5),
    "kata-time_settings fischer 5 1": Fischer(5, 1),
    "kata-time_settings fischer-capped 5 1 6 2": Fischer(5, 1, 6, 2),
}
COLOURS = "bw"
MOST_PLIES = 2.2
"""Plies of a game for each point of the board; after that the engine only passes."""


@dataclass
class Tally:
    """The results under one clock."""

    games: int = 0
    flags: int = 0
    overruns: int = 0
    spent: list[float] = field(default_factory=list)  # seconds of each move
    reserves: list[float] = field(default_factory=list)  # seconds, of the moves after which time could have run out

    def __str__(self) -> str:
        least, one, ten, middle = np.quantile(self.reserves or [math.nan], [0, 0.01, 0.1, 0.5])
        return (
            f"{self.games:>4} games, {len(self.spent):>5} moves of {statistics.mean(self.spent):.2f} s, at most "
            f"{max(self.spent):.2f}; "
            f"flags {self.flags}, overruns {self.overruns}; "
            f"reserve at least {least:.2f}, 1 % {one:.2f}, 10 % {ten:.2f}, median {middle:.2f} s"
        )


class Referee:
    """Both clocks of a game."""

    def __init__(self, control: TimeControl, tally: Tally) -> None:
        self._control, self._tally = control, tally
        self._left = dict.fromkeys(COLOURS, control.full())

    def left(self, colour: str) -> TimeLeft:
        return self._left[colour]

    def has_time(self, colour: str, spent: float) -> bool:
        """Take a move off the clock; False when the flag has fallen."""
        left, tally, control = self._left[colour], self._tally, self._control
        tally.spent.append(spent)
        self._left[colour] = control.after(left, spent)
        if left.count == 0 and isinstance(control, Canadian | Byoyomi):
            if spent <= left.seconds:
                return True  # of main time, with overtime to come
            left, spent = TimeLeft(control.period, control.count), spent - left.seconds
        reserve = left.seconds - spent
        if isinstance(control, Fischer):
            reserve = min(reserve, control.longest - spent)
        tally.reserves.append(reserve)
        later = control.period * (left.count - 1) if isinstance(control, Byoyomi) else 0.0  # of the periods after it
        tally.overruns += reserve < 0 and isinstance(control, Byoyomi)
        fell = reserve + later < 0
        tally.flags += fell
        return not fell


def ask(protocol: Protocol, line: str) -> str:
    """The text of the answer; RuntimeError where it is an error."""
    pieces: list[str] = []
    protocol.answer(line, pieces.append)
    answer = "".join(pieces)
    if not answer.startswith("="):
        raise RuntimeError(f"{line!r} was answered {answer!r}")
    return answer[1:].strip()


def play(
    protocol: Protocol, terms: str, referee: Referee, opponent: np.random.Generator | None, *, plies: int, tell: bool
) -> None:
    """Play one game to its end: two passes, a resignation, a flag, or so many plies.

    White is the random opponent, if there is one.
    """
    ask(protocol, terms)
    ask(protocol, "clear_board")
    passes = 0
    for colour in itertools.islice(itertools.cycle(COLOURS), plies):
        if opponent is not None and colour == "w":
            answer = random_move(protocol, opponent)
        else:
            if tell:
                left = referee.left(colour)
                ask(protocol, f"time_left {colour} {math.floor(left.seconds)} {left.count}")
            begun = time.perf_counter()
            answer = ask(protocol, f"genmove {colour}")
            if not referee.has_time(colour, time.perf_counter() - begun):
                return
        passes = passes + 1 if answer == "pass" else 0
        if passes == 2 or answer == "resign":
            return


def random_move(protocol: Protocol, random: np.random.Generator) -> str:
    """Play a random legal point for White, or `pass` when there is none, and return it."""
    points = ask(protocol, "all_legal w").split()
    point = str(random.choice(points)) if points else "pass"
    ask(protocol, f"play w {point}")
    return point


@contextmanager
def burning(processes: int) -> Iterator[None]:
    """Context manager: run so many busy processes beside the engine."""
    burners = [multiprocessing.get_context("spawn").Process(target=burn, daemon=True) for _ in range(processes)]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.join()


def burn() -> None:
    """Keep a core busy forever."""
    while True:
        pass


def open_engine(weights: str | None, size: int, lag: float) -> Protocol:
    """A front end that has searched once, so that loading is not measured."""
    settings = GtpSettings(weights=weights, size=size, no_resign=True, lag=lag)
    path, header = find_weights(settings.weights, settings.game)
    protocol = make_protocol(Session(settings, Loader(settings, path, header).player, Signals()), header.game)
    ask(protocol, "genmove b")
    return protocol


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", metavar="FILE")
    options.add_argument("--size", type=int, default=9)
    options.add_argument("--games", type=positive, default=200)
    options.add_argument("--burners", type=whole(0), default=2)
    options.add_argument("--opponent", choices=("self", "random"), default="self")
    options.add_argument("--tell", action="store_true", help="send time_left before each move")
    options.add_argument("--lag", type=float, default=1.0, help="the engine's --lag")
    options.add_argument("--plies", type=positive, help="longest game (default: 2.2 plies for each point)")
    chosen = options.parse_args(arguments)
    plies = chosen.plies or (6 if chosen.short else round(MOST_PLIES * chosen.size**2))
    protocol = open_engine(chosen.weights, chosen.size, chosen.lag)
    opponent = np.random.default_rng(0) if chosen.opponent == "random" else None
    tallies = {(busy, terms): Tally() for busy in (False, True) for terms in CLOCKS}
    order = itertools.islice(itertools.cycle(tallies), len(tallies) if chosen.short else chosen.games)
    for busy, games in itertools.groupby(order, key=lambda key: key[0]):
        with burning(chosen.burners if busy else 0):
            for key in games:
                tally, terms = tallies[key], key[1]
                tally.games += 1
                play(protocol, terms, Referee(CLOCKS[terms], tally), opponent, plies=plies, tell=chosen.tell)
    print(f"Games on the clock, {chosen.size}x{chosen.size}, against {chosen.opponent}\n  {machine()}")
    for (busy, terms), tally in tallies.items():
        if tally.games:
            print(f"  {terms + (f' beside {chosen.burners} burners' if busy else ''):<60} {tally}")
    print(
        f"  in all: flags {sum(t.flags for t in tallies.values())}, overruns "
        f"{sum(t.overruns for t in tallies.values())}; claimed none"
    )


if __name__ == "__main__":
    finish(main)
