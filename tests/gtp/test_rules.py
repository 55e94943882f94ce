"""Rules that change while a game is played: kgs-rules and KataGo's four commands, and the option `rules` of an
analysis.
"""

import json

import pytest

from gtp.settings import GtpSettings
from tests.gtp.engine import Engine

CHINESE = {
    "friendlyPassOk": True,
    "hasButton": False,
    "ko": "SIMPLE",
    "scoring": "AREA",
    "suicide": False,
    "tax": "NONE",
    "whiteHandicapBonus": "N",
}
"""KataGo's chinese, which is not ours."""

KATAGO = {
    "chinese": {},
    "chinese-ogs": {"ko": "POSITIONAL"},
    "chinese-kgs": {"ko": "POSITIONAL"},
    "tromp-taylor": {"ko": "POSITIONAL", "suicide": True, "whiteHandicapBonus": "0", "friendlyPassOk": False},
    "aga": {"ko": "SITUATIONAL", "whiteHandicapBonus": "N-1"},
    "bga": {"ko": "SITUATIONAL", "whiteHandicapBonus": "N-1"},
    "new-zealand": {"ko": "SITUATIONAL", "suicide": True, "whiteHandicapBonus": "0"},
    "japanese": {"scoring": "TERRITORY", "tax": "SEKI", "whiteHandicapBonus": "0"},
}
"""What KataGo's names mean to it, where that differs from its chinese."""

# on 5x5: the second black stone has no liberty
SUICIDE = ["play b A5", "play w B5", "play w B4", "play w A3", "play b A4"]


@pytest.fixture
def engine() -> Engine:
    return Engine(GtpSettings(visits=4, seed=1, size=5))


def rules(engine: Engine) -> dict[str, object]:
    found = json.loads(engine.ask("kata-get-rules"))
    assert isinstance(found, dict)
    return found


def test_the_rules_are_written_as_katago_writes_them(engine: Engine) -> None:
    assert engine.ask("kata-get-rules") == (
        '{"friendlyPassOk":true,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA","suicide":false,"tax":"NONE","whiteHandicapBonus":"N"}'
    )


@pytest.mark.parametrize("name", KATAGO)
def test_katagos_names_have_katagos_meaning_and_what_was_got_can_be_set(engine: Engine, name: str) -> None:
    assert engine.ask(f"kata-set-rules {name}") == ""
    assert rules(engine) == CHINESE | KATAGO[name]
    text = engine.ask("kata-get-rules")
    engine.ask("kata-set-rules aga")
    engine.ask(f"kata-set-rules {text}")
    assert engine.ask("kata-get-rules") == text


def test_a_field_that_is_not_given_is_as_tromp_and_taylor_have_it(engine: Engine) -> None:
    engine.ask('kata-set-rules {"ko": "SIMPLE"}')
    assert rules(engine) == CHINESE | KATAGO["tromp-taylor"] | {"ko": "SIMPLE"}


def test_one_field_leaves_the_others(engine: Engine) -> None:
    engine.ask_all(
        "kata-set-rules chinese",
        "kata-set-rule suicide true",
        "kata-set-rule whiteHandicapBonus 0",
        "kata-set-rule tax NONE",
    )
    assert rules(engine) == CHINESE | {"suicide": True, "whiteHandicapBonus": "0"}
    engine.ask_all(
        "kata-set-rule ko situational", "kata-set-rule suicide FALSE", "kata-set-rule whiteHandicapBonus n-1"
    )
    assert rules(engine) == CHINESE | KATAGO["aga"]
    engine.ask("kata-set-rule scoring territory")  # with the tax that it is played with
    assert (rules(engine)["scoring"], rules(engine)["tax"]) == ("TERRITORY", "SEKI")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("kata-set-rules stone-scoring", "tax"),
        ("kata-set-rules aga-button", "button"),
        ('kata-set-rules {"scoring":"TERRITORY"}', "TERRITORY with SEKI"),
        ("kata-set-rule tax ALL", "tax"),
        ("kata-set-rule hasButton true", "button"),
        ("kata-set-rules house", "expected one of"),
        ("kata-set-rules", "expected one of"),
        ('kata-set-rules {"ko":', "expected one of"),
        ('kata-set-rules {"ko":1}', "expected one of"),
        ('kata-set-rules {"kO":"SIMPLE"}', "expected one of"),
        ("kata-set-rule ko SPIGHT", "expected one of"),
        ("kata-set-rule suicide perhaps", "expected one of"),
        ("kata-set-rule ko", "expected a field and its value"),
        ("kata-set-rule komi 5", "send komi"),
        ("kgs-rules", "expected one of"),
        ("kgs-rules tromp-taylor", "expected one of"),
    ],
)
def test_what_is_not_played_is_refused_with_the_reason_and_changes_nothing(
    engine: Engine, line: str, reason: str
) -> None:
    before = engine.ask("kata-get-rules")
    assert reason in engine.refuse(line)
    assert engine.ask("kata-get-rules") == before


@pytest.mark.parametrize(("name", "same"), [("chinese", "chinese-kgs"), ("aga", "aga"), ("new_zealand", "new-zealand")])
def test_kgs_names(engine: Engine, name: str, same: str) -> None:
    engine.ask(f"kgs-rules {name}")
    assert rules(engine) == CHINESE | KATAGO[same]


def test_board_komi_and_moves_stay(engine: Engine) -> None:
    engine.ask_all("komi 3.5", "play b C3", "play w pass", "play b D2")
    board = engine.ask("showboard")
    engine.ask("kata-set-rules tromp-taylor")
    assert engine.ask("showboard") == board
    assert engine.ask("get_komi") == "3.5"
    engine.ask_all("undo", "undo", "undo")
    assert engine.refuse("undo") == "cannot undo"


def test_rules_outlive_the_game(engine: Engine) -> None:
    engine.ask_all("kata-set-rules aga", "clear_board", "boardsize 7", "clear_board")
    assert rules(engine)["ko"] == "SITUATIONAL"


def test_new_rules_hold_at_once(engine: Engine) -> None:
    engine.ask_all(*SUICIDE[:4])
    assert engine.refuse(SUICIDE[4]) == "illegal move"
    engine.ask_all("kata-set-rule suicide true", SUICIDE[4])
    assert engine.ask("is_legal w A5") == "1"


def test_rules_that_forbid_a_move_of_the_game_are_refused(engine: Engine) -> None:
    engine.ask_all("kata-set-rules tromp-taylor", *SUICIDE)
    assert engine.refuse("kata-set-rules chinese") == "cannot change the rules: A4 is illegal for Black"
    assert rules(engine)["suicide"] is True


def test_the_handicap_bonus_follows_the_rules(engine: Engine) -> None:
    engine.ask_all("komi 0.5", "set_free_handicap B2 D4 C3")
    scores = {}
    for name in ("chinese", "aga", "new-zealand"):
        engine.ask(f"kata-set-rules {name}")
        scores[name] = engine.ask("final_score")
    assert scores == {"chinese": "B+21.5", "aga": "B+22.5", "new-zealand": "B+24.5"}


def test_a_record_names_rules_or_spells_them_out(engine: Engine) -> None:
    engine.ask("kata-set-rules aga")
    assert "RU[AGA]" in engine.ask("printsgf")
    engine.ask("kata-set-rule ko SIMPLE")
    assert "RU[koSIMPLEscoreAREAtaxNONEsui0whbN-1fpok1]" in engine.ask("printsgf")


def test_a_game_with_one_set_of_rules_keeps_it() -> None:
    engine = Engine(GtpSettings("simple_go", visits=4, seed=1))
    assert engine.refuse("kata-set-rules aga") == "cannot change the rules: simple_go has only its own rules"
    assert rules(engine)["ko"] == "SIMPLE"
