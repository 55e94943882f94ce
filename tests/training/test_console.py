"""What all commands of training have in common: a wrong option is one line, and an interruption another."""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gozero.system.errors import ChoiceError
from training import console
from training.__main__ import main as training_main
from training.commands import selfplay, train
from training.doctor import report
from training.matches import arena, ladder, truth, yardstick
from training.records import browse
from training.storage import command as stores
from training.supervised import startup as supervised

Command = Callable[[list[str]], int]
COMMANDS: dict[str, Command] = {
    "training.arena": arena.main,
    "training.ladder": ladder.main,
    "training.loop": train.main,
    "training.records": browse.main,
    "training.report": report.main,
    "training.selfplay": selfplay.main,
    "training.storage": stores.main,
    "training.supervised": supervised.main,
    "training.truth": truth.main,
    "training.yardstick": yardstick.main,
}
NONSENSE = {  # arguments with nothing wrong but the option
    "training.arena": ["random", "random"],
    "training.records": ["list", "runs/x"],
    "training.report": ["runs/x"],
    "training.storage": ["show", "runs/x"],
    "training.supervised": ["games", "--out", "x.pt"],
    "training.truth": ["--game", "tictactoe", "--weights", "x.pt"],
    "training.yardstick": ["--weights", "x.pt", "--yardstick", "x.jsonl"],
}


def refusal(main: Command, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    captured = capsys.readouterr()
    assert (left.value.code, captured.out) == (2, "")
    return captured.err


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = refusal(COMMANDS[name], [*NONSENSE.get(name, []), "--nonsense"], capsys)
    assert text == f"{name}: unrecognized arguments: --nonsense; see python -m {name} --help\n"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("training.arena", [], "the following arguments are required: A, B"),
        ("training.arena", ["random", "random", "--games", "two"], "--games 'two': expected a whole number"),
        ("training.arena", ["random", "random", "--komi", "nan"], "argument --komi: invalid number value: 'nan'"),
        ("training.arena", ["random", "random", "--move-seconds", "inf"], "invalid number value: 'inf'"),
        ("training.records", [], "the following arguments are required: list | show"),
        ("training.records", ["look"], "'look'"),
        ("training.storage", [], "the following arguments are required: show | fetch"),
        ("training.records", ["list", "x", "--limit", "0"], "argument --limit: '0' is no whole number from 1 on"),
    ],
)
def test_arguments_that_are_wrong_are_one_line(
    name: str, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = refusal(COMMANDS[name], arguments, capsys)
    assert words in text
    assert text.startswith(f"{name}: ")
    assert text.endswith("--help\n")
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ChoiceError("no such board"), 2, "x: no such board"),
        (LookupError("no such game"), 2, "x: no such game"),
        (OSError(errno.EACCES, "Permission denied", "/x.csv"), 2, "x: cannot use /x.csv: Permission denied"),
        (KeyboardInterrupt(), 130, "x: interrupted; nothing was kept"),
        (KeyboardInterrupt("3 games were kept"), 130, "x: interrupted; 3 games were kept"),
    ],
)
def test_how_a_command_ends(error: BaseException, code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        raise error

    assert console.run_command("x", command, (LookupError,), "nothing was kept") == code
    assert capsys.readouterr().err == f"{words}\n"
    assert console.run_command("x", lambda: 1) == 1


def test_a_second_interruption_while_the_first_is_handled_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        try:
            raise KeyboardInterrupt("3 games were kept")
        finally:
            raise KeyboardInterrupt

    assert console.run_command("x", command, interrupted="nothing was kept") == 130
    assert capsys.readouterr().err == "x: interrupted; 3 games were kept\n"


@pytest.mark.parametrize("error", [errno.EPIPE, errno.ENOSPC])
def test_a_run_goes_on_when_nobody_reads_what_it_says(error: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(error, os.strerror(error))

    def command() -> int:
        console.say("the first line")
        console.say("the second line")
        return 7

    monkeypatch.setattr(sys, "stderr", Gone())
    assert console.run_command("test", command) == 7


def test_training_alone_lists_its_commands_and_loads_nothing_heavy() -> None:
    code = "import sys; from training.__main__ import main; main([]); print(*{'numba', 'numpy', 'torch'} & set(sys.modules))"
    *said, heavy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split("\n")[:-1]
    listed = {line.split()[0] for line in said if line.startswith("  training.")}
    folder = Path(console.__file__).parent
    assert listed >= {*COMMANDS, *(f"training.{path.parent.name}" for path in folder.glob("*/__main__.py"))}
    assert any("python -m training.loop --preset tiny" in line for line in said)
    assert heavy == ""


def test_training_with_an_unknown_command_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert training_main(["lop"]) == 2
    assert "'lop'" in capsys.readouterr().err


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ValueError, match="operands"):
        console.run_command("x", lambda: int("operands"))


def test_a_standard_output_that_is_closed_from_the_start_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert console.run_command("training.name", lambda: 0) == 0


@pytest.fixture
def handlers() -> Iterator[None]:
    """The signals' handlers are the usual ones, also under `nohup`, and as before afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number in before:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_asks_for_the_end(number: int) -> None:
    stop = console.stop_on_signals()
    assert not stop()
    signal.raise_signal(number)
    assert stop()
    assert signal.getsignal(number) == signal.SIG_DFL, "a second one leaves at once"


@pytest.mark.usefixtures("handlers")
def test_a_process_under_nohup_outlives_its_terminal() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop = console.stop_on_signals()
    signal.raise_signal(signal.SIGHUP)
    assert not stop()


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_from_outside_keeps_what_it_has(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        signal.raise_signal(number)
        return 0

    assert console.run_command("training.x", work, interrupted="two games are kept") == 130
    assert capsys.readouterr().err == "training.x: interrupted; two games are kept\n"
    assert signal.getsignal(number) == signal.SIG_DFL


def test_a_seed_that_no_generator_takes_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    large = str(2**64)
    assert arena.main(["random", "random", "--game", "tictactoe", "--games", "2", "--seed", large]) == 2
    assert capsys.readouterr().err == f"training.arena: the seed must be from 0 to {2**63 - 1}, not {large}\n"
    with pytest.raises(argparse.ArgumentTypeError, match="is too large"):
        console.seed(large)
    assert console.seed(str(2**63 - 1)) == 2**63 - 1
