"""Search with a network on Go 13x13: the claim is at least 95 % of the evaluator's own rate at the same batch.

The evaluator's own rate is that of `evaluate` called again and again on one batch of states. The search asks it for
batches of the same size: one leaf of each of many trees, or many leaves of one tree. The network is b10c64 with random
weights: its speed does not depend on them. One thread, so that search and evaluator share one core. Run it with `python
    -m benchmarks.network_search`.
"""

from __future__ import annotations

from benchmarks.harness import Contender, finish, measure, parser, pin, ratio, report
from gozero.evaluators.base import Evaluator
from gozero.games import go
from gozero.games.game import Game
from gozero.search.request import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings

SIZE, NETWORK = 13, "b10c64"
CLAIM = 0.95
BATCHES = ((1, 1), (1, 8), (64, 1))  # (trees, leaves of each)


def random_network(game: Game) -> Evaluator:
    """The network on OpenVINO, one thread."""
    from gozero import nets
    from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

    return OpenVINOEvaluator.from_module(nets.build(nets.config(NETWORK)), game, threads=1)


def evaluator_alone(evaluator: Evaluator, batch: int, evaluations: int) -> Contender:
    states = evaluator.game.new_states(batch)

    def run() -> int:
        for _ in range(evaluations // batch):
            evaluator.evaluate(states)
        return evaluations // batch * batch

    return run


def search(evaluator: Evaluator, trees: int, leaves: int, evaluations: int) -> Contender:
    game = evaluator.game
    visits = evaluations // trees
    searched = Search(game, evaluator, SearchSettings(leaves=leaves, max_nodes=visits + 1), trees)
    state, history = game.new_states(1)[0], game.new_histories(1)[0]

    def run() -> int:
        for tree in range(trees):
            searched.begin(tree, SearchRequest(state, history, visits))
        searched.run()
        return sum(searched.result(tree).root_visits for tree in range(trees))

    return run


def main() -> None:
    options = parser(__doc__ or "").parse_args()
    pin(options.core)
    evaluator = random_network(go.make(SIZE))
    evaluations = 128 if options.short else 2048
    contenders = {}
    for trees, leaves in BATCHES:
        batch = trees * leaves
        contenders[f"evaluator, batches of {batch}"] = evaluator_alone(evaluator, batch, evaluations)
        contenders[f"search, {trees} trees x {leaves} leaves"] = search(evaluator, trees, leaves, evaluations)
    rows = measure(contenders, unit="evaluations", runs=options.runs)
    report(f"Search with {NETWORK}, Go {SIZE}x{SIZE}, {evaluator.precision} on one thread", rows)  # type: ignore[attr-defined]
    names = list(rows)
    for alone, searched in zip(names[::2], names[1::2], strict=True):
        print(f"  {searched}: {ratio(rows, searched, alone):.1%} of the evaluator, claimed at least {CLAIM:.0%}")


if __name__ == "__main__":
    finish(main)
