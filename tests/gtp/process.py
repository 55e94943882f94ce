"""gozero-gtp as a process for the tests: started, asked, ended."""

import re
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-m", "gtp"]
STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "
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


def marked(log: Path) -> list[str]:
    """The lines of a log without their times, which each of them has."""
    lines = log.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    assert all(re.match(STAMP + "[-<>] ", line) for line in lines)
    return [line[len("2026-01-01 00:00:00.000 ") :] for line in lines]
