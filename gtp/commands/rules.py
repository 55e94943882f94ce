"""Rules at run time: kgs-rules, and KataGo's kata-get-rules, kata-set-rules and kata-set-rule.

`gozero.games.go.rules` says what KataGo's names and fields mean; its ``chinese`` is not ours. Board, komi and
moves stay when the rules change. Rules that count territory, tax groups or have a button are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gozero.system.errors import ChoiceError
from gtp.protocol import Command, GtpError, Handler
from gtp.session import CommandGroup

if TYPE_CHECKING:
    from gozero.games.go.rules import RuleSet

KGS_NAMES = {"chinese": "chinese-kgs", "aga": "aga", "new_zealand": "new-zealand", "japanese": "japanese"}


def rules_of(given: str | Mapping[str, Any]) -> RuleSet:
    """The rule set that KataGo's name or JSON object means. GtpError if it is unknown or not played here."""
    from gozero.games.go.rules import kata_rules

    try:
        rules = kata_rules(given)
    except ChoiceError as error:
        raise GtpError(str(error)) from None
    if rules.scoring != "AREA":
        raise GtpError(
            "unsupported rules: territory scoring needs an agreement about dead stones; only area scoring is played"
        )
    if not rules.is_played:
        raise GtpError("unsupported rules: neither group tax nor the button is played")
    return rules.nearest()


def fields_of(rules: RuleSet) -> dict[str, Any]:
    """A rule set as KataGo writes it."""
    from gozero.games.go.rules import BONUS, KO

    return {
        "friendlyPassOk": rules.removes_dead,
        "hasButton": False,
        "ko": next(name for name, ko in KO.items() if ko == rules.ko),
        "scoring": "AREA",
        "suicide": rules.suicide,
        "tax": "NONE",
        "whiteHandicapBonus": next(name for name, bonus in BONUS.items() if bonus == rules.bonus),
    }


class RuleCommands(CommandGroup):
    """The four commands."""

    def commands(self) -> Mapping[str, Handler]:
        return {
            "kgs-rules": self.kgs_rules,
            "kata-get-rules": lambda command: json.dumps(fields_of(self._session.go_game.rules), separators=(",", ":")),
            "kata-set-rules": lambda command: self._set(rules_of(command.text)),
            "kata-set-rule": self.set_rule,
        }

    def kgs_rules(self, command: Command) -> str:
        """``chinese``, ``aga`` or ``new_zealand``, as KGS plays them."""
        if command.text not in KGS_NAMES:
            raise GtpError(f"unknown rules {command.text!r}: expected one of {', '.join([*KGS_NAMES][:-1])}")
        return self._set(rules_of(KGS_NAMES[command.text]))

    def set_rule(self, command: Command) -> str:
        """``kata-set-rule FIELD VALUE``, the value in any case: the other fields stay."""
        if len(command.arguments) != 2:
            raise GtpError("syntax error: expected a field and its value")
        name, text = command.arguments
        value = {"TRUE": True, "FALSE": False}.get(text.upper(), text.upper())
        return self._set(rules_of(fields_of(self._session.go_game.rules) | {name: value}))

    def _set(self, rules: RuleSet) -> str:
        from gozero.games.position import IllegalMove

        try:
            self._session.go_game.set_rules(rules)
        except (ChoiceError, IllegalMove) as error:
            raise GtpError(f"cannot change the rules: {error}") from None
        self._session.settings = replace(self._session.settings, rules=rules.name)
        return ""
