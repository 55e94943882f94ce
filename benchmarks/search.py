"""Random games and searches of Go 13x13 on one core.

    python -m benchmarks.search                       everything
    python -m benchmarks.search playouts network      these alone

playouts   random games, with the state, `step` and `sample` of the search: at least 15 times the moves/s of pachi-py's
           `play_random` called from Python; beside them OpenSpiel's, which fill own eyes and know no superko.
tree       searches with a free evaluator (uniform prior, value 0), so that nothing but the search is measured: at least
           40 times OpenSpiel's Python MCTS with the same constant at 800 simulations. With a random game as the value
           beside OpenSpiel's C++ MCTS, and Pachi's UCT, whose playouts know patterns and which may stop sooner.
network    searches with b10c64: at least 95 % of the evaluator's own rate at the same batch. The weights are random:
           the speed does not depend on them.
positions  the positions of a game, 100 visits each, 32 at a time, by the scheduler of `gozero analysis`: at least 90 %
           of the evaluator's own rate at the same batch, with the shipped weights.

pachi-py (`make pachi`) and OpenSpiel (`make bench`) are optional: without them there is no ratio.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import types

from benchmarks.harness import Contender, Measurements, Row, finish, measure, measure_each, parser, pin, ratio, report
from gozero import games
from gozero.evaluators.base import Evaluation, Evaluator, Pending, submitter
from gozero.evaluators.factory import Evaluators
from gozero.evaluators.rollout import RolloutEvaluator, UniformEvaluator, playout
from gozero.frontends.analysis.queries import AnalysisSettings, read_query
from gozero.frontends.analysis.server import Server
from gozero.frontends.analysis.tasks import AnalysisTask, tasks
from gozero.games import coords
from gozero.games.game import PLY, Game
from gozero.games.go import go
from gozero.nets.weights import Header
from gozero.play.engine import find_weights, search_settings
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.system.jit import HISTORY, STATE, copy_row, kernel

SIZE, KOMI, C_PUCT = 13, 7.5, 1.1
SIMULATIONS, PLAYOUTS = 800, 5000  # of OpenSpiel, of Pachi
NETWORK = "b10c64"
BATCHES = ((1, 1), (1, 8), (64, 1))  # (trees, leaves of each)
VISITS, POSITIONS = 100, 32  # of an analysis
CLAIMS = {"playouts": 15, "tree": 40, "network": 0.95, "positions": 0.90}


@kernel(types.int64(STATE, STATE, HISTORY, HISTORY, types.int64))
def play_games(initial, state, history, generator, games):  # type: ignore[no-untyped-def]
    """Play random games from `initial` int32 [S], on the rows state and history. Returns the number of moves."""
    moves = 0
    for _ in range(games):
        copy_row(state, initial)
        playout(go.step, go.outcome, go.sample, state, history, generator, history.shape[0] - 1)
        moves += state[PLY]
    return moves


def random_games(games: int) -> Contender:
    """Random games in one kernel; both sides spare their own one-point eyes and play until two passes."""
    game = go.make(SIZE)
    state, history = game.initial.copy(), np.zeros(3 * game.max_plies, np.uint64)
    generator = np.array([1], np.uint64)
    return lambda: play_games(game.initial.copy(), state, history, generator, games)


def tree_search(simulations: int, trees: int, searches: int, *, rollouts: bool = False) -> Contender:
    """`searches` searches of the empty board by each of `trees` trees; units are simulations.

    With `rollouts` a position's value is the result of one random game.
    """
    game = go.make(SIZE)
    settings = SearchSettings(c_puct=C_PUCT, fpu=0.0, max_nodes=simulations + 1)
    search = Search(game, RolloutEvaluator(game) if rollouts else UniformEvaluator(game), settings, trees)
    run = searched(search, simulations, trees)
    return lambda: sum(run() for _ in range(searches))


def network_search(evaluator: Evaluator, trees: int, leaves: int, evaluations: int) -> Contender:
    """One search of the empty board by each tree, of so many evaluations together."""
    game, visits = evaluator.game, evaluations // trees
    search = Search(game, evaluator, SearchSettings(leaves=leaves, max_nodes=visits + 1), trees)
    return searched(search, visits, trees)


def searched(search: Search, visits: int, trees: int) -> Contender:
    """One search of the empty board by each tree; units are visits of the roots."""
    request = SearchRequest(search.game.new_states(1)[0], search.game.new_histories(1)[0], visits)

    def run() -> int:
        for tree in range(trees):
            search.begin(tree, request)
        search.run()
        return sum(search.result(tree).root_visits for tree in range(trees))

    return run


def evaluator_alone(evaluator: Evaluator, states: np.ndarray, evaluations: int) -> Contender:
    """Evaluate the batch states int32 [n, S] again and again, about so many positions in all."""
    times = max(1, evaluations // len(states))

    def run() -> int:
        for _ in range(times):
            evaluator.evaluate(states)
        return times * len(states)

    return run


def game_of(turns: int) -> list[AnalysisTask]:
    """The positions after 1, 2, … moves of a random game."""
    points = np.random.default_rng(1).permutation(SIZE * SIZE)[:turns]
    query: dict[str, Any] = {
        "id": "game",
        "rules": "tromp-taylor",
        "boardXSize": SIZE,
        "boardYSize": SIZE,
        "maxVisits": VISITS,
        "moves": [["BW"[k % 2], coords.vertex(int(point), SIZE)] for k, point in enumerate(points)],
        "analyzeTurns": list(range(1, turns + 1)),
    }
    return tasks(read_query(query, AnalysisSettings(), Header("go")))


class Counted:
    """An evaluator that records the size of every batch."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.game, self._submit = evaluator.game, submitter(evaluator)
        self.batches: deque[int] = deque()  # appended to by all threads

    def evaluate(self, states: np.ndarray) -> Evaluation:
        return self.submit(states).result()

    def submit(self, states: np.ndarray) -> Pending:
        self.batches.append(len(states))
        return self._submit(states)


def analysed(evaluator: Evaluator, game: list[AnalysisTask], positions: int) -> Contender:
    """Analyse all positions of the game, so many at a time; units are evaluations."""

    def run() -> int:
        counted, answers = Counted(evaluator), deque[Mapping[str, Any]]()
        evaluators: Any = SimpleNamespace(open=lambda board: counted)
        server = Server(AnalysisSettings(positions=positions), Header("go"), evaluators, answers.append, print)
        for task in game:
            server.add(task)
        while not server.is_idle:
            server.wave()
        failed = [answer for answer in answers if "error" in answer]
        if failed:
            raise RuntimeError(str(failed[0]))
        return sum(counted.batches)

    return run


# Other programs at the work that ours does; each function imports its program when it is called


def _open_spiel_game() -> Any:
    import pyspiel

    return pyspiel.load_game("go", {"board_size": SIZE, "komi": KOMI})


def open_spiel_random(games: int) -> Contender:
    """OpenSpiel's random games: rules in C++, the loop in Python."""
    game, draw = _open_spiel_game(), np.random.default_rng(1)

    def play() -> int:
        moves = 0
        for _ in range(games):
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[draw.integers(len(legal))])
            moves += state.move_number()
        return moves

    return play


def open_spiel_python(searches: int) -> Contender:
    """OpenSpiel's Python PUCT with a free evaluator: uniform prior, value 0."""
    from open_spiel.python.algorithms import mcts

    class Free(mcts.Evaluator):  # type: ignore[misc]
        def evaluate(self, state: Any) -> np.ndarray:
            return np.zeros(2)

        def prior(self, state: Any) -> list[tuple[int, float]]:
            legal = state.legal_actions()
            return [(action, 1.0 / len(legal)) for action in legal]

    game = _open_spiel_game()
    draws, score = np.random.RandomState(1), mcts.SearchNode.puct_value
    bot = mcts.MCTSBot(game, C_PUCT, SIMULATIONS, Free(), solve=False, random_state=draws, child_selection_fn=score)
    return lambda: sum(bot.mcts_search(game.new_initial_state()).explore_count for _ in range(searches))


def open_spiel_search(searches: int) -> Contender:
    """OpenSpiel's C++ PUCT; a position's value is the result of one random game."""
    import pyspiel

    game = _open_spiel_game()
    policy = pyspiel.ChildSelectionPolicy.PUCT
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(game, evaluator, C_PUCT, SIMULATIONS + 1, 1000, False, 1, False, policy)
    return lambda: sum(bot.mcts_search(game.new_initial_state()).explore_count for _ in range(searches))


def pachi_random(games: int) -> Contender:
    """pachi-py's random games, a call for each move; they spare own one-point eyes."""
    import pachi_py

    def play() -> int:
        moves = 0
        for _ in range(games):
            board, colour = pachi_py.CreateBoard(SIZE), pachi_py.BLACK
            while not board.is_terminal:
                board = board.play_random(colour)
                colour = pachi_py.stone_other(colour)
                moves += 1
        return moves

    return play


def pachi_search() -> Contender:
    """Pachi's UCT with its own playouts, which are not uniformly random, and RAVE; it may stop before so many."""
    import pachi_py

    def run() -> int:
        board = pachi_py.CreateBoard(SIZE)
        engine = pachi_py.PyPachiEngine(board, b"uct", b"threads=1,resign_threshold=0")
        engine.genmove(pachi_py.BLACK, f"={PLAYOUTS}".encode())
        return PLAYOUTS

    return run


# The measurements


def playouts(chosen: argparse.Namespace) -> None:
    count = 20 if chosen.short else 400
    contenders = {"gozero, in a kernel": random_games(50 * count)}
    if find_spec("pachi_py"):
        contenders["pachi-py play_random, from Python"] = pachi_random(count)
    if find_spec("pyspiel"):
        contenders["OpenSpiel, from Python"] = open_spiel_random(count // 4)
    rows = measure(contenders, unit="moves", runs=chosen.runs)
    report(f"Random playouts, Go {SIZE}x{SIZE}", rows)
    print_ratio(rows, "pachi-py", CLAIMS["playouts"])


def tree(chosen: argparse.Namespace) -> None:
    times = 1 if chosen.short else 10
    contenders = {"gozero, 800 simulations": tree_search(800, 1, 40 * times)}
    if find_spec("pyspiel"):
        contenders["OpenSpiel Python MCTS, 800"] = open_spiel_python(times)
    contenders["gozero, 10,000 simulations"] = tree_search(10_000, 1, 3 * times)
    contenders["gozero, 64 trees x 32"] = tree_search(32, 64, 20 * times)
    contenders["gozero, 800, random games"] = tree_search(800, 1, 3 * times, rollouts=True)
    if find_spec("pyspiel"):
        contenders["OpenSpiel C++ MCTS, 800, random games"] = open_spiel_search(max(1, times // 5))
    if find_spec("pachi_py"):
        contenders["Pachi's UCT, 5,000"] = pachi_search()
    rows = measure(contenders, unit="simulations", runs=chosen.runs)
    report(f"Search with a free evaluator, Go {SIZE}x{SIZE}", rows)
    print_ratio(rows, "OpenSpiel", CLAIMS["tree"])


def print_ratio(rows: dict[str, Row], rival: str, claim: float) -> None:
    """How many times faster the first row is than that of the rival, if it was measured."""
    first, other = next(iter(rows)), next((name for name in rows if name.startswith(rival)), None)
    if other is None:
        print(f"  {rival} is not installed: no ratio")
    else:
        print(f"  ratio {ratio(rows, first, other):.1f}, claimed at least {claim}")


def network(chosen: argparse.Namespace) -> None:
    from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
    from gozero.nets import model

    evaluations = 128 if chosen.short else 2048
    evaluator = OpenVINOEvaluator.from_module(model.build(model.config(NETWORK)), go.make(SIZE), threads=1)
    contenders = {}
    for trees, leaves in BATCHES:
        states = evaluator.game.new_states(trees * leaves)
        contenders[f"evaluator, batches of {len(states)}"] = evaluator_alone(evaluator, states, evaluations)
        contenders[f"search, {trees} trees x {leaves} leaves"] = network_search(evaluator, trees, leaves, evaluations)
    rows = measure(contenders, unit="evaluations", runs=chosen.runs)
    report(f"Search with {NETWORK}, Go {SIZE}x{SIZE}, {evaluator.precision} on one thread", rows)
    names = list(rows)
    for alone, whole in zip(names[::2], names[1::2], strict=True):
        print(f"  {whole}: {ratio(rows, whole, alone):.1%} of the evaluator, claimed {CLAIMS['network']:.0%}")


def positions(chosen: argparse.Namespace) -> None:
    path, _ = find_weights(None, "go")
    board: Game = games.make("go", size=SIZE)
    evaluator = Evaluators(path, threads=1).open(board)
    game = game_of(POSITIONS if chosen.short else 2 * POSITIONS)
    batch = search_settings(VISITS, "go").leaves * POSITIONS
    states = np.resize(np.stack([task.root.state for task in game]), (batch, board.state_ints))
    many, one, alone = f"{POSITIONS} positions at a time", "1 position at a time", f"evaluator, batches of {batch}"
    rows = measure(
        {
            one: analysed(evaluator, game, 1),
            many: analysed(evaluator, game, POSITIONS),
            alone: evaluator_alone(evaluator, states, len(game) * VISITS),
        },
        unit="evaluations",
        runs=chosen.runs,
    )
    report(f"JSON analysis, Go {SIZE}x{SIZE}, {VISITS} visits a position, {path.name}", rows)
    for name in (one, many):
        print(f"  {name}: {len(game) / rows[name].seconds:.1f} positions/s")
    print(f"  {many}: {ratio(rows, many, alone):.1%} of the evaluator, claimed {CLAIMS['positions']:.0%}")


MEASUREMENTS: Measurements = {"playouts": playouts, "tree": tree, "network": network, "positions": positions}


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = parser(__doc__ or "", MEASUREMENTS).parse_args(arguments)
    pin(chosen.core)
    return measure_each(MEASUREMENTS, chosen)


if __name__ == "__main__":
    finish(main)
