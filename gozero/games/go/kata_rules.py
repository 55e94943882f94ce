"""Rules of Go as KataGo names and spells them, and the rule set of ours that comes nearest.

KataGo's `chinese` is our `chinese-simple`: it forbids only to retake a single stone at once. Territory scoring, group
tax and the button are not played here: what asks for them gets the same ko and suicide with area scoring, and is told
that it did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gozero.games.go.rules import BONUS, KO, RuleSet, combined, spelt_rules, written_name
from gozero.system.errors import ChoiceError, shown

_CHOICES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "ko": ("ko", tuple(KO)),
    "scoring": ("scoring", ("AREA", "TERRITORY")),
    "scoringRule": ("scoring", ("AREA", "TERRITORY")),
    "tax": ("tax", ("NONE", "SEKI", "ALL")),
    "suicide": ("suicide", (False, True)),
    "multiStoneSuicideLegal": ("suicide", (False, True)),
    "hasButton": ("has_button", (False, True)),
    "whiteHandicapBonus": ("bonus", tuple(BONUS)),
    "friendlyPassOk": ("friendly_pass", (False, True)),
}
"""Keys of KataGo's JSON rules: the attribute of `KataRules`, and its values."""


@dataclass(frozen=True)
class KataRules:
    """One set of rules in KataGo's terms; the attributes have the values of `_CHOICES`."""

    ko: str
    scoring: str = "AREA"
    tax: str = "NONE"
    suicide: bool = False
    has_button: bool = False
    bonus: str = "0"
    friendly_pass: bool = True

    @property
    def is_played(self) -> bool:
        """Whether they are played here as they are."""
        return (self.scoring, self.tax, self.has_button) == ("AREA", "NONE", False)

    def nearest(self) -> RuleSet:
        """The nearest rule set of gozero: these rules, without what is not played here."""
        return combined(KO[self.ko], self.suicide, BONUS[self.bonus], self.friendly_pass)


KATA_RULES = {
    "tromp-taylor": KataRules("POSITIONAL", suicide=True, friendly_pass=False),
    "chinese": KataRules("SIMPLE", bonus="N"),
    "chinese-ogs": KataRules("POSITIONAL", bonus="N"),
    "chinese-kgs": KataRules("POSITIONAL", bonus="N"),
    "japanese": KataRules("SIMPLE", "TERRITORY", "SEKI"),
    "korean": KataRules("SIMPLE", "TERRITORY", "SEKI"),
    "stone-scoring": KataRules("SIMPLE", tax="ALL"),
    "ancient-territory": KataRules("SIMPLE", "TERRITORY", "ALL"),
    "aga": KataRules("SITUATIONAL", bonus="N-1"),
    "bga": KataRules("SITUATIONAL", bonus="N-1"),
    "french": KataRules("SITUATIONAL", bonus="N-1"),
    "new-zealand": KataRules("SITUATIONAL", suicide=True),
    "aga-button": KataRules("SITUATIONAL", has_button=True, bonus="N-1"),
}
PLAYED = tuple(name for name, rules in KATA_RULES.items() if rules.is_played)


def kata_rules(rules: Any) -> KataRules:
    """Rules from a name in any spelling, or from KataGo's JSON rules, object or text. ValueError if unknown."""
    if isinstance(rules, Mapping):
        return _spelt(rules)
    if not isinstance(rules, str):
        raise ChoiceError(f"expected the name of a rule set or an object, not {shown(rules)}")
    name = written_name(rules)
    if parts := spelt_rules(rules) or spelt_rules(name):
        return _spelt(parts)
    if name in KATA_RULES:
        return KATA_RULES[name]
    try:
        spelt = json.loads(rules)
    except (ValueError, RecursionError):
        spelt = None
    if isinstance(spelt, Mapping):
        return _spelt(spelt)
    raise ChoiceError(f"unknown rules {shown(rules)}: expected one of {', '.join(PLAYED)}, or an object")


def _spelt(rules: Mapping[str, Any]) -> KataRules:
    """Rules from an object; what it leaves out is as in Tromp-Taylor rules. A `komi` in it is ignored."""
    values = {}
    for key, value in rules.items():
        if key == "komi":
            continue
        if key not in _CHOICES:
            raise ChoiceError(f"unknown rule {shown(key)}: expected one of {', '.join(_CHOICES)}")
        attribute, choices = _CHOICES[key]
        if value not in choices or type(value) is not type(choices[0]):
            raise ChoiceError(
                f"{key} = {shown(value)}: expected one of {', '.join(json.dumps(choice) for choice in choices)}"
            )
        values[attribute] = value
    return KataRules(**{"ko": "POSITIONAL", "suicide": True, "friendly_pass": False, **values})
