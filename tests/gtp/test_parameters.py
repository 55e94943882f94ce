"""Parameters: what they are called, what they change and from when on, and what is refused."""

from dataclasses import fields

import pytest

from gozero.games.game import Game
from gtp.commands.parameters import PARAMETERS
from gtp.settings import GtpSettings
from tests.fixed_player import FixedEvaluator, liking
from tests.gtp.engine import Engine

SIZE = 5


def gloomy(game: Game) -> FixedEvaluator:
    """It likes the middle, and White has lost."""
    return FixedEvaluator(game, 0.95, liking(game, game.points // 2))


def engine(**settings: object) -> Engine:
    return Engine(GtpSettings(seed=1, size=SIZE, **settings), gloomy)  # type: ignore[arg-type]


def test_every_parameter_can_be_read_and_set_to_what_it_is() -> None:
    one = engine(time=1.0)
    names = one.ask("kata-list-params").split()
    assert names == list(PARAMETERS)
    assert set(PARAMETERS.values()) <= {field.name for field in fields(GtpSettings)}
    before = one.session.settings
    for name in names:
        one.ask(f"kata-set-param {name} {one.ask(f'kata-get-param {name}')}")
    assert one.session.settings == before


def test_values_as_text() -> None:
    one = engine(visits=100, time=2.5, resign_threshold=-0.85)
    values = {"level": "none", "maxVisits": "100", "maxTime": "2.5", "ponderingEnabled": "false"}
    values |= {"resignThreshold": "-0.85", "allowResignation": "true"}
    assert {name: one.ask(f"kata-get-param {name}") for name in values} == values


def test_visits_change_at_the_next_move() -> None:
    one = engine(visits=4)
    for visits in (4, 30):
        one.ask_all(f"kata-set-param maxVisits {visits}", "clear_cache", "genmove b")
        note = one.session.game.notes.last
        assert note is not None and note.visits == visits


def test_time_and_lag_bound_the_next_move() -> None:
    one = engine()
    one.ask_all("kata-set-param maxTime 0.01", "kata-set-param maxVisits 1000000", "genmove b")
    note = one.session.game.notes.last
    assert note is not None and note.visits < 1_000_000
    one.ask_all("kata-set-param maxTime none", "time_settings 60 0 0")
    deadline = one.session.limits(1).target
    one.ask("kata-set-param lagBuffer 59")
    assert one.session.limits(1).target < deadline


def test_resigning_can_be_allowed_and_forbidden() -> None:
    one = engine(visits=2, no_resign=True)
    moves = [one.ask(f"genmove {'bw'[ply % 2]}") for ply in range(12)]
    assert "resign" not in moves
    assert one.ask("kata-get-param allowResignation") == "false"
    one.ask_all(
        "kata-set-param resignConsecTurns 1",
        "kata-set-param allowResignation true",
        "kata-set-param resignThreshold -0.99",
    )
    assert one.ask("genmove w") != "resign"
    one.ask_all("undo", "kata-set-param resignThreshold -0.5")
    assert one.ask("genmove w") == "resign"


def first_moves(one: Engine) -> set[str]:
    moves = set()
    for _ in range(12):
        moves.add(one.ask("genmove b"))
        one.ask("undo")
    return moves


def test_temperatures_and_levels_leave_moves_to_chance() -> None:
    one = engine(visits=1)
    one.ask("kata-set-param chosenMoveTemperatureEarly 0")
    assert first_moves(one) == {"C3"}
    one.ask("kata-set-param chosenMoveTemperatureEarly 5")
    assert len(first_moves(one)) > 4
    one.ask_all("kata-set-param chosenMoveTemperatureEarly 0", "kata-set-param chosenMoveTemperature 5")
    assert len(first_moves(one)) > 4
    one.ask("kata-set-param level 20")
    assert first_moves(one) == {"C3"}
    one.ask("kata-set-param level 1")
    assert len(first_moves(one)) > 4


def test_a_level_and_what_it_sets_give_way_to_each_other() -> None:
    one = engine(visits=100)
    one.ask("kata-set-param level 3")
    assert [one.ask(f"kata-get-param {name}") for name in ("level", "maxVisits")] == ["3", "none"]
    one.ask("kata-set-param maxVisits none")
    assert one.ask("kata-get-param level") == "3"
    one.ask("kata-set-param maxVisits 50")
    assert [one.ask(f"kata-get-param {name}") for name in ("level", "maxVisits")] == ["none", "50"]


def test_a_level_sets_visits_and_weak_ones_never_resign() -> None:
    weak, strong = engine(level=1), engine(level=20, time=60.0)
    assert (weak.session.limits(1).visits, strong.session.limits(1).visits) == (1, GtpSettings(level=20).move_visits)
    weak.ask("kata-set-param resignConsecTurns 1")
    assert "resign" not in [weak.ask(f"genmove {'bw'[ply % 2]}") for ply in range(20)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("kata-get-param speed", "unknown parameter 'speed': expected one of level, maxVisits"),
        ("kata-get-param", "unknown parameter ''"),
        ("kata-set-param speed 3", "unknown parameter 'speed'"),
        ("kata-set-param maxVisits", "syntax error: expected maxVisits and its value"),
        ("kata-set-param maxVisits -1", "maxVisits = -1: expected 0 to 100,000,000"),
        ("kata-set-param maxVisits many", "maxVisits = 'many': expected a whole number"),
        ("kata-set-param maxTime nan", "maxTime = nan: expected 0.01 to 1,000,000"),
        ("kata-set-param level 21", "level = 21: expected 1 to 20"),
        ("kata-set-param lagBuffer none", "lagBuffer = 'none': expected a number"),
        ("kata-set-param ponderingEnabled perhaps", "ponderingEnabled = 'perhaps': expected true or false"),
        ("kata-set-param resignThreshold 0.5", "resignThreshold = 0.5: expected -1 to 0"),
        ("gogui-param speed 3", "unknown parameter 'speed'"),
        ("gogui-param liveGraphics", "syntax error: expected liveGraphics and its value"),
    ],
)
def test_what_is_wrong_changes_nothing_and_is_told(line: str, reason: str) -> None:
    one = engine()
    before = one.session.settings
    assert one.refuse(line).startswith(reason)
    assert one.session.settings == before


def test_gogui_is_shown_types_and_values() -> None:
    one = engine(level=7)
    lines = one.ask("gogui-param").split("\n")
    assert lines[0].startswith("[list/none/1/2/") and lines[0].endswith("/20] level 7")
    assert {
        "[string] maxVisits none",
        "[bool] ponderingEnabled 0",
        "[bool] allowResignation 1",
        "[string] lagBuffer 1",
    } <= set(lines)
    one.ask_all("gogui-param ponderingEnabled 1", "gogui-param level none")
    assert {"[bool] ponderingEnabled 1", "[string] maxVisits none"} <= set(one.ask("gogui-param").split("\n"))
    assert "param/Parameters/gogui-param" in one.ask("gogui-analyze_commands").split("\n")
