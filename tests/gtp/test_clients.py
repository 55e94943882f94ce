"""The sessions of tests/data/gtp as clients live them: sent ahead through pipes, framed strictly, without an error that
they cannot bear.

What each answer says is held by test_golden.
"""

from pathlib import Path

import pytest

from gtp.protocol import parse_line
from gtp.settings import GtpSettings
from tests.gtp.engine import Conversation, Engine
from tests.gtp.fuzzing import check_answers
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


def lines_of(name: str) -> list[str]:
    """What the client sends."""
    return [sent(line) for line in (FOLDER / f"{name}.gtp").read_text("utf-8").splitlines() if line.startswith(">")]


@pytest.mark.parametrize("client", BEARABLE)
def test_a_session(client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer to each command, in order, with the command's id; and every `?` stands in `BEARABLE`."""
    monkeypatch.chdir(FOLDER)
    lines = lines_of(client)
    conversation = Conversation(Engine(GtpSettings(visits=1, seed=1)))
    conversation.send("".join(f"{line}\n" for line in lines))
    answers, commands = check_answers(lines, conversation.close(), client), filter(parse_line, lines)
    refused = {line for line, answer in zip(commands, answers, strict=True) if answer.startswith("?")}
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
