"""The sessions of tests/data/gtp as clients live them: sent ahead through pipes, framed strictly, without an error that
they cannot bear.

What each answer says is held by test_golden.
"""

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gozero.system.streams import ProtocolOutput, arriving_lines
from gtp.protocol import LineReader, parse_line, serve
from gtp.settings import GtpSettings
from tests.gtp.engine import Engine
from tests.gtp.test_golden import FOLDER, sent

BEARABLE: dict[str, dict[str, str]] = {
    "sabaki-start": {
        "boardsize 25": "told to the user in a dialog; any other error means that the engine cannot be synced"
    },
    "sabaki-game": {},
    "gogui-start": {},
    "gogui-game": {},
    "quarry-start": {},
    "quarry-game": {},
    "cgos-start": {},  # the client exits on any
    "cgos-game": {},
    "gtp2ogs-game": {},  # the bot is marked as failed on any
    "lizzie-start": {"8 no_such_command": "Lizzie asks for commands of Leela Zero's and goes on without"},
    "lizzie-game": {},
    "gomill-match": {},
    "kgs-game": {},
    "gnugo-regress": {},
}
"""Which lines of each session may be answered `?`, and why the client can bear that."""
ANSWER = re.compile(r"([=?])([0-9]*)(?:\n| [^\n]*\n)(?:[^\n]+\n)*\n")


def lines_of(name: str) -> list[str]:
    """What the client sends."""
    return [sent(line) for line in (FOLDER / f"{name}.gtp").read_text("utf-8").splitlines() if line.startswith(">")]


def answers_to(lines: list[str]) -> str:
    """All that a client reads that sends these lines at once and then closes its end."""
    engine = Engine(GtpSettings(visits=1, seed=1))
    (theirs, ours), (reading, writing) = os.pipe(), os.pipe()
    os.write(ours, "".join(f"{line}\n" for line in lines).encode())
    os.close(ours)
    with os.fdopen(reading, encoding="utf-8", newline="") as output:
        written: list[str] = []
        listener = threading.Thread(target=lambda: written.append(output.read()))
        listener.start()
        serve(engine.protocol, LineReader(arriving_lines(theirs), engine.signals), ProtocolOutput(writing))
        os.close(writing)
        listener.join()
    os.close(theirs)
    return written[0]


def split(output: str) -> Iterator[tuple[str, str]]:
    """Mark and id of each answer. AssertionError for a byte that belongs to none."""
    place = 0
    while place < len(output):
        match = ANSWER.match(output, place)
        assert match is not None, output[place : place + 200]
        yield match[1], match[2]
        place = match.end()


@pytest.mark.parametrize("client", BEARABLE)
def test_a_session(client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer to each command, in order, with the command's id; and every `?` stands in `BEARABLE`."""
    monkeypatch.chdir(FOLDER)
    lines = lines_of(client)
    commands = [(line, command) for line in lines if (command := parse_line(line)) is not None]
    answers = list(split(answers_to(lines)))
    assert [number for _, number in answers] == [command.id for _, command in commands]
    refused = {line for (line, _), (mark, _) in zip(commands, answers, strict=True) if mark == "?"}
    assert refused == BEARABLE[client].keys()


def test_every_command_of_a_client_is_listed() -> None:
    """Several send only what is; CGOS's does not start without its own."""
    listed = set(Engine().ask("list_commands").split("\n"))
    for client in BEARABLE:
        for line in set(lines_of(client)) - BEARABLE[client].keys():
            command = parse_line(line)
            assert command is None or command.name in listed, f"{client}: {line}"


def test_every_session_of_a_client_is_here() -> None:
    clients = ("sabaki", "gogui", "quarry", "cgos", "gtp2ogs", "lizzie", "gomill", "kgs", "gnugo")
    assert {path.stem for path in Path(FOLDER).glob("*.gtp") if path.stem.startswith(clients)} == BEARABLE.keys()


@pytest.mark.parametrize("output", ["1\n\n", "= 1\n", "= 1\n\n\n", " = 1\n\n", "=1 a\n\nb\n\n"])
def test_a_broken_frame_is_seen(output: str) -> None:
    with pytest.raises(AssertionError):
        list(split(output))
