"""gozero-gtp as a process: what controllers see of it, from the first byte to the exit code."""

import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.gtp.process import COMMAND, SMALL, ask, marked, start

NOISY = (
    "import os, sys, gtp.__main__ as main, gozero.play.player as player\n"
    "original = player.Player.genmove\n"
    "def noisy(*arguments):\n"
    "    print('python noise\\n', end='')\n"  # in one piece: another thread may write between a text and its end
    "    sys.__stdout__.write('more noise\\n')\n"
    "    os.write(1, b'C noise\\n')\n"
    "    return original(*arguments)\n"
    "player.Player.genmove = noisy\n"
    "main.main(sys.argv[1:])\n"
)
LINES = """1 name

# talk
show\x00board
2 genmove b
3 list_stones b
4 gomill-describe_engine
5 gogui-ownership
6 printsgf
7 lz-analyze w 1000 maxmoves 1
8 final_status_list dead
9 play b pass
10 genmove w
11 final_score
12 quit
13 name
"""


class Scripted(NamedTuple):
    """A session of which all lines are sent at once, as printf sends them."""

    answers: list[str]
    stderr: str
    log: list[str]  # without times


@pytest.fixture(scope="module")
def scripted(small_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Scripted:
    """With libraries that print, live graphics and a log."""
    log = tmp_path_factory.mktemp("log") / "game.log"
    options = [*SMALL, "--gogui-gfx", "--analysis-visits", "8", "--log", str(log)]
    command = [sys.executable, "-c", NOISY, "--weights", str(small_weights), *options]
    done = subprocess.run(command, input=LINES, capture_output=True, text=True, timeout=120, check=True)
    answers = done.stdout.split("\n\n")
    assert answers.pop() == ""
    return Scripted(answers, done.stderr, marked(log))


def test_every_command_is_answered_in_order_and_what_follows_quit_is_left(scripted: Scripted) -> None:
    heads = ["=1", "=", *(f"={number}" for number in range(2, 13))]
    assert [answer.split()[0] if answer.strip() != "=" else "=" for answer in scripted.answers] == heads
    assert "Traceback" not in scripted.stderr


def test_gogui_and_gomill_see_what_it_is_and_what_it_thinks(scripted: Scripted, small_weights: Path) -> None:
    description, ownership, record = scripted.answers[4:7]
    assert description.splitlines()[1:4] == [f"weights {small_weights}", "network b2c16", "go"]
    assert [len(row.split()) for row in ownership.splitlines()] == [1, 5, 5, 5, 5, 5]  # at first the sign of success
    assert "C[win rate " in record
    assert str(small_weights) in scripted.stderr.splitlines()[0]
    assert "\ngogui-gfx:\nCOLOR green " in scripted.stderr
    assert scripted.stderr.endswith("\n\ngogui-gfx: CLEAR\n")


def test_what_libraries_print_goes_to_stderr(scripted: Scripted) -> None:
    assert not any("noise" in answer or "gogui-gfx" in answer for answer in scripted.answers)
    assert {"python noise", "more noise", "C noise"} <= set(scripted.stderr.splitlines())


def test_the_log_holds_both_sides_and_every_search(scripted: Scripted, small_weights: Path) -> None:
    facts, talk = scripted.log[:6], scripted.log[6:]
    assert facts[:2] == ["- gozero 0.1.0", f"- weights {small_weights}"]
    assert facts[5].startswith("- process ")
    assert talk[:4] == ["< 1 name", "> =1 gozero", "< # talk", "< show\N{REPLACEMENT CHARACTER}board"]
    genmove = talk.index("< 2 genmove b")
    numbers = r"win rate \d+\.\d %, 4 visits, score [-+]\d+\.\d: ([A-E][1-5] ?)+; \d+\.\d\d s, \d+/s"
    assert re.fullmatch(rf"- black, move: {numbers}", talk[genmove + 1])
    move = talk[genmove + 2].removeprefix("> =2 ")
    assert talk[genmove + 3 : genmove + 5] == ["< 3 list_stones b", f"> =3 {move}"]
    assert talk[-2:] == ["< 12 quit", "> =12"]
    searches = [line.split(":")[0] for line in talk if re.match("- (black|white)", line)]
    owners = ["- black, ownership", "- white, ownership"]
    assert searches == ["- black, move", *["- white, analysis"] * 2, *owners, "- white, move", *owners]


def test_a_search_ends_promptly_and_is_answered(small_weights: Path) -> None:
    """At GoGui's comment, and at `quit`."""
    engine = start(["--weights", str(small_weights), "--time", "1000", "--size", "5"])
    assert engine.stdin
    assert engine.stdout
    ask(engine, "time_settings 0 1 1")
    ask(engine, "genmove b")  # the network is loaded now
    ask(engine, "time_settings 0 1 0")
    engine.stdin.write("1 genmove w\n")
    wait_for_thinking(engine)
    engine.stdin.write("# interrupt\n")
    assert engine.stdout.readline().startswith("=1 ")
    engine.stdin.write("2 genmove b\n")
    wait_for_thinking(engine)
    started = time.monotonic()
    engine.stdin.write("quit\n")
    output = engine.stdout.read()
    assert engine.wait(10) == 0
    assert time.monotonic() - started < 1
    assert output.strip().startswith("=2 ")
    assert output.count("=") == 2


def wait_for_thinking(engine: subprocess.Popen[str]) -> None:
    """Until the engine has used some processor time for a search that nothing else limits."""
    before, deadline = cpu_seconds(engine.pid), time.monotonic() + 30
    while cpu_seconds(engine.pid) < before + 0.3:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


SEARCHING, ANALYSING, LOADING = (
    ["time_settings 0 1 0", "genmove b"],
    ["kata-analyze b 100 ownership true"],
    ["genmove b"],
)


@pytest.mark.parametrize(
    ("busy", "ending"),
    [
        (SEARCHING, "SIGTERM"),
        (ANALYSING, "unread output"),
        (LOADING, "unread output"),
        (LOADING, "end of input"),
    ],
)
def test_gone_within_a_second(small_weights: Path, busy: list[str], ending: str) -> None:
    """Whatever ends it and whatever it does. Only an end of the input that comes before the search is no haste: so do
    scripts end.
    """
    with start(["--weights", str(small_weights), "--time", "1000", "--size", "5"]) as engine:
        assert engine.stdin
        assert engine.stdout
        if busy is LOADING:
            ask(engine, "name")
            if ending == "end of input":
                busy = []  # it loads because its controller pauses
        else:
            ask(engine, "gogui-value")  # the network is loaded now
        engine.stdin.write("".join(f"{line}\n" for line in busy))
        wait_for_thinking(engine)
        begun = time.monotonic()
        if ending == "SIGTERM":
            engine.terminate()
        else:
            (engine.stdin if ending == "end of input" else engine.stdout).close()
        assert engine.wait(10) == (-signal.SIGTERM if ending == "SIGTERM" else 0)
        assert time.monotonic() - begun < 1
        with pytest.raises(ProcessLookupError):
            os.killpg(engine.pid, 0)  # nor has it left a child


def test_ctrl_c_leaves_quietly(small_weights: Path) -> None:
    heed = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # shells let what they start in the background ignore it
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    engine = subprocess.Popen([*COMMAND, "--weights", str(small_weights)], **pipes, preexec_fn=heed)
    assert engine.stdin
    assert engine.stdout
    engine.stdin.write(b"name\n")
    engine.stdin.flush()
    engine.stdout.readline()
    engine.send_signal(signal.SIGINT)
    engine.wait(timeout=10)  # before `communicate` closes its input, which would end it as well
    _, talk = engine.communicate(timeout=10)
    assert engine.returncode == 130
    assert b"Traceback" not in talk


def test_a_folder_that_has_been_removed_is_no_hindrance(small_weights: Path, tmp_path: Path) -> None:
    script = 'mkdir gone; cd gone; rmdir ../gone; echo name | "$0" "$@"'
    command = ["/bin/sh", "-c", script, *COMMAND, "--weights", str(small_weights), "--log", str(tmp_path / "log")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "= gozero\n\n"
