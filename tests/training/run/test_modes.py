"""The three modes: what overlaps with what, who waits for whom, and that a signal ends each of them with everything
saved.

Nothing here is measured in seconds: games and steps are made to wait for each other, so that a mode in which they do
not overlap would stand still (and the wait for the other then fails).
"""

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gozero.system import console
from tests.training import crashes
from training.elo import MatchScore
from training.learner.learner import Learner
from training.records import records
from training.run import modes
from training.run.gate import GateResult
from training.run.run import Run
from training.selfplay.local import LocalSelfPlay
from training.storage import checkpoint, storage

LONG = 120  # seconds after which something that should happen counts as not happening


class Stage:
    """Runs the tiny run in one mode; `game` and `step` are called before each game is written and before each step is
    taken.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
        self.game: Callable[[], None] = lambda: None
        self.step: Callable[[], None] = lambda: None
        self.events: list[str] = []  # game, step, hand-over
        self.run = Run(crashes.settings(**crashes.ONE_BOARD | changes), folder)
        self.watch = crashes.Watch(folder, self.run.settings)
        for owner, name, event in (
            (records.Writer, "append", "game"),
            (Learner, "train", "step"),
            (LocalSelfPlay, "take_weights", "hand-over"),
        ):
            monkeypatch.setattr(owner, name, self._noted(getattr(owner, name), event))

    def cycle(self, stop: Callable[[], bool] = lambda: False) -> None:
        modes.train_in_mode(self.run, self.watch, stop)  # type: ignore[arg-type]

    def reports(self) -> list[dict[str, float]]:
        return [json.loads(line) for line in self.watch.log.read_text().splitlines()]

    def _noted(self, function: Callable[..., Any], event: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            {"game": self.game, "step": self.step}.get(event, lambda: None)()
            self.events.append(event)
            return function(*arguments, **named)

        return call


def test_in_turns_nothing_overlaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path, monkeypatch, generations=2)
    stage.cycle()
    parts = [event for event, before in zip(stage.events, ["", *stage.events], strict=False) if event != before]
    assert parts == ["game", "step", "hand-over"] * 2


def test_a_limit_in_hours_leaves_time_to_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What learning takes was never measured in the first generation, and is taken to be long."""
    monkeypatch.setattr("training.run.run.LEARNING_SHARE", 1e9)
    stage = Stage(tmp_path, monkeypatch, generations=2, hours=1)
    stage.cycle()
    rows = [sum(game.rows for game in records.read(storage.shard(tmp_path, number)).records) for number in (1, 2)]
    assert rows[0] < stage.run.settings.generation_rows <= sum(rows)
    assert "step" in stage.events


def test_a_run_whose_time_is_up_plays_and_learns_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path, monkeypatch, generations=2, hours=1)
    stage.step = lambda: setattr(stage.run.progress, "hours", 1.0)
    stage.cycle()
    assert stage.events[-2:] == ["step", "hand-over"]
    assert stage.events.count("step") == 1
    assert stage.run.trainer.steps_backlog >= 1, "for a higher limit"


@pytest.mark.parametrize("mode", ["semi-asynchronous", "asynchronous"])
def test_a_generation_that_ends_after_the_limit_in_hours_is_the_last(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, monkeypatch, mode=mode, generations=3, hours=1, checkpoint_rows=0)
    stage.game = lambda: setattr(stage.run.limits, "_tick", stage.run.limits._tick - 3600)
    stage.cycle()
    assert [report["run/generation"] for report in stage.reports()] == [1]


def test_half_way_self_play_goes_on_with_the_previous_network_while_the_learner_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, monkeypatch, mode="semi-asynchronous", generations=2)
    run, learning, written, before = stage.run, threading.Event(), threading.Event(), {}

    def game() -> None:
        if run.progress.generation == 2:
            assert learning.wait(LONG), "no step is taken while the second generation is played"
            written.set()

    def step() -> None:
        learning.set()
        if run.progress.generation == 2 and not before:
            before.update({name: tensor.clone() for name, tensor in run.selfplay.playing.state_dict().items()})
            assert written.wait(LONG), "no game ends while the learner works"
            assert run.progress.rows == sum(
                record.rows for record in records.read(tmp_path / "records" / "000001.gzr").records
            )
        if run.progress.generation == 2 and not run.progress.learning:
            assert all(torch.equal(tensor, before[name]) for name, tensor in run.selfplay.playing.state_dict().items())

    stage.game, stage.step = game, step
    stage.cycle()
    assert before
    assert run.progress.generation == 3
    assert run.trainer.steps_backlog < 1, "the last games are learned from too"
    assert stage.reports()[-1]["run/steps"] == run.trainer.learner.steps, "and the steps are reported"


def test_asynchronous_self_play_never_waits_and_changes_networks_in_mid_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, monkeypatch, mode="asynchronous", generations=3, swap_steps=6)
    run, third, handed, in_flight = stage.run, threading.Event(), threading.Event(), []
    use, take_weights, learn = LocalSelfPlay._use, LocalSelfPlay.take_weights, Run.learn

    def game() -> None:
        if run.progress.generation == 3:
            third.set()
            assert handed.wait(LONG), "no network is handed over while games go on"

    def late_learn(run: Run, *arguments: Any, **named: Any) -> None:  # the learner begins two generations late
        assert third.wait(LONG), "self-play waits for the learner"
        learn(run, *arguments, **named)

    def noted_use(selfplay: LocalSelfPlay, pool: Any, *arguments: Any) -> int:
        if handed.is_set():
            in_flight.append(max(len(episode.moves) for episode in pool.games))
        return use(selfplay, pool, *arguments)

    def noted_weights(selfplay: LocalSelfPlay, state: Any) -> None:
        take_weights(selfplay, state)
        handed.set()

    stage.game = game
    monkeypatch.setattr(Run, "learn", late_learn)
    monkeypatch.setattr(LocalSelfPlay, "_use", noted_use)
    monkeypatch.setattr(LocalSelfPlay, "take_weights", noted_weights)
    stage.cycle()
    assert max(in_flight) > 0, "the new network took over games that were under way"
    assert run.progress.generation == 4
    assert run.progress.rows == run.trainer.replay.total
    assert stage.reports()[-1]["run/steps"] == run.trainer.learner.steps


@pytest.mark.parametrize("mode", ["semi-asynchronous", "asynchronous"])
def test_a_complete_generation_is_learned_from_first(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Stage(tmp_path, monkeypatch, generations=2)
    turns.cycle(lambda: "step" in turns.events)
    assert turns.run.progress.learning, "as games from elsewhere are"
    stage = Stage(tmp_path, monkeypatch, mode=mode, generations=2)
    run, owed, left = stage.run, stage.run.trainer.steps_ready(), []
    stage.game, before = lambda: left.append(dict(run.progress.rows_backlog)), dict(run.progress.rows_backlog)
    stage.cycle()
    assert left[0] == before, "a generation is completed once"
    assert stage.events[: owed + 1] == ["step"] * owed + ["hand-over"]
    assert run.progress.generation == 3
    played = [records.read(tmp_path / "records" / f"{number:06d}.gzr").records for number in (1, 2)]
    assert all(sum(game.rows for game in games) > run.settings.generation_rows / 2 for games in played)
    assert run.progress.games == sum(map(len, played))


def test_self_play_and_learner_go_on_while_the_gate_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gated = {"games": 2, "visits": 2, "opening_moves": 2, "share": 0.0}
    stage = Stage(tmp_path, monkeypatch, mode="asynchronous", generations=3, swap_steps=2, gate=gated)
    deciding, stepped, played = threading.Event(), threading.Event(), threading.Event()
    busy: list[float] = []

    def match(*_: Any) -> GateResult:
        if not deciding.is_set():
            deciding.set()
            assert stepped.wait(LONG), "no step is taken during the match"
            assert played.wait(LONG), "no game ends during the match"
            busy.append(stage.run.timeline.report()["speed/gate_busy"])
        return GateResult(MatchScore(2, 0), 0.0)

    monkeypatch.setattr(Run, "_judged", match)
    stage.step = lambda: stepped.set() if deciding.is_set() else None
    stage.game = lambda: played.set() if deciding.is_set() else None
    stage.cycle()
    assert busy[0] > 0, "a match that is under way counts in the report"
    assert "hand-over" in stage.events
    assert stage.run.progress.generation == 4
    assert stage.run.trainer.steps_backlog < 1, "the last rows are learned from too"
    assert stage.run.unseen_steps() == 0, "the last network is judged too"


def test_matches_of_the_gate_come_no_sooner_than_its_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gated = {"games": 2, "visits": 2, "opening_moves": 2, "share": 0.0, "pause_minutes": 60}
    played: list[int] = []
    monkeypatch.setattr(Run, "_judged", lambda *_: played.append(1) or GateResult(MatchScore(2, 0), 0.0))
    Stage(tmp_path, monkeypatch, mode="asynchronous", generations=2, swap_steps=1, gate=gated).cycle()
    assert len(played) == 2, "the first one, and that of the end"


def test_the_last_generation_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path, monkeypatch, mode="asynchronous", generations=3, generations_ahead=0, checkpoint_rows=0)
    run, gathered, played = stage.run, threading.Event(), threading.Event()
    report, save = run.report, run.save

    def saved() -> None:
        save()
        if run.progress.learning:
            played.set()

    def reported(stop: Callable[[], bool]) -> dict[str, float]:
        found = report(stop)
        gathered.set()
        assert played.wait(LONG), "self-play does not end while a generation is reported"
        return found

    stage.game = lambda: run.progress.generation < 3 or gathered.wait(LONG)
    monkeypatch.setattr(run, "save", saved)
    monkeypatch.setattr(run, "report", reported)
    stage.cycle()
    assert [report["run/generation"] for report in stage.reports()].count(3) == 1


def test_a_generation_that_is_complete_when_the_learner_is_stopped_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, monkeypatch, mode="asynchronous")
    run, stopped, left = stage.run, threading.Event(), threading.Event()
    together, advance = modes.together, Run.advance

    def noted(parts: list[Callable[..., None]], stop: Callable[[], bool]) -> None:
        *others, learn = parts

        def learner(halt: Callable[[], bool]) -> None:
            learn(halt)
            left.set()

        together([*others, learner], stop)

    def late_advance(run: Run) -> None:  # the learner has left before self-play says that the generation is complete
        advance(run)
        stopped.set()
        assert left.wait(LONG), "the learner does not leave"

    monkeypatch.setattr(modes, "together", noted)
    monkeypatch.setattr(Run, "advance", late_advance)
    monkeypatch.setattr(Run, "learn", lambda *_: None)
    stage.cycle(stopped.is_set)
    assert run.progress.generation == 2
    assert [report["run/generation"] for report in stage.reports()] == [1]


def test_an_interrupted_wait_for_the_other_parts_stops_them() -> None:
    begun, pause, halted = threading.Event(), threading.Event(), []

    def play(halt: Callable[[], bool]) -> None:
        assert begun.wait(LONG)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        halted.append(any(halt() or pause.wait(0.01) for _ in range(1000)))

    with pytest.raises(KeyboardInterrupt):
        modes.together([play, lambda halt: begun.set()], lambda: False)
    assert halted == [True]


@pytest.mark.parametrize("mode", ["sequential", "semi-asynchronous", "asynchronous"])
@pytest.mark.parametrize("part, number", [("game", 4), ("step", 3)])
def test_a_signal_saves_all_and_the_run_goes_on(
    mode: str,
    part: str,
    number: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stage = Stage(tmp_path, monkeypatch, mode=mode, generations=2)
    stop = console.stop_on_signals()
    left = [number]

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGTERM)

    setattr(stage, part, count)
    stage.cycle(stop)
    assert signal.getsignal(signal.SIGINT) == signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, (
        "a second one leaves at once"
    )
    assert stop()
    snapshot, _ = checkpoint.latest(tmp_path / "checkpoints") or pytest.fail("no checkpoint")
    shard = tmp_path / "records" / f"{snapshot.progress.generation:06d}.gzr"
    assert snapshot.shard_bytes == (shard.stat().st_size if shard.exists() else 0), (
        "no finished game is cut when the run goes on"
    )
    assert snapshot.learner["steps"] == stage.run.trainer.learner.steps
    flying = {size: [game.moves for game in pool.games] for size, pool in stage.run.selfplay.pools.items()}
    capsys.readouterr()
    again = Run(stage.run.settings, tmp_path)
    assert capsys.readouterr().err == "", "nothing is cut or begun anew"
    assert again.progress == stage.run.progress
    assert {size: [game.moves for game in pool.games] for size, pool in again.selfplay.pools.items()} == flying
    assert again.trainer.replay.sizes() == stage.run.trainer.replay.sizes()
