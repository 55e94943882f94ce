"""Pondering: only in the opponent's time, only while the game goes on, and over as soon as a line arrives."""

import threading

import pytest

from gozero.games import coords
from gozero.play.searcher import Limits, Observer
from gtp.protocol import Signals
from gtp.settings import GtpSettings
from tests.gtp.engine import Conversation, Engine


class CountedSignals(Signals):
    """A controller that sends a line when it has been looked for so many times."""

    looks_left = 0

    def is_wanted_elsewhere(self) -> bool:
        self.looks_left -= 1
        return self.looks_left < 0


class Pondering(Engine):
    """An engine that thinks in the opponent's time, and how much it does when it is left alone."""

    def __init__(self, game: str = "go", size: int = 5, *, ponder: bool = True) -> None:
        super().__init__(GtpSettings(game, visits=8, seed=1, size=size, ponder=ponder), max_memory=2**20)
        self.controller = self.session.signals = CountedSignals()

    def looks(self, patience: int) -> int:
        """How often it looks for a line, which comes at the look after ``patience`` others; 0 or 1 if it does not
        search.
        """
        self.controller.looks_left = patience
        self.session.ponder()
        return patience - self.controller.looks_left

    @property
    def ponders(self) -> bool:
        return self.looks(3) == 4


def test_it_searches_after_its_own_move_until_a_line_arrives() -> None:
    engine = Pondering()
    engine.ask("genmove b")
    before = engine.ask("showboard")
    assert engine.looks(5) == 6
    assert engine.looks(0) == 1
    assert engine.ask("showboard") == before


def test_lines_that_leave_the_board_as_it_is_leave_it_pondering() -> None:
    engine = Pondering()
    engine.ask("kata-genmove_analyze b")
    for line in ("time_left w 100 0", "showboard", "name"):
        engine.ask(line)
        assert engine.looks(1) == 2


@pytest.mark.parametrize(
    "lines",
    [
        [],  # nothing was asked yet
        ["play b C3"],
        ["reg_genmove b"],
        ["genmove b", "play w A1"],
        ["genmove b", "undo"],
        ["genmove b", "clear_board"],
        ["genmove b", "boardsize 7"],
        ["play b pass", "play w pass"],
    ],
)
def test_it_rests_otherwise(lines: list[str]) -> None:
    engine = Pondering()
    engine.ask_all(*lines)
    assert not engine.ponders


def test_it_rests_unless_asked_to_ponder() -> None:
    engine = Pondering(ponder=False)
    engine.ask("genmove b")
    assert not engine.ponders


def test_it_rests_after_the_end_of_a_game_and_after_a_resignation(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Pondering("tictactoe", 3)
    engine.ask_all(
        "play b A1", "play w B1", "play b C1", "play w B2", "play b A2", "play w C2", "play b B3", "play w A3"
    )
    assert engine.ask("genmove b") == "C3"
    assert not engine.ponders
    engine = Pondering()
    engine.ask("genmove b")
    monkeypatch.setattr(engine.session.player, "genmove", lambda *_: coords.resign_action(5, 5))
    assert engine.ask("genmove w") == "resign"
    assert not engine.ponders


def test_two_passes_end_a_game_of_go() -> None:
    engine = Pondering()
    engine.ask_all("play b C3", "play w pass")
    while engine.ask("genmove b") != "pass":
        engine.ask("play w pass")
    assert not engine.ponders


def test_it_rests_when_it_is_told_to_until_its_next_move() -> None:
    engine = Pondering()
    engine.ask("genmove b")
    engine.session.stop_pondering()
    assert not engine.ponders
    engine.ask_all("play w A1", "genmove b")
    assert engine.ponders


def test_what_it_finds_serves_the_next_move() -> None:
    engine = Pondering()
    engine.ask("genmove b")
    engine.looks(5)
    visits: list[int] = []
    engine.session.player.analyse(2, Limits(1, should_stop=lambda: True), Observer(lambda look: visits.append(look.visits)))
    assert visits[0] > 5 * 200  # random playouts come 256 at a time


def test_a_full_tree_is_left_alone() -> None:
    engine = Pondering()
    engine.ask("genmove b")
    assert engine.looks(10_000) < 100
    assert engine.looks(10_000) < 3


def test_a_bug_in_it_does_not_take_the_game_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Pondering()
    engine.ask("genmove b")
    monkeypatch.setattr(engine.session.player, "ponder", lambda should_stop: 1 / 0)
    assert engine.looks(3) == 1
    assert capsys.readouterr().err == "gozero-gtp: stopped pondering: ZeroDivisionError: division by zero\n"
    assert engine.looks(3) == 0
    engine.ask("genmove w")


@pytest.mark.parametrize(
    "data", ["name\n", "\n", "# interrupt\nname\n", ""], ids=["command", "empty", "interrupt", "end of input"]
)
def test_any_line_ends_it_and_is_answered(data: str) -> None:
    """Through the serving loop: each time before it takes a line it ponders until there is one."""
    engine, idle, pondered = Engine(), threading.Event(), list[bool]()

    def ponder() -> None:
        idle.set()
        engine.session.signals.wait()
        pondered.append(engine.session.signals.is_wanted_elsewhere())

    conversation = Conversation(engine, ponder)
    assert idle.wait(10)
    conversation.send(data)
    assert conversation.close() == ("= gozero\n\n" if "name" in data else "")
    assert pondered and all(pondered)
