"""The first steps of each game: positions to solve, with an answer to each move (`lessons.toml`).

A page gets all positions of a game at once, played by the rules; its own game stays as it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any

from gozero.frontends.web.engine.session import STEPS, GameSession
from gozero.frontends.web.engine.views import view
from gozero.frontends.web.setups import Setup
from gozero.games import descriptions
from gozero.games.diagram import parse_diagram
from gozero.games.refusals import refusal

SHARED = {"course_go": "go", "simple_go": "go"}
"""Games whose first steps are those of another game."""


@cache
def table() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The lessons of each game; `right` and `wrong` have a text for each answer alone."""
    path = resources.files("gozero.frontends.web.engine") / "lessons.toml"
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    for lesson in chain.from_iterable(found.values()):
        for kind in ("right", "wrong"):
            texts = lesson.get(kind, {}).items()
            lesson[kind] = {moves: text for several, text in texts for moves in several.split(", ")}
    return found


def lessons(game: str) -> list[dict[str, Any]]:
    """The lessons of a game, for the page, as plain JSON values; none where the file has none."""
    return [_shown(game, lesson) for lesson in table().get(game, ())]


def begun(game: str, lesson: Mapping[str, Any], more: Sequence[str] = ()) -> GameSession:
    """A session in the position of a lesson, after more moves. ValueError or InputError if these cannot be."""
    title, *rows = lesson["diagram"].splitlines()
    numbered = {int(row.split()[0]): row for row in rows}
    columns = len(rows[0].split()) - 1
    session = GameSession(Setup(game=game, person="both"), columns, [columns])
    height = session.game.definition.rows
    whole = [numbered.get(number, "." * columns) for number in range(height, 0, -1)]
    diagram = parse_diagram("\n".join([title, *whole]), columns, height)
    session.set_up({point: int(colour) for point, colour in enumerate(diagram.colours) if colour}, diagram.to_play)
    for vertex in (*lesson.get("moves", ()), *more):
        session.play(session.action(vertex))
    return session


def _shown(game: str, lesson: Mapping[str, Any]) -> dict[str, Any]:
    session = begun(game, lesson)
    position, kind = session.game.position, session.game.definition
    points = () if kind.moves_pieces else range(kind.points)
    refused = {point: refusal(position, point, descriptions.vertex) for point in points}
    return {
        **{name: lesson[name] for name in ("title", "task", "otherwise")},
        "view": view(session),
        "refused": {kind.vertex(point): text for point, text in refused.items() if text},
        "steps": STEPS,
        "answers": {
            moves.split()[0]: {"isRight": is_right, "text": text, "view": _after(begun(game, lesson, moves.split()))}
            for is_right, name in ((True, "right"), (False, "wrong"))
            for moves, text in lesson[name].items()
        },
    }


def _after(session: GameSession) -> dict[str, Any]:
    """The view after an answer, in which nothing can be played."""
    return {**view(session), "toPlay": None}
