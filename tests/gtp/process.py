"""gozero-gtp as a process for the tests: started, asked, ended."""

import subprocess
import sys

COMMAND = [sys.executable, "-m", "gtp"]
SMALL = ["--visits", "4", "--size", "5", "--seed", "1"]


def run(arguments: list[str], lines: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], input=lines, capture_output=True, text=True, timeout=120, check=False, **options
    )  # type: ignore[call-overload, no-any-return]


def start(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
        start_new_session=True,
    )


def ask(engine: subprocess.Popen[str], line: str) -> str:
    assert engine.stdin
    assert engine.stdout
    engine.stdin.write(line + "\n")
    answer = ""
    while not answer.endswith("\n\n"):
        character = engine.stdout.read(1)
        assert character, "the engine has gone"
        answer += character
    return answer
