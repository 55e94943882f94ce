"""The engine's use of its time against even time: what a move may take, what is counted, what is printed."""

import csv
import re
from pathlib import Path

import pytest

from benchmarks import effort
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games import go
from gozero.position import Position
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gtp.time_controls import Absolute, TimeControl
from training.matches.interface import Turn

GAME = go.make(5)


def player(visits: int, control: TimeControl | None) -> effort.EffortPlayer:
    """A player of random playouts on 5x5."""
    settings = SearchSettings(max_nodes=effort.MOST * visits)
    return effort.EffortPlayer("one", Search(GAME, RolloutEvaluator(GAME), settings, trees=2), visits, control)


def test_without_a_clock_every_move_takes_the_same() -> None:
    even = player(24, None)
    turns = [Turn(slot, Position(GAME)) for slot in range(2)]
    for turn in turns:
        even.begin(turn.slot, seed=1)
    even.choose(turns)
    even.choose(turns[:1])
    assert (even.spent.visits, even.spent.moves) == (72, 3)


def test_a_clock_pays_for_what_was_searched_and_is_never_overdrawn() -> None:
    patient = player(40, Absolute(400.0))
    patient.begin(0, seed=1)
    position = Position(GAME)
    while not position.is_over and position.ply < 20:
        before, spent = patient.clocks[0].left(position.to_play), patient.spent.visits
        assert before is not None
        action = patient.choose([Turn(0, position)])[0]
        after = patient.clocks[0].left(position.to_play)
        assert after is not None
        assert after.seconds == pytest.approx(before.seconds - (patient.spent.visits - spent)) and after.seconds >= 0
        position.play(int(action))  # type: ignore[arg-type]
    assert patient.spent.moves >= 10


def test_a_match_is_printed_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = tmp_path / "games.csv"
    words = f"--size 7 --visits 10 --games 4 --pilot 2 --threads 1 --clock fischer --csv {listed}"
    assert effort.main(words.split()) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "visits a move" in line]
    pilot, match = (re.findall(r"(?:fischer|even) ([\d.]+)", line) for line in lines)
    assert float(pilot[1]) == 10.0 and float(match[1]) == round(float(pilot[0]))
    with listed.open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 4


@pytest.mark.parametrize("words, message", [("--visits 9", "expected 10 or more"), ("--even 0", "--even 0: expected")])
def test_a_request_that_makes_no_sense_is_one_line(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert effort.main(words.split()) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1
