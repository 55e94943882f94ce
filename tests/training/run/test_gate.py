"""The gate: who plays after the match, what is said of it, and that it can be left."""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gozero.nets import model, weights
from tests.training import crashes
from tests.training.games import random_record, write_shard
from training.doctor import history
from training.elo import MatchScore
from training.matches.interface import Conditions
from training.matches.match import MatchGame, total_of
from training.run import gate, modes, session
from training.run.backend import LOCAL
from training.run.gate import GateResult
from training.run.run import Run
from training.selfplay.pool import Stop
from training.settings.config import LoopSettings
from training.storage import storage

GATE = {"games": 4, "visits": 2, "opening_moves": 2}


def test_the_verdict_says_games_share_and_interval() -> None:
    passed, refused = GateResult(MatchScore(10, 8, 2), 0.55), GateResult(MatchScore(9, 9, 2), 0.55)
    assert passed.passed
    assert not refused.passed
    for words in ("11 of 20", "55.0%", "95 % interval", "plays from now on"):
        assert words in str(passed)
    assert "refused" in str(refused)
    report = refused.report()
    assert report["gate/score"] == 0.5
    assert report["gate/passed"] == 0.0
    assert 0 < report["gate/low"] < 0.5 < report["gate/high"] < 1


def played(one: nn.Module, other: nn.Module, settings: LoopSettings, stop: Stop = lambda: False) -> MatchScore | None:
    games = LOCAL.play_match(gate.parts(5, settings, 3), one, other, stop)
    return games and total_of(games, gate.CANDIDATE)


def test_a_match_is_even_between_equals() -> None:
    net = model.build(model.config("b2c16"), 1).eval()
    equal = played(net, net, crashes.settings(gate=GATE))
    assert equal == MatchScore(2, 2), "the same network on both sides of the same openings"
    shared = crashes.settings(gate=GATE | {"games": 5}, selfplay={"games": 4, "slots": 2})
    assert [part.numbers for part in gate.parts(5, shared, 3)] == [(0, 1, 2, 3), (4, 5)], "in whole pairs"


def test_the_learner_s_average_is_the_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, used = Run(crashes.settings(gate=GATE), tmp_path), list[tuple[int, int]]()

    def player(name: str, net: nn.Module, visits: int, conditions: Conditions, *_: Any, **own: Any) -> nn.Module:
        used.append((conditions.seed, visits))
        return net

    def play(players: dict[str, nn.Module], *_: Any) -> list[MatchGame]:
        assert players == {gate.CANDIDATE: run.trainer.learner.ema, "best": run.selfplay.playing}
        return [MatchGame((gate.CANDIDATE, "best"), 0, gate.CANDIDATE, "B+1", "two passes", "", "")]

    monkeypatch.setattr(gate, "network_player", player)
    monkeypatch.setattr(gate, "play_schedule", play)
    verdict = run._judged(run.trainer.learner.ema, 7, lambda: False)
    assert verdict is not None and verdict.total == MatchScore(1, 0)
    assert used == [(7, 2)] * 2, "another match has other openings"


def test_a_match_is_left_when_told_to_stop() -> None:
    settings = crashes.settings(gate=GATE | {"games": 1000, "visits": 1000})
    net = model.build(model.config("b2c16"), 1).eval()
    asked = iter(range(1000))
    assert played(net, net, settings, lambda: next(asked) > 5) is None


@pytest.mark.parametrize("share, passes", [(0.0, True), (1.0, False)])
def test_the_best_network_plays(share: float, passes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "_judged", lambda *_: GateResult(MatchScore(2, 2), share))
    run = Run(crashes.settings(generations=1, gate=GATE | {"drop_window": True}), tmp_path)
    untrained = {name: tensor.clone() for name, tensor in run.selfplay.playing.state_dict().items()}
    modes.train_in_mode(run, crashes.Watch(tmp_path, run.settings), lambda: False)  # type: ignore[arg-type]
    best = run.trainer.learner.ema.state_dict() if passes else untrained
    for playing in (run.selfplay.playing.state_dict(), weights.load(tmp_path / "weights.pt").state_dict):
        assert all(torch.equal(tensor, best[name]) for name, tensor in playing.items())
    assert run.trainer.learner.steps > 0
    assert f'"gate/passed": {float(passes)}' in (tmp_path / "log.jsonl").read_text()
    assert bool(run.trainer.replay.sizes()) != passes, "the window is emptied when the best changes"
    again = Run(run.settings, tmp_path)
    assert again.trainer.replay.sizes() == run.trainer.replay.sizes()
    assert all(torch.equal(tensor, best[name]) for name, tensor in again.selfplay.playing.state_dict().items())


@pytest.mark.parametrize("mode", ["sequential", "semi-asynchronous", "asynchronous"])
def test_every_match_is_in_the_log_also_those_after_the_last_report(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided: list[int] = []

    def match(run: Run, candidate: nn.Module, steps: int, stop: Stop) -> GateResult:
        decided.append(steps)
        return GateResult(MatchScore(0, 2), 0.55)

    monkeypatch.setattr(Run, "_judged", match)
    run = Run(crashes.settings(mode=mode, generations=2, swap_steps=2, gate=GATE, **crashes.ONE_BOARD), tmp_path)
    watch = crashes.Watch(tmp_path, run.settings)
    assert session.train(run, watch, "test", lambda: False) == 0  # type: ignore[arg-type]
    log = history.read(tmp_path)
    assert [match["gate/steps"] for match in log.matches] == decided
    assert len(decided) >= 2
    assert run.progress.refused == len(decided)
    assert not log.complaint
    with (tmp_path / "log.jsonl").open("a") as file:  # of a match that no checkpoint knows
        file.write(json.dumps(log.matches[-1] | {"gate/steps": run.trainer.learner.steps + 1.0}) + "\n")
    again = Run(run.settings, tmp_path)
    assert again.progress.refused == len(decided)
    assert history.read(tmp_path).matches == log.matches


def test_a_report_has_the_last_match_and_the_number_of_matches(tmp_path: Path) -> None:
    run = Run(crashes.settings(gate=GATE), tmp_path)
    for verdict in (GateResult(MatchScore(0, 4), 0.55), GateResult(MatchScore(1, 3), 0.55)):
        run._report_match(verdict, 1)
    notes = run.measures.numbers
    assert (notes["gate/score"], notes["gate/matches"], notes["gate/refused"]) == (0.25, 2, 2)
    run._report_match(GateResult(MatchScore(4, 0), 0.55), 1)
    assert run.measures.numbers["gate/refused"] == 0


def with_games(run: Run, seeds: range) -> None:
    """Let self-play have finished these games, and the window have taken them."""
    games = [random_record(5, seed) for seed in seeds]
    write_shard(storage.shard(run.folder, 1), games, run.settings.to_dict())
    run.actor.games += games
    run.absorb()


def test_a_run_that_goes_on_has_the_games_absorbed_since_its_window_was_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "_judged", lambda *_: GateResult(MatchScore(2, 2), 0.0))
    run = Run(crashes.settings(mode="asynchronous", gate=GATE | {"drop_window": True}), tmp_path)
    with_games(run, range(5))
    run.trainer.learner.steps += 1
    assert run.promote(lambda: False)
    assert not run.trainer.replay.sizes(), "the window is emptied in the middle of the generation"
    with_games(run, range(5, 9))
    run.save()
    again = Run(run.settings, tmp_path)
    assert again.trainer.replay.sizes() == run.trainer.replay.sizes() != {}
    for key, rows in run.trainer.replay.rows.items():
        np.testing.assert_array_equal(again.trainer.replay.rows[key].serial, rows.serial)


def test_steps_that_are_owed_when_the_window_is_emptied_are_taken_on_the_rows_that_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "_judged", lambda *_: GateResult(MatchScore(2, 2), 0.0))
    replay = {"window": 120, "held_out": 0.0, "least_rows": 40}
    run = Run(crashes.settings(mode="asynchronous", gate=GATE | {"drop_window": True}, replay=replay), tmp_path)
    with_games(run, range(5))
    run.trainer.learner.steps += 1
    owed = run.trainer.steps_backlog
    assert owed >= 1
    assert run.promote(lambda: False)
    assert run.trainer.steps_backlog == owed
    assert run.trainer.steps_ready() == 0, "there are no rows to learn from"
    run.learn(lambda: False)
    for seed in range(5, 50):
        with_games(run, range(seed, seed + 1))
        rows = sum(run.trainer.replay.sizes().values())
        assert (run.trainer.steps_ready() > 0) == (rows >= 40), "a step needs as many rows as the settings ask for"
        if rows >= 40:
            break
    run.learn(lambda: False)
    assert run.trainer.learner.steps > owed


def test_the_network_that_won_its_match_plays_though_the_learner_went_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(crashes.settings(mode="asynchronous", gate=GATE), tmp_path)
    judged = {}
    run.trainer.learner.steps += 1
    monkeypatch.setattr(Run, "_judged", lambda *_: None)
    assert not run.promote(lambda: False) and run.unseen_steps() == 1, "stopped, and not decided"

    def match(run: Run, candidate: nn.Module, *_: object) -> GateResult:
        judged.update({name: tensor.clone() for name, tensor in candidate.state_dict().items()})
        with torch.no_grad():
            for parameter in run.trainer.learner.ema.parameters():
                parameter += 1.0
        run.trainer.learner.steps += 3
        return GateResult(MatchScore(2, 2), 0.0)

    monkeypatch.setattr(Run, "_judged", match)
    assert run.promote(lambda: False)
    assert all(torch.equal(tensor, judged[name]) for name, tensor in run.selfplay.playing.state_dict().items())
    assert run.unseen_steps() == 3
    assert weights.load(tmp_path / "weights.pt").provenance["steps"] == 1


def test_the_steps_handed_over_are_noted_with_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint of self-play's thread, which waits for the lock, must hold both or neither."""
    run = Run(crashes.settings(mode="asynchronous"), tmp_path)
    locked, noted = run.locked, []

    def watched_turn() -> AbstractContextManager[None]:
        noted.append(run.unseen_steps())
        return locked()

    monkeypatch.setattr(run, "locked", watched_turn)
    run.trainer.learner.steps += 1
    assert run.promote(lambda: False)
    assert noted == [1]
    assert run.unseen_steps() == 0
