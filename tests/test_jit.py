"""Kernels and Python's global lock (GIL): what a thread's kernel lets other threads do meanwhile."""

import pytest

from gozero import games
from gozero.search import descent


@pytest.mark.parametrize("name", sorted(games.GAMES))
def test_kernels_too_short_for_a_change_of_threads_keep_the_lock(name: str) -> None:
    game = games.make(name)
    for kernel in (game.step, game.legal, game.outcome, game.score):
        assert kernel is None or not kernel.targetoptions["nogil"]


@pytest.mark.parametrize("kernel", [descent.collect, descent.absorb, descent.simulate_rows, games.make("go").sample])
def test_long_kernels_let_other_threads_run(kernel: object) -> None:
    assert kernel.targetoptions["nogil"]  # type: ignore[attr-defined]
