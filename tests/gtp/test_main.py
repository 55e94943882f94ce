"""gozero-gtp as a process: what controllers see of it, from the first byte to the exit code."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.gtp.process import COMMAND, SMALL, ask, run, start


def test_a_scripted_game(small_weights: Path) -> None:
    """All lines at once, as printf sends them: every command is answered in full, and nothing else is on stdout."""
    done = run(
        ["--weights", str(small_weights), *SMALL],
        "1 genmove b\n\n# talk\n2 genmove w\n3 play b pass\n4 final_score\n5 quit\n6 name\n",
    )
    assert done.returncode == 0
    answers = done.stdout.split("\n\n")
    assert answers.pop() == ""
    assert [answer[:3].strip() for answer in answers] == ["=1", "=2", "=3", "=4", "=5"]
    assert len(answers[0].split()) == 2
    assert "Traceback" not in done.stderr
    assert str(small_weights) in done.stderr.splitlines()[0]


def test_gogui_and_gomill_see_what_it_is_and_what_it_thinks(small_weights: Path) -> None:
    done = run(
        ["--weights", str(small_weights), *SMALL, "--gogui-gfx"],
        "genmove b\ngomill-describe_engine\ngogui-ownership\nprintsgf\n",
    )
    _, description, ownership, record, _ = done.stdout.split("\n\n")
    assert description.splitlines()[1:4] == [f"weights {small_weights}", "network b2c16", "go"]
    assert [len(row.split()) for row in ownership.splitlines()] == [
        1,
        5,
        5,
        5,
        5,
        5,
    ]  # the first is the sign of success
    assert "C[win rate " in record
    assert "gogui-gfx" not in done.stdout
    assert "\ngogui-gfx:\nCOLOR green " in done.stderr
    assert done.stderr.endswith("\n\ngogui-gfx: CLEAR\n")


def test_end_of_input_answers_all_that_came_before(small_weights: Path) -> None:
    done = run(["--weights", str(small_weights), *SMALL], "1 genmove b\n2 name")
    assert (done.returncode, done.stdout.count("\n\n")) == (0, 2)


def test_administration_needs_no_network(small_weights: Path) -> None:
    """The name is there before numpy is imported, let alone numba or torch."""
    program = (
        "import sys, gtp.__main__ as main\n"
        "main.os._exit = lambda code: print(sorted({'numpy', 'numba', 'torch', 'openvino'} & set(sys.modules)), "
        "file=sys.stderr)\n"
        "main.main(sys.argv[1:])\n"
    )
    lines = "name\nversion\nprotocol_version\nlist_commands\nknown_command play\ntime_settings 0 1 0\nquit\n"
    done = subprocess.run(
        [sys.executable, "-c", program, "--weights", str(small_weights)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("= gozero\n\n= 0.1.0\n\n= 2\n\n= all_legal\n")
    assert done.stderr.splitlines()[-1] == "[]"


def test_what_libraries_print_goes_to_stderr(small_weights: Path) -> None:
    program = (
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
    done = subprocess.run(
        [sys.executable, "-c", program, "--weights", str(small_weights), *SMALL],
        input="genmove b\nquit\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "noise" not in done.stdout
    assert {"python noise", "more noise", "C noise"} <= set(done.stderr.splitlines())


@pytest.mark.parametrize("ending", ["quit\n", ""])
def test_an_end_during_a_search_is_prompt_and_answered(small_weights: Path, ending: str) -> None:
    engine = start(["--weights", str(small_weights), "--time", "1000", "--size", "5"])
    assert engine.stdin
    assert engine.stdout
    ask(engine, "showboard")
    ask(engine, "time_settings 0 1 1")
    ask(engine, "genmove b")  # the network is loaded now
    ask(engine, "time_settings 0 1 0")
    engine.stdin.write("1 genmove w\n")
    engine.stdin.flush()
    wait_for_thinking(engine)
    started = time.monotonic()
    engine.stdin.write(ending)
    engine.stdin.close()
    output = engine.stdout.read()
    assert engine.wait(10) == 0
    assert time.monotonic() - started < 1
    assert output.startswith("=1 ")
    assert output.count("\n\n") == (2 if ending else 1)


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


@pytest.mark.parametrize("busy", [SEARCHING, ANALYSING, LOADING], ids=["searching", "analysing", "loading"])
@pytest.mark.parametrize("ending", ["end of input", "unread output", "SIGTERM"])
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


def test_commands_that_arrive_while_it_thinks_are_queued(small_weights: Path) -> None:
    engine = start(["--weights", str(small_weights), *SMALL])
    assert engine.stdin
    assert engine.stdout
    engine.stdin.write(
        "".join(f"{number} genmove {'bw'[number % 2]}\n{number}0 name\n" for number in range(1, 9)) + "9 quit\n"
    )
    engine.stdin.flush()
    output = engine.stdout.read()
    assert [line.split()[0] for line in output.splitlines() if line] == [
        f"={n}{z}" for n in range(1, 9) for z in ("", "0")
    ] + ["=9"]


def test_an_interrupt_comment_ends_a_search(small_weights: Path) -> None:
    engine = start(["--weights", str(small_weights), "--time", "1000", "--size", "5"])
    assert engine.stdin
    assert engine.stdout
    ask(engine, "time_settings 0 1 1")
    ask(engine, "genmove b")
    ask(engine, "time_settings 0 1 0")
    engine.stdin.write("1 genmove w\n")
    engine.stdin.flush()
    wait_for_thinking(engine)
    engine.stdin.write("# interrupt\n")
    engine.stdin.flush()
    assert engine.stdout.readline().startswith("=1 ")
    engine.stdin.write("quit\n")
    engine.stdin.flush()
    assert engine.wait(5) == 0


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
