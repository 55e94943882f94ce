"""Clocks of players whose moves take the time that a test says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gozero import games
from gozero.games.position import Position
from gozero.play.time_controls import TimeLeft
from tests.training.matches.test_match import Scripted, follow
from training.matches.clocks import LAG, GameClock, PlayerClock
from training.matches.match import fixture, play_schedule
from training.matches.players import Fault, Turn

COURSE, NONE, FIVE = GameClock(course=True), GameClock(), GameClock(byoyomi=5)
CANADIAN = GameClock(main=10, byoyomi=6, stones=2)
POSITION = Position(games.make("tictactoe"))
TURN = Turn(0, POSITION)
FIRST = 4  # the action that the player always chooses


class Thinker:
    """Takes so many seconds for each of its moves; a negative number is a fault after as many."""

    name = "thinker"

    def __init__(self, *seconds: float) -> None:
        self.seconds, self.clock = list(seconds), 0.0
        self.begun = 0
        self.turns: list[Turn] = []

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        self.begun += 1
        return None

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        self.turns += turns
        seconds = self.seconds.pop(0)
        self.clock += abs(seconds)
        return [Fault("failure", "gone") if seconds < 0 else FIRST for _ in turns]

    def final_score(self, turn: Turn) -> None:
        return None

    def close(self) -> None:
        pass


def game_of(clock: GameClock, *seconds: float) -> tuple[Thinker, PlayerClock, list[int | Fault]]:
    """A game in which the thinker takes these times: itself, its clock, and its answers."""
    thinker, running = Thinker(*seconds), PlayerClock(clock, seed=1)
    return thinker, running, [running.ask(thinker, TURN, lambda: thinker.clock) for _ in seconds]


def test_three_overruns_are_forgiven_then_moves_are_drawn_at_random() -> None:
    thinker, clock, answers = game_of(COURSE, 0.5, 2, 3, 1, 5, 2, 0.5, 4, 1.1)
    assert answers[:5] == [FIRST] * 5, "three moves of 2, 3 and 5 seconds"
    assert answers[6] == FIRST and answers[8] == FIRST, "a quick move is always its own"
    assert (clock.replaced, clock.answers, clock.longest) == (2, 9, 5)
    assert all(isinstance(answers[place], int) and POSITION.is_legal(answers[place]) for place in (5, 7))  # type: ignore[arg-type]
    assert thinker.begun == 2, "what it took for its move was not played: it gets the game again"


def test_five_seconds_are_never_forgiven() -> None:
    _, clock, answers = game_of(COURSE, 5 + 2 * LAG, 0.1)
    assert clock.replaced == 1 and answers[1] == FIRST


def test_an_engine_that_is_stopped_for_silence_is_drawn_for_and_a_crash_loses() -> None:
    _, clock, answers = game_of(COURSE, -(5 + 0.99 * LAG))
    assert isinstance(answers[0], int) and clock.replaced == 1
    assert game_of(COURSE, -0.2)[2] == [Fault("failure", "gone")]
    assert game_of(COURSE, -3)[2] == [Fault("failure", "gone")]


def test_random_moves_follow_from_the_seed() -> None:
    assert game_of(COURSE, 9, 9, 9, 9)[2] == game_of(COURSE, 9, 9, 9, 9)[2]
    assert len(set(game_of(COURSE, *[9] * 20)[2])) > 3


def test_so_many_seconds_a_move() -> None:
    assert game_of(FIVE, 4.9, 5, 5 + LAG / 2)[2] == [FIRST] * 3
    late = game_of(FIVE, 1, 6)[2][1]
    assert isinstance(late, Fault) and late.kind == "time"
    assert late.text == "thinker: 6.00 s for a move, 5.00 s were left"


def test_main_time_then_canadian_overtime() -> None:
    thinker, _, answers = game_of(CANADIAN, 4, 5, 2, 1, 5, 0.5, 5.9)
    assert answers == [FIRST] * 7
    # 10, 6, 1 of main time; the third move takes 1 of the period for two stones, and so on
    clock = [(10, 0), (6, 0), (1, 0), (5, 1), (6, 2), (1, 1), (6, 2)]
    assert [turn.left for turn in thinker.turns] == [TimeLeft(*left) for left in clock]
    assert isinstance(game_of(CANADIAN, 4, 5, 2, 5.3)[2][3], Fault)
    assert isinstance(game_of(CANADIAN, 16.3)[2][0], Fault)
    assert game_of(CANADIAN, 15.9)[2] == [FIRST]


def test_what_the_lag_grants_begins_no_new_period() -> None:
    thinker, _, answers = game_of(CANADIAN, 10 + 6.2, 0.2)
    assert answers == [FIRST] * 2
    assert (round(thinker.turns[1].left.seconds, 3), thinker.turns[1].left.count) == (0, 1)  # type: ignore[union-attr]


def test_main_time_alone() -> None:
    alone = GameClock(main=3)
    assert game_of(alone, 1, 1, 0.9)[2] == [FIRST] * 3
    assert isinstance(game_of(alone, 1, 1, 1.5)[2][2], Fault)
    assert alone.time_settings == (3, 0, 0)


def test_overtime_from_the_start() -> None:
    assert GameClock(byoyomi=2, stones=1).control.full() == TimeLeft(2, 1)
    assert game_of(GameClock(byoyomi=2), 1.9, 1.9, 1.9)[2] == [FIRST] * 3


@pytest.mark.parametrize(
    ("clock", "told", "limit"),
    [(COURSE, (0, 1, 1), 5 + LAG), (FIVE, (0, 5, 1), 5 + LAG), (CANADIAN, (10, 6, 2), 16 + LAG)],
)
def test_what_engines_are_told_and_how_long_they_are_waited_for(
    clock: GameClock, told: tuple[float, float, int], limit: float
) -> None:
    assert clock.time_settings == told
    thinker, _, _ = game_of(clock, 0.1)
    assert thinker.turns[0].limit == limit


@pytest.mark.parametrize(("clock", "largest"), [(NONE, 8), (FIVE, 1)])
def test_without_a_clock_all_waiting_games_are_asked_together(clock: GameClock, largest: int) -> None:
    players = {name: Scripted(follow("C3", "B2")) for name in "ab"}
    fixtures = [fixture(("a", "b"), index, 1) for index in range(8)]
    played = list(play_schedule(players, fixtures, games.make("go", size=5), 0, 50, 8, clock=clock))
    assert [player.largest_batch for player in players.values()] == [largest] * 2
    assert {game.answers for game in played} == {(2, 2)}
