"""Self-play in several processes: the same games as in one, and what happens when they are stopped, fail or die."""

import os
import signal
import zlib
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gozero.nets import model, weights
from gozero.system.workers import IGNORED
from tests.training import crashes
from tests.training.run.test_resume import same
from tests.training.selfplay.test_local import moves, played
from training.learner.learner import network_config
from training.records import records
from training.run import dry_run, modes, session
from training.run.new_run import StartingPoint
from training.selfplay.local import Key, LocalSelfPlay, Task
from training.selfplay.processes import ProcessWorkers
from training.selfplay.remote import PlayTask, RemoteSelfPlay, WorkerLostError
from training.storage import checkpoint, storage

SETTINGS = crashes.settings(selfplay={"games": 4, "slots": 3, "processes": 2})
NET = model.build(network_config(SETTINGS), 1)


def tasks(wanted: float = 12) -> list[Task]:
    return [Task(5, slot, SETTINGS.stage[1], 2, wanted, "rows") for slot in range(3)]


def in_processes() -> RemoteSelfPlay:
    return RemoteSelfPlay(SETTINGS, NET, 1, ProcessWorkers(SETTINGS, NET, 1, "cpu"))


def processes(selfplay: RemoteSelfPlay) -> dict[int, Any]:
    """The worker processes, by their number."""
    assert isinstance(selfplay.workers, ProcessWorkers)
    return dict(selfplay.workers._executor._processes)


def states(selfplay: RemoteSelfPlay) -> dict[Key, Any]:
    return {key: checkpoint.decompress(content) for key, content in sorted(selfplay.state_dict().items())}


@pytest.fixture(scope="module")
def shared() -> Generator[RemoteSelfPlay]:
    """Two workers for all tests that leave them whole: a process takes seconds to start. At the end they are closed in
    the middle of their games.
    """
    made = in_processes()
    yield made
    for task in tasks(500):
        made.submit(task)
    reader, closed = made.workers._executor._call_queue._reader, []  # type: ignore[attr-defined]
    close = reader.close
    reader.close = lambda: closed.append(close())
    made.close()
    # the queue's own thread may close it too, by a method that it has from before
    assert len(closed) <= 1, "a descriptor that is closed twice may be another file's by then"
    assert all(job.done() for job in made._jobs), "nobody waits for their games"


def test_they_play_what_one_process_plays(shared: RemoteSelfPlay) -> None:
    """Games, their order, the pools that are left, and all this again with another network.

    Signals are left to the process that leads, also while the others are starting: a Ctrl-C in the terminal reaches
    them all.
    """

    def signalled() -> bool:
        for number in IGNORED:
            for process in processes(shared):
                os.kill(process, number)
        return False

    alone = LocalSelfPlay(SETTINGS, NET, 1, "cpu")
    for seed in (None, 2):
        if seed is not None:
            for each in (alone, shared):
                each.take_weights(model.build(network_config(SETTINGS), seed).state_dict())
        expected, found = played(alone, tasks()), played(shared, tasks(), signalled)
        assert moves(found) == moves(expected)
        assert found[-1] == expected[-1]
        assert len(found) == len(expected)
        assert same(states(shared), alone.state_dict())
        assert [each.peaks for each in shared.calibrations()] == [each.peaks for each in alone.calibrations()]


def test_they_go_on_from_the_games_of_a_checkpoint(shared: RemoteSelfPlay) -> None:
    played(shared, tasks())
    before, playing = states(shared), shared.playing.state_dict()
    peaks = [each.peaks.copy() for each in shared.calibrations()]
    expected = moves(played(shared, tasks()))
    assert shared.load_state_dict(before, playing) == []
    assert [each.peaks for each in shared.calibrations()] == peaks
    assert moves(played(shared, tasks())) == expected
    fewer = {**before, (5, 0): {**before[5, 0], "games": before[5, 0]["games"][1:]}}
    assert len(shared.load_state_dict(fewer, None)) == 1, "these games cannot be continued"


def test_a_stop_loses_no_game(shared: RemoteSelfPlay) -> None:
    def begun() -> int:
        return sum(group["started"] for state in states(shared).values() for group in state["groups"])

    played(shared, tasks(1))
    before, asked = begun(), iter(range(10))
    assert len(moves(played(shared, tasks(200), lambda: next(asked, None) is None))) == begun() - before


def test_an_error_in_a_worker_is_raised_here(shared: RemoteSelfPlay) -> None:
    played(shared, tasks(1))
    order = PlayTask(tasks()[0], b"", shared._weights)
    assert isinstance(shared.workers.submit(order).exception(), zlib.error)


def test_a_dry_run_plays_in_all_of_them(
    shared: RemoteSelfPlay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much time that takes."""
    said: list[str] = []
    monkeypatch.setattr(dry_run.estimate, "BEGINNING", 1e-6)
    opened: list[int] = []
    monkeypatch.setattr(dry_run.LOCAL, "selfplay", lambda asked, _: opened.append(asked.selfplay.processes) or shared)
    monkeypatch.setattr(shared, "close", lambda: said.append("closed"))
    dry_run.check_all(replace(SETTINGS, simulator="numba"), tmp_path / "run", StartingPoint(), said.append)
    assert opened == [SETTINGS.selfplay.processes]
    assert "closed" in said and any("a move of 4 games at 5x5 with the network: ok" in line for line in said)
    assert not list(tmp_path.iterdir())


def test_a_run_with_two_processes_is_that_of_one(tmp_path: Path) -> None:
    """Records and weights to the last bit, also where it goes on in one. Then one of the two is killed."""
    learner = replace(SETTINGS.learner, anneal=0.0)  # the rate would fall where the limit is one generation
    for name, parts in (("one", {1: 2}), ("two", {2: 1, 1: 2})):
        for count, generations in parts.items():
            play = replace(SETTINGS.selfplay, processes=count)
            settings = replace(
                SETTINGS, generations=generations, selfplay=play, stage=SETTINGS.stage[1:], learner=learner
            )
            run = session.prepare(settings, tmp_path / name)
            modes.train_in_mode(run, crashes.Watch(run.folder, settings), lambda: False)  # type: ignore[arg-type]
            if isinstance(run.selfplay, RemoteSelfPlay):
                os.kill(next(iter(processes(run.selfplay))), signal.SIGKILL)
                with pytest.raises(WorkerLostError):
                    played(run.selfplay, tasks())
            run.selfplay.close()
    for generation in (1, 2):
        one, two = (storage.shard(tmp_path / name, generation) for name in ("one", "two"))
        assert moves(records.read(one).records) == moves(records.read(two).records)
    assert same(*(weights.load(tmp_path / name / "weights.pt").state_dict for name in ("one", "two")))
