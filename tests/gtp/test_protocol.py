"""Framing as GTP 2 and its clients want it (no Go needed: the engine under test knows two commands of its own)."""

import io
import os
import sys

import pytest

from gozero.system.streams import Log, ProtocolOutput, arriving_lines
from gtp.protocol import (
    LONGEST_REASON,
    SCRIPT_PAUSE,
    SHUTDOWN_GRACE,
    Command,
    FatalError,
    GtpError,
    LineReader,
    Protocol,
    Signals,
    format_answer,
    serve,
)
from tests.gtp.engine import answer_to


def fail(command: Command) -> str:
    raise GtpError("bad thing\n\n\nhappened")


def make_protocol() -> Protocol:
    protocol = Protocol("Test", "1.2")
    protocol.register({"echo": lambda command: command.text, "fail": fail, "lines": lambda command: "a\n\nb \n"})
    return protocol


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("name", "= Test\n\n"),
        ("12 name", "=12 Test\n\n"),
        ("7name", "=7 Test\n\n"),
        ("00012345678901234567890 name", "=00012345678901234567890 Test\n\n"),
        ("\t6 name", "=6 Test\n\n"),
        ("name\r", "= Test\n\n"),
        ("na\x07me\x7f", "= Test\n\n"),
        ("echo\ta\tb", "= a b\n\n"),
        ("echo a # comment", "= a\n\n"),
        ("echo", "= \n\n"),
        ("echo   two  words ", "= two  words\n\n"),
        ("NAME", "? unknown command\n\n"),
        ("namefoo", "? unknown command\n\n"),
        ("3 nam", "?3 unknown command\n\n"),
        ("-3 name", "? unknown command\n\n"),
        ("\u0663 name", "? unknown command\n\n"),
        ("fail", "? bad thing\nhappened\n\n"),
        ("lines", "= a\nb\n\n"),
        ("protocol_version", "= 2\n\n"),
        ("version", "= 1.2\n\n"),
        ("known_command echo", "= true\n\n"),
        ("known_command ech", "= false\n\n"),
        ("known_command", "= false\n\n"),
        (
            "list_commands",
            "= echo\nfail\nknown_command\nlines\nlist_commands\nname\nprotocol_version\nquit\nversion\n\n",
        ),
        ("5 quit", "=5 \n\n"),
    ],
)
def test_answer(line: str, answer: str) -> None:
    assert answer_to(make_protocol(), line) == answer


@pytest.mark.parametrize(
    "line", ["", " ", "\r", "\t", "# comment", "  # name", "3", "12 # name", "\x01", "# interrupt"]
)
def test_silence(line: str) -> None:
    assert answer_to(make_protocol(), line) is None


def test_answers_never_contain_control_characters_or_blank_lines() -> None:
    assert format_answer("?", "", "a\x1b[0m\n \n\tb") == "? a[0m\n b\n\n"


def test_a_refusal_does_not_repeat_megabytes() -> None:
    def refuse(command: Command) -> str:
        raise GtpError(f"unknown {command.text}")

    protocol = Protocol("Test", "1.2")
    protocol.register({"refuse": refuse})
    answer = answer_to(protocol, f"refuse {'a' * 1_000_000}")
    assert answer == f"? unknown {'a' * (LONGEST_REASON - 8)}...\n\n"


def test_a_bug_is_reported_and_answered() -> None:
    bugs = []
    protocol = Protocol("Test", "1.2", on_bug=lambda command, error: bugs.append((command.name, error)))
    protocol.register({"crash": lambda command: str(1 // 0)})
    assert (
        answer_to(protocol, "9 crash") == "?9 internal error: ZeroDivisionError: integer division or modulo by zero\n\n"
    )
    protocol.register({"fill": lambda command: " " * sys.maxsize})
    assert answer_to(protocol, "fill") == "? out of memory\n\n"

    def evaluate(command: Command) -> str:
        raise RuntimeError("CUDA out of memory. Tried to allocate 9 bytes.")

    protocol.register({"evaluate": evaluate})
    assert answer_to(protocol, "evaluate") == "? out of memory; Tried to allocate 9 bytes.\n\n"
    assert [name for name, _ in bugs] == ["crash"]


def test_a_fatal_error_passes_through() -> None:
    def die(command: Command) -> str:
        raise FatalError("no weights")

    protocol = Protocol("Test", "1.2")
    protocol.register({"die": die})
    with pytest.raises(FatalError):
        answer_to(protocol, "die")


def run(data: bytes) -> tuple[bytes, str]:
    """What the serving loop writes to the client and to the log when it is sent ``data`` in one go."""
    source, source_end = os.pipe()
    sink, sink_end = os.pipe()
    os.write(source_end, data)
    os.close(source_end)
    log = io.StringIO()
    serve(make_protocol(), LineReader(arriving_lines(source), Signals()), ProtocolOutput(sink_end, Log(log)))
    os.close(sink_end)
    with os.fdopen(sink, "rb") as stream:
        return stream.read(), log.getvalue()


def test_pipelined_lines_are_answered_in_order_and_the_rest_after_quit_is_left() -> None:
    output, log = run(b"1 name\r\n\n# talk\n2 echo \xc3\xa9\xff\n3 quit\n4 name\n")
    assert output == b"=1 Test\n\n=2 \xc3\xa9\xff\n\n=3 \n\n"
    assert [line.split(" ", 2)[2] for line in log.splitlines()[:2]] == ["< 1 name", "> =1 Test"]


def test_end_of_input_ends_the_loop_and_a_last_line_without_newline_counts() -> None:
    assert run(b"1 name\n2 version")[0] == b"=1 Test\n\n=2 1.2\n\n"


@pytest.mark.parametrize("pause", [0.0, SCRIPT_PAUSE])
def test_the_end_of_a_script_hurries_nothing_and_that_of_a_client_ends_its_searches(pause: float) -> None:
    now = [0.0]
    signals = Signals(lambda: now[0])
    signals.line_read()
    signals.line_taken()
    now[0] = pause
    signals.end_of_input()  # `quit`
    now[0] += 0.9 * SHUTDOWN_GRACE
    assert not signals.should_stop()
    signals.end_of_input()  # the stream: only the first end counts
    now[0] = pause + 2 * SHUTDOWN_GRACE
    assert signals.should_stop() == (pause > 0)


def test_an_interrupt_holds_for_the_lines_before_it_only() -> None:
    signals = Signals()
    signals.line_read()
    signals.line_taken()
    assert not signals.should_stop()
    signals.interrupt()
    assert signals.should_stop()
    signals.line_read()
    signals.line_taken()
    assert not signals.should_stop()
