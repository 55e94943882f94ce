"""GRhino, an Othello program with an alpha-beta search (Debian's package grhino), as an opponent over GTP.

    gozero match weights:othello8.pt:100 "gtp:python -m benchmarks.rhino --level 2" --game othello --size 8 \
        --opening-moves 4 --games 100 --seed 1

Options are those of gtp-rhino. It answers `play w pass` with a syntax error, since it knows by itself who has no move;
so that command is answered here, and all others go to it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from typing import IO

PASS = re.compile(r"(\d*)\s*play\s+\S+\s+pass\s*", re.IGNORECASE)  # with the command's number, if it has one
PROGRAM = "gtp-rhino"
PLACES = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/games"))  # Debian's place for games


def main(arguments: list[str] | None = None) -> int:
    """Speak GTP on standard input and output until the end of input.

    Returns the program's exit code; 2 where there is no such program.
    """
    options = sys.argv[1:] if arguments is None else arguments
    found = shutil.which(PROGRAM, path=PLACES)
    if found is None:
        print(f"benchmarks.rhino: {PROGRAM} is not on the PATH: apt-get install grhino", file=sys.stderr)
        return 2
    with subprocess.Popen([found, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        for line in sys.stdin:
            if passed := PASS.fullmatch(line):
                print(f"={passed[1]}\n", flush=True)
                continue
            if line.strip() and not _asked(program.stdin, line, program.stdout):
                break  # it has ended: by `quit`, or by a fault
        with suppress(BrokenPipeError):
            program.stdin.close()
        return program.wait()


def _asked(commands: IO[str], line: str, answers: IO[str]) -> bool:
    """Pass a command to the program, and its answer on: the lines up to an empty one. False if it has ended."""
    with suppress(BrokenPipeError):
        commands.write(line)
        commands.flush()
        for answer in answers:
            print(answer, end="", flush=True)
            if not answer.strip():
                return True
    return False


if __name__ == "__main__":
    raise SystemExit(main())
