"""The commands of gozero-gtp, against the notes on what clients send and expect."""

import time
from pathlib import Path

import numpy as np
import pytest

from gozero import coords
from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.game import Game
from gtp.session import DEFAULT_SECONDS, DEFAULT_VISITS
from gtp.settings import GtpSettings
from tests.gtp.engine import Engine


@pytest.fixture
def engine() -> Engine:
    return Engine()


def board(engine: Engine) -> str:
    return engine.ask("showboard")


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
    before = board(engine)
    assert engine.refuse(f"boardsize {argument}") == "unacceptable size"
    assert board(engine) == before


def test_boardsize_and_clear_board_clear_the_board_and_keep_komi_and_time(engine: Engine) -> None:
    engine.ask_all("komi 3.5", "time_settings 60 0 0", "time_left b 20 0", "play b C3")
    for command in ("boardsize 7", "clear_board"):
        engine.ask_all("play b D4", command)
        assert "X" not in board(engine).split("\n", 1)[1]
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


@pytest.mark.parametrize(
    "line",
    [
        "play b",
        "play",
        "play b i5",
        "play b D10",
        "play green D4",
        "play b D4 D5",
        "play b resign",
        "play b d",
        "play b 4",
    ],
)
def test_what_is_no_move(engine: Engine, line: str) -> None:
    assert engine.refuse(line).startswith("invalid color")


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


def test_occupied_suicide_and_ko_are_illegal(engine: Engine) -> None:
    engine.ask_all("play b B1", "play b A2", "play w C1", "play w B2", "play w A3")
    assert engine.refuse("play b B1") == "illegal move"
    engine.ask_all("clear_board", "play b A2", "play b B1")
    assert engine.refuse("play w A1") == "illegal move"
    engine.ask_all(
        "clear_board",
        "play b A2",
        "play b B1",
        "play b C2",
        "play w D2",
        "play w C1",
        "play b B3",
        "play w C3",
        "play w B2",
    )
    assert engine.refuse("play b C2") == "illegal move"
    assert engine.ask("is_legal b C2") == "0"
    engine.ask_all("play b J9", "play w J8", "play b C2")


def test_a_repetition_is_accepted_from_the_controller_and_never_generated(engine: Engine) -> None:
    """White takes a ko, both pass, and Black retakes: no simple ko any more, but the board of four plies ago."""
    engine.ask_all(
        "play b A2", "play b B1", "play b C2", "play w D2", "play w C1", "play b B3", "play w C3", "play w B2"
    )
    engine.ask_all("play b pass", "play w pass")
    assert engine.ask("is_legal b C2") == "0"
    assert "C2" not in engine.ask("all_legal b").split()
    engine.ask("play b C2")
    assert engine.ask("move_history").splitlines()[0] == "black C2"


def test_same_colour_twice_and_passes_at_any_time(engine: Engine) -> None:
    engine.ask_all("play b D4", "play b E5", "play w pass", "play w pass", "play b pass", "play w pass", "play b C3")
    assert engine.ask("move_history").splitlines()[-1] == "black D4"


def test_undo(engine: Engine) -> None:
    assert engine.refuse("undo") == "cannot undo"
    empty = board(engine)
    engine.ask_all("play b D4", "play b E5", "genmove w", "play b pass")
    for _ in range(4):
        engine.ask("undo")
    assert board(engine) == empty
    assert engine.refuse("undo") == "cannot undo"


def test_gg_undo_is_all_or_nothing(engine: Engine) -> None:
    engine.ask_all("play b D4", "play w E5", "play b F6")
    assert engine.refuse("gg-undo 4") == "cannot undo"
    assert engine.refuse("gg-undo -1") == "cannot undo"
    engine.ask("gg-undo 2")
    assert engine.ask("move_history") == "black D4"
    engine.ask("gg-undo")
    assert engine.ask("move_history") == ""


# Handicap


FIXED = {
    (13, 2): "D4 K10",
    (13, 3): "D4 K10 D10",
    (13, 4): "D4 K10 D10 K4",
    (13, 5): "D4 K10 D10 K4 G7",
    (13, 6): "D4 K10 D10 K4 D7 K7",
    (13, 7): "D4 K10 D10 K4 D7 K7 G7",
    (13, 8): "D4 K10 D10 K4 D7 K7 G4 G10",
    (13, 9): "D4 K10 D10 K4 D7 K7 G4 G10 G7",
    (9, 2): "C3 G7",
    (9, 9): "C3 G7 C7 G3 C5 G5 E3 E7 E5",
    (19, 4): "D4 Q16 D16 Q4",
    (7, 4): "C3 E5 C5 E3",
    (12, 4): "C3 K10 C10 K3",
}


@pytest.mark.parametrize(("size", "stones"), FIXED)
def test_fixed_handicap(engine: Engine, size: int, stones: int) -> None:
    for command in ("fixed_handicap", "place_free_handicap"):
        engine.ask(f"boardsize {size}")
        assert engine.ask(f"{command} {stones}") == FIXED[size, stones]
        assert board(engine).startswith("O to play")
        assert engine.refuse("undo") == "cannot undo"


@pytest.mark.parametrize(
    ("size", "argument"),
    [(13, "1"), (13, "10"), (13, "-2"), (13, "x"), (13, ""), (7, "5"), (8, "5"), (5, "2"), (6, "2")],
)
def test_impossible_fixed_handicap(engine: Engine, size: int, argument: str) -> None:
    engine.ask(f"boardsize {size}")
    assert engine.refuse(f"fixed_handicap {argument}").startswith(("invalid handicap", "syntax error"))


def test_free_handicap_may_place_fewer_stones(engine: Engine) -> None:
    engine.ask("boardsize 13")
    assert len(engine.ask("place_free_handicap 20").split()) == 9


def test_set_free_handicap(engine: Engine) -> None:
    engine.ask("komi 0.5")
    assert engine.ask("set_free_handicap A1 c3 D4") == ""
    assert board(engine).count("X") == 3
    assert engine.ask("final_score") == "B+77.5"  # 81 points, komi 0.5, and 3 for the stones under chinese rules
    engine.ask_all("genmove w", "undo")
    assert engine.refuse("undo") == "cannot undo"
    engine.ask("clear_board")
    assert engine.ask("final_score") == "W+0.5"


@pytest.mark.parametrize("arguments", ["", "D4", "D4 D4", "D4 pass", "D4 E10", "D4 Z1"])
def test_impossible_free_handicap_leaves_the_board_empty(engine: Engine, arguments: str) -> None:
    assert engine.refuse(f"set_free_handicap {arguments}").startswith("invalid")
    assert "X" not in board(engine)[1:]


def test_a_handicap_that_fills_the_board_is_refused(engine: Engine) -> None:
    vertices = " ".join(coords.vertex(point, 9) for point in range(81))
    assert engine.refuse(f"set_free_handicap {vertices}").startswith("invalid handicap")


@pytest.mark.parametrize("command", ["fixed_handicap 2", "place_free_handicap 2", "set_free_handicap A1 B2"])
def test_handicap_needs_an_empty_board(engine: Engine, command: str) -> None:
    engine.ask("play w E5")
    assert engine.refuse(command) == "board not empty"


# Moves of its own


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("genmove", "invalid color: missing; expected b, black, w or white"),
        ("play", "invalid color or coordinate: missing; expected a color and a vertex, such as b D4"),
        ("play b", "invalid color or coordinate: missing; expected a color and a vertex, such as b D4"),
        ("play b D4 D5", "invalid color or coordinate: 'D5' is one argument too many"),
        ("play_sequence b D4 w", "invalid color or coordinate: missing; expected a color and a vertex, such as b D4"),
    ],
)
def test_an_argument_that_is_missing_is_named(engine: Engine, line: str, reason: str) -> None:
    assert engine.refuse(line) == reason


@pytest.mark.parametrize("line", ["genmove", "genmove x", "genmove b w", "reg_genmove"])
def test_genmove_needs_one_colour(engine: Engine, line: str) -> None:
    assert engine.refuse(line).startswith("invalid color")


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
    before = board(engine)
    assert len({engine.ask("reg_genmove b") for _ in range(4)}) == 1
    assert board(engine) == before


def test_the_same_seed_plays_the_same_game() -> None:
    games = []
    for seed in (1, 1, 2):
        engine = Engine(GtpSettings(visits=16, seed=seed, size=7))
        for ply in range(14):
            engine.ask(f"genmove {'bw'[ply % 2]}")
        games.append(engine.ask("move_history"))
    assert games[0] == games[1] != games[2]


def test_limits() -> None:
    def limits(settings: GtpSettings, *lines: str) -> tuple[int | None, float]:
        engine = Engine(settings)
        engine.ask_all(*lines)
        found = engine.session.limits(1)
        return found.visits, round(found.deadline - time.monotonic(), 1)

    assert limits(GtpSettings()) == (DEFAULT_VISITS, DEFAULT_SECONDS)
    assert limits(GtpSettings(visits=7)) == (7, np.inf)
    assert limits(GtpSettings(time=3)) == (None, 3.0)
    assert limits(GtpSettings(), "time_settings 0 10 1") == (None, 8.8)  # 10 s, less 1 s and 1.5 %, rounded
    assert limits(GtpSettings(visits=7), "time_settings 0 10 1") == (7, 8.8)
    assert limits(GtpSettings(time=3), "time_settings 0 10 1") == (None, 3.0)
    assert limits(GtpSettings(), "time_settings 0 1 0") == (DEFAULT_VISITS, DEFAULT_SECONDS)
    assert limits(GtpSettings(), "time_settings 0 0 0") == (None, 0.0)


def test_a_move_has_a_target_only_on_a_clock() -> None:
    def seconds(settings: GtpSettings, *lines: str) -> tuple[float, float]:
        engine = Engine(settings)
        engine.ask_all(*lines)
        found, now = engine.session.limits(1), time.monotonic()
        return round(found.target - now, 1), round(found.deadline - now, 1)

    assert seconds(GtpSettings(visits=7)) == (np.inf, np.inf)
    assert seconds(GtpSettings(time=3)) == (np.inf, 3.0)
    assert seconds(GtpSettings(), "time_settings 0 1 0") == (np.inf, DEFAULT_SECONDS)
    target, most = seconds(GtpSettings(), "time_settings 600 0 0")
    assert 5 < target < most < 30
    assert seconds(GtpSettings(), "time_settings 0 10 1") == (8.8, 8.8)
    assert seconds(GtpSettings(time=1), "time_settings 600 0 0") == (1.0, 1.0)
    assert seconds(GtpSettings(lag=3), "time_settings 0 10 1") == (6.8, 6.8)


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


def test_no_time_left_is_answered_at_once(engine: Engine) -> None:
    engine = Engine(GtpSettings(size=9, seed=1))
    engine.ask_all("time_settings 0 0 0", "genmove b")
    engine.ask_all("time_settings 60 0 0", "time_left w -5 0")
    started = time.monotonic()
    engine.ask("genmove w")
    assert time.monotonic() - started < 2


def test_an_interrupt_ends_the_search() -> None:
    engine = Engine(GtpSettings(visits=10_000_000, size=9, seed=1))
    engine.signals.line_read()
    engine.signals.interrupt()
    engine.signals.line_taken()
    assert engine.ask("genmove b") != "resign"


# The end of the game


def test_final_score_of_the_empty_board_and_of_a_draw(engine: Engine) -> None:
    assert engine.ask("final_score") == "W+7.5"
    engine.ask("komi 0")
    assert engine.ask("final_score") == "0"
    engine.ask_all("komi 7", "play b E5")
    assert engine.ask("final_score") == "B+74.0"


def test_final_status_list(engine: Engine) -> None:
    engine.ask_all(
        "boardsize 5", *(f"play b {vertex}" for vertex in "A2 B1 B2 C2 C1 D2 E2".split()), "play w E5", "play w D1"
    )
    assert engine.ask("final_status_list alive") == "A2 B2 C2 D2 E2 B1 C1"
    assert set(engine.ask("final_status_list dead").split()) == {"D1", "E5"}
    assert engine.ask("final_status_list seki") == ""
    assert {"A1", "D1", "E1"} <= set(engine.ask("final_status_list black_territory").split())
    assert engine.ask("final_status_list white_territory") == ""
    for argument in ("", "Dead", "all", "alive dead"):
        assert engine.refuse(f"final_status_list {argument}").startswith("invalid status")


def test_an_engine_that_has_won_passes_when_the_opponent_does(engine: Engine) -> None:
    engine.ask_all("play b E5", "play w pass")
    assert engine.ask("genmove b") == "pass"
    engine.ask_all("clear_board", "komi 200", "play b E5", "play w pass")
    assert engine.ask("genmove b") != "pass"


def play_out(visits: int, size: int) -> Engine:
    engine = Engine(GtpSettings(visits=visits, seed=3, size=size, no_resign=True))
    passes = ply = 0
    while passes < 2:
        passes = passes + 1 if engine.ask(f"genmove {'bw'[ply % 2]}") == "pass" else 0
        ply += 1
        assert ply < 4 * size * size
    return engine


@pytest.mark.parametrize("size", [5, 7])
def test_a_game_against_itself_ends_and_both_counts_name_one_winner(size: int) -> None:
    engine = play_out(16, size)
    score = engine.ask("final_score")
    as_it_stands = engine.session.game.position.score()
    assert score[0] == ("B" if as_it_stands > 0 else "W")


def test_simplified_go_can_be_asked_about_beyond_its_limit_of_moves() -> None:
    """It ends after 100 plies: then the engine only passes, and whoever asks on is answered as after two passes."""
    engine = Engine(GtpSettings("simple_go", visits=8, seed=1))
    engine.ask("play b C3")
    engine.ask("play_sequence" + " w pass b pass" * 50)
    for line in (
        "kata-analyze b",
        "lz-analyze w",
        "gogui-value",
        "gogui-visits w",
        "gogui-move_values",
        "restricted_genmove w A1 B2",
    ):
        assert engine.ask(line)
    assert engine.ask("final_score") == "B+25.0"
    for line in ("genmove w", "genmove w", "reg_genmove b", "kgs-genmove_cleanup b", "genmove b"):
        assert engine.ask(line) == "pass"


def test_a_board_that_the_weights_never_learned_is_a_line_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Engine(trained=(7, 9, 11, 13))
    engine.ask_all("boardsize 7", "boardsize 8", "boardsize 13")
    assert capsys.readouterr().err == ""
    for size in (19, 14, 6):
        engine.ask(f"boardsize {size}")
        line = f"board size {size} was never trained: these weights learned from 7, 9, 11 and 13; expect weak moves and wrong estimates"
        assert capsys.readouterr().err == f"gozero-gtp: {line}\n"
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[19];B[aa])")
    engine.ask(f"loadsgf {tmp_path / 'game.sgf'}")
    assert "board size 19 was never trained" in capsys.readouterr().err


def test_a_bug_is_not_told_as_an_illegal_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the rules refuse is the user's: any other error, a ValueError of numpy's too, is a bug and is told as
    one.
    """
    engine = Engine()
    engine.ask("showboard")

    def broken(*arguments: object, **named: object) -> None:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(type(engine.session.game), "play", broken)
    for line in ("play b D4", "play_sequence b D4"):
        with pytest.raises(AssertionError, match="bug in"):
            engine.answer(line)
    monkeypatch.setattr(type(engine.session.game), "set_up", broken)
    with pytest.raises(AssertionError, match="bug in"):
        engine.answer("gogui-setup b D4")
