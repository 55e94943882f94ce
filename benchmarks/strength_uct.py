"""Plain UCT (UCB1), or PUCT with rollouts, against OpenSpiel's MCTS with random rollouts, at equal simulations: the claim
is a score of 45 to 55 %.

The point is that two implementations of one algorithm are equally strong, so everything of the algorithm is made
equal: one rollout a leaf, UCB1 or, with `--selection puct`, PUCT with a uniform prior, the same constant, the most
visited move, no solver, no tree reuse, and OpenSpiel's kind of rollout: uniformly among all legal moves, passing
included, until the game ends. Moves that score the same are tried by lot, as OpenSpiel shuffles them: in the order of
the points, Othello's corner would come first. `MATCHES` says what is different from game to game.

OpenSpiel gives a move that ends the game its result as score and no exploration (`--opponent c++`, and `python`, the
same algorithm). With UCB1 and the constant 2 a move that wins at once, once found, is therefore left aside while any
other move's term of exploration is large, and the values above it come out too friendly. So the opponent of UCB1 is
`even`: OpenSpiel's Python search with its score of a child replaced by UCB1 without that exception. With PUCT the
exception matters little (results.md), and the opponent is `c++`.

What stays different: with PUCT OpenSpiel lends an unvisited move the value 0, ours its parent's; it counts the
parent's own visit under the square root, or in UCB1's logarithm; and of moves with equal visits it plays the one of
higher value, but before all others one that wins at once.

With `--own-rollouts` ours play Go as the engine does, without filling one-point eyes; then the claim does not apply
and the score shows what that is worth. The other games' own rollouts are OpenSpiel's.

Colours alternate; both players of game k begin with the seed of game k, so no game is played twice. Our rules decide,
and a move that is illegal here loses (OpenSpiel knows no superko: there a repetition ends the game). Run it with
`python -m benchmarks.strength_uct --game othello`; OpenSpiel comes with the extra `bench`.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import finish, machine
from gozero import games
from gozero.evaluators.rollout import playout
from gozero.evaluators.row import EVALUATE_ROW, RowEvaluator
from gozero.games import go
from gozero.games.game import BLACK, NOT_OVER, TO_PLAY, Game
from gozero.jit import SAMPLE, copy_row, kernel
from gozero.rng import below, uniform
from gozero.search.request import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from training.matches.elo import Tally
from training.matches.players import C_UCT

OPPONENTS = ("c++", "python", "even")
UNEVENNESS = 1e-5  # of the prior: far below any difference between two values
Mover = Callable[[np.ndarray, np.ndarray, list[int]], int]  # state, history, actions so far -> action


@kernel(SAMPLE.signature, allocates=True)
def sample_any(state, history, generator):  # type: ignore[no-untyped-def]
    """A uniformly random legal action of Go, passing included: OpenSpiel's rollout."""
    mask = np.empty(state[go.SIZE] * state[go.SIZE] + 2, np.uint8)
    wanted = below(generator, go.legal(state, history, mask))
    action = 0
    while mask[action] == 0 or wanted > 0:
        wanted -= mask[action]
        action += 1
    return np.int64(action)


@kernel(EVALUATE_ROW.signature)
def rollout_and_lots(step, outcome, sample, state, spare, history, options, generator, logits):  # type: ignore[no-untyped-def]
    """One rollout, of options[0] plies at most, and a prior whose unevenness decides between moves of one score and
    nothing else.
    """
    for action in range(logits.shape[0]):
        logits[action] = UNEVENNESS * uniform(generator)
    copy_row(spare, state)
    result = playout(step, outcome, sample, spare, history, generator, options[0])
    return np.float64(result if spare[TO_PLAY] == state[TO_PLAY] else -result)


def column(action: int) -> int:
    """OpenSpiel's Connect-4 names the column, not the point on which the disc comes to rest."""
    return action % 7


def upside_down(size: int, action: int) -> int:
    """OpenSpiel's Go counts rows from the bottom, and in its Othello Black begins on E4 and D5 as seen from there; a
    pass is a pass.
    """
    row, col = divmod(action, size)
    return action if row == size else (size - 1 - row) * size + col


@dataclass(frozen=True)
class Match:
    """What differs from game to game.

    Attributes:
        title: of the game, for the eye.
        settings: of `gozero.games.make`.
        their_name, their_settings: of `pyspiel.load_game`.
        theirs(action) -> OpenSpiel's number of our action; it differs between any two that are legal in one position.
        c_puct: the usual constant, of both. A move begins with c_puct / (number of moves) in front of the square root:
        0.1 to 0.3. ending: how a game ends before its limit of plies.
        sample: OpenSpiel's rollout where the game's own is another one.
    """

    title: str
    their_name: str
    theirs: Callable[[int], int]
    c_puct: float
    ending: str
    settings: dict[str, Any] = field(default_factory=dict)
    their_settings: dict[str, Any] = field(default_factory=dict)
    sample: Callable[..., int] | None = None


MATCHES = {
    "go": Match(
        title="Go 9x9",
        their_name="go",
        theirs=partial(upside_down, 9),
        c_puct=10.0,
        ending="passes",
        settings={"size": 9, "komi": 7.5, "move_limit": 162},
        their_settings={"board_size": 9, "komi": 7.5, "max_game_length": 162},
        sample=sample_any,
    ),
    "connect4": Match(title="Connect-4", their_name="connect_four", theirs=column, c_puct=2.0, ending="line"),
    "othello": Match(
        title="Othello", their_name="othello", theirs=partial(upside_down, 8), c_puct=2.0, ending="no moves"
    ),
}


def their_game(match: Match) -> Any:
    """The `pyspiel.Game`."""
    import pyspiel

    return pyspiel.load_game(match.their_name, match.their_settings)


def ours(game: Game, simulations: int, selection: str, constant: float, seed: int) -> Mover:
    """Our search."""
    settings = SearchSettings(c_uct=constant, max_nodes=simulations + 2)
    if selection == "puct":
        settings = SearchSettings(c_puct=constant, fpu=0.0, max_nodes=simulations + 2)
    search = Search(game, RowEvaluator(game, rollout_and_lots, (game.max_plies,), game.max_plies), settings, seed=seed)

    def move(state: np.ndarray, history: np.ndarray, actions: list[int]) -> int:
        search.begin(0, SearchRequest(state, history, simulations + 1))
        search.run()
        return search.result().best

    return move


def ucb1(child: Any, parent_visits: int, constant: float) -> float:
    """Kocsis and Szepesvari's score of an `open_spiel.python.algorithms.mcts.SearchNode`, whether it ends the game or
    not.
    """
    if child.explore_count == 0:
        return math.inf
    return float(
        child.total_reward / child.explore_count + constant * math.sqrt(math.log(parent_visits) / child.explore_count)
    )


def their_bot(their: Any, opponent: str, selection: str, constant: float, simulations: int, seed: int) -> Any:
    """The `pyspiel.Bot` of one of `OPPONENTS`, of so many simulations beside the root's own."""
    import pyspiel

    if opponent == "c++":
        policy = getattr(pyspiel.ChildSelectionPolicy, selection.upper())
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        return pyspiel.MCTSBot(their, evaluator, constant, simulations + 1, 1000, False, seed, False, policy)
    from open_spiel.python.algorithms import mcts

    lots = np.random.RandomState(seed)
    score = ucb1 if opponent == "even" else getattr(mcts.SearchNode, f"{selection}_value")
    rollouts = mcts.RandomRolloutEvaluator(1, lots)
    return mcts.MCTSBot(
        their, constant, simulations + 1, rollouts, solve=False, random_state=lots, child_selection_fn=score
    )


def open_spiel(match: Match, game: Game, bot: Any) -> Mover:
    """The moves of a bot. Where one is illegal in our rules it resigns, and loses by an illegal move."""
    their = their_game(match)
    mask = np.zeros(game.actions, np.uint8)

    def move(state: np.ndarray, history: np.ndarray, actions: list[int]) -> int:
        position = their.new_initial_state()
        for action in actions:
            position.apply_action(match.theirs(action))
        if position.is_terminal():  # a repetition in Go: nothing but a pass is safe
            return game.pass_action
        chosen = bot.step(position)
        game.legal(state, history, mask)
        return next(
            (action for action in np.flatnonzero(mask).tolist() if match.theirs(action) == chosen), game.resign_action
        )

    return move


def play(game: Game, black: Mover, white: Mover) -> tuple[int, int, bool]:
    """(outcome for Black, plies, whether an illegal move ended the game)."""
    state, history = game.initial.copy(), game.new_histories(1)[0]
    mask, actions = np.zeros(game.actions, np.uint8), list[int]()
    while game.outcome(state) == NOT_OVER:
        mover, sign = (black, 1) if state[TO_PLAY] == BLACK else (white, -1)
        action = mover(state, history, actions)
        game.legal(state, history, mask)
        if not mask[action]:
            return -sign, len(actions), True
        game.step(state, history, action)
        actions.append(action)
    sign = 1 if state[TO_PLAY] == BLACK else -1
    return int(game.outcome(state)) * sign, len(actions), False


def play_all(match: Match, options: argparse.Namespace) -> tuple[list[int], Counter[str]]:
    """(our result of each game, how many games ended in which way); each game is a line on stderr."""
    game = games.make(options.game, **match.settings)
    inside = game if options.own_rollouts or match.sample is None else dataclasses.replace(game, sample=match.sample)
    results, endings = list[int](), Counter[str]()
    for number in range(options.games):
        seed = options.seed + number
        we = ours(inside, options.simulations, options.selection, options.constant, seed)
        bot = their_bot(
            their_game(match), options.opponent, options.selection, options.constant, options.simulations, seed
        )
        they = open_spiel(match, game, bot)
        result, plies, illegal = play(game, we, they) if number % 2 == 0 else play(game, they, we)
        ending = "illegal" if illegal else match.ending if plies < game.max_plies else "limit"
        results.append(result if number % 2 == 0 else -result)
        endings[ending] += 1
        line = f"game {number + 1:3d} seed {seed} {'BW'[number % 2]} {results[-1]:+d} {plies:3d} plies, {ending}"
        print(line, file=sys.stderr, flush=True)
    return results, endings


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options, completed by what is usual in the game."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.strength_uct",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--game", choices=MATCHES, default="go", help="which game (default go)")
    parser.add_argument("--games", type=int, default=400, help="how many (default 400)")
    parser.add_argument("--short", action="store_true", help="two games of 50 simulations, to see that it runs")
    parser.add_argument("--simulations", type=int, default=200, help="of each move, for both (default 200)")
    parser.add_argument("--selection", choices=("uct", "puct"), default="uct", help="UCB1 or PUCT (default uct)")
    parser.add_argument(
        "--opponent", choices=OPPONENTS, help="OpenSpiel's search, see above (default even; with puct c++)"
    )
    parser.add_argument(
        "--constant",
        type=float,
        help="exploration of both (default: 2; with puct over a uniform prior 10 in Go, else 2)",
    )
    parser.add_argument("--seed", type=int, default=1000, help="seed of the first game (default 1000)")
    parser.add_argument(
        "--own-rollouts", action="store_true", help="our rollouts of Go fill no one-point eyes and pass last"
    )
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("pyspiel") is None:
        parser.exit(2, "benchmarks.strength_uct: OpenSpiel is not installed: pip install 'gozero[bench]'\n")
    if options.short:
        options.games, options.simulations = 2, 50
    if options.opponent is None:
        options.opponent = "even" if options.selection == "uct" else "c++"
    if options.opponent == "even" and options.selection != "uct":
        parser.error("--opponent even scores by UCB1: give --selection uct with it, or --opponent c++ or python")
    if options.constant is None:
        options.constant = C_UCT if options.selection == "uct" else MATCHES[options.game].c_puct
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    match = MATCHES[options.game]
    results, endings = play_all(match, options)
    wins, losses = results.count(1), results.count(-1)
    tally = Tally(wins, losses, len(results) - wins - losses)
    settings = f"{options.simulations} simulations a move, {options.selection} with constant {options.constant:g}"
    print(f"UCT with rollouts against OpenSpiel's ({options.opponent}), {match.title}, {settings}\n  {machine()}")
    print(f"  {wins} won, {losses} lost, {tally.draws} drawn: {tally}; endings {dict(endings)}")


if __name__ == "__main__":
    finish(main)
