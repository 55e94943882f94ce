"""Other programs at the work that ours does, for `benchmarks.compare`: random games, searches, first answers, memory.

All of it is Go on 13x13 with komi 7.5. Each function imports what it needs when it is called, so that a program that is
not installed costs nothing and the start of one can be measured without the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Contender, finish
from gozero.system.console import Parser
from gozero.system.machine import megabytes

SIZE, KOMI, C_PUCT = 13, 7.5, 1.1
TREES, SIMULATIONS = 64, 32  # of searches of many trees
# the first 60 moves of a game of self-play (13x13, shard 000155 of weights/resume)
OPENING = (
    "G9 G5 J9 J8 H8 K9 K10 J10 H9 L10 K11 L11 L9 K8 J11 M9 J7 L8 K6 L6 L5 K5 K4 J5 J4 H5 M6 L4 L7 M5 L6 L3 K7 H7 M8 L9 "
    "M4 M3 N5 J3 L12 M12 K12 N8 M7 M11 N10 N9 N7 L13 M13 N13 N11 N4 N3 H11 H10 J6 G7 H6"
)


def actions(moves: str) -> list[int]:
    """Vertices as numbers of points, row-major from the top left; OpenSpiel counts from below, so it sees a mirror."""
    return [(SIZE - int(move[1:])) * SIZE + "ABCDEFGHJKLMN".index(move[0]) for move in moves.split()]


def gozero_from_python(games: int) -> Contender:
    """Random games through `Position`, a call for each move; no own eye is spared, as OpenSpiel and pgx play."""
    from gozero.games.go import go
    from gozero.games.position import Position

    game, draw = go.make(SIZE, komi=KOMI), np.random.default_rng(1)

    def play() -> int:
        moves = 0
        for _ in range(games):
            position = Position(game)
            while not position.is_over and position.ply < 2 * SIZE * SIZE:
                position.play(int(draw.choice(np.flatnonzero(position.legal()))))
            moves += position.ply
        return moves

    return play


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


def open_spiel_python(simulations: int, searches: int, moves: Sequence[int] = ()) -> Contender:
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
    return _open_spiel_searches(bot, game, searches, moves)


def _open_spiel_searches(bot: Any, game: Any, searches: int, moves: Sequence[int]) -> Contender:
    start = game.new_initial_state()
    for action in moves:
        start.apply_action(action)
    return lambda: sum(bot.mcts_search(start.clone()).explore_count for _ in range(searches))


def open_spiel_search(simulations: int, searches: int, moves: Sequence[int]) -> Contender:
    """OpenSpiel's C++ PUCT; a position's value is the result of one random game."""
    import pyspiel

    game = _open_spiel_game()
    policy = pyspiel.ChildSelectionPolicy.PUCT
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(game, evaluator, C_PUCT, simulations + 1, 1000, False, 1, False, policy)
    return _open_spiel_searches(bot, game, searches, moves)


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


def pachi_search(playouts: int, moves: str) -> Contender:
    """Pachi's UCT with its own playouts, which are not uniformly random, and RAVE; it may stop before so many."""
    import pachi_py

    def run() -> int:
        board, colour = pachi_py.CreateBoard(SIZE), pachi_py.BLACK
        for move in moves.split():
            board.play_inplace(board.str_to_coord(move.encode()), colour)
            colour = pachi_py.stone_other(colour)
        engine = pachi_py.PyPachiEngine(board, b"uct", b"threads=1,resign_threshold=0")
        engine.genmove(colour, f"={playouts}".encode())
        return playouts

    return run


def _pgx(moves: Sequence[int] = ()) -> tuple[Any, Any]:
    """(pgx's Go, `TREES` equal positions after `moves`)."""
    import jax
    from pgx.go import Go

    env = Go(size=SIZE, komi=KOMI)
    state = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), TREES))
    step = jax.jit(jax.vmap(env.step))
    for action in moves:
        state = step(state, jax.numpy.full(TREES, action))
    return env, state


def pgx_random(plies: int) -> Contender:
    """The first plies of `TREES` random games side by side."""
    import jax

    env, start = _pgx()

    @jax.jit
    def play(state: Any, key: Any) -> Any:
        def ply(state: Any, key: Any) -> tuple[Any, None]:
            chosen = jax.random.categorical(key, jax.numpy.log(state.legal_action_mask))
            return jax.vmap(env.step)(state, chosen), None

        return jax.lax.scan(ply, state, jax.random.split(key, plies))[0]

    def run() -> int:
        jax.block_until_ready(play(start, jax.random.PRNGKey(1)))
        return TREES * plies

    return run


def mctx_search(moves: Sequence[int]) -> Contender:
    """mctx's PUCT over pgx's Go, `TREES` trees of `SIMULATIONS` each, uniform prior and value 0."""
    import jax
    import mctx

    env, start = _pgx(moves)
    jnp = jax.numpy

    def think(_params: Any, _key: Any, action: Any, state: Any) -> Any:
        mover = state.current_player
        state = jax.vmap(env.step)(state, action)
        reward = state.rewards[jnp.arange(TREES), mover]
        discount = jnp.where(state.terminated, 0.0, -1.0)
        logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
        return mctx.RecurrentFnOutput(
            reward=reward, discount=discount, prior_logits=logits, value=jnp.zeros(TREES)
        ), state

    @jax.jit
    def search(state: Any, key: Any) -> Any:
        logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
        root = mctx.RootFnOutput(prior_logits=logits, value=jnp.zeros(TREES), embedding=state)
        return mctx.muzero_policy(
            None, key, root, think, SIMULATIONS, invalid_actions=~state.legal_action_mask, dirichlet_fraction=0.0,
            pb_c_init=C_PUCT,
        ).action  # fmt: skip

    def run() -> int:
        jax.block_until_ready(search(start, jax.random.PRNGKey(1)))
        return TREES * SIMULATIONS

    return run


def _gozero_search() -> Contender:
    from benchmarks.search import tree_search

    return tree_search(800, 1, 1)


class First(NamedTuple):
    """A program's first work after a start."""

    module: str  # that it needs
    what: str
    make: Callable[[], Contender]


FIRST = {
    "gozero": First("numba", "a search of 800 simulations", _gozero_search),
    "OpenSpiel": First(
        "pyspiel", "a search of 800 simulations with random games, in C++", lambda: open_spiel_search(800, 1, ())
    ),
    "pgx + mctx": First(
        "mctx", f"{TREES} searches of {SIMULATIONS} simulations; nearly all is compilation", lambda: mctx_search(())
    ),
    "pachi-py": First("pachi_py", "one random game", lambda: pachi_random(1)),
}


def main() -> None:
    """Do the first work of the program named, then print its peak memory in MB."""
    options = Parser(prog="python -m benchmarks.rivals", description="The first work of a program, and its memory.")
    options.add_argument("program", choices=FIRST, metavar="NAME", help=", ".join(FIRST))
    FIRST[options.parse_args().program].make()()
    print(megabytes(Path("/proc/self/status"), "VmHWM"))  # `ru_maxrss` would count its parent's, too


if __name__ == "__main__":
    finish(main)
