"""The search without a network on Go 13x13: the claim is at least 40 times OpenSpiel's Python MCTS at 800 simulations.

Both use PUCT with the same constant and a free evaluator (uniform prior, value 0), so that nothing but the search is
measured: descending, legal moves (ours with positional superko), expanding, backing up. Other rows show longer searches
and many trees. Run it with `python -m benchmarks.search`; OpenSpiel comes with the extra `bench`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Contender, finish, measure, need_module, parser, pin, ratio, report
from gozero.evaluators.rollout import RolloutEvaluator, UniformEvaluator
from gozero.games import go
from gozero.position import Position
from gozero.search.request import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings

SIZE = 13
C_PUCT = 1.1
CLAIM = 40


def ours(
    simulations: int, trees: int, searches: int, *, moves: Sequence[int] = (), rollouts: bool = False
) -> Contender:
    """`searches` searches by each of `trees` trees, of the position after `moves`; units are simulations.

    With `rollouts` a position's value is the result of one random game.
    """
    game = go.make(SIZE)
    position = Position(game)
    for action in moves:
        position.play(action)
    settings = SearchSettings(c_puct=C_PUCT, fpu=0.0, max_nodes=simulations + 1)
    search = Search(game, RolloutEvaluator(game) if rollouts else UniformEvaluator(game), settings, trees)
    request = SearchRequest(position.state, position.history_row(0), simulations)

    def run() -> int:
        for _ in range(searches):
            for tree in range(trees):
                search.begin(tree, request)
            search.run()
        return sum(search.result(tree).root_visits for tree in range(trees)) * searches

    return run


def open_spiel(simulations: int, searches: int, moves: Sequence[int] = ()) -> Contender:
    """OpenSpiel's Python MCTS, likewise, one tree."""
    import pyspiel
    from open_spiel.python.algorithms import mcts

    class Free(mcts.Evaluator):  # type: ignore[misc]
        def evaluate(self, state: Any) -> np.ndarray:
            return np.zeros(2)

        def prior(self, state: Any) -> list[tuple[int, float]]:
            legal = state.legal_actions()
            return [(action, 1.0 / len(legal)) for action in legal]

    game = pyspiel.load_game("go", {"board_size": SIZE, "komi": 7.5})
    bot = mcts.MCTSBot(
        game,
        C_PUCT,
        simulations,
        Free(),
        solve=False,
        random_state=np.random.RandomState(1),
        child_selection_fn=mcts.SearchNode.puct_value,
    )

    start = game.new_initial_state()
    for action in moves:
        start.apply_action(action)

    def run() -> int:
        return sum(bot.mcts_search(start.clone()).explore_count for _ in range(searches))

    return run


def main() -> None:
    options = parser(__doc__ or "").parse_args()
    need_module("pyspiel", "OpenSpiel", "pip install 'gozero[bench]'")
    pin(options.core)
    times = 1 if options.short else 10
    rows = measure(
        {
            "gozero, 800 simulations": ours(800, 1, 40 * times),
            "OpenSpiel Python MCTS, 800": open_spiel(800, times),
            "gozero, 10,000 simulations": ours(10_000, 1, 3 * times),
            "gozero, 64 trees x 32": ours(32, 64, 20 * times),
        },
        unit="simulations",
        runs=options.runs,
    )
    report(f"Search with a free evaluator, Go {SIZE}x{SIZE}", rows)
    print(f"  ratio {ratio(rows, *list(rows)[:2]):.0f}, claimed at least {CLAIM}")


if __name__ == "__main__":
    finish(main)
