"""Go rule sets: what differs between them, by name, and the names and spellings of people, records and KataGo.

Two passes end the game. Area is counted, or territory and prisoners; a tax on groups, but for the eyes of strings in
seki where territory counts, and the button are not played. KataGo's `chinese` is our `chinese-simple`: it forbids only
to retake a single stone at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gozero.system.errors import ChoiceError, shown
from gozero.system.files import from_json

MIN_SIZE = 2  # points a side of the smallest board
SIMPLE, POSITIONAL, SITUATIONAL = 0, 1, 2
NO_BONUS, BONUS_N, BONUS_N_MINUS_1 = 0, 1, 2


@dataclass(frozen=True)
class RuleSet:
    """One set of rules."""

    name: str  # as in `RULES`
    # SIMPLE forbids retaking a single stone at once; POSITIONAL any earlier board; SITUATIONAL any earlier board with
    # the same side to move; a pass is always allowed
    ko: int
    suicide: bool  # whether a move may leave its own chain without liberties (the chain is removed)
    bonus: int  # White's points for N handicap stones: NO_BONUS 0, BONUS_N N, BONUS_N_MINUS_1 N - 1
    removes_dead: bool = True  # whether dead stones are taken off by agreement before counting (KataGo: friendlyPassOk)
    territory: bool = False  # whether territory and prisoners count, and no eyes of strings in seki; else area
    is_played: bool = True  # False: what was asked for has a tax or the button besides

    @property
    def komi(self) -> float:
        """The usual komi, in points."""
        return 6.5 if self.territory else 7.5

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
        RuleSet("japanese", SIMPLE, False, NO_BONUS, territory=True),
        RuleSet("tromp-taylor", POSITIONAL, True, NO_BONUS, removes_dead=False),
        RuleSet("aga", SITUATIONAL, False, BONUS_N_MINUS_1),
        RuleSet("new-zealand", SITUATIONAL, True, NO_BONUS),
        RuleSet("ing", POSITIONAL, True, NO_BONUS),  # whose own rule of ko is nearly this one
    )
}

# what KataGo's JSON rules may be: by the field the values, of which the first is the default, as in Tromp-Taylor rules
KO = {"POSITIONAL": POSITIONAL, "SIMPLE": SIMPLE, "SITUATIONAL": SITUATIONAL}
BONUS = {"0": NO_BONUS, "N": BONUS_N, "N-1": BONUS_N_MINUS_1}
_FIELDS: dict[str, tuple[Any, ...]] = {
    "ko": tuple(KO), "scoring": ("AREA", "TERRITORY"), "tax": ("NONE", "SEKI", "ALL"), "suicide": (True, False),
    "hasButton": (False, True), "whiteHandicapBonus": tuple(BONUS), "friendlyPassOk": (False, True),
}  # fmt: skip
_OTHER_NAMES = {"scoringRule": "scoring", "multiStoneSuicideLegal": "suicide"}

KATA_RULES = {
    "tromp-taylor": RULES["tromp-taylor"],
    "chinese": RULES["chinese-simple"],
    **dict.fromkeys(("chinese-ogs", "chinese-kgs"), RULES["chinese"]),
    **dict.fromkeys(("japanese", "korean"), RULES["japanese"]),
    "stone-scoring": replace(RULES["chinese-simple"], name="stone-scoring", bonus=NO_BONUS, is_played=False),
    "ancient-territory": replace(RULES["japanese"], is_played=False),
    **dict.fromkeys(("aga", "bga", "french"), RULES["aga"]),
    "new-zealand": RULES["new-zealand"],
    "aga-button": replace(RULES["aga"], is_played=False),
}
"""What KataGo means by a name."""

_KNOWN = ", ".join(name for name, rules in (RULES | KATA_RULES).items() if rules.is_played)

# the names of rules that people, records and programs write, without signs between their words
_SPELLINGS = {name.replace("-", ""): name for name in (*RULES, *KATA_RULES)} | {
    "nz": "new-zealand", "tromp": "tromp-taylor", "tt": "tromp-taylor", "ogs": "chinese-ogs", "kgs": "chinese-kgs",
    "cn": "chinese", "china": "chinese", "area": "chinese", "中国": "chinese", "中國": "chinese",
    "jp": "japanese", "japan": "japanese", "territory": "japanese",
    **dict.fromkeys(("日本", "日本囲碁", "日本棋院"), "japanese"),
    "kr": "korean", "korea": "korean", "韩国": "korean", "韓國": "korean", "한국": "korean",
    "american": "aga", "british": "bga", "ancientarea": "stone-scoring",
    **dict.fromkeys(("goe", "inggoe", "ing's", "应氏", "應氏"), "ing"),
}  # fmt: skip
_PART = re.compile(
    r"(ko)(simple|positional|situational)|(scor(?:e|ing))(area|territory)|(tax)(none|seki|all)|(sui|button|fpok)([01])"
    r"|(whb)(n-1|n|0)|(komi)(-?[\d.]+)",
    re.IGNORECASE,
)
_SPELT = {"score": "scoring", "sui": "suicide", "button": "hasButton"}
_SPELT |= {"whb": "whiteHandicapBonus", "fpok": "friendlyPassOk"}


def written_name(text: str) -> str:
    """The name of rules as a person, a record or another program writes it, as it is in the tables here."""
    name = "-".join(text.lower().replace("_", " ").replace("-", " ").split())
    words = re.sub(r"(?<=.)(?:rules?|ruleset|规则|規則|規約|ルール|룰)$", "", name.replace("-", ""))
    if rules := spelt_rules(text):
        return rules.name if rules.is_played else text.strip()
    return _SPELLINGS.get(words, name)


def spelt_rules(text: str) -> RuleSet | None:
    """The rules that a name like koSIMPLEscoreAREAtaxNONEsui1whbN spells out; None for any other."""
    if not text.strip() or _PART.sub("", text).strip():
        return None
    found: dict[str, Any] = {}
    for groups in _PART.findall(text):
        key, value = filter(None, groups)
        name = _SPELT.get(key.lower(), key.lower())
        found[name] = value == "1" if name in ("suicide", "hasButton", "friendlyPassOk") else value.upper()
    return _from_fields(found)


def combined(ko: int, suicide: bool, bonus: int, removes_dead: bool, territory: bool) -> RuleSet:
    """The rule set of these choices; if none of the table has them, its name spells them out as KataGo's records do."""
    chosen = RuleSet("", ko, suicide, bonus, removes_dead, territory)
    for rules in RULES.values():
        if replace(rules, name="") == chosen:
            return rules
    parts = ["ko", ("SIMPLE", "POSITIONAL", "SITUATIONAL")[ko]]
    parts += ["scoreTERRITORYtaxSEKIsui" if territory else "scoreAREAtaxNONEsui", str(int(suicide))]
    parts += [("", "whbN", "whbN-1")[bonus], "fpok1" if removes_dead else ""]
    return replace(chosen, name="".join(parts))


def named_rules(text: str) -> RuleSet | None:
    """The rule set that a record names, None if it names none that is played here."""
    name = written_name(text)
    if name in RULES:
        return RULES[name]
    rules = spelt_rules(name) or KATA_RULES.get(name)
    return rules if rules is not None and rules.is_played else None


def same_rules(name: str, other: str) -> bool:
    """Whether two names, also of other games' rules, are of the same rules."""
    return (named_rules(name) or written_name(name)) == (named_rules(other) or written_name(other))


def rule_set(name: str | RuleSet) -> RuleSet:
    """The rule set of that name, in any spelling, or itself. ValueError names the known ones."""
    if isinstance(name, RuleSet):
        return name
    if (found := named_rules(name)) is not None:
        return found
    raise ChoiceError(f"unknown rules {name!r}: expected one of {_KNOWN}")


def kata_rules(rules: Any) -> RuleSet:
    """The rules nearest to a name in any spelling, or to KataGo's JSON rules, object or text; ChoiceError."""
    if isinstance(rules, Mapping):
        return _from_fields(rules)
    if not isinstance(rules, str):
        raise ChoiceError(f"expected the name of a rule set or an object, not {shown(rules)}")
    name = written_name(rules)
    if found := spelt_rules(rules) or spelt_rules(name) or KATA_RULES.get(name) or RULES.get(name):
        return found
    try:
        spelt = from_json(rules)
    except ValueError:
        spelt = None
    if isinstance(spelt, Mapping):
        return _from_fields(spelt)
    raise ChoiceError(f"unknown rules {shown(rules)}: expected one of {_KNOWN}, or an object")


def _from_fields(given: Mapping[str, Any]) -> RuleSet:
    """The rules nearest to KataGo's fields; a `komi` among them is ignored."""
    values = {name: choices[0] for name, choices in _FIELDS.items()}
    for key, value in given.items():
        if key == "komi":
            continue
        name = _OTHER_NAMES.get(key, key)
        if name not in _FIELDS:
            known = ", ".join((*_FIELDS, *_OTHER_NAMES))
            raise ChoiceError(f"unknown rule {shown(key)}: expected one of {known}")
        choices = _FIELDS[name]
        if value not in choices or type(value) is not type(choices[0]):
            known = ", ".join(json.dumps(choice) for choice in choices)
            raise ChoiceError(f"{key} = {shown(value)}: expected one of {known}")
        values[name] = value
    ko, scoring, tax, suicide, button, bonus, friendly_pass = values.values()
    territory = scoring == "TERRITORY"  # dead stones are always taken off then
    rules = combined(KO[ko], suicide, BONUS[bonus], friendly_pass or territory, territory)
    return replace(rules, is_played=not button and tax == ("SEKI" if territory else "NONE"))
