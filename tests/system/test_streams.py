"""The standard streams of gozero-gtp and gozero analysis: closed, full, never read, gone; and what input begins with."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gozero.system.streams import ProtocolOutput, UnwritableError, arriving_lines

ASK = {"gtp": "name\n", "gozero.frontends.analysis": '{"id":"v","action":"query_version"}\n'}
ANSWER = {
    "gtp": "= gozero\n\n",
    "gozero.frontends.analysis": '{"id":"v","action":"query_version","version":"0.1.0","git_hash":"<omitted>"}\n',
}
both = pytest.mark.parametrize("module", ["gtp", "gozero.frontends.analysis"])
PIPE_HOLDS = 1 << 16


def run(module: str, redirection: str, text: str | None = None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program under a shell that redirects its streams, with one question unless there is another text."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", module, *arguments]
    text = ASK[module] if text is None else text
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)


@both
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "2>&- 3>&-"])
def test_a_stderr_that_takes_nothing_does_not_matter(module: str, redirection: str, small_weights: Path) -> None:
    done = run(module, redirection, None, "--weights", str(small_weights))
    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER[module], "")


def test_nothing_that_is_opened_takes_the_place_of_a_closed_stream(small_weights: Path, tmp_path: Path) -> None:
    """With all three closed a log would be the first to get their numbers; then what is said would stand between its
    lines.
    """
    log = tmp_path / "log"
    done = run("gtp", "<&- >&- 2>&-", "", "--weights", str(small_weights), "--log", str(log))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    lines = log.read_text().splitlines()
    assert [line[24:] for line in lines] == ["- standard output is closed, so that no answer could be read"]


@pytest.mark.parametrize(
    ("redirection", "reason"),
    [(">&-", "standard output is closed"), (">/dev/full", "cannot write to standard output: no space left on device")],
)
def test_a_stdout_that_takes_nothing_is_told_in_one_line(redirection: str, reason: str, small_weights: Path) -> None:
    done = run("gtp", redirection, None, "--weights", str(small_weights))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"gozero-gtp: {reason}")


@both
def test_a_closed_stdin_has_ended(module: str, small_weights: Path) -> None:
    done = run(module, "<&-", None, "--weights", str(small_weights))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("module", "lines", "said"),
    [
        (
            "gtp", "name\nprotocol_version\nlist_commands\nknown_command play\ntime_settings 0 1 0\nversion\nquit\n",
            ["= gozero\n\n= 2\n\n= all_legal\n", "= true\n\n= \n\n= 0.1.0\n\n= \n\n"],
        ),
        (
            "gozero.frontends.analysis", '{"id":"a","action":"query_version"}\n{"id":"b","action":"query_models"}\n',
            ['{"id":"a",', '\n{"id":"b","action":"query_models","models":'],
        ),
    ],
)  # fmt: skip
def test_administration_needs_no_network(module: str, lines: str, said: list[str], small_weights: Path) -> None:
    """The name is there before numpy is imported, let alone numba or torch."""
    program = (
        f"import os, sys, {module}.__main__ as main\n"
        "os._exit = lambda code: print(sorted({'numpy', 'numba', 'torch', 'openvino'} & set(sys.modules)), "
        "file=sys.stderr)\n"
        "main.main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", program, "--weights", str(small_weights)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith(said[0]) and said[1] in done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


def test_wrong_settings_with_a_closed_stderr() -> None:
    assert run("gtp", "2>&-", None, "--no-such-option").returncode == 2


def test_a_stderr_that_nobody_reads_does_not_stop_the_engine(small_weights: Path) -> None:
    """Each refusal of a size is one line on stderr; together they are several times what a pipe holds."""
    lines = f"boardsize {'9' * 200}\n" * 1000 + "name\n"
    engine = subprocess.Popen(
        [sys.executable, "-m", "gtp", "--weights", str(small_weights)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert engine.stdin and engine.stdout and engine.stderr
    threading.Thread(target=lambda: (engine.stdin.write(lines), engine.stdin.close()), daemon=True).start()
    watchdog = threading.Timer(60, engine.kill)
    watchdog.start()
    answers = engine.stdout.read()
    assert engine.wait() == 0
    watchdog.cancel()
    assert answers == "? unacceptable size\n\n" * 1000 + "= gozero\n\n"
    assert engine.stderr.read().startswith("gozero-gtp: gozero 0.1.0")


def test_a_stderr_whose_reader_leaves_during_the_game(small_weights: Path) -> None:
    command = [sys.executable, "-m", "gtp", "--weights", str(small_weights)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin and program.stdout and program.stderr
        program.stderr.close()
        output, _ = program.communicate(f"boardsize {'9' * 200}\n" * 3 + ASK["gtp"], timeout=60)
    assert program.returncode == 0
    assert output.endswith(ANSWER["gtp"])


def test_a_bug_is_in_the_log_when_stderr_is_closed(small_weights: Path, tmp_path: Path) -> None:
    program = (
        "import sys, gtp.__main__ as main\n"
        "def broken(*arguments): raise KeyError('a bug')\n"
        "main.COMMANDS['clear_board'] = main.GO_COMMANDS['clear_board'] = broken\n"
        "main.main(sys.argv[1:])\n"
    )
    arguments = ["--weights", str(small_weights), "--log", str(tmp_path / "log")]
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, input="clear_board\nname\n", capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "? internal error: KeyError: 'a bug'\n\n= gozero\n\n"
    log = (tmp_path / "log").read_text()
    assert "- internal error in 'clear_board'; please report this:" in log
    assert "- KeyError: 'a bug'" in log


def test_an_answer_is_whole_on_a_stdout_that_does_not_wait() -> None:
    """Whoever shares a terminal or a pipe with the engine may have made it non-blocking."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(os.fdopen(reading).read()))
    reader.start()
    ProtocolOutput(writing).write("y" * 4 * PIPE_HOLDS)
    os.close(writing)
    reader.join(30)
    assert received == ["y" * 4 * PIPE_HOLDS]


def test_why_an_answer_cannot_be_sent() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError) as gone:
        ProtocolOutput(writing).write("z")
    assert not isinstance(gone.value, UnwritableError)
    os.close(writing)
    with pytest.raises(UnwritableError, match="cannot write to standard output: bad file descriptor"):
        ProtocolOutput(writing).write("z")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"\xef\xbb\xbfname\nquit\n", ["name", "quit"]),
        (b"\xef\xbb\xbfname", ["name"]),
        (b"name\n\xef\xbb\xbfquit\n", ["name", "\ufeffquit"]),
        (b"\n\nname\r\n\xff", ["", "", "name\r", "\udcff"]),
        (b"", []),
        (b"a" * 60_000 + b"\nb\n\nc", ["a" * 60_000, "b", "", "c"]),
    ],
)
def test_lines_and_the_byte_order_mark(data: bytes, lines: list[str]) -> None:
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    assert list(arriving_lines(reading)) == lines
    os.close(reading)


def test_an_input_that_does_not_wait_is_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    lines = arriving_lines(reading)
    threading.Timer(0.05, os.write, (writing, b"na")).start()
    threading.Timer(0.1, os.write, (writing, b"me\n")).start()
    assert next(lines) == "name"


def test_an_input_that_cannot_be_read_has_ended() -> None:
    assert list(arriving_lines(10_000)) == []


def test_a_byte_order_mark_before_the_first_line(small_weights: Path) -> None:
    done = run("gtp", "", "\ufeff" + ASK["gtp"], "--weights", str(small_weights))
    assert (done.returncode, done.stdout) == (0, ANSWER["gtp"])
