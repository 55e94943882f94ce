"""A player that is another program, spoken to by GTP. This is the only module of training that imports gtp.client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from gozero.games.colours import COLOUR_LETTERS
from gtp.client import EngineError, GtpEngine, RefusalError
from training.matches.interface import Conditions, Fault, MatchPlayer, PlayerError, Turn
from training.records import scoring

T = TypeVar("T")


class GtpPlayer(MatchPlayer):
    """`gtp:COMMAND`: one engine process per slot, started when its first game begins and again after a failure.

    The engine gets each move of its opponent by `play`, passes included, and is asked for its own by `genmove`. These
    alternate, so engines that track the turn stay in step. It is never asked to undo or to move out of turn. In games
    other than Go it gets no komi, and may refuse `boardsize` and the passes of `play`.
    """

    def __init__(self, command: str, conditions: Conditions) -> None:
        self._command = command
        self._conditions = conditions
        self._game = conditions.game
        self._engines: dict[int, GtpEngine] = {}
        self._known: dict[int, int] = {}  # plies that the slot's engine knows of
        self._pool = ThreadPoolExecutor(conditions.parallel)  # engines think at the same time
        self.name = command
        try:
            with suppress(RefusalError):
                self.name = self._engine(0).send("name") or command
        except EngineError as error:
            raise PlayerError(str(error)) from None

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        self._known[slot] = 0
        return self._guarded(lambda: self._set_up(self._engine(slot)))

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return list(self._pool.map(self._move, turns))

    def final_score(self, turn: Turn) -> str | None:
        answer = self._guarded(lambda: self._updated(turn).send("final_score"))
        if isinstance(answer, Fault):
            return None if answer.kind == "refusal" else answer.text  # an engine need not know the command
        return answer or None  # some answer what they do not know with an empty text

    def close(self) -> None:
        # after Ctrl-C an engine may still think: it is not waited for
        self._pool.shutdown(wait=False, cancel_futures=True)
        for engine in self._engines.values():
            engine.close()

    def _engine(self, slot: int) -> GtpEngine:
        if slot not in self._engines or not self._engines[slot].alive:
            self._engines[slot] = GtpEngine(self._command, timeout=self._conditions.move_seconds)
        return self._engines[slot]

    def _set_up(self, engine: GtpEngine) -> None:
        if self._game.name == scoring.GO:
            engine.send(f"boardsize {self._game.size}")
            engine.send(f"komi {self._conditions.komi:g}")
        else:
            with suppress(RefusalError):  # its board has one size
                engine.send(f"boardsize {self._game.size}")
        engine.send("clear_board")
        if self._conditions.clock is not None:
            main, period, stones = self._conditions.clock
            with suppress(RefusalError):  # the command is optional; the clock runs all the same
                engine.send(f"time_settings {_seconds(main)} {_seconds(period)} {stones}")

    def _updated(self, turn: Turn) -> GtpEngine:
        """The slot's engine, after it has got the moves that it does not know."""
        engine = self._engines[turn.slot]
        for colour, action in turn.position.moves[self._known[turn.slot] :]:
            try:
                engine.send(f"play {COLOUR_LETTERS[colour].lower()} {self._game.vertex(action)}")
            except RefusalError:  # outside Go an engine may know by itself who has no move, and no `play b pass`
                if self._game.name == scoring.GO or action != self._game.pass_action:
                    raise
            self._known[turn.slot] += 1
        return engine

    def _move(self, turn: Turn) -> int | Fault:
        def genmove() -> str:
            engine, colour = self._updated(turn), COLOUR_LETTERS[turn.position.to_play].lower()
            if turn.left is not None:
                with suppress(RefusalError):
                    engine.send(f"time_left {colour} {_seconds(turn.left.seconds)} {turn.left.count}")
            return engine.send(f"genmove {colour}", timeout=turn.limit)

        answer = self._guarded(genmove)
        if isinstance(answer, Fault):
            return answer
        try:
            action = self._game.action(answer)
        except ValueError as error:
            return Fault("illegal move", f"{self._command}: answered genmove with {answer!r}: {error}")
        self._known[turn.slot] += action != self._game.resign_action
        return action

    def _guarded(self, ask: Callable[[], T]) -> T | Fault:
        try:
            return ask()
        except RefusalError as error:
            return Fault("refusal", str(error))
        except EngineError as error:
            return Fault("failure", str(error))


def _seconds(seconds: float) -> str:
    """Whole seconds, as GTP has them; a fraction only below one, where nothing would be left of it."""
    return f"{int(seconds)}" if seconds >= 1 else f"{seconds:g}"
