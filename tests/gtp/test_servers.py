"""What servers and match controllers tell the engine and ask it, beside Go's own commands."""

import pytest

from gtp.settings import WEIGHTS, GtpSettings
from tests.gtp.engine import Engine
from tests.gtp.test_analyze import Painter

FORBIDDEN = {"analyze", "genmove_analyze", "kgs-chat", "rectangular_boardsize"}
"""What must not be listed: Sabaki reads the first two in another scale, kgsGtp crashes at the third."""


@pytest.mark.parametrize("game", WEIGHTS)
def test_what_must_not_be_listed_is_not(game: str) -> None:
    listed = set(Engine(GtpSettings(game)).ask("list_commands").split("\n"))
    assert not listed & FORBIDDEN
    assert any(name.startswith("gogui-rules_") for name in listed) == (game not in ("go", "simple_go"))


def test_game_over_leaves_the_board_and_stops_pondering(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[str] = []
    engine.ask_all("play b D4", "time_settings 60 0 0")
    before = engine.ask("showboard")
    monkeypatch.setattr(engine.session, "stop_pondering", lambda: rests.append("stopped"))
    for line in ("kgs-game_over", "cgos-gameover B+3.5", "stop"):
        engine.ask(line)
        assert engine.ask("showboard") == before
        assert rests.pop() == "stopped"
    engine.ask("genmove w")  # an adjourned game is resumed


def test_what_servers_tell_is_accepted_whatever_it_is(engine: Engine) -> None:
    engine.ask_all("cgos-opponent_rating", "cgos-opponent_rating 1850?", "kgs-game_over at once", "stop stop")
    engine.ask_all("cgos-gameover", "cgos-gameover BForfeit", "cgos-gameover W+Time 2026-11-21")
    for name in ("", " Ann of the 9 stones", " Jos\udce9"):  # a byte that was no UTF-8
        engine.ask_all(f"cgos-opponent_name{name}", "genmove b", "printsgf")


def test_clear_cache_drops_what_was_searched() -> None:
    engine = Painter()
    engine.ask("gogui-visits")
    assert ", 60 visits" in engine.ask("gogui-value")
    engine.ask("clear_cache")
    assert ", 1 visit," in engine.ask("gogui-value")


def test_gomill_is_told_of_the_last_genmove() -> None:
    engine = Painter()
    assert engine.ask("gomill-explain_last_move") == ""
    engine.ask("play b A1")
    move = engine.ask("genmove w")
    for line in ("gomill-explain_last_move", "play b B1", "gomill-explain_last_move"):
        answer = engine.ask(line)
    numbers, _, line = answer.partition(": ")
    assert numbers == "win rate 25.0 %, 60 visits, score -10.0"  # for White, who moved
    assert line.split()[0] == move
    engine.ask("clear_board")
    assert engine.ask("gomill-explain_last_move") == ""


def test_where_there_was_no_choice_there_is_nothing_to_explain() -> None:
    engine = Engine(GtpSettings("tictactoe", visits=4, seed=1))
    engine.ask("play_sequence b A1 w B1 b A2 w B2 b B3 w A3 b C1")
    engine.ask("genmove w")
    assert engine.ask("gomill-explain_last_move").startswith("win rate ")
    engine.ask("genmove b")  # the last point
    assert engine.ask("gomill-explain_last_move") == ""


def test_gomill_is_told_what_plays(engine: Engine) -> None:
    engine.session.describe = lambda settings: f"{settings.visits} visits, {settings.rules} rules"
    assert engine.ask("gomill-describe_engine") == f"{engine.session.settings.visits} visits, None rules"
    engine.ask_all("kata-set-param maxVisits 7", "kata-set-rules tromp-taylor")
    assert engine.ask("gomill-describe_engine") == "7 visits, tromp-taylor rules"
