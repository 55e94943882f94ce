"""Plain UCT on Go 9x9 against OpenSpiel's MCTS with random rollouts (C++), at equal simulations: the claim is a score of 45 to 55 %.

The point is that two implementations of one algorithm are equally strong, so everything of the algorithm is made equal: one
rollout a leaf, uniform prior, PUCT with the same constant, the most visited move, no solver, no tree reuse, and OpenSpiel's kind of
rollout: uniformly among all legal moves, passing included, until two passes or 162 plies, then area. With `--own-rollouts` ours play
as the engine's do, without filling one-point eyes; then the claim does not apply and the score shows what that is worth.

Colours alternate; game k uses seed k. Our rules decide: two passes or 162 plies end a game, and a move that is illegal here (OpenSpiel
knows no superko: there a repetition ends the game) loses. Run it with `python -m benchmarks.strength_uct`; OpenSpiel comes with the
extra `bench`.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np

from benchmarks.harness import machine
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games import go
from gozero.games.game import BLACK, NOT_OVER, TO_PLAY, Game
from gozero.jit import SAMPLE, kernel
from gozero.rng import below
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from training.elo import Tally

SIZE, KOMI, PLIES = 9, 7.5, 162
Mover = Callable[[np.ndarray, np.ndarray, list[int]], int]  # state, history, actions so far -> action


@kernel(SAMPLE.signature, allocates=True)
def sample_any(state, history, generator):  # type: ignore[no-untyped-def]
    """A uniformly random legal action, passing included: OpenSpiel's rollout."""
    mask = np.empty(state[go.SIZE] * state[go.SIZE] + 2, np.uint8)
    wanted = below(generator, go.legal(state, history, mask))
    action = 0
    while mask[action] == 0 or wanted > 0:
        wanted -= mask[action]
        action += 1
    return np.int64(action)


def ours(game: Game, simulations: int, c_puct: float, seed: int) -> Mover:
    settings = SearchSettings(c_puct=c_puct, fpu=0.0, max_nodes=simulations + 2)
    search = Search(game, RolloutEvaluator(game), settings, seed=seed)

    def move(state: np.ndarray, history: np.ndarray, actions: list[int]) -> int:
        search.begin(0, state, history, simulations + 1)
        search.run()
        return search.result().best

    return move


def open_spiel(simulations: int, c_puct: float, seed: int) -> Mover:
    import pyspiel

    game = pyspiel.load_game("go", {"board_size": SIZE, "komi": KOMI, "max_game_length": PLIES})
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.MCTSBot(game, evaluator, c_puct, simulations + 1, 1000, False, seed, False, pyspiel.ChildSelectionPolicy.PUCT)

    def mirrored(action: int) -> int:
        """OpenSpiel counts rows from the bottom."""
        return action if action == SIZE * SIZE else (SIZE - 1 - action // SIZE) * SIZE + action % SIZE

    def move(state: np.ndarray, history: np.ndarray, actions: list[int]) -> int:
        position = game.new_initial_state()
        for action in actions:
            position.apply_action(mirrored(action))
        if position.is_terminal():  # a repetition: nothing but a pass is safe
            return SIZE * SIZE
        return mirrored(bot.step(position))

    return move


def play(game: Game, black: Mover, white: Mover) -> tuple[int, int, str]:
    """(outcome for Black, plies, how the game ended)."""
    state, history = game.initial.copy(), game.new_histories(1)[0]
    mask, actions = np.zeros(game.actions, np.uint8), list[int]()
    while game.outcome(state) == NOT_OVER:
        mover, sign = (black, 1) if state[TO_PLAY] == BLACK else (white, -1)
        action = mover(state, history, actions)
        game.legal(state, history, mask)
        if not mask[action]:
            return -sign, len(actions), "illegal"
        game.step(state, history, action)
        actions.append(action)
    sign = 1 if state[TO_PLAY] == BLACK else -1
    return int(game.outcome(state)) * sign, len(actions), "passes" if len(actions) < PLIES else "limit"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--short", action="store_true", help="two games of 50 simulations, to see that it runs")
    parser.add_argument("--simulations", type=int, default=200, help="of each move, for both (default 200)")
    parser.add_argument("--c-puct", type=float, default=10.0, help="exploration of both, over a uniform prior (default 10)")
    parser.add_argument("--seed", type=int, default=1000, help="seed of the first game (default 1000)")
    parser.add_argument("--own-rollouts", action="store_true", help="our rollouts fill no one-point eyes and pass last")
    options = parser.parse_args()
    if options.short:
        options.games, options.simulations = 2, 50
    game = go.make(SIZE, komi=KOMI, move_limit=PLIES)
    inside = game if options.own_rollouts else dataclasses.replace(game, sample=sample_any)
    results: list[int] = []
    endings: Counter[str] = Counter()
    for number in range(options.games):
        seed = options.seed + number
        we = ours(inside, options.simulations, options.c_puct, seed)
        they = open_spiel(options.simulations, options.c_puct, seed)
        result, plies, ending = play(game, we, they) if number % 2 == 0 else play(game, they, we)
        results.append(result if number % 2 == 0 else -result)
        endings[ending] += 1
        line = f"game {number + 1:3d} seed {seed} {'BW'[number % 2]} {results[-1]:+d} {plies:3d} plies, {ending}"
        print(line, file=sys.stderr, flush=True)
    wins, losses = results.count(1), results.count(-1)
    print(f"UCT with rollouts against OpenSpiel's, Go {SIZE}x{SIZE}, {options.simulations} simulations a move\n  {machine()}")
    print(f"  {Tally(wins, losses, len(results) - wins - losses)}; endings {dict(endings)}")


if __name__ == "__main__":
    main()
