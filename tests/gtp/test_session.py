"""The commands of gozero-gtp, against the notes on what clients send and expect."""

import time

import numpy as np
import pytest

from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games import coords
from gozero.games.game import Game
from gozero.play.searcher import Analysis, Limits, Observer
from gozero.play.time_controls import TimeLeft
from gtp.session import DEFAULT_SECONDS, DEFAULT_VISITS
from gtp.settings import GtpSettings
from tests.fixed_player import FixedEvaluator
from tests.gtp.engine import Engine
from tests.search.naive import HashEvaluator

# Board size, komi, clearing


@pytest.mark.parametrize("size", [5, 6, 9, 13, 19])
def test_board_sizes(engine: Engine, size: int) -> None:
    engine.ask(f"boardsize {size}")
    assert engine.ask("query_boardsize") == str(size)
    assert len(engine.ask("all_legal b").split()) == size * size


@pytest.mark.parametrize(
    "argument", ["4", "2", "1", "0", "-9", "20", "25", "99999999999999999999999", "13:9", "9 9", "9.5", "x", ""]
)
def test_unacceptable_sizes_leave_everything_as_it_was(engine: Engine, argument: str) -> None:
    engine.ask_all("play b C3", "komi 3.5")
    before = engine.ask("showboard")
    assert engine.refuse(f"boardsize {argument}") == "unacceptable size"
    assert engine.ask("showboard") == before


def test_boardsize_and_clear_board_clear_the_board_and_keep_komi_and_time(engine: Engine) -> None:
    engine.ask_all("komi 3.5", "time_settings 60 0 0", "time_left b 20 0", "play b C3")
    for command in ("boardsize 7", "clear_board"):
        engine.ask_all("play b D4", command)
        assert "X" not in engine.ask("showboard").split("\n", 1)[1]
        assert engine.ask("get_komi") == "3.5"
        left = engine.session.clock.left(1)
        assert left is not None
        assert left.seconds == 60
        assert engine.ask("move_history") == ""


@pytest.mark.parametrize(
    ("text", "komi"),
    [("0", "0"), ("7.3", "7.3"), ("-100", "-100"), ("1e3", "1000"), ("6.50", "6.5"), ("1e300", "1e+300")],
)
def test_komi(engine: Engine, text: str, komi: str) -> None:
    engine.ask(f"komi {text}")
    assert engine.ask("get_komi") == komi


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "x", "", "6.5 7.5"])
def test_komi_that_is_no_number(engine: Engine, text: str) -> None:
    assert engine.refuse(f"komi {text}").startswith("syntax error")
    assert engine.ask("get_komi") == "7.5"


def test_komi_in_the_middle_of_a_game_counts_and_moves_stay(engine: Engine) -> None:
    engine.ask_all("komi 0.5", "play b C3", "play w D4", "komi -2.5")
    assert engine.ask("final_score") == "B+2.5"
    assert engine.ask("move_history") == "white D4\nblack C3"
    engine.ask("undo")
    assert engine.ask("final_score") == "B+83.5"


# Moves


@pytest.mark.parametrize("line", ["play b d4", "play B D4", "play black D4", "play BLACK d4"])
def test_colours_and_vertices_in_any_case(engine: Engine, line: str) -> None:
    engine.ask(line)
    assert engine.ask("move_history") == "black D4"


NO_MOVE = "color or coordinate: missing; expected a color and a vertex, such as b B2"
NO_COLOUR = "expected b, black, w or white"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("play", NO_MOVE),
        ("play b", NO_MOVE),
        ("play_sequence b D4 w", NO_MOVE),
        ("play b i5", "color or coordinate: 'i5'"),
        ("play b D10", "color or coordinate: 'D10'"),
        ("play b d", "color or coordinate: 'd'"),
        ("play b 4", "color or coordinate: '4'"),
        ("play b resign", "color or coordinate: 'resign'"),
        ("play b D4 D5", "color or coordinate: 'D5' is one argument too many"),
        ("play green D4", f"color: 'green'; {NO_COLOUR}"),
        ("genmove", f"color: missing; {NO_COLOUR}"),
        ("genmove x", f"color: 'x'; {NO_COLOUR}"),
        ("genmove b w", f"color: 'b w'; {NO_COLOUR}"),
        ("reg_genmove", f"color: missing; {NO_COLOUR}"),
        ("kgs-genmove_cleanup", f"color: missing; {NO_COLOUR}"),
    ],
)
def test_an_argument_that_is_missing_or_wrong_is_named(engine: Engine, line: str, reason: str) -> None:
    assert engine.refuse(line) == f"invalid {reason}"


@pytest.mark.parametrize(
    ("game", "line", "reason"),
    [
        ("nogo", "play b pass", "there is no passing in nogo"),
        ("connect4", "play b D3", "the free point of column D is D1"),
        ("connect4", "play b pass", "there is no passing in connect4"),
        ("othello", "play b pass", None),  # there is, but not here
    ],
)
def test_why_a_move_is_illegal_where_it_may_not_be_known(game: str, line: str, reason: str | None) -> None:
    assert Engine(GtpSettings(game, visits=1, seed=1)).refuse(line) == "illegal move" + (
        f": {reason}" if reason else ""
    )


KO = "play_sequence b A2 b B1 b C2 w D2 w C1 b B3 w C3 w B2"  # White's last stone takes C2's


def test_occupied_suicide_and_ko_are_illegal(engine: Engine) -> None:
    engine.ask_all("play b B1", "play b A2", "play w C1", "play w B2", "play w A3")
    assert engine.refuse("play b B1") == "illegal move"
    engine.ask_all("clear_board", "play b A2", "play b B1")
    assert engine.refuse("play w A1") == "illegal move"
    engine.ask_all("clear_board", KO)
    assert engine.refuse("play b C2") == "illegal move"
    assert engine.ask("is_legal b C2") == "0"
    engine.ask_all("play b J9", "play w J8", "play b C2")


def test_a_repetition_is_accepted_from_the_controller_and_never_generated(engine: Engine) -> None:
    """White takes a ko, both pass, and Black retakes: no simple ko any more, but the board of four plies ago."""
    engine.ask_all(KO, "play b pass", "play w pass")
    assert engine.ask("is_legal b C2") == "0"
    assert "C2" not in engine.ask("all_legal b").split()
    assert engine.ask("genmove b") != "C2"
    engine.ask_all("undo", "play b C2")
    assert engine.ask("move_history").splitlines()[0] == "black C2"


def test_same_colour_twice_and_passes_at_any_time(engine: Engine) -> None:
    engine.ask_all("play b D4", "play b E5", "play w pass", "play w pass", "play b pass", "play w pass", "play b C3")
    assert engine.ask("move_history").splitlines()[-1] == "black D4"


def test_undo(engine: Engine) -> None:
    assert engine.refuse("undo") == "cannot undo"
    empty = engine.ask("showboard")
    engine.ask_all("play b D4", "play b E5", "genmove w", "play b pass")
    for _ in range(4):
        engine.ask("undo")
    assert engine.ask("showboard") == empty
    assert engine.refuse("undo") == "cannot undo"


def test_gg_undo_is_all_or_nothing(engine: Engine) -> None:
    engine.ask_all("play b D4", "play w E5", "play b F6")
    assert engine.refuse("gg-undo 4") == "cannot undo"
    assert engine.refuse("gg-undo -1") == "cannot undo"
    engine.ask("gg-undo 2")
    assert engine.ask("move_history") == "black D4"
    engine.ask("gg-undo")
    assert engine.ask("move_history") == ""


# Moves of its own


def test_genmove_for_either_colour_at_any_time(engine: Engine) -> None:
    for line in ("genmove w", "genmove w", "genmove black", "genmove WHITE"):
        assert coords.parse_vertex(engine.ask(line), 9) <= 81
    assert len(engine.ask("move_history").splitlines()) == 4


def test_genmove_after_two_passes(engine: Engine) -> None:
    engine.ask_all("play b E5", "play w pass", "play b pass")
    assert engine.ask("genmove w") not in ("pass", "resign")
    engine.ask_all("play b pass", "play w pass", "play b pass")
    assert engine.ask("genmove b") in {*engine.ask("move_history").split(), "pass"}


def test_reg_genmove_is_repeatable_and_plays_nothing(engine: Engine) -> None:
    engine.ask_all("play b E5", "genmove w")
    before = engine.ask("showboard")
    assert len({engine.ask("reg_genmove b") for _ in range(4)}) == 1
    assert engine.ask("showboard") == before


def test_the_same_seed_plays_the_same_game() -> None:
    games = []
    for seed in (1, 1, 2):
        engine = Engine(GtpSettings(visits=16, seed=seed, size=7))
        for ply in range(14):
            engine.ask(f"genmove {'bw'[ply % 2]}")
        games.append(engine.ask("move_history"))
    assert games[0] == games[1] != games[2]


def test_a_move_has_a_deadline_by_default_and_a_target_only_on_a_clock() -> None:
    def limits(settings: GtpSettings, *lines: str) -> tuple[int | None, float, float]:
        engine = Engine(settings)
        engine.ask_all(*lines)
        found, now = engine.session.limits(1), time.monotonic()
        return found.visits, round(found.target - now, 1), round(found.deadline - now, 1)

    assert limits(GtpSettings()) == (DEFAULT_VISITS, np.inf, DEFAULT_SECONDS)
    assert limits(GtpSettings(visits=7)) == (7, np.inf, np.inf)
    assert limits(GtpSettings(time=3)) == (None, np.inf, 3.0)
    assert limits(GtpSettings(), "time_settings 0 1 0") == (DEFAULT_VISITS, np.inf, DEFAULT_SECONDS)
    assert limits(GtpSettings(), "time_settings 0 10 1") == (None, 8.8, 8.8)  # 10 s, less 1 s and 1.5 %, rounded
    assert limits(GtpSettings(visits=7), "time_settings 0 10 1") == (7, 8.8, 8.8)
    assert limits(GtpSettings(time=3), "time_settings 0 10 1") == (None, 3.0, 3.0)
    assert limits(GtpSettings(lag=3), "time_settings 0 10 1") == (None, 6.8, 6.8)
    assert limits(GtpSettings(), "time_settings 0 0 0") == (None, 0.0, 0.0)
    _, target, most = limits(GtpSettings(), "time_settings 600 0 0")
    assert 5 < target < most < 30
    assert limits(GtpSettings(time=1), "time_settings 600 0 0") == (None, 1.0, 1.0)


def test_without_visits_the_network_decides_whatever_was_searched_before() -> None:
    engine = Engine(GtpSettings(game="nogo", visits=0, size=5), HashEvaluator)
    assert engine.session.limits(1).visits == 1
    searched: list[bool] = []
    for colour in ("b", "w", "b"):
        looks: list[Analysis] = []
        engine.session.player.analyse("bw".index(colour) + 1, Limits(400), Observer(looks.append))
        position = engine.session.game.position
        logits = HashEvaluator(position.game).evaluate(position.state[None]).logits[0]
        likeliest = coords.vertex(int(np.where(position.legal(), logits, -np.inf).argmax()), 5)
        assert looks[-1].visits == 400
        searched.append(coords.vertex(looks[-1].moves[0].action, 5) != likeliest)
        assert engine.ask(f"reg_genmove {colour}") == likeliest
        engine.ask_all("time_settings 60 5 1", f"time_left {colour} 0 0")
        answer = engine.ask(f"lz-genmove_analyze {colour}")
        assert answer.splitlines()[-1] == f"play {likeliest}"
        assert f"info move {likeliest} visits 0 " in answer
    assert any(searched), "a search finds another move somewhere"


def test_the_network_alone_can_be_chosen_at_run_time_but_not_with_pondering() -> None:
    engine = Engine(GtpSettings(game="nogo", visits=8, size=5, ponder=True))
    assert "contradict" in engine.refuse("kata-set-param maxVisits 0")
    engine.ask_all("kata-set-param ponderingEnabled false", "kata-set-param maxVisits 0")
    assert (engine.ask("kata-get-param maxVisits"), engine.session.limits(1).visits) == ("0", 1)
    engine.ask("kata-set-param level 12")
    assert engine.ask("kata-get-param maxVisits") == "none"


def test_the_network_alone_resigns_by_its_value() -> None:
    lost = Engine(
        GtpSettings(game="nogo", visits=0, size=5, resign_moves=2), lambda game: FixedEvaluator(game, for_black=-0.95)
    )
    for _ in range(4):  # too early to resign
        assert lost.ask("genmove b") != "resign" != lost.ask("genmove w")
    assert lost.ask("genmove b") == "resign"


def test_loading_counts_on_a_clock_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0

    def load(game: Game) -> Evaluator:
        nonlocal now
        now += 3
        return RolloutEvaluator(game)

    def left(settings: GtpSettings, *lines: str) -> list[float]:
        engine = Engine(settings, load)
        engine.ask_all(*lines)
        limits = engine.session.limits(1)
        return [round(limit - now, 1) for limit in (limits.target, limits.deadline)]

    monkeypatch.setattr("gtp.session.time.monotonic", lambda: now)
    assert left(GtpSettings(time=0.5)) == [np.inf, 0.5]
    assert left(GtpSettings()) == [np.inf, DEFAULT_SECONDS]
    assert left(GtpSettings(), "time_settings 0 10 1") == [5.8, 5.8]  # 8.8 s, of which loading took 3
    assert left(GtpSettings(time=0.5), "time_settings 0 10 1") == [0.5, 0.5]
    assert left(GtpSettings(time=8), "time_settings 0 10 1") == [5.8, 5.8]
    engine = Engine(GtpSettings(visits=1), load)
    engine.ask_all("time_settings 60 0 0", "genmove b")
    assert engine.session.clock.left(1) == TimeLeft(57) and engine.session.clock.left(2) == TimeLeft(60)


# A game whose pieces move


def test_moves_from_point_to_point() -> None:
    engine = Engine(GtpSettings(game="breakthrough", size=5, visits=8, seed=1))
    engine.ask_all("play b a2-b3", "play w C4B3")
    assert engine.ask("last_move") == "white C4-B3"
    assert engine.ask("list_stones b").split() == ["B2", "C2", "D2", "E2", "A1", "B1", "C1", "D1", "E1"]
    assert engine.ask("all_legal b").split()[:2] == ["A1-A2", "B1-A2"]
    assert "A1:B1" not in engine.ask("kata-analyze b avoid b a1:b1 1")
    for line in ("play b a1", "play b a1-a3", "play b pass", "play b b2-b3", "play w a4-a3", "play b a1-a2-a3"):
        engine.refuse(line)
    for line in ("play b a2", "play b", "is_legal b a1-a3"):
        assert engine.refuse(line).endswith("A2-A3")
    answer = engine.ask("genmove b")
    assert engine.ask("last_move") == f"black {answer}"
    assert engine.ask("gogui-principal_variation").startswith("TEXT")
    engine.ask_all("undo", "undo", "undo", "set_position b b4 w e5", "play b b4-a5")
    assert engine.ask("final_score") == "B+R"
