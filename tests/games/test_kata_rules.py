"""KataGo's names and spellings of rules."""

from dataclasses import replace
from typing import Any

import pytest

from gozero.games.go.rules import KATA_RULES, NO_BONUS, POSITIONAL, RULES, combined, kata_rules, named_rules, rule_set


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("tromp-taylor", "tromp-taylor"), ("chinese", "chinese-simple"), ("Chinese", "chinese-simple"), ("aga", "aga"),
        ("bga", "aga"), ("new_zealand", "new-zealand"), ("New Zealand", "new-zealand"), ("japanese", "japanese"),
        ("korean", "japanese"),
    ],
)  # fmt: skip
def test_names(name: str, ours: str) -> None:
    assert kata_rules(name).is_played
    assert kata_rules(name) == RULES[ours]


def test_other_servers_chinese_rules_forbid_to_repeat_the_board() -> None:
    for name in ("chinese-ogs", "chinese-kgs"):
        assert replace(kata_rules(name), name=name) == RULES[name]


def test_what_is_not_played_here_has_something_near() -> None:
    strange = {name for name, rules in KATA_RULES.items() if not rules.is_played}
    assert strange == {"stone-scoring", "ancient-territory", "aga-button"}
    assert replace(kata_rules("ancient-territory"), is_played=True) == RULES["japanese"]
    assert not kata_rules("stone-scoring").territory


def test_objects() -> None:
    assert kata_rules({}) == kata_rules("{}") == KATA_RULES["tromp-taylor"]
    spelt = {"ko": "SIMPLE", "scoring": "AREA", "tax": "NONE", "suicide": False, "hasButton": False}
    spelt |= {"whiteHandicapBonus": "N", "friendlyPassOk": True, "komi": 7.5}
    assert kata_rules(spelt) == KATA_RULES["chinese"]
    assert kata_rules({"scoringRule": "TERRITORY", "multiStoneSuicideLegal": False}) == replace(
        combined(POSITIONAL, False, NO_BONUS, True, True), is_played=False
    )


@pytest.mark.parametrize(
    "given",
    ["", "house", "[]", "{", {"ko": "none"}, {"ko": []}, {"suicide": 1}, {"suicide": "false"}, {"x": 1}, None, 3],
)
def test_what_is_unknown(given: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown|expected"):
        kata_rules(given)


@pytest.mark.parametrize("read", [rule_set, kata_rules])
def test_every_name_that_a_refusal_lists_is_taken(read: Any) -> None:
    with pytest.raises(ValueError, match="expected one of") as error:
        read("klingon")
    listed = str(error.value).partition("one of ")[2].removesuffix(", or an object").split(", ")
    assert {*RULES, "korean", "bga", "french"} == set(listed)
    assert all(read(name).is_played for name in listed)


@pytest.mark.parametrize(
    ("spelling", "ours"),
    [
        ("nz", "new-zealand"), ("NewZealand", "new-zealand"), ("tromptaylor", "tromp-taylor"), ("chineseogs", "chinese-ogs"),
        ("Chinese Rules", "chinese"), ("chinese_kgs", "chinese-kgs"), ("中国规则", "chinese"), ("AGA rules", "aga"),
        ("French", "aga"), ("koSITUATIONALscoreAREAtaxNONEsui1fpok1", "new-zealand"), ("koPOSITIONALscoreAREA", "tromp-taylor"),
        ("日本ルール", "japanese"), ("日本囲碁規約", "japanese"), ("koSIMPLEscoreTERRITORYtaxSEKIsui0", "japanese"),
    ],
)  # fmt: skip
def test_spellings_of_one_table(spelling: str, ours: str) -> None:
    assert named_rules(spelling) == rule_set(spelling) == RULES[ours]
    mine = kata_rules(spelling)
    assert mine.name in (ours, "chinese-simple" if ours == "chinese" else "chinese") or mine == RULES[ours]


def test_names_that_spell_rules_out_are_read_again() -> None:
    for ko in range(3):
        for suicide in (False, True):
            for bonus in range(3):
                for removes_dead, territory in ((False, False), (True, False), (True, True)):
                    rules = combined(ko, suicide, bonus, removes_dead, territory)
                    assert named_rules(rules.name) == rules


@pytest.mark.parametrize("name", ["stone-scoring", "koSIMPLEscoreTERRITORYtaxALLsui0", "house", ""])
def test_what_a_record_names_in_vain(name: str) -> None:
    assert named_rules(name) is None


def test_kata_names_that_are_not_ours() -> None:
    assert kata_rules("goe") == named_rules("Ing's rules") == named_rules("应氏规则") == RULES["ing"]
    assert kata_rules("koSIMPLEscoreTERRITORYtaxSEKIsui0").territory
