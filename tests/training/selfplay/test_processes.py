"""Self-play in several processes: the same games as in one, and what happens when they are stopped, fail or die."""

import os
import signal
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gozero.nets import model, weights
from tests.training import crashes
from tests.training.run.test_resume import same
from tests.training.selfplay.test_crew import games, moves
from training.commands import train
from training.doctor.monitor import Monitor
from training.learner.learner import network_config
from training.records import records
from training.records.records import Record
from training.run import modes, session
from training.selfplay.crew import LocalCrew, Stretch, StretchOver
from training.selfplay.processes import SIGNALS, ProcessCrew, WorkerLostError, _portable

pytestmark = pytest.mark.usefixtures("one_thread")
SETTINGS = crashes.settings(selfplay={"games": 4, "seats": 3, "processes": 2})
NET = model.build(network_config(SETTINGS), 1)


def stretches(wanted: float = 12) -> list[Stretch]:
    return [Stretch(5, seat, SETTINGS.stage[1], 2, wanted, "rows") for seat in range(3)]


@pytest.fixture(scope="module")
def shared() -> Generator[ProcessCrew]:
    """One crew for all tests that leave it whole: a process takes seconds to start."""
    crew = ProcessCrew(SETTINGS, NET, 1, "cpu")
    yield crew
    crew.close()


def never() -> bool:
    return False


def test_they_play_what_one_process_plays(shared: ProcessCrew) -> None:
    """Games, their order, the pools that are left, and all this again with another network."""
    alone = LocalCrew(SETTINGS, NET, 1, "cpu")
    for seed in (None, 2):
        if seed is not None:
            for crew in (alone, shared):
                crew.hand_over(model.build(network_config(SETTINGS), seed))
        expected, found = list(alone.play(stretches(), never)), list(shared.play(stretches(), never))
        assert moves(games(iter(found))) == moves(games(iter(expected)))
        overs = [[each for each in told if isinstance(each, StretchOver)] for told in (expected, found)]
        assert overs[0] == overs[1]
        assert len(overs[0]) == 3
        assert same(shared.state_dict(), alone.state_dict())
        assert len(shared.calibrations()) == 3
        assert [each.peaks for each in shared.calibrations()] == [each.peaks for each in alone.calibrations()]


def test_they_go_on_from_the_games_of_a_checkpoint(shared: ProcessCrew) -> None:
    list(shared.play(stretches(), never))
    before, playing = shared.state_dict(), shared.playing.state_dict()
    peaks = [each.peaks.copy() for each in shared.calibrations()]
    expected = moves(games(shared.play(stretches(), never)))
    other = ProcessCrew(replace(SETTINGS, selfplay=replace(SETTINGS.selfplay, processes=3)), NET, 1, "cpu")
    assert other.load_state_dict(before, playing) == []
    assert [each.peaks for each in other.calibrations()] == peaks
    assert moves(games(other.play(stretches(), never))) == expected, "however many they are"
    fewer = {**before, 5: {**before[5], "games": before[5]["games"][1:]}}
    assert other.load_state_dict(fewer, None) == [
        "the games in flight on 5x5 are given up and new ones begin: the pool saved holds 3 games, the settings ask for 4"
    ]
    other.close()


def begun(crew: ProcessCrew) -> int:
    """Games that its pools have begun so far."""
    return sum(group["started"] for state in crew.state_dict().values() for group in state["groups"])


@pytest.mark.parametrize("leaves", [True, False], ids=["goes away", "stops"])
def test_whoever_stops_or_goes_away_loses_no_game(leaves: bool, shared: ProcessCrew) -> None:
    list(shared.play(stretches(1), never))
    before, told = begun(shared), list[Record | StretchOver]()
    with closing(shared.play(stretches(200), lambda: len(told) >= 3)) as playing:
        for each in playing:
            told.append(each)
            if leaves and len(told) == 3:
                break
    told += shared.play([], never)  # those that nobody had asked for any more
    assert 3 <= len(games(iter(told))) == begun(shared) - before


def test_an_error_of_one_is_raised_here_and_a_dead_one_is_one_line() -> None:
    crew = ProcessCrew(SETTINGS, NET, 1, "cpu")
    with pytest.raises(TypeError):
        list(crew.play([replace(each, size="no board") for each in stretches()], never))  # type: ignore[arg-type]
    assert len(games(crew.play(stretches(), never))) > 0, "it goes on"
    os.kill(crew._workers[1].process.pid, signal.SIGKILL)
    with pytest.raises(WorkerLostError, match="a process of self-play was killed by SIGKILL, perhaps because memory"):
        list(crew.play(stretches(), never))
    crew.close()
    assert not crew._workers


def test_games_that_nobody_ends_before_the_crew_end_with_it() -> None:
    """As after an error of whoever took them: its frames keep them, and are cleared when all else is over."""
    crew = ProcessCrew(SETTINGS, NET, 1, "cpu")
    playing = crew.play(stretches(500), never)
    next(playing)
    crew.close()
    playing.close()


class TwoArgumentsError(Exception):
    """Pickle makes it anew with one argument, and fails."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def test_an_error_that_does_not_survive_the_pipe_is_told_in_words() -> None:
    assert str(_portable(TwoArgumentsError("this", "that"))).endswith("TwoArgumentsError: this and that")
    assert type(_portable(KeyError("k"))) is KeyError


def test_signals_to_all_processes_are_left_to_the_one_that_leads(shared: ProcessCrew) -> None:
    """Also while one is starting: a Ctrl-C in the terminal reaches them all."""
    starting = ProcessCrew(SETTINGS, NET, 1, "cpu")
    starting._open()
    for worker in (*starting._workers, *shared._workers):
        for number in SIGNALS:
            os.kill(worker.process.pid, number)
    for crew in (starting, shared):
        assert len(games(crew.play(stretches(), never))) > 0
    starting.close()


def test_a_run_with_two_processes_is_that_of_one(tmp_path: Path) -> None:
    """Records and weights to the last bit, also where it ended and went on with three."""
    for name, parts in (("one", {1: 3}), ("two", {2: 2, 3: 3})):
        for processes, generations in parts.items():
            play = replace(SETTINGS.selfplay, processes=processes)
            settings = replace(SETTINGS, generations=generations, selfplay=play)
            run = session.prepare(settings, tmp_path / name)
            modes.train_in_mode(run, Monitor(run.folder, settings), never)
            run.actor.crew.close()
    one, two = (
        [records.read(tmp_path / name / "records" / f"{shard:06d}.gzr").records for shard in (1, 2, 3)]
        for name in ("one", "two")
    )
    assert [moves(shard) for shard in one] == [moves(shard) for shard in two]
    assert same(*(weights.load(tmp_path / name / "weights.pt").state_dict for name in ("one", "two")))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--set", "selfplay.processes=2"], "selfplay.processes = 2, but selfplay.seats = 1: each process plays at"),
        (
            ["--set", "selfplay.processes=2", "--set", "selfplay.seats=2", "--address", "auto"],
            "selfplay.processes = 2 is for one machine: on a cluster give --workers",
        ),
    ],
)
def test_settings_that_contradict_each_other(
    options: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(["--preset", "tiny", "--run", str(tmp_path / "run"), *options]) == 2
    assert line in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
