"""One game of a person against the engine: the engine's moves, undo, resignation, who has won, the game as a record.

Vocabulary. A *sitting* is one game between two people at a table, of whom one is the *engine*.

The engine is a search whose whole result is shown, so that the person can ask what it thinks; it never resigns. Unlike
`gozero.play.player` it knows no clock and no moves out of turn: two passes end a game of Go here. Nothing is typed or
printed in this module: that is `gozero.frontends.terminal.play`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gozero import games
from gozero.evaluators.base import Evaluator
from gozero.games import coords
from gozero.games.colours import COLOUR_NAMES
from gozero.games.game import BLACK, EMPTY, NOT_OVER, WHITE, Game
from gozero.games.position import Position
from gozero.play.engine import search_settings, tree_memory
from gozero.play.player import PlayerSettings
from gozero.records import move_list
from gozero.records.sgf import GameRecord, serialise
from gozero.scoring import endgame
from gozero.search.choose import choose
from gozero.search.memory import Memory
from gozero.search.request import SearchRequest
from gozero.search.search import RootResult, Search
from gozero.search.settings import SearchSettings
from gozero.system.errors import InputError


def name_of(game: Game, action: int) -> str:
    """The vertex, or pass."""
    return coords.vertex(action, game.cols, game.rows)


class Opponent:
    """A search for each question, with chance only in the opening moves.

    Args:
        evaluator: of the game that is played.
        visits: simulations of a move's search.
        seed: of playouts and of chance; None: another one each time.
        temperature: of the draw among the moves in the whole game, above that of the opening.
        hint_visits: simulations of a search for the person; None: as many as for a move.
        search: how to search; None: as the engine does at so many visits, `engine.search_settings`.

    Attributes:
        memory: bytes that the search tree may take.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        visits: int,
        seed: int | None = None,
        temperature: float = 0.0,
        hint_visits: int | None = None,
        search: SearchSettings | None = None,
    ) -> None:
        self._usual = PlayerSettings(temperature=temperature)
        self._random = np.random.default_rng(seed)
        self.memory = tree_memory(None)
        self._search = Search(
            evaluator.game,
            evaluator,
            search or search_settings(visits, evaluator.game.name),
            seed=int(self._random.integers(2**63)),
            memory=Memory(self.memory),
        )
        self._visits = visits
        self._hint_visits = hint_visits or visits

    @property
    def is_full(self) -> bool:
        """Whether the last search ended early because its tree has used up the memory for search trees."""
        return self._search.is_full()

    def look(self, position: Position) -> RootResult:
        """Search a position that is not over, for the person."""
        return self._searched(position, self._hint_visits)

    def _searched(self, position: Position, visits: int) -> RootResult:
        mask = endgame.candidates(position)
        self._search.begin(0, SearchRequest(position.state, position.history_row(0), visits, root_mask=mask))
        self._search.run()
        return self._search.result()

    def choose(self, position: Position) -> tuple[int, float]:
        """(action, expected result of the side to move, -1..1)."""
        result = self._searched(position, self._visits)
        temperature = self._usual.temperature_at(position)
        return choose(result, temperature, self._random, undrawn=position.game.pass_action), result.value


class Reply(NamedTuple):
    """A move of the engine."""

    colour: int
    action: int
    value: float  # expected result of that colour, -1..1


class Sitting:
    """One game, from its first position on.

    Args:
        game: empty board and rules.
        engine: for this game.
        person: BLACK or WHITE; the engine has the other colour.
    """

    def __init__(self, game: Game, engine: Opponent, person: int) -> None:
        self.position = Position(game)
        self.engine = engine
        self.person = person
        self.resigned = False  # the person has

    @property
    def is_over(self) -> bool:
        return self.resigned or self.position.is_over

    @property
    def winner(self) -> int:
        """BLACK, WHITE, or EMPTY for a draw or while nobody has won."""
        if self.resigned:
            return BLACK + WHITE - self.person
        side = self.position.to_play
        return {1: side, 0: EMPTY, -1: BLACK + WHITE - side, NOT_OVER: EMPTY}[self.position.outcome()]

    @property
    def margin(self) -> float:
        """By how many points Black is ahead, 0 where points are not counted."""
        return 0.0 if self.position.game.score is None else self.position.score()

    def reply(self) -> Reply | None:
        """The engine plays, if it is its turn."""
        position = self.position
        if self.is_over or position.to_play == self.person:
            return None
        action, value = self.engine.choose(position)
        made = Reply(position.to_play, action, value)
        position.play(action)
        return made

    def undo(self) -> None:
        """Back to the person's last own decision; a resignation is one. InputError where there is none."""
        if self.resigned:
            self.resigned = False
            return
        own = [number for number, move in enumerate(self.position.moves) if move.colour == self.person]
        if not own:
            raise InputError("There is no move of yours to take back.")
        self.position.undo(len(self.position.moves) - own[-1])

    def record(self, komi: float | None, rules: str | None) -> bytes:
        """The game so far as SGF, or as a list of moves.

        komi and rules are those that were asked for; None: the game's own.
        """
        game, moves = self.position.game, self.position.moves
        if game.name not in games.GO_FAMILY:
            return move_list.written(game, moves).encode()
        komi = games.usual(game.name, "komi") if komi is None else komi
        return serialise(
            GameRecord(
                game.size,
                tuple(moves),
                komi=komi or 0.0,
                rules=rules or games.usual(game.name, "rules"),
                result=self._sgf_result(),
                black_name="gozero" if self.person == WHITE else "",
                white_name="gozero" if self.person == BLACK else "",
            )
        )

    def _sgf_result(self) -> str:
        """As SGF has it; empty while the game goes on."""
        if not self.is_over:
            return ""
        if self.winner == EMPTY:
            return "0"
        return f"{COLOUR_NAMES[self.winner][0]}+{'R' if self.resigned else f'{abs(self.margin):g}'}"
