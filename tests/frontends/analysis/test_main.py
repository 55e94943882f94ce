"""gozero analysis as a process: a session as KaTrain has it, and how it ends."""

import json
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from gozero.frontends.analysis.__main__ import PROGRAM
from gozero.frontends.analysis.queries import AnalysisSettings
from gozero.system.console import from_arguments
from gozero.system.options import SettingsError
from tests import ROOT
from tests.frontends.analysis.talk import SIZE, query

COMMAND = [sys.executable, "-m", "gozero.frontends.analysis"]
GAME = [["B", "C3"], ["W", "B2"], ["B", "B3"], ["W", "C2"], ["B", "D2"], ["W", "D3"], ["B", "C4"], ["W", "E2"]]
ENDLESS = 10_000_000


def read(*arguments: str) -> AnalysisSettings:
    return from_arguments(AnalysisSettings, arguments, PROGRAM, "")


class Client:
    """The other end of a process."""

    def __init__(self, path: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--weights", str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, **fields: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(fields).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next line, which is an object and nothing else."""
        assert self.process.stdout
        answer = json.loads(self.process.stdout.readline())
        assert isinstance(answer, dict)
        return answer

    def hear_until(self, **wanted: Any) -> list[dict[str, Any]]:
        """All lines to the first that has these fields."""
        heard = [self.hear()]
        while not wanted.items() <= heard[-1].items():
            heard.append(self.hear())
        return heard

    def close(self) -> tuple[int, list[dict[str, Any]], str]:
        """End the input: the exit code, what was still said, and stderr."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        with self.process:  # `communicate` would leave out what is read already, beyond the line that was heard
            self.process.stdin.close()
            answers, error = list(map(json.loads, self.process.stdout)), self.process.stderr.read().decode()
        return self.process.returncode, answers, error


def katrain(number: int, turn: int, visits: int, **fields: Any) -> dict[str, Any]:
    """A query with the fields that KaTrain sends."""
    return query(
        id=f"QUERY:{number}",
        rules="japanese",
        priority=-turn,
        analyzeTurns=[turn],
        maxVisits=visits,
        komi=6.5,
        initialStones=[],
        initialPlayer="B",
        moves=GAME[:turn],
        includeOwnership=True,
        includeMovesOwnership=True,
        includePolicy=True,
        overrideSettings={"reportAnalysisWinratesAs": "BLACK", "maxTime": 60.0, "wideRootNoise": 0.04},
        **fields,
    )


def test_a_session_of_katrain(small_weights: Path, tmp_path: Path) -> None:
    """With a log, which holds both sides."""
    log = tmp_path / "talk.log"
    client = Client(small_weights, "--log", str(log))
    client.send(id="a", action="clear_cache")
    assert client.hear() == {"id": "a", "action": "clear_cache"}
    client.send(id="version", action="query_version")
    assert client.hear()["version"] == "0.1.0"
    for turn in range(len(GAME) + 1):
        client.send(**katrain(turn, turn, 30))
    client.send(**katrain(100, 8, ENDLESS, reportDuringSearchEvery=0.05))
    heard = client.hear_until(id="QUERY:100", isDuringSearch=True)
    while heard[-1]["rootInfo"]["visits"] < 2:
        heard += client.hear_until(id="QUERY:100", isDuringSearch=True)
    client.send(id="stop", action="terminate", terminateId="QUERY:100")
    heard += client.hear_until(id="stop")
    (last,) = [answer for answer in heard if answer["id"] == "QUERY:100" and answer.get("isDuringSearch") is False]
    assert 1 < last["rootInfo"]["visits"] < ENDLESS
    code, rest, error = client.close()
    answers = {answer["id"]: answer for answer in heard + rest if answer.get("isDuringSearch") is False}
    assert (code, len(answers)) == (0, len(GAME) + 2)
    for answer in answers.values():
        assert {"winrate", "scoreLead", "visits", "currentPlayer"} <= answer["rootInfo"].keys()
        assert (len(answer["ownership"]), len(answer["policy"])) == (SIZE * SIZE, SIZE * SIZE + 1)
        for move in answer["moveInfos"]:
            assert {
                "move", "visits", "winrate", "scoreLead", "scoreMean", "prior", "lcb", "utility", "order", "pv",
            } <= move.keys()  # fmt: skip
            assert len(move["ownership"]) == SIZE * SIZE
    assert all({answer["field"]} <= {"rules", "overrideSettings"} for answer in heard + rest if "warning" in answer)
    assert not [answer for answer in heard + rest if "error" in answer]
    assert "Started, ready to begin handling requests" in error and "Traceback" not in error
    lines = [line[len("2026-01-01 00:00:00.000 ") :] for line in log.read_text().splitlines()]
    assert lines[:2] == ['< {"id": "a", "action": "clear_cache"}', '> {"id":"a","action":"clear_cache"}']
    assert sum(line.startswith("> ") for line in lines) == 2 + len(heard + rest)


def test_the_end_of_the_input_without_waiting(small_weights: Path) -> None:
    client = Client(small_weights, "--quit-without-waiting")
    client.send(**query(maxVisits=ENDLESS, reportDuringSearchEvery=0.01))
    client.hear()
    started = time.monotonic()
    assert client.close()[0] == 0
    assert time.monotonic() - started < 5


def test_a_client_that_goes_away_before_its_answer_is_there(small_weights: Path) -> None:
    """Nothing is written that could fail, so the closed pipe itself must tell; otherwise it would search for days."""
    client = Client(small_weights)
    client.send(**query(maxVisits=2))
    client.hear()
    client.send(**query(maxVisits=ENDLESS))
    assert client.process.stdin and client.process.stdout and client.process.stderr
    client.process.stdin.close()
    client.process.stdout.close()
    assert client.process.wait(timeout=60) == 0
    assert b"Traceback" not in client.process.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--visits", "0"], "--visits = 0: expected 1 to 100,000,000"),
        (["--report-winrates-as", "red"], "expected one of black, white, side_to_move"),
    ],
)
def test_options_of_no_use_are_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read(*arguments)


def test_the_command_for_katrain_leaves_no_engine_behind_a_shell(small_weights: Path) -> None:
    """KaTrain ends the shell that it started; the end of the engine's output, with its input still open, says that both
    have gone.
    """
    guide = (ROOT / "docs" / "play.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\**.*/\.venv/bin/gozero analysis .*$", guide, flags=re.MULTILINE)
    program = f"{shlex.quote(sys.executable)} -m gozero.frontends.analysis --weights {shlex.quote(str(small_weights))}"
    command = line.replace("/full/path/to/.venv/bin/gozero analysis", program)
    shell = subprocess.Popen(
        ["sh", "-c", f"{command}; :"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert shell.stdin and shell.stdout
    watchdog = threading.Timer(30, shell.stdin.close)
    watchdog.start()
    shell.stdin.write(b'{"id":"v","action":"query_version"}\n')
    shell.stdin.flush()
    assert shell.stdout.readline().startswith(b'{"id":"v"')
    shell.terminate()
    assert shell.stdout.read() == b""
    assert shell.wait(10) == -signal.SIGTERM
    assert not shell.stdin.closed, "the engine outlived its shell"
    watchdog.cancel()
    shell.stdin.close()
