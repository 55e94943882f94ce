"""Entrants that raise in a worker's own process: they lose their game, or cannot start, and are named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from gozero.games.position import Position
from tests.training.matches.tournament.test_rating import played
from training.matches.players import Fault, RandomPlayer, Turn
from training.matches.tournament import runner, worker
from training.matches.tournament.field import TOGETHER, Entrant, Field, Pair
from training.matches.tournament.worker import CANNOT_START, NOBODY, Watch, WatchedPlayer

FIELD = Field((Entrant("random", "a"), Entrant("fixed", "b")), game="tictactoe", size=3, opening_moves=0)
GAME = FIELD.make_game()


class Raising(RandomPlayer):
    """Raises in one of its methods, and in no other slot than the second."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where

    def begin(self, slot: int, *, seed: int) -> None:
        super().begin(slot, seed=seed)
        self._fail("begin", slot)

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        for turn in turns:
            self._fail("choose", turn.slot)
        return super().choose(turns)

    def final_score(self, turn: Turn) -> None:
        self._fail("final_score", turn.slot)

    def _fail(self, where: str, slot: int) -> None:
        if where == self._where and slot == 1:
            raise RuntimeError(f"no {where}\nhere")


def watched(monkeypatch: pytest.MonkeyPatch, made: Any, warm: bool = False) -> tuple[WatchedPlayer, Watch]:
    monkeypatch.setattr(worker, "open_player", made)
    watch = Watch([NOBODY, 0.0])
    return WatchedPlayer(1, "random", FIELD.conditions(GAME), watch, warm, "random"), watch


def refuse(*_: Any) -> Any:
    raise ValueError("wrong shapes\nin this file")


def test_who_raises_while_it_is_opened_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    player, watch = watched(monkeypatch, refuse)
    for slot in (0, 1):
        assert player.begin(slot, seed=1) == Fault(CANNOT_START, "ValueError: wrong shapes in this file")
    assert watch.place == NOBODY


def test_who_raises_at_the_first_move_off_the_clock_loses_by_it_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    player, _ = watched(monkeypatch, lambda *_: Raising("choose"), warm=True)
    assert player.begin(1, seed=1) is None
    assert player.choose([Turn(1, Position(GAME))]) == [Fault("failure", "random: RuntimeError: no choose here")]


def test_who_raises_loses_that_game_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    player, watch = watched(monkeypatch, lambda *_: Raising("choose"))
    turns = [Turn(slot, Position(GAME)) for slot in range(3)]
    assert [player.begin(turn.slot, seed=1) for turn in turns] == [None] * 3
    answers = player.choose(turns)
    assert answers[1] == Fault("failure", "random: RuntimeError: no choose here")
    assert isinstance(answers[0], int) and isinstance(answers[2], int)
    assert watch.place == NOBODY


def test_who_raises_at_the_beginning_loses_and_at_the_end_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    player, _ = watched(monkeypatch, lambda *_: Raising("begin"))
    assert player.begin(0, seed=1) is None
    assert player.begin(1, seed=1) == Fault("failure", "random: RuntimeError: no begin here")
    player, watch = watched(monkeypatch, lambda *_: Raising("final_score"))
    player.begin(1, seed=1)
    assert player.final_score(Turn(1, Position(GAME))) is None
    assert watch.place == NOBODY


def test_what_ends_the_process_is_the_doing_of_who_was_thinking(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(*_: Any) -> Any:
        raise SystemExit(3)

    player, watch = watched(monkeypatch, leave)
    with pytest.raises(SystemExit):
        player.begin(0, seed=1)
    assert watch.place == 1


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (refuse, "a: does not play: ValueError: wrong shapes in this file"),
        (lambda *_: Raising("choose"), "a: does not play: RuntimeError: no choose here"),
    ],
)
def test_a_rehearsal_names_who_raises(made: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "open_player", made)
    assert next(runner.rehearse(FIELD, [])) == (False, said)


def test_a_move_may_take_as_long_as_its_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little an answer without a clock may take."""
    watches: list[float] = []
    player, watch = watched(monkeypatch, lambda *_: RandomPlayer())
    monkeypatch.setattr(watch, "set", lambda place, seconds: watches.append(seconds))
    player.begin(0, seed=1)
    player.choose([Turn(0, Position(GAME), limit=5000.0)])
    player.choose([Turn(0, Position(GAME))])
    assert watches[2:] == [worker.GRACE + 5000, worker.GRACE + 60]


class Slow(RandomPlayer):
    """Thinks for a second, by a clock of its own."""

    now, asked = 0.0, list[Any]()

    def choose(self, turns: Any) -> Any:
        Slow.now += len(turns)
        Slow.asked.append(turns[0].position.moves)
        return super().choose(turns)


@pytest.fixture
def slow_players(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "open_player", lambda *_: Slow())
    monkeypatch.setattr(runner.time, "perf_counter", lambda: Slow.now)
    monkeypatch.setattr(Slow, "now", 0.0)
    monkeypatch.setattr(Slow, "asked", [])


@pytest.mark.usefixtures("slow_players")
def test_where_a_clock_runs_a_first_move_is_asked_for_before_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    for warm in (False, True):
        player, _ = watched(monkeypatch, lambda *_: Slow(), warm)
        player.begin(0, seed=1)
        assert Slow.now == warm


@pytest.mark.usefixtures("slow_players")
def test_a_rehearsal_counts_the_games_and_the_time_that_are_left() -> None:
    entrants = tuple(Entrant("random", name) for name in "abcd")  # d meets nobody
    pairs = (Pair("a", "b"), Pair("a", "c"))
    field = Field(entrants, game="tictactoe", size=3, kind="pairs", games=2, pair=pairs, processes=1, seed=2)
    said = list(runner.rehearse(field, [played("a", "b", index, "") for index in range(2)]))
    assert said[:-1] == [(True, f"{name}: plays, 1.000 s a move") for name in "abc"]
    found = re.fullmatch(r"2 games left of 4 \(2 pairings of 2\), about (\d+) plies each: about 0:00:(\d+) in .*", said[-1][1])
    assert found is not None and abs(int(found[2]) - 2 * int(found[1])) <= 1
    assert Slow.asked[0] != Slow.asked[1], "an engine may answer the same question at once"


@pytest.mark.usefixtures("slow_players")
@pytest.mark.parametrize(("slow", "seconds"), [(2.0, 2 + 2 * TOGETHER), (0.5, 2)])
def test_a_rehearsal_asks_a_slow_entrant_for_a_move_at_a_time(
    slow: float, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SLOW", slow)
    assert next(runner.rehearse(FIELD, []))[1] == "a: plays, 1.000 s a move"
    assert Slow.now == seconds
