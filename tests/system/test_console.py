"""What all commands of training have in common: a wrong option is one line, and an interruption another."""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Callable

import pytest

from gozero.system import console
from gozero.system.errors import ChoiceError


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ChoiceError("no such board"), 2, "x: no such board"),
        (LookupError("no such game"), 2, "x: no such game"),
        (OSError(errno.EACCES, "Permission denied", "/x.csv"), 2, "x: cannot use /x.csv: Permission denied"),
        (MemoryError(), 1, "x: out of memory"),
        (RuntimeError("[cpu.cpp] can't allocate memory: 9 bytes"), 1, "x: out of memory; can't allocate memory: 9 bytes"),
        (RuntimeError("CUDA out of memory. Tried 9 bytes.\nSee"), 1, "x: out of memory; Tried 9 bytes."),
        (MemoryError("no room for 7.6 MiB"), 1, "x: out of memory; no room for 7.6 MiB"),
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


def test_what_a_file_says_gives_the_terminal_no_commands(capsys: pytest.CaptureFixture[str]) -> None:
    console.say("\nRU[\x1b[2J\x07],\tof 2\r")
    unknown = "\N{REPLACEMENT CHARACTER}"
    assert capsys.readouterr().err == f"\nRU[{unknown}[2J{unknown}], of 2{unknown}\n"


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ValueError, match="operands"):
        console.run_command("x", lambda: int("operands"))


def test_a_standard_output_that_is_closed_from_the_start_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert console.run_command("training.name", lambda: 0) == 0


@pytest.fixture
def handlers() -> None:
    """The signals' handlers are the usual ones, also under `nohup`."""
    for number in console.STOPPING:
        signal.signal(number, signal.SIG_DFL)


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


@pytest.mark.parametrize(("kind", "number"), [(console.seed, 2**63), (console.positive, 10**30)])
def test_a_number_that_no_array_or_generator_takes_is_refused(kind: Callable[[str], int], number: int) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        kind(str(number))
    assert console.seed(str(2**63 - 1)) == 2**63 - 1
