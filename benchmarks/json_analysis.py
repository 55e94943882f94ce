"""Many positions at once fill the evaluator: the claim is 90 % of the evaluator's own rate with 32 positions of one
game under way.

The positions of a game, 100 visits each, are analysed by `gozero-analysis`'s own scheduler, one at a time and 32 at a
time, beside the evaluator alone on batches as large as theirs. Units are evaluations; a position costs about as many as
it has visits, fewer where lines end the game. Run it with `python -m benchmarks.json_analysis --weights FILE`; without
--weights the shipped ones are taken.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from analysis.analyst import Analyst
from analysis.positions import Task, tasks
from analysis.queries import Defaults, read_query
from benchmarks.harness import Contender, finish, kept_busy, measure, parser, ratio, report
from gozero import coords, games
from gozero.engine import Evaluators, find_weights, search_settings, tree_memory
from gozero.evaluators.base import Evaluation, Evaluator
from gozero.games.game import Game
from gozero.search.memory import Memory

SIZE, VISITS, POSITIONS = 13, 100, 32
CLAIM = 0.9


class Counted:
    """An evaluator that counts the positions that it evaluates."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self.states = evaluator, 0

    @property
    def game(self) -> Game:
        return self._evaluator.game

    def evaluate(self, states: np.ndarray) -> Evaluation:
        self.states += len(states)
        return self._evaluator.evaluate(states)


def game_of(turns: int) -> list[Task]:
    """The positions after 1, 2, … moves of a random game."""
    random = np.random.default_rng(1)
    points = [coords.vertex(int(point), SIZE) for point in random.permutation(SIZE * SIZE)[:turns]]
    query: dict[str, Any] = {
        "id": "game",
        "rules": "tromp-taylor",
        "boardXSize": SIZE,
        "boardYSize": SIZE,
        "maxVisits": VISITS,
    }
    query |= {
        "moves": [["BW"[k % 2], point] for k, point in enumerate(points)],
        "analyzeTurns": list(range(1, turns + 1)),
    }
    return tasks(read_query(query, Defaults((SIZE,))))


def analysed(evaluator: Evaluator, game: list[Task], positions: int) -> Contender:
    """Analyse all positions of the game, so many at a time."""

    def fail(task: Task, error: Exception) -> NoReturn:
        raise error

    def run() -> int:
        counted = Counted(evaluator)
        analyst = Analyst(
            lambda board: counted, positions, lambda running_task, goes_on: None, fail, Memory(tree_memory(None))
        )
        for task in game:
            analyst.add(task)
        while not analyst.is_idle:
            analyst.wave()
        return counted.states

    return run


def alone(evaluator: Evaluator, game: list[Task], batch: int) -> Contender:
    """Evaluate as many states directly, in batches of this size."""
    states = np.resize(np.stack([task.root.state for task in game]), (batch, game[0].root.game.state_ints))

    def run() -> int:
        for _ in range(len(game) * VISITS // batch):
            evaluator.evaluate(states)
        return len(game) * VISITS // batch * batch

    return run


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", default=None, metavar="FILE")
    options.add_argument("--backend", default="auto", metavar="NAME")
    chosen = options.parse_args()
    path, _ = find_weights(chosen.weights, "go")
    evaluator = Evaluators(path, chosen.backend).open(games.make("go", size=SIZE))
    game = game_of(POSITIONS if chosen.short else 2 * POSITIONS)
    leaves = search_settings(VISITS, "go").leaves
    many, one = f"{POSITIONS} positions at a time", "1 position at a time"
    network = f"evaluator alone, batches of {leaves * POSITIONS}"
    rows = measure(
        {
            one: analysed(evaluator, game, 1),
            many: analysed(evaluator, game, POSITIONS),
            network: alone(evaluator, game, leaves * POSITIONS),
        },
        unit="evaluations",
        runs=1 if chosen.short else chosen.runs,
        cores=kept_busy(),
    )
    report(f"JSON analysis, Go {SIZE}x{SIZE}, {VISITS} visits a position, {path.name}", rows)
    for name in (one, many):
        print(f"  {name}: {len(game) / rows[name].seconds:.1f} positions/s")
    print(
        f"  {many}: {ratio(rows, many, one):.1f} times one at a time, {ratio(rows, many, network):.2f} of the "
        f"evaluator, claimed {CLAIM}"
    )


if __name__ == "__main__":
    finish(main)
