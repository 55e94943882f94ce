"""Go rule sets: what differs between them, by name. All count area; two passes end the game.

Territory scoring (japanese, korean) is not offered: it needs agreement about dead stones that the engine does not have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gozero.system.errors import ChoiceError

MIN_SIZE = 2  # points a side of the smallest board
SIMPLE, POSITIONAL, SITUATIONAL = 0, 1, 2
NO_BONUS, BONUS_N, BONUS_N_MINUS_1 = 0, 1, 2


@dataclass(frozen=True)
class RuleSet:
    """One set of rules."""

    name: str  # as in `RULES`
    # SIMPLE forbids retaking a single stone at once; POSITIONAL any earlier board; SITUATIONAL any earlier board with the
    # same side to move; a pass is always allowed
    ko: int
    suicide: bool  # whether a move may leave its own chain without liberties (the chain is removed)
    bonus: int  # White's points for N handicap stones: NO_BONUS 0, BONUS_N N, BONUS_N_MINUS_1 N - 1
    removes_dead: bool = True  # whether dead stones are taken off by agreement before counting (KataGo: friendlyPassOk)

    def handicap_bonus(self, stones: int) -> int:
        """Points White receives for `stones` handicap stones; one stone or none is no handicap."""
        if stones < 2 or self.bonus == NO_BONUS:
            return 0
        return stones if self.bonus == BONUS_N else stones - 1


RULES: dict[str, RuleSet] = {
    rules.name: rules
    for rules in (
        RuleSet("chinese", POSITIONAL, False, BONUS_N),
        RuleSet("chinese-simple", SIMPLE, False, BONUS_N),
        RuleSet("chinese-ogs", POSITIONAL, False, BONUS_N),
        RuleSet("chinese-kgs", POSITIONAL, False, BONUS_N),
        RuleSet("tromp-taylor", POSITIONAL, True, NO_BONUS, removes_dead=False),
        RuleSet("aga", SITUATIONAL, False, BONUS_N_MINUS_1),
        RuleSet("new-zealand", SITUATIONAL, True, NO_BONUS),
    )
}


KO = {"SIMPLE": SIMPLE, "POSITIONAL": POSITIONAL, "SITUATIONAL": SITUATIONAL}
BONUS = {"0": NO_BONUS, "N": BONUS_N, "N-1": BONUS_N_MINUS_1}
"""As KataGo writes them."""
_KATA_NAMES = ("japanese", "korean", "stone-scoring", "ancient-territory", "aga-button", "bga", "french")
_SPELLINGS = {name.replace("-", ""): name for name in (*RULES, *_KATA_NAMES)} | {
    "nz": "new-zealand", "tromp": "tromp-taylor", "tt": "tromp-taylor", "ogs": "chinese-ogs", "kgs": "chinese-kgs",
    "cn": "chinese", "china": "chinese", "area": "chinese", "中国": "chinese", "中國": "chinese",
    "jp": "japanese", "japan": "japanese", "territory": "japanese", "日本": "japanese",
    "kr": "korean", "korea": "korean", "韩国": "korean", "韓國": "korean", "한국": "korean",
    "american": "aga", "british": "bga", "ancientarea": "stone-scoring",
    **dict.fromkeys(("goe", "ing", "inggoe"), "koPOSITIONALscoreAREAtaxNONEsui1fpok1"),
}  # fmt: skip
"""The names of rules that people, records and programs write, without signs between their words."""
_PART = re.compile(
    r"(ko)(simple|positional|situational)|(scor(?:e|ing))(area|territory)|(tax)(none|seki|all)|(sui|button|fpok)([01])"
    r"|(whb)(n-1|n|0)|(komi)(-?[\d.]+)",
    re.IGNORECASE,
)
_KEYS = {
    "score": "scoring",
    "sui": "suicide",
    "button": "hasButton",
    "whb": "whiteHandicapBonus",
    "fpok": "friendlyPassOk",
}


def written_name(text: str) -> str:
    """The name of rules as a person, a record or another program writes it, as it is in the tables here."""
    name = "-".join(text.lower().replace("_", " ").replace("-", " ").split())
    words = re.sub(r"(?<=.)(?:rules?|ruleset|规则|規則|ルール|룰)$", "", name.replace("-", ""))
    if parts := spelt_rules(text):
        return _of_parts(parts).name if _is_area(parts) else text.strip()
    return _SPELLINGS.get(words, name)


def spelt_rules(text: str) -> dict[str, Any]:
    """The fields of KataGo's JSON that a name like koSIMPLEscoreAREAtaxNONEsui1whbN spells out; empty for any other."""
    text, found = text.strip(), {}
    if _PART.sub("", text).strip():
        return {}
    for groups in _PART.findall(text):
        key, value = filter(None, groups)
        name = _KEYS.get(key.lower(), key.lower())
        found[name] = value == "1" if name in ("suicide", "hasButton", "friendlyPassOk") else value.upper()
    return found


def _is_area(parts: Mapping[str, Any]) -> bool:
    """Whether these rules are played here as they are."""
    usual = {"scoring": "AREA", "tax": "NONE", "hasButton": False}
    return all(parts.get(key, value) == value for key, value in usual.items())


def _of_parts(parts: Mapping[str, Any]) -> RuleSet:
    """What is left out is as in Tromp-Taylor rules, as KataGo has it."""
    ko, bonus = KO[parts.get("ko", "POSITIONAL")], BONUS[parts.get("whiteHandicapBonus", "0")]
    return combined(ko, parts.get("suicide", True), bonus, parts.get("friendlyPassOk", False))


def combined(ko: int, suicide: bool, bonus: int, removes_dead: bool) -> RuleSet:
    """The rule set of these choices; where none of the table has them, its name spells them out as KataGo's records do."""
    for rules in RULES.values():
        if (rules.ko, rules.suicide, rules.bonus, rules.removes_dead) == (ko, suicide, bonus, removes_dead):
            return rules
    parts = ["ko", ("SIMPLE", "POSITIONAL", "SITUATIONAL")[ko], "scoreAREAtaxNONEsui", str(int(suicide))]
    parts += [("", "whbN", "whbN-1")[bonus], "fpok1" if removes_dead else ""]
    return RuleSet("".join(parts), ko, suicide, bonus, removes_dead)


def named_rules(text: str) -> RuleSet | None:
    """The rule set that a record names, None if it names none that is played here."""
    name = written_name(text)
    if name in ("bga", "french"):
        name = "aga"
    if name in RULES:
        return RULES[name]
    parts = spelt_rules(name)
    return _of_parts(parts) if parts and _is_area(parts) else None


def same_rules(name: str, other: str) -> bool:
    """Whether two names, also of other games' rules, are of the same rules."""
    return (named_rules(name) or written_name(name)) == (named_rules(other) or written_name(other))


def rule_set(name: str | RuleSet) -> RuleSet:
    """The rule set of that name, in any spelling, or itself. ValueError names the known ones."""
    if isinstance(name, RuleSet):
        return name
    if (found := named_rules(name)) is not None:
        return found
    hint = "; territory scoring is not supported" if written_name(name) in ("japanese", "korean") else ""
    raise ChoiceError(f"unknown rules {name!r}: expected one of {', '.join(RULES)}{hint}")
