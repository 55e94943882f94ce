"""The engine's use of its time, held against the same time for every move, with the same weights.

    python -m benchmarks.effort --clock absolute --size 9 --visits 100 --games 400 --csv benchmarks/matches/effort-9.csv

One visit stands for one second, so that the result does not depend on what else the machine does. The first player has
a clock with the terms of `gtp.time_controls` and ends its searches as `gozero.patience` judges. The second has no
clock: it searches every move with the same number of visits, the mean of what the first one used in a match before
(`--pilot` games, or `--even` names the number). Every move is searched from a fresh tree, without chance; a move
without a choice costs neither player anything.

absolute   time for the whole game, enough for `--visits` a move in a game of average length.
fischer    a quarter of that, and an increment of three quarters for every move.
canadian   ten stones in each period of ten times `--visits`.

Printed are the score, its 95 % interval (Wilson), and what a move took on average, of both.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.harness import machine
from benchmarks.variants import AT_ONCE, OPENING_MOVES, evaluator_of, follow
from gozero.endgame import candidates
from gozero.errors import ChoiceError
from gozero.evaluators.base import Evaluator
from gozero.patience import Patience
from gozero.position import Position
from gozero.search.request import SearchRequest
from gozero.search.search import RootResult, Search
from gozero.weights import WeightsError
from gtp.clock import Clock
from gtp.time_controls import Absolute, Canadian, Fischer, TimeControl, moves_to_share
from training.console import Parser, run_command
from training.matches.commands import check_files
from training.matches.elo import Tally
from training.matches.interface import Conditions, Fault, Turn
from training.matches.match import MatchSettings
from training.matches.players import match_search
from training.records import scoring
from training.settings.config import LoopSettings

MOVES = 0.42  # of one player in a game of average length, for each point of the board
LOOKS = 10  # at a search, before its target; then as often beyond it
MOST = 6  # times --visits: room for the longest search


def terms(name: str, visits: int, points: int) -> TimeControl:
    """The clock of that name whose average move has so many visits."""
    moves = MOVES * points
    kinds = {
        "absolute": Absolute(visits * moves),
        "fischer": Fischer(visits * moves / 4, 0.75 * visits),
        "canadian": Canadian(0.0, 10.0 * visits, 10),
    }
    return kinds[name]


@dataclass
class Spent:
    """What moves with a choice took."""

    visits: int = 0
    moves: int = 0

    def add(self, visits: int) -> None:
        self.visits += visits
        self.moves += 1

    @property
    def mean(self) -> float:
        return self.visits / max(1, self.moves)


@dataclass
class _Thought:
    """One move's search: its tree, and when it is looked at next."""

    slot: int  # and its tree
    position: Position
    mask: np.ndarray
    step: float
    most: float
    patience: Patience | None
    visits: int = 0
    action: int | None = None


@dataclass
class EffortPlayer:
    """A search from a fresh tree whose length is decided move by move, all waiting games together.

    Attributes:
        control: the clock's terms; None: `visits` for every move.
    """

    name: str
    search: Search
    visits: float
    control: TimeControl | None
    spent: Spent = field(default_factory=Spent)
    clocks: dict[int, Clock] = field(default_factory=dict)

    def begin(self, slot: int, *, seed: int) -> None:
        self.clocks[slot] = Clock(lag=0.0)
        self.clocks[slot].set_up(self.control)

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        thoughts = [self._begun(turn) for turn in turns]
        waiting = [thought for thought in thoughts if thought.action is None]
        while waiting:
            for thought in waiting:
                self._extend(thought)
            self.search.run()
            for thought in waiting:
                self._judge(thought, self.search.result(thought.slot))
            waiting = [thought for thought in waiting if thought.action is None]
        return [int(thought.action or 0) for thought in thoughts]

    def final_score(self, turn: Turn) -> None:
        return None

    def close(self) -> None:
        self.clocks.clear()

    def _begun(self, turn: Turn) -> _Thought:
        """The thought for a move; decided at once where there is no choice."""
        position, mask = turn.position, candidates(turn.position)
        target = most = self.visits
        patience = None
        if self.control is not None:
            moves = moves_to_share(position.game.points, position.ply)
            allowance = self.clocks[turn.slot].allowance(position.to_play, moves)
            if allowance is not None:
                target, most = allowance.target, allowance.most
            patience = Patience(target)
        thought = _Thought(turn.slot, position, mask, max(1.0, target / LOOKS), most, patience)
        if mask.sum() == 1:
            thought.action = int(mask.argmax())
        return thought

    def _extend(self, thought: _Thought) -> None:
        """Search until the next look."""
        wanted = thought.most if thought.patience is None else min(thought.most, thought.visits + thought.step)
        budget = min(max(thought.visits + 1, round(wanted)), self.search.settings.max_nodes - 1)
        position = thought.position
        request = SearchRequest(
            position.state, position.history_row(0), budget, root_mask=thought.mask, keep=thought.visits > 0
        )
        self.search.begin(thought.slot, request)
        thought.visits = budget

    def _judge(self, thought: _Thought, result: RootResult) -> None:
        """Decide the move if the search is over, and stop the clock."""
        full = thought.visits >= min(round(thought.most), self.search.settings.max_nodes - 1)
        if not full and thought.patience is not None and not thought.patience.is_exhausted(result, thought.visits):
            return
        thought.action = result.best
        self.spent.add(thought.visits)
        self.clocks[thought.slot].spend(thought.position.to_play, thought.visits)


def players(
    options: argparse.Namespace, evaluator: Evaluator, conditions: Conditions, even: float | None
) -> tuple[EffortPlayer, EffortPlayer]:
    """(the one with a clock, the one without, whose moves have `even` visits)."""
    settings = replace(match_search(options.visits, conditions), max_nodes=MOST * options.visits)
    first, second = (Search(evaluator.game, evaluator, settings, trees=AT_ONCE, seed=options.seed) for _ in range(2))
    control = terms(options.clock, options.visits, evaluator.game.points)
    return (
        EffortPlayer(options.clock, first, options.visits, control),
        EffortPlayer("even", second, even or options.visits, None),
    )


def play(both: tuple[EffortPlayer, EffortPlayer], options: argparse.Namespace, games: int, csv: Path | None) -> float:
    """A match, printed as it grows. Returns what a move took on average, of the one with a clock."""
    rules = MatchSettings(games=games, seed=options.seed, opening_moves=OPENING_MOVES, parallel=AT_ONCE)

    def line(score: Tally) -> str:
        means = ", ".join(f"{player.name} {player.spent.mean:.1f}" for player in both)
        return f"{options.clock} against even: {score}; visits a move: {means}"

    follow(both, both[0].search.game, rules, csv, line)
    return both[0].spent.mean


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(
        prog="python -m benchmarks.effort", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clock", choices=("absolute", "fischer", "canadian"), default="absolute")
    parser.add_argument("--weights", metavar="FILE", help="of Go (default: the engine's own)")
    parser.add_argument("--visits", type=int, default=100, help="of an average move (default %(default)s)")
    parser.add_argument("--threads", type=int, help="CPU threads (default: all this process may use)")
    parser.add_argument("--size", type=int, default=9, help="points a side (default %(default)s)")
    parser.add_argument("--games", type=int, default=400, help="even (default %(default)s)")
    parser.add_argument("--pilot", type=int, default=50, help="games to find the average in (default %(default)s)")
    parser.add_argument("--even", type=float, metavar="N", help="visits of the second player, instead of a pilot")
    parser.add_argument("--seed", type=int, default=1, help="fixes the openings (default %(default)s)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="save the list of games")
    options = parser.parse_args(arguments)
    if options.visits < LOOKS:
        raise ChoiceError(f"--visits {options.visits}: expected {LOOKS} or more")
    if options.even is not None and not options.even >= 1:
        raise ChoiceError(f"--even {options.even:g}: expected 1 or more")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    return run_command("benchmarks.effort", lambda: _run(arguments), (WeightsError,))


def _run(arguments: Sequence[str] | None) -> int:
    options = parsed(arguments)
    check_files(options.csv)
    print(machine(), flush=True)
    game, komi = scoring.match_game(LoopSettings(game="go"), options.size)
    conditions = Conditions(game, komi, options.seed, AT_ONCE)
    evaluator = evaluator_of(options, game)
    even = options.even
    if even is None:
        even = play(players(options, evaluator, conditions, None), options, options.pilot, None)
    play(players(options, evaluator, conditions, even), options, options.games, options.csv)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
