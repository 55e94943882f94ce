"""Games as the tests of their trees, files and snapshots begin them."""

import json
from typing import Any

from gozero.frontends.web.engine.records import RecordFile
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.setups import Setup


def played(game: str, size: int, *vertices: str) -> GameSession:
    """A game that a person plays for both sides, after these moves."""
    found = GameSession(Setup(game=game, size=size, person="both"), size, [size])
    for vertex in vertices:
        found.play(found.action(vertex))
    return found


def opened(text: str | bytes, **shown: Any) -> tuple[GameSession, str]:
    """The session for the review of a record that is opened where a game of this setup is shown, and what is remarked."""
    file = RecordFile(text)
    setup = file.setup(Setup(**shown))
    found = GameSession(setup, setup.size or 9, [setup.size or 9])
    return found, file.load(found)


def restored(session: GameSession, now: float = 0.0) -> GameSession:
    """The same game by its snapshot."""
    found = GameSession(session.setup, session.game.size, [session.game.size])
    found.restore(json.loads(json.dumps(session.snapshot(now))))
    return found
