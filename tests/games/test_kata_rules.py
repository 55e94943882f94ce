"""KataGo's names and spellings of rules."""

from typing import Any

import pytest

from gozero.games.go.kata_rules import KATA_RULES, KataRules, kata_rules
from gozero.games.go.rules import RULES


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("tromp-taylor", "tromp-taylor"),
        ("chinese", "chinese-simple"),
        ("Chinese", "chinese-simple"),
        ("aga", "aga"),
        ("bga", "aga"),
        ("new_zealand", "new-zealand"),
        ("New Zealand", "new-zealand"),
    ],
)
def test_names(name: str, ours: str) -> None:
    assert kata_rules(name).is_played
    assert kata_rules(name).nearest() == RULES[ours]


def test_other_servers_chinese_rules_forbid_to_repeat_the_board() -> None:
    for name in ("chinese-ogs", "chinese-kgs"):
        mine, ours = kata_rules(name).nearest(), RULES[name]
        assert (mine.ko, mine.suicide, mine.bonus, mine.removes_dead) == (
            ours.ko,
            ours.suicide,
            ours.bonus,
            ours.removes_dead,
        )


def test_what_is_not_played_here_has_something_near() -> None:
    strange = {name for name, rules in KATA_RULES.items() if not rules.is_played}
    assert strange == {"japanese", "korean", "stone-scoring", "ancient-territory", "aga-button"}
    nearest = kata_rules("japanese").nearest()
    assert (nearest.ko, nearest.suicide, nearest.bonus) == (
        RULES["chinese-simple"].ko,
        False,
        RULES["tromp-taylor"].bonus,
    )


def test_objects() -> None:
    assert kata_rules({}) == kata_rules("{}") == KATA_RULES["tromp-taylor"]
    spelt = {
        "ko": "SIMPLE",
        "scoring": "AREA",
        "tax": "NONE",
        "suicide": False,
        "hasButton": False,
        "whiteHandicapBonus": "N",
        "friendlyPassOk": True,
    }
    assert kata_rules({**spelt, "komi": 7.5}) == KATA_RULES["chinese"]
    assert kata_rules({"scoringRule": "TERRITORY", "multiStoneSuicideLegal": False}) == KataRules(
        "POSITIONAL", "TERRITORY", suicide=False, friendly_pass=False
    )


@pytest.mark.parametrize(
    "given",
    ["", "house", "[]", "{", {"ko": "none"}, {"ko": []}, {"suicide": 1}, {"suicide": "false"}, {"x": 1}, None, 3],
)
def test_what_is_unknown(given: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown|expected"):
        kata_rules(given)
