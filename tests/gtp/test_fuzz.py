"""Whatever a controller sends: exactly one well-framed answer to each command, silence to blanks, comments and lone
ids, and no exit.

The engine is whole but for the network, with a few visits on small boards.
"""

from collections import Counter
from pathlib import Path

import pytest

from gtp.protocol import parse_line
from tests.gtp.fuzzing import check_answer, check_answers, check_pipelined, check_session, session
from tests.gtp.grammar import GRAMMAR, NOISE, commands_of, write_files

LENGTH = 100


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the engine: what it writes lands here."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("game", "sessions"), [("go", 35), ("othello", 25), ("connect4", 25)])
def test_some_thousand_lines(game: str, sessions: int) -> None:
    """At least half of them by the grammar, and every command of the game among them."""
    seen: Counter[str] = Counter()
    for seed in range(sessions):
        check_session(game, seed, LENGTH, seen)
    assert seen[GRAMMAR] + seen[NOISE] == sessions * LENGTH
    assert seen[GRAMMAR] > seen[NOISE]
    assert set(commands_of(game)) - {"quit"} <= seen.keys()


def test_a_pipelined_session(folder: Path, small_weights: Path) -> None:
    assert check_pipelined("go", 1, 100, folder, ["--weights", str(small_weights)]) > 60


def test_the_same_seed_draws_the_same_lines() -> None:
    assert session("go", 1, 50) == session("go", 1, 50) != session("go", 2, 50)


@pytest.mark.parametrize(
    "answer",
    [None, "= 1\n", "= 1\n\n\n\n", "=2 1\n\n", "1\n\n", "=7 \n\n= 1\n\n", "=7 a\tb\n\n", "?7 internal error: x\n\n"],
)
def test_a_wrong_answer_is_seen(answer: str | None) -> None:
    command = parse_line("7 name")
    assert command is not None
    with pytest.raises(AssertionError):
        check_answer(command, answer, "here")
    check_answer(command, "=7 gozero\n\n", "here")


@pytest.mark.parametrize("output", ["", "=7 a\n", "=7 a\n\n\n", "=7 a\n\n=8 b\n\n", " =7 a\n\n"])
def test_a_broken_frame_is_seen(output: str) -> None:
    with pytest.raises(AssertionError):
        check_answers(["7 name"], output, "here")
