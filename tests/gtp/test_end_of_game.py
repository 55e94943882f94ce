"""The end of a game by GTP: scores, statuses, passing, games played out."""

from pathlib import Path

import pytest

from gtp.settings import GtpSettings
from tests.gtp.engine import Engine


def test_final_score_of_the_empty_board_and_of_a_draw(engine: Engine) -> None:
    assert engine.ask("final_score") == "W+7.5"
    engine.ask("komi 0")
    assert engine.ask("final_score") == "0"
    engine.ask_all("komi 7", "play b E5")
    assert engine.ask("final_score") == "B+74.0"


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


def test_simplified_go_has_no_komi_and_can_be_asked_about_beyond_its_limit_of_moves() -> None:
    """It ends after 100 plies: then the engine only passes, and whoever asks on is answered as after two passes."""
    engine = Engine(GtpSettings("simple_go", visits=8, seed=1))
    engine.ask_all("komi 7.5", "play b C3", "play_sequence" + " w pass b pass" * 50)
    for line in (
        "kata-analyze b",
        "lz-analyze w",
        "gogui-value",
        "gogui-visits w",
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
