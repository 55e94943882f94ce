"""How games are counted, the rules of Go at run time, and GoGui's questions about the rules of other games.

In Go, final_score and final_status_list always agree: both read one `gozero.scoring.settlement.Settlement`, as the
engine's own passing does. Rules without agreement about dead stones count the board as it stands.

`gozero.games.go.rules` says what KataGo's names and fields mean; its ``chinese`` is not ours. Board, komi and
moves stay when the rules change. Rules that tax groups or have a button are refused.

GoGui shows the board of the answer, allows the moves of the answer, and takes the game for over when there are none.
Games other than Go have no komi; controllers send it unasked, so it is accepted and ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gozero.games import COUNTED_GAMES
from gozero.games.colours import BLACK, COLOUR_WORDS, WHITE, leader, result_text
from gtp.protocol import Command, GtpError
from gtp.session import Commands, Session, colour_of, number_of, refused

if TYPE_CHECKING:
    from gozero.games.go.rules import RuleSet
    from gozero.scoring.settlement import Settlement

KGS_NAMES = {"chinese": "chinese-kgs", "aga": "aga", "new_zealand": "new-zealand", "japanese": "japanese"}
STATUSES = ("alive", "dead", "seki", "black_territory", "white_territory", "dame")
SYMBOLS = ".XO"
"""GoGui's, for no stone, Black's and White's."""


def format_score(score: float) -> str:
    """GTP's result for Black's lead in points: ``B+3.5``, ``W+0.5`` or ``0``."""
    points = round(score, 3)
    text = f"{abs(points):.3f}".rstrip("0")
    return result_text(leader(points), f"{text}0" if text.endswith(".") else text)


def komi(session: Session, command: Command) -> None:
    """Counts at once, also in the middle of a game."""
    session.go_game.set_komi(_komi_of(command))


def _komi_of(command: Command) -> float:
    """The argument of ``komi``: any finite number."""
    if len(command.arguments) != 1:
        raise GtpError("syntax error: expected komi NUMBER")
    return number_of(command.arguments[0])


def final_score(session: Session, command: Command) -> str:
    """In the middle of a game an estimate."""
    from gozero.play.searcher import Limits

    limits = Limits(None, should_stop=session.signals.should_stop)
    return format_score(session.go_ending.settled_score(limits))


def final_status_list(session: Session, command: Command) -> str:
    """Strings one a line (alive, dead, seki), or points (black_territory, white_territory, dame)."""
    if command.text not in STATUSES:
        raise GtpError(f"invalid status {command.text!r}: expected {', '.join(STATUSES[:-1])} or {STATUSES[-1]}")
    from gozero.play.searcher import Limits

    settlement = session.go_ending.count(Limits(None, should_stop=session.signals.should_stop))
    return "\n".join(map(session.vertices, _with_status(settlement, command.text)))


def genmove_cleanup(session: Session, command: Command) -> str:
    """genmove after a dispute about dead stones: takes them off, passes only when none is left, never resigns."""
    colour = colour_of(command.text)
    game = session.go_game
    with session.move(colour) as limits:
        among = session.go_ending.clean_up_moves(game.root(colour), limits)
        action = session.player.suggest(colour, limits, among)
        game.notes.last = None
        game.play(colour, action)
    return session.vertex(action)


def _with_status(settlement: Settlement, status: str) -> Sequence[Sequence[int]]:
    """The strings of this status, or all its points as one."""
    if status == "dame":
        return [settlement.dame]
    if status.endswith("_territory"):
        return [settlement.territory(BLACK if status == "black_territory" else WHITE)]
    return {"alive": settlement.alive, "dead": settlement.dead, "seki": settlement.seki}[status]


# Rules


def rules_of(given: str | Mapping[str, Any]) -> RuleSet:
    """The rule set that KataGo's name or JSON object means. GtpError if it is unknown or not played here."""
    from gozero.games.go.rules import kata_rules

    with refused():
        rules = kata_rules(given)
    if not rules.is_played:
        raise GtpError("unsupported rules: played are AREA with tax NONE and TERRITORY with SEKI, without the button")
    return rules


def fields_of(rules: RuleSet) -> dict[str, Any]:
    """A rule set as KataGo writes it."""
    from gozero.games.go.rules import BONUS, KO

    return {
        "friendlyPassOk": rules.removes_dead,
        "hasButton": False,
        "ko": next(name for name, ko in KO.items() if ko == rules.ko),
        "scoring": "TERRITORY" if rules.territory else "AREA",
        "suicide": rules.suicide,
        "tax": "SEKI" if rules.territory else "NONE",
        "whiteHandicapBonus": next(name for name, bonus in BONUS.items() if bonus == rules.bonus),
    }


def kgs_rules(session: Session, command: Command) -> None:
    """``chinese``, ``aga``, ``new_zealand`` or ``japanese``, as KGS plays them."""
    if command.text not in KGS_NAMES:
        raise GtpError(f"unknown rules {command.text!r}: expected one of {', '.join(KGS_NAMES)}")
    _set_rules(session, rules_of(KGS_NAMES[command.text]))


def set_rule(session: Session, command: Command) -> None:
    """``kata-set-rule FIELD VALUE``, the value in any case: the other fields stay, but for the tax that goes with
    the scoring.
    """
    if len(command.arguments) != 2:
        raise GtpError("syntax error: expected a field and its value")
    name, text = command.arguments
    if name == "komi":  # which an object may have, but without effect
        raise GtpError("komi is no rule: send komi NUMBER")
    value = {"TRUE": True, "FALSE": False}.get(text.upper(), text.upper())
    given: dict[str, Any] = {name: value}
    if name in ("scoring", "scoringRule"):  # only this tax is played with it
        given["tax"] = "SEKI" if value == "TERRITORY" else "NONE"
    _set_rules(session, rules_of(fields_of(session.go_game.rules) | given))


def _set_rules(session: Session, rules: RuleSet) -> None:
    with refused("cannot change the rules"):
        session.go_game.set_rules(rules)
    session.settings = replace(session.settings, rules=rules.name)


# Other games


def ignored_komi(session: Session, command: Command) -> None:
    """A number, which changes nothing."""
    _komi_of(command)


def referee_score(session: Session, command: Command) -> str:
    """``B+12.0`` where points are counted, else ``B+R``; ``0`` for a draw."""
    game = session.game
    if not game.is_over:
        raise GtpError("the game is not over")
    if game.name in COUNTED_GAMES:
        return format_score(game.position.score())
    return result_text(game.winner(), "R")


def final_result(session: Session, command: Command) -> str:
    """The result in words, which GoGui shows when the game is over."""
    game = session.game
    if not game.is_over:
        return "the game is not over"
    winner = game.winner()
    if winner not in COLOUR_WORDS:
        return "draw"
    margin = f" by {abs(game.position.score()):g}" if game.name in COUNTED_GAMES else ""
    return f"{COLOUR_WORDS[winner]} wins{margin}"


def board(session: Session, command: Command) -> str:
    """Rows from the top."""
    return "\n" + "\n".join("".join(SYMBOLS[colour] for colour in row) for row in session.game.stones())


def board_size(session: Session, command: Command) -> str:
    """Columns and rows, or one number for both."""
    cols, rows = session.game.board
    return str(cols) if cols == rows else f"{cols} {rows}"


def legal_moves(session: Session, command: Command) -> str:
    """What the side to move may play, ``pass`` if that is a move; nothing once the game is over."""
    game = session.game
    return session.vertices(game.legal(game.position.to_play).nonzero()[0])


GO: Commands = {
    "komi": komi,
    "get_komi": lambda session, command: f"{session.go_game.komi:.10g}",
    "final_score": final_score,
    "final_status_list": final_status_list,
    "kgs-genmove_cleanup": genmove_cleanup,
    "kgs-rules": kgs_rules,
    "kata-get-rules": lambda session, command: json.dumps(fields_of(session.go_game.rules), separators=(",", ":")),
    "kata-set-rules": lambda session, command: _set_rules(session, rules_of(command.text)),
    "kata-set-rule": set_rule,
}
OTHER_GAMES: Commands = {
    "komi": ignored_komi,
    "final_score": referee_score,
    "gogui-rules_game_id": lambda session, command: session.game.name.capitalize(),
    "gogui-rules_board": board,
    "gogui-rules_board_size": board_size,
    "gogui-rules_legal_moves": legal_moves,
    "gogui-rules_side_to_move": lambda session, command: COLOUR_WORDS[session.game.position.to_play],
    "gogui-rules_final_result": final_result,
}
