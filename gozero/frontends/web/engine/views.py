"""What a page shows: the position as it is to be drawn, a look at a search, a game in the list of games.

All values are plain JSON. Points are numbered from the top left; chances are shares 0 to 1.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gozero.frontends.web.engine import counting
from gozero.frontends.web.engine.game_tree import START
from gozero.frontends.web.engine.review import review
from gozero.frontends.web.engine.session import GameSession
from gozero.games import FALLING_GAMES, GAMES_ON_SQUARES, GO_FAMILY, TURNED_GAMES
from gozero.games.colours import BLACK, COLOUR_WORDS, EMPTY, opponent
from gozero.games.descriptions import DESCRIPTIONS
from gozero.play.current_game import GoGame
from gozero.play.engine import beyond_training
from gozero.play.searcher import Analysis, MoveAnalysis
from gozero.records.sgf import GameRecord

UNITS = {"course_go": "eyes", "nogo": "moves", "othello": "discs"}
"""Of a lead that is not in points; NoGo's are the moves that one side has left and the other has not."""
AREAS = {**dict.fromkeys(GO_FAMILY, "area"), "othello": "discs"}
"""What the expected owner of a point is shown as; the other games have none."""
DIGITS = 4


def view(session: GameSession) -> dict[str, Any]:
    """All that the page shows of a position, but for what is searched."""
    return {
        "is": "view",
        "identity": session.identity,
        **_board(session),
        **_turn(session),
        **_moves(session),
        **_terms(session),
        "ending": counting.ending(session),
        "count": counting.count(session),
    }


def _board(session: GameSession) -> dict[str, Any]:
    """The board and what stands on it."""
    game, node = session.game, session.tree[session.at]
    notation, taken = DESCRIPTIONS[game.name].notation, game.captured if isinstance(game, GoGame) else None
    is_placed = 0 <= node.action < game.definition.pass_action  # neither the start nor a pass
    origin, last = session.ends(node.action) if is_placed else (None, None)
    vertex = session.vertex(node.action) if is_placed else None
    return {
        "game": game.name,
        "cols": game.definition.cols,
        "rows": game.definition.rows,
        "size": game.size,
        "squares": game.name in GAMES_ON_SQUARES,
        "falling": game.name in FALLING_GAMES,
        "hexagons": game.definition.hexagons,
        "letters": notation.letters,
        "fromTop": notation.from_top,
        "turned": game.name in TURNED_GAMES,
        "stones": game.stones().reshape(-1).tolist(),
        "last": last,
        "lastFrom": origin,
        "lastMove": None if session.at == START else (COLOUR_WORDS[node.colour], vertex),
        "captured": taken and {word: taken[opponent(colour)] for colour, word in COLOUR_WORDS.items()},
    }


def _turn(session: GameSession) -> dict[str, Any]:
    """Whose turn it is, in the position that is shown and in the live game."""
    kind, position, mistake = session.game.definition, session.game.position, session.pending_mistake
    over = position.is_over  # after a resignation variations may follow
    actions = [] if over else np.flatnonzero(position.legal()[: kind.pass_action]).tolist()
    legal, targets = [kind.ends(action) for action in actions], dict[int, list[int]]()
    for origin, target in legal:
        targets.setdefault(origin, []).append(target)
    return {
        "toPlay": None if over else COLOUR_WORDS[position.to_play],
        "turn": COLOUR_WORDS[session.live_turn] if session.is_going_on else None,
        "person": COLOUR_WORDS.get(session.person) if session.live is not None else None,
        "legal": list(targets) if kind.moves_pieces else [point for point, _ in legal],
        "targets": targets if kind.moves_pieces else None,
        "canPass": not over and position.is_legal(kind.pass_action),
        "hasPass": kind.has_pass,
        "thinking": session.is_engines_turn and not mistake,
        "mistake": mistake and mistake._asdict(),
        "live": session.live,
        "goingOn": session.is_going_on,
        "over": session.is_over,
        "clock": session.clock.values(time.monotonic()),
    }


def _moves(session: GameSession) -> dict[str, Any]:
    """The line that is shown."""
    tree = session.tree
    return {
        "at": session.at,
        "line": session.line,
        "number": len(tree.path(session.at)) - 1,
        "next": [session.ends(tree[number].action)[1] for number in tree[session.at].children],
        **known(session),
        "comment": tree[session.at].comment,
        "marks": tree[session.at].marks,
    }


def _terms(session: GameSession) -> dict[str, Any]:
    """What was agreed, and who plays."""
    game, start = session.game, session.start or GameRecord(session.game.size)
    return {
        "engine": session.setup.engine,
        "level": session.setup.level,
        "unit": UNITS.get(game.name, "points"),
        "area": AREAS.get(game.name),
        "komi": game.komi if isinstance(game, GoGame) and game.name == "go" else None,
        "rules": game.rules.name if isinstance(game, GoGame) else None,
        "handicap": game.handicap,
        "players": {
            "black": f"{start.black_name} {start.black_rank}".strip(),
            "white": f"{start.white_name} {start.white_rank}".strip(),
        },
        "event": start.event,
        "recorded": start.result,
        "untrained": bool(beyond_training(session.trained, game.size)),
    }


def analysis_values(analysis: Analysis, session: GameSession, node: int) -> dict[str, Any]:
    """A look at the search of a node's position."""
    sign = 1 if analysis.colour == BLACK else -1
    return {
        "is": "look",
        "node": node,
        "visits": analysis.visits,
        "toPlay": COLOUR_WORDS[analysis.colour],
        "black": _share(sign * analysis.value),
        "score": _rounded(analysis.score, sign),
        "moves": [_candidate(move, session) for move in analysis.moves],
        "ownership": None if analysis.ownership is None else np.round(sign * analysis.ownership, 2).tolist(),
    }


def _candidate(move: MoveAnalysis, session: GameSession) -> dict[str, Any]:
    origin, point = session.ends(move.action)
    return {
        "point": point,
        "from": origin,
        "vertex": session.vertex(move.action),
        "visits": move.visits,
        "chance": _share(move.value) if move.visits else None,
        "score": _rounded(move.score) if move.visits else None,
        "prior": round(move.prior, DIGITS),
        "line": [session.vertex(action) for action in move.line],
        "points": [session.ends(action) for action in move.line],
    }


def known(session: GameSession) -> dict[str, Any]:
    """What is known of the positions of the line that is shown; of some nothing."""
    estimates = [session.tree[node].estimate for node in session.line]
    graph = [
        found and {"black": round(found.chance, DIGITS), "score": _rounded(found.score), "visits": found.visits}
        for found in estimates
    ]
    return {"graph": graph, "review": review(session)}


def _share(value: float) -> float:
    """An expected result, -1..1, as a share."""
    return round((1 + value) / 2, DIGITS)


def _rounded(lead: float | None, sign: int = 1) -> float | None:
    return None if lead is None else round(sign * lead, 1)


def title(session: GameSession) -> dict[str, Any] | None:
    """What the list of games shows of this one; None if no move was ever played, so that there is nothing to come back
    to. A count of Go may need a search, so the result is asked only where the page shows the end.
    """
    if session.tree.next == START + 1:  # there never was another node than the start
        return None
    if session.is_going_on:
        session.results.clear()
    elif session.at == session.end or session.ended is not None:
        session.results[session.end] = counting.sgf_result(session)
    start, origin, kind = session.start, session.tree.origin, session.game.definition
    players = [name for name in (start.black_name, start.white_name) if name] if start else []
    return {
        "played": session.played,
        "game": session.game.name,
        "cols": kind.cols,
        "rows": kind.rows,
        "person": session.setup.person,
        "level": session.setup.level,
        "engine": session.setup.engine,
        "record": " – ".join(players) or (origin.name if origin else ""),
        "moves": len(session.tree.path(session.end)) - 1,
        "goesOn": session.is_going_on,
        "result": (start.result if start and session.person == EMPTY else "") or session.results.get(session.end, ""),
    }
