"""The end of a game: who won, by what, and in Go the count with its dead stones, which the page may dispute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gozero.frontends.web.engine.game_tree import Estimate
from gozero.frontends.web.engine.session import GameSession
from gozero.games.colours import BLACK, COLOUR_WORDS, EMPTY, WHITE, opponent, result_text
from gozero.games.descriptions import DESCRIPTIONS
from gozero.play.current_game import GoGame
from gozero.play.ending import GoEnding, Outcome
from gozero.play.searcher import Limits, never
from gozero.scoring.settlement import Settlement, chains_of
from gozero.system.errors import InputError


def _counted(session: GameSession) -> GoEnding | None:
    """What counts the shown position, if that is the end of a game of Go by the rules."""
    is_end, ending = session.game.position.is_over and session.ended_here is None, session.ending
    return ending if is_end and isinstance(ending, GoEnding) else None


def toggle(session: GameSession, action: int) -> None:
    """Call the chain on a point dead if it was alive, and the other way round. InputError if there is none."""
    ending, game, node = _counted(session), session.game, session.tree[session.at]
    if ending is None or not isinstance(game, GoGame) or not game.rules.removes_dead:
        raise InputError("Dead stones are marked at the end of a game, after two passes.")
    chain = next((chain for chain in chains_of(game.stones()) if action in chain), None)
    if chain is None:
        raise InputError(f"{session.vertex(action)} is empty: click a stone to call its group dead or alive.")
    dead = list(ending.count(dead=node.dead).dead)
    dead = [found for found in dead if found != chain] if chain in dead else [*dead, chain]
    node.dead = None if sorted(dead) == sorted(ending.count().dead) else dead  # None: all is as the engine judges it


def count(session: GameSession) -> dict[str, Any] | None:
    """The count for the page; None if nothing is counted."""
    ending, game, agreed = _counted(session), session.game, session.tree[session.at].dead
    if ending is None or not isinstance(game, GoGame):
        return None
    settlement, lead = ending.count(dead=agreed), ending.settled_score(dead=agreed)
    black, white = (_points(game, settlement, colour) for colour in (BLACK, WHITE))
    return {
        "dead": [point for chain in settlement.dead for point in chain],
        "owner": settlement.owner.tolist(),
        "black": black,
        "white": black - lead,
        "bonus": black - lead - white,
        "disputable": game.rules.removes_dead,
    }


def _points(game: GoGame, settlement: Settlement, colour: int) -> int:
    """Of a side, without komi and handicap bonus: its area, or its territory and prisoners."""
    if not game.rules.territory:
        return int((settlement.owner == colour).sum())
    rival = opponent(colour)
    return len(settlement.territory(colour)) + len(settlement.dead_of(rival)) + game.captured[rival]


def outcome(session: GameSession, should_stop: Callable[[], bool] = never) -> Outcome:
    """The outcome by the rules of the position that is shown, which is over."""
    return session.ending.outcome(Limits(None, should_stop=should_stop), session.tree[session.at].dead)


def estimate(session: GameSession, node: int, visits: int, should_stop: Callable[[], bool]) -> Estimate | None:
    """The count of a node where the game is over, as if it were searched; None if the count was stopped."""
    with session.looking_at(node):
        winner, lead = outcome(session, should_stop)
    return None if should_stop() else Estimate(visits, {BLACK: 1.0, WHITE: 0.0, EMPTY: 0.5}[winner], lead)


def ending(session: GameSession) -> dict[str, Any] | None:
    """How the game ended, for the page to put into words; None while it goes on."""
    if not session.is_over:
        return None
    if (ended := session.ended_here) is not None:
        return {"winner": COLOUR_WORDS[ended.winner], "how": ended.how, "by": "", "margin": None}
    winner, lead = outcome(session)
    margin, by = None if lead is None else abs(lead), DESCRIPTIONS[session.game.name].won_by
    by = by.removesuffix("s") if margin == 1 else by
    return {"winner": COLOUR_WORDS.get(winner), "how": "rules", "by": by, "margin": margin}


def sgf_result(session: GameSession) -> str:
    """The game's result as SGF has it, wherever the page looks; empty while the game goes on."""
    with session.looking_at(session.end):
        if not session.is_over:
            return ""
        if (ended := session.ended_here) is not None:
            return result_text(ended.winner, ended.how[0].upper())
        return result_text(*outcome(session))
