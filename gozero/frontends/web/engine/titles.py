"""What the list of a person's games shows of one."""

from __future__ import annotations

from typing import Any

from gozero.frontends.web.engine.counting import Counting
from gozero.frontends.web.engine.session import GameSession


def title(session: GameSession, counting: Counting) -> dict[str, Any] | None:
    """Plain JSON values; None if no move was ever played, so that there is nothing to come back to."""
    if not session.tree.has_grown:
        return None
    session.result = _result(session, counting)
    start, origin = session.start, session.tree.origin
    players = [name for name in (start.black_name, start.white_name) if name] if start else []
    return {
        "played": session.played,
        "game": session.game.name,
        "cols": session.game.definition.cols,
        "rows": session.game.definition.rows,
        "person": session.setup.person,
        "level": session.setup.level,
        "engine": session.setup.engine,
        "record": " – ".join(players) or (origin.name if origin else ""),
        "moves": len(session.tree.path(session.end)) - 1,
        "goesOn": session.is_going_on,
        "result": (start.result if start else "") or session.result,
    }


def _result(session: GameSession, counting: Counting) -> str:
    """The result as SGF has it. A count of Go may need a search, so it is asked only where the page shows the end; seen
    from elsewhere the result is the one that was known.
    """
    if session.is_going_on:
        return ""
    return counting.sgf_result() if session.at == session.end or session.ended is not None else session.result
