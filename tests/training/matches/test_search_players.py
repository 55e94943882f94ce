"""Players that search: the network alone, number types, memory, and the size of their batches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gozero import games
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.nets import model, weights
from gozero.system.machine import float_precision
from tests.search.naive import FailingEvaluator, HashEvaluator
from tests.training.matches.test_perfect import position_of
from training.matches import players
from training.matches.players import Conditions, PlayerError, SearchPlayer, Turn, open_player

SIZE = 5


def test_a_network_plays_in_the_precision_that_is_named(tmp_path: Path, go: Game) -> None:
    config = model.config("b1c8")
    weights.save(tmp_path / "net.pt", model.build(config, seed=1), config)
    for precision in ("", "f32", float_precision()):
        ending = precision and f":{precision}"
        player = open_player(f"weights:{tmp_path / 'net.pt'}:4{ending}", Conditions(go, 7.5, threads=1))
        assert player.name == f"net.pt, 4 visits{ending.replace(':', ', ')}"
        assert not precision or player._search.evaluator.precision == precision


def test_a_batch_that_fails_leaves_no_search_behind_that_waits_for_it(go: Game) -> None:
    conditions = Conditions(go, 7.5, parallel=3)
    player = SearchPlayer("failing", FailingEvaluator(go, 3), 30, players.match_search(30, conditions), conditions)
    turns = [Turn(slot, Position(go)) for slot in range(3)]
    for turn in turns:
        player.begin(turn.slot, seed=1)
    with pytest.raises(MemoryError):
        player.choose(turns)
    assert [player.choose([turn])[0] for turn in turns] == player.choose(turns)


@pytest.mark.parametrize("parallel", [1, 3])
def test_the_policy_alone_plays_the_likeliest_move_from_one_evaluation(
    parallel: int, tmp_path: Path, go: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = model.config("b1c8")
    weights.save(tmp_path / "net.pt", model.build(config, seed=3), config)
    conditions = Conditions(go, 7.5, parallel=parallel, threads=1)
    player = open_player(f"weights:{tmp_path / 'net.pt'}:policy", conditions)
    assert player.name == "net.pt, policy"
    evaluate, asked = player._search.evaluator.evaluate, []
    counting = SimpleNamespace(evaluate=lambda states: (asked.append(len(states)), evaluate(states))[1])
    monkeypatch.setattr(player._search, "evaluator", counting)
    position = position_of(go, "C3", "B2")
    logits = evaluate(position.state[None]).logits[0]
    likeliest = int(np.where(players.candidates(position), logits, -np.inf).argmax())
    assert player.choose([Turn(slot, position) for slot in range(parallel)]) == [likeliest] * parallel
    assert asked == [parallel]


def test_a_search_that_does_not_fit_into_memory_is_one_clear_line(go: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(players, "Search", full)
    with pytest.raises(
        PlayerError, match=r"plain UCT, 5 rollouts: memory is too small for 5 visits \(games at once: 1\)"
    ):
        open_player("uct:5", Conditions(go, 7.5, parallel=3))
    conditions = Conditions(go, 7.5, parallel=3)
    with pytest.raises(PlayerError, match=r"net: memory is too small for .* \(games at once: 3\)"):
        players.SearchPlayer("net", HashEvaluator(go), 5, players.match_search(5, conditions), conditions)


def test_playouts_need_one_tree_for_all_games_and_networks_one_for_each(go: Game) -> None:
    conditions = Conditions(go, 7.5, parallel=6)
    playouts = players.SearchPlayer(
        "playouts", RolloutEvaluator(go), 40, players.match_search(40, conditions), conditions
    )
    network = players.SearchPlayer("network", HashEvaluator(go), 40, players.match_search(40, conditions), conditions)
    assert [len(player._search.forest.trees) for player in (playouts, network)] == [1, 6]
    positions = [position_of(go, vertex) for vertex in ("C3", "B2", "A1")]
    turns = [Turn(slot, position) for slot, position in zip((5, 0, 3), positions, strict=True)]
    for player in (playouts, network):
        assert all(position.is_legal(action) for position, action in zip(positions, player.choose(turns), strict=True))


@pytest.mark.parametrize(("visits", "parallel", "leaves"), [(400, 1, 8), (50, 1, 2), (400, 4, 2), (50, 32, 1)])
def test_a_search_takes_no_more_leaves_at_once_than_the_engine(
    visits: int, parallel: int, leaves: int, go: Game
) -> None:
    settings = players.match_search(visits, Conditions(go, 7.5, parallel=parallel))
    assert (settings.leaves, settings.most_leaves) == (leaves, leaves)


def test_a_description_changes_settings_of_the_search(small_weights: Path) -> None:
    usual, changed = (
        open_player(f"weights:{small_weights}:8{ending}", Conditions(games.make("go", size=5), 7.5))
        for ending in ("", ":lcb=1.5,leaves=2,solve=0,root=gumbel")
    )
    assert changed.name.endswith("8 visits, lcb=1.5,leaves=2,solve=0,root=gumbel")
    before, after = (player._search.settings for player in (usual, changed))  # type: ignore[attr-defined]
    assert after == replace(before, lcb=1.5, leaves=2, solve=False, root="gumbel")
