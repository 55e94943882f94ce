"""Other programs at the work that ours does, for `benchmarks.search`: random games and searches of Go on 13x13, komi
7.5. Each function imports its program when it is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Contender

SIZE, KOMI, C_PUCT = 13, 7.5, 1.1


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


def open_spiel_python(simulations: int, searches: int) -> Contender:
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
    bot = mcts.MCTSBot(game, C_PUCT, simulations, Free(), solve=False, random_state=draws, child_selection_fn=score)
    return lambda: sum(bot.mcts_search(game.new_initial_state()).explore_count for _ in range(searches))


def open_spiel_search(simulations: int, searches: int) -> Contender:
    """OpenSpiel's C++ PUCT; a position's value is the result of one random game."""
    import pyspiel

    game = _open_spiel_game()
    policy = pyspiel.ChildSelectionPolicy.PUCT
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(game, evaluator, C_PUCT, simulations + 1, 1000, False, 1, False, policy)
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


def pachi_search(playouts: int) -> Contender:
    """Pachi's UCT with its own playouts, which are not uniformly random, and RAVE; it may stop before so many."""
    import pachi_py

    def run() -> int:
        board = pachi_py.CreateBoard(SIZE)
        engine = pachi_py.PyPachiEngine(board, b"uct", b"threads=1,resign_threshold=0")
        engine.genmove(pachi_py.BLACK, f"={playouts}".encode())
        return playouts

    return run
