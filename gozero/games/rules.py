"""Go rule sets: what differs between them, by name. All count area; two passes end the game.

Territory scoring (japanese, korean) is not offered: it needs agreement about dead stones that the engine does not have.
"""

from __future__ import annotations

from dataclasses import dataclass

from gozero.errors import ChoiceError

MIN_SIZE = 2  # points a side of the smallest board
SIMPLE, POSITIONAL, SITUATIONAL = 0, 1, 2
NO_BONUS, BONUS_N, BONUS_N_MINUS_1 = 0, 1, 2


@dataclass(frozen=True)
class RuleSet:
    """One set of rules.

    Attributes:
        name: as in `RULES`.
        ko: SIMPLE forbids retaking a single stone at once; POSITIONAL forbids any earlier board; SITUATIONAL any
            earlier board with the same side to move. A pass is always allowed.
        suicide: whether a move may leave its own chain without liberties (the chain is removed).
        bonus: White's points for N handicap stones: NO_BONUS 0, BONUS_N N, BONUS_N_MINUS_1 N - 1.
        removes_dead: whether the players take dead stones off by agreement before they count (KataGo: friendlyPassOk).
    """

    name: str
    ko: int
    suicide: bool
    bonus: int
    removes_dead: bool = True

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


def written_name(text: str) -> str:
    """The name of rules as a person or a record writes it, as it would be among ours: "Tromp Taylor" is tromp-taylor."""
    return text.strip().lower().replace("_", "-").replace(" ", "-")


def combined(ko: int, suicide: bool, bonus: int, removes_dead: bool) -> RuleSet:
    """The rule set of these choices; where none of the table has them, its name spells them out as KataGo's records do."""
    for rules in RULES.values():
        if (rules.ko, rules.suicide, rules.bonus, rules.removes_dead) == (ko, suicide, bonus, removes_dead):
            return rules
    parts = ["ko", ("SIMPLE", "POSITIONAL", "SITUATIONAL")[ko], "scoreAREAtaxNONEsui", str(int(suicide))]
    parts += [("", "whbN", "whbN-1")[bonus], "fpok1" if removes_dead else ""]
    return RuleSet("".join(parts), ko, suicide, bonus, removes_dead)


def rule_set(name: str | RuleSet) -> RuleSet:
    """The rule set of that name, or itself. ValueError names the known ones."""
    if isinstance(name, RuleSet):
        return name
    try:
        return RULES[name]
    except KeyError:
        hint = "; territory scoring is not supported" if name in ("japanese", "korean") else ""
        raise ChoiceError(f"unknown rules {name!r}: expected one of {', '.join(RULES)}{hint}") from None
