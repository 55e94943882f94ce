"""Sessions of drawn lines, held against the protocol: one well-framed answer to each command, in order, and nothing
else.

A *session* is all that one engine is sent: within this process a line at a time, or to a real process *pipelined*, all
at once. Its *seed* draws its lines, so that a session which failed can be had again.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gtp.protocol import Command, parse_line
from gtp.settings import GtpSettings
from tests.gtp.engine import Engine, answer_to
from tests.gtp.grammar import Line, lines

SIZES = {
    "go": 5, "simple_go": 5, "nogo": 4, "gomoku": 5, "othello": 4, "connect4": 7, "tictactoe": 3, "hex": 4,
    "breakthrough": 5, "course_go": 5,
}  # fmt: skip
"""The board on which each game begins: small, so that games end."""
ANSWER = re.compile(r"[=?]([0-9]*)(?: |\n(?!\n))([^\x00-\x09\x0b-\x1f\x7f]*\n\n)")


def session(game: str, seed: int, length: int) -> list[Line]:
    """So many lines."""
    return list(itertools.islice(lines(game, random.Random(seed)), length))


def check_session(game: str, seed: int, length: int, seen: Counter[str]) -> None:
    """Send a session to a new engine of this process. AssertionError names seed and line."""
    engine = Engine(GtpSettings(game, visits=2, time=1.0, seed=1, size=SIZES[game]))
    known = frozenset(engine.ask("list_commands").split("\n"))
    for number, line in enumerate(session(game, seed, length), 1):
        where = f"{game}, seed {seed}, line {number}: {line.text!r}"
        with contextlib.redirect_stdout(io.StringIO()) as stray, contextlib.redirect_stderr(io.StringIO()):
            try:
                answer = answer_to(engine.protocol, line.text)
            except AssertionError as error:  # a bug inside a command
                raise AssertionError(f"{where}: {error.__cause__!r}") from error
        assert not engine.protocol.finished, where
        assert not stray.getvalue(), f"{where} printed {stray.getvalue()!r}"
        command = parse_line(line.text)
        seen[line.kind] += 1
        if command is None:
            assert answer is None, f"{where} was answered {answer!r}"
            seen["silent"] += 1
            continue
        check_answer(command, answer, where)
        seen[command.name if command.name in known else "unknown"] += 1


def check_answer(command: Command, answer: str | None, where: str) -> None:
    """One answer with the command's id, without blank lines and without a bug to report."""
    assert answer is not None, f"{where} was not answered"
    match = ANSWER.fullmatch(answer.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    assert match is not None, f"{where} was answered {answer!r}"
    assert match[1] == command.id, f"{where} was answered {answer!r}"
    assert "\n\n" not in match[2][:-2], f"{where} was answered {answer!r}"
    assert "internal error" not in answer, f"{where} was answered {answer!r}"


def check_pipelined(game: str, seed: int, length: int, folder: Path, arguments: Sequence[str]) -> int:
    """Send a session, each line numbered, to a new process in `folder` at once. Returns the number of answers;
    AssertionError.
    """
    sent = [f"{number} {line.text}" for number, line in enumerate(session(game, seed, length), 1)]
    options = ["--game", game, "--size", str(SIZES[game]), "--visits", "2", "--seed", "1", *arguments]
    done = subprocess.run(
        [sys.executable, "-m", "gtp", *options],
        input="\n".join(sent).encode("utf-8", "surrogateescape"),
        capture_output=True,
        cwd=folder,
        check=False,
    )
    where = f"{game}, pipelined, seed {seed}"
    assert done.returncode == 0, (
        f"{where}: exit code {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-1000:]}"
    )
    return len(check_answers(sent, done.stdout.decode("utf-8", "replace"), where))


def check_answers(sent: Sequence[str], output: str, where: str) -> list[str]:
    """The answers to lines that were sent at once: one to each command among them, and nothing else. AssertionError."""
    *answers, rest = output.split("\n\n")
    assert not rest, f"{where}: {rest!r} after the last answer"
    commands = [(text, command) for text in sent if (command := parse_line(text)) is not None]
    for (text, command), answer in zip(commands, answers, strict=False):
        check_answer(command, f"{answer}\n\n", f"{where}: {text!r}")
    assert len(answers) == len(commands), f"{where}: {len(commands)} commands had {len(answers)} answers"
    return answers
