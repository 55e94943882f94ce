"""The client against engines that behave, talk, stall, die and babble. Each engine is a short Python program."""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from gtp.client import FailureError, GtpEngine, RefusalError
from tests.training.refusals import one_line

GOOD = """
import sys
for line in sys.stdin:
    command = line.strip()
    if command == "quit":
        break
    if command == "no":
        print("? not me\\n", flush=True)
    elif command == "talk":
        print("chatter\\n" * 20000, file=sys.stderr, flush=True)
        print("= done\\n", flush=True)
    elif command == "many":
        print("= one\\ntwo\\n\\tthree\\n", flush=True)
    else:
        print("= " + {"protocol_version": "2"}.get(command, command.upper()) + "\\n", flush=True)
"""


def engine(program: str, timeout: float = 20.0) -> GtpEngine:
    return GtpEngine([sys.executable, "-S", "-c", program], timeout=timeout)


def one_shot(answer: str, then: str = "") -> str:
    """A program that reads one line, writes `answer` as it is, and runs `then`."""
    return f"import sys, time, os\nsys.stdin.readline()\nsys.stdout.write({answer!r})\nsys.stdout.flush()\n{then}\nsys.stdin.read()"


SECOND = "sys.stdin.readline()\nprint('= 2\\n', flush=True)"  # to be asked for its protocol_version


def test_answers_belong_to_their_commands() -> None:
    with engine(GOOD) as good:
        assert good.send("name") == "NAME"
        assert good.send("many") == "one\ntwo\n\tthree"
        assert good.send("version") == "VERSION"


def test_an_engine_that_is_slow_stays_in_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp.client.SILENCE", 0.0)
    with engine(GOOD) as slow:
        assert [slow.send(command) for command in ("name", "version", "x")] == ["NAME", "VERSION", "X"]


def test_a_refusal_leaves_the_engine_alive() -> None:
    with engine(GOOD) as good:
        with pytest.raises(RefusalError, match=r"answered '\? not me' to 'no'"):
            good.send("no")
        assert good.send("name") == "NAME"


def test_stderr_neither_blocks_nor_fails() -> None:
    with engine(GOOD) as good:  # 160 KB: more than a pipe holds
        assert good.send("talk") == "done"


@pytest.mark.parametrize(
    ("flood", "complaint"),
    [
        ("'nonsense\\n' * 1000", "gave no answer within 0.5 s"),
        ("'no line end ' * 1000", "gave no answer within 0.5 s"),
        ("'= begun\\n' + 'and on\\n' * 1000", "gave no answer within 0.5 s|more than 100000 lines"),
    ],
)
def test_an_engine_that_writes_without_end_is_stopped_at_the_deadline(flood: str, complaint: str) -> None:
    babbler = engine(f"import sys\nsys.stdin.readline()\nwhile True:\n    sys.stdout.write({flood})", timeout=0.5)
    start = time.monotonic()
    with pytest.raises(FailureError, match=complaint) as failure:
        babbler.send("genmove b")
    assert time.monotonic() - start < 10
    assert not babbler.alive
    assert len(str(failure.value)) < 3000


def test_a_flood_of_stderr_is_quoted_in_short() -> None:
    loud = engine("import sys\nsys.stdin.readline()\nsys.stderr.write('x' * 5_000_000)\nsys.exit(3)")
    with pytest.raises(FailureError, match="exit status 3") as failure:
        loud.send("genmove b")
    assert len(str(failure.value)) < 3000


def test_close_stops_the_process_and_may_be_repeated() -> None:
    good = engine(GOOD)
    good.send("name")
    good.close()
    good.close()
    assert not good.alive
    pipes = good._process.stdin, good._process.stdout, good._process.stderr
    assert all(pipe and pipe.closed for pipe in pipes)
    with pytest.raises(FailureError, match="no longer running"):
        good.send("name")


def test_a_dead_engine_is_reported_with_status_command_and_last_words() -> None:
    dead = engine("import sys\nsys.stdin.readline()\nprint('out of luck', file=sys.stderr)\nsys.exit(7)")
    with pytest.raises(
        FailureError, match=r"ended without answering \(exit status 7\), last command 'genmove b'; it last said: out of"
    ):
        dead.send("genmove b")
    assert not dead.alive


def test_after_its_answer_an_engine_is_left_alone_and_its_end_belongs_to_that_command() -> None:
    ending = engine(one_shot("= D4\n\n", then="os._exit(7)"))
    assert ending.send("genmove b") == "D4"
    with pytest.raises(FailureError, match="last command 'genmove b'"):
        ending.send("play w D5")


def test_a_silent_engine_is_stopped_at_the_deadline() -> None:
    silent = engine("import time\ntime.sleep(600)", timeout=0.3)
    start = time.monotonic()
    with pytest.raises(FailureError, match=r"gave no answer within 0.3 s, last command 'genmove w'"):
        silent.send("genmove w")
    assert time.monotonic() - start < 10
    assert not silent.alive


def test_what_a_silent_engine_has_started_is_stopped_with_it(tmp_path: Path) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    waiting = GtpEngine(["sh", "-c", f"exec 3> {held}; sleep 600 & wait"], timeout=0.1)
    with held.open("rb") as read:  # once both processes hold it
        with pytest.raises(FailureError, match="gave no answer"):
            waiting.send("name")
        assert select.select([read], [], [], 60)[0], "the engine's child is still there"


def test_an_answer_that_never_ends_is_silence_too() -> None:
    with pytest.raises(FailureError, match=r"gave no answer within 0\.5 s"):
        engine(one_shot("= D4\n")).send("genmove w", timeout=0.5)


@pytest.mark.parametrize(
    "answer",
    ["= D4\r\n\r\n", "=D4\n\n", "= D4\n\n", "\n\n= D4\n\n", "loading...\nhello\n\n= D4\n\n"],
)
def test_what_cannot_be_misunderstood_is_accepted(answer: str) -> None:
    with engine(one_shot(answer)) as sloppy:
        assert sloppy.send("genmove b") == "D4"


WORDS = """
import sys
words = (word for line in sys.stdin for word in line.split())
known = {{"name": "=Words", "protocol_version": "=2", "genmove": "=D4", "play": "="}}
for word in words:
    for _ in range({{"genmove": 1, "play": 2}}.get(word, 0)):
        next(words)
    print(known.get(word, {unknown!r}) + "\\n", flush=True)
"""


@pytest.mark.parametrize("first", ["name", "genmove b", "play b E5"])
@pytest.mark.parametrize("unknown", ["=", "? unknown command"])
def test_an_engine_that_takes_every_word_for_a_command_is_kept_in_step(first: str, unknown: str) -> None:
    answers = {"name": "Words", "genmove b": "D4", "play b E5": ""}
    with engine(WORDS.format(unknown=unknown)) as odd:
        assert odd.send(first) == answers[first]
        for _ in range(3):
            with nullcontext() if unknown == "=" else pytest.raises(RefusalError):
                odd.send("time_settings 60 0 0")  # four answers
            assert {command: odd.send(command) for command in answers} == answers


@pytest.mark.parametrize("surplus", ["\n", "noise\n", "= again\n\n"])
def test_output_after_the_answer_is_dropped(surplus: str) -> None:
    second = "sys.stdin.readline()\nsys.stdout.write('= ok\\n\\n')\nsys.stdout.flush()\n"
    with engine(one_shot("= D4\n\n" + surplus, then=f"{SECOND}\n{second}")) as bad:
        assert [bad.send("genmove b"), bad.send("play w D5")] == ["D4", "ok"]


def test_an_engine_without_protocol_version_is_believed() -> None:
    program = "import sys\nfor line in sys.stdin:\n    print('= ok\\n' if line[0] == 'n' else '? what\\n', flush=True)"
    with engine(program) as old:
        assert [old.send("name"), old.send("name")] == ["ok", "ok"]
        with pytest.raises(RefusalError, match="what"):
            old.send("version")


@pytest.mark.parametrize("command", ["", "  ", "name\nquit", "name\r"])
def test_a_command_is_one_line(command: str) -> None:
    with engine(GOOD) as good, pytest.raises(ValueError, match="one non-empty line"):
        good.send(command)


@pytest.mark.parametrize(
    ("command", "reason"),
    [("", "empty"), ("no-such-program-here x", "No such file"), ("gnugo 'open", "No closing quotation")],
)
def test_a_command_that_cannot_run_is_one_clear_line(command: str, reason: str) -> None:
    with one_line(FailureError, reason):
        GtpEngine(command)
