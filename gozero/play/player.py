"""A player of any game: chooses and plays moves, analyses, ponders and resigns.

A player has a game in progress (`gozero.play.current_game`), judges how it ends (`gozero.play.ending`) and searches it
(`gozero.play.searcher`). `gozero.play.players` puts one together. It answers for one game at a time, in one thread. It knows no
protocol, and of time only the limits it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gozero import games
from gozero.games.game import BLACK, WHITE
from gozero.games.position import Position
from gozero.play.current_game import CurrentGame
from gozero.play.ending import Ending
from gozero.play.game_tree import GameTree, Limits, never
from gozero.play.report import Observer
from gozero.play.searcher import ANALYSIS, PONDERING, Searcher
from gozero.search.choose import choose
from gozero.search.restrictions import Restriction, left_out
from gozero.search.settings import SearchSettings

FORCED_VISITS = 2  # of a move without a choice, so that an observer sees a value


class NoChoiceError(ValueError):
    """None of the moves to choose from is legal."""

    def __init__(self) -> None:
        super().__init__("none of these moves is legal")


@dataclass(frozen=True)
class PlayerSettings:
    """How a player plays."""

    rules: str | None = None  # None: the game's own
    seed: int | None = None  # None: another one each time
    friendly_pass: bool = False  # in Go: pass once the opponent has, where the settlement wins
    resign: bool = True
    resign_threshold: float = -0.9  # expected result, -1..1 (KataGo's GTP: -0.9)
    resign_moves: int = 3  # own moves in a row below the threshold (KataGo's GTP: 3)
    resign_not_before: float = 0.25  # plies per point of the board
    opening: float = 0.12  # plies per point of the board in which moves are drawn, for variety
    opening_temperature: float = 0.4  # drawn by visits ** (1 / this); 0: always the best move
    temperature: float = 0.0  # the same for the whole game, where it is higher
    keeps_search: bool = True  # whether a move uses what was searched before: earlier moves, analyses, pondering
    search: SearchSettings = field(default_factory=lambda: SearchSettings(leaves=8, max_nodes=20_000))
    max_memory: int | None = None  # bytes that search trees may grow to; None: a quarter of the machine's

    def temperature_at(self, position: Position) -> float:
        """Temperature of the draw among the moves of this position."""
        opening = position.ply < self.opening * position.game.points
        return max(self.temperature, self.opening_temperature if opening else 0.0)


class Player:
    """Plays and analyses one game at a time.

    Args:
        game: the game in progress; it may be changed between two calls.
        ending: judges its end.
        searcher: searches it.
        settings: how to play.
        random: draws the moves of the opening; the same generator as the searcher's.
    """

    def __init__(
        self,
        game: CurrentGame,
        ending: Ending,
        searcher: Searcher,
        settings: PlayerSettings,
        random: np.random.Generator,
    ) -> None:
        self.game = game
        self.ending = ending
        self.searcher = searcher
        self._settings = settings
        self._random = random

    def change(self, settings: PlayerSettings) -> None:
        """Play like this from the next move on; rules, seed and memory stay what they were."""
        self.searcher.change(settings.search)
        kept = self._settings
        self._settings = replace(settings, rules=kept.rules, seed=kept.seed, max_memory=kept.max_memory)

    def load(self) -> None:
        """Open the evaluator for this board now, not when the next move is wanted."""
        self.searcher.tree()

    def forget(self) -> None:
        """Drop all that was searched; the next search begins as the first one did."""
        self.searcher.forget()
        self.ending.forget()

    # Moves

    def genmove(
        self, colour: int, limits: Limits, should_stop: Callable[[], bool] = never, observer: Observer | None = None
    ) -> int:
        """Choose a move for ``colour`` and play it; the resign action leaves the board as it is. TurnError where it is
        not to move.

        After the end there are only passes, but a loser resigns unless points are counted: then the margin would be
        lost. The search is reported to ``observer``, at least once unless the game is over.
        """
        game = self.game
        game.notes.last = None
        if game.is_over:
            return self._move_after_the_end(colour)
        root = game.root(colour)
        action, value = self._decide(root, limits, should_stop, observer)
        if self._resigns(colour, value):
            game.notes.resignation = colour, len(game.position.moves)
            return game.kind.resign_action
        game.play(colour, action)
        game.notes.keep(len(game.position.moves))
        return action

    def genmove_among(
        self, colour: int, among: np.ndarray, limits: Limits, should_stop: Callable[[], bool] = never
    ) -> int:
        """Play the move that `suggest` chooses among these, bool [A]; never a resignation. Errors as `suggest`."""
        action = self.suggest(colour, limits, should_stop, among)
        self.game.notes.last = None
        self.game.play(colour, action)
        return action

    def suggest(
        self, colour: int, limits: Limits, should_stop: Callable[[], bool] = never, among: np.ndarray | None = None
    ) -> int:
        """The move for ``colour`` from a search aside, without chance; not played, and never a resignation. TurnError
        where it is not to move.

        ``among``, bool [A], are the moves to choose from, None all that make sense; NoChoiceError where none of them is
        legal.
        """
        root = self.game.root(colour)
        sensible = self._sensible(root, limits, should_stop) if among is None else root.legal() & among
        if not sensible.any():
            raise NoChoiceError
        action = _only_action(sensible)
        if action is not None:
            return action
        return self.searcher.search(self.searcher.tree_aside(), root, sensible, limits, should_stop).best

    def _move_after_the_end(self, colour: int) -> int:
        """The resign action for a loser where points are not counted, else a pass, which is played."""
        game = self.game
        if game.winner() == BLACK + WHITE - colour and game.name not in games.COUNTED_GAMES:
            return game.kind.resign_action
        game.play(colour, game.kind.pass_action)
        return game.kind.pass_action

    def _decide(
        self, root: Position, limits: Limits, should_stop: Callable[[], bool], observer: Observer | None
    ) -> tuple[int, float | None]:
        """The action to play and the value of the root, None where there was no choice."""
        sensible = self._sensible(root, limits, should_stop)
        action = _only_action(sensible)
        if action is not None:
            if observer is not None:
                self._report_forced(root, action, limits, should_stop, observer)
            return action, None
        if not self._settings.keeps_search:
            self.searcher.tree().forget()
        tree = self.searcher.tree()
        result = self.searcher.search(tree, root, sensible, limits, should_stop, observer)
        temperature = self._settings.temperature_at(root)
        action = choose(result, temperature, self._random, undrawn=root.game.pass_action)
        action = self.ending.revised(root, action, result, limits, should_stop)
        self.game.notes.last = tree.note(root, action)
        return action, result.value

    def _report_forced(
        self, root: Position, action: int, limits: Limits, should_stop: Callable[[], bool], observer: Observer
    ) -> None:
        """Report on a move without a choice to ``observer``."""
        observer = self.ending.forced_observer(root, action, observer, limits, should_stop)
        few = replace(limits, visits=FORCED_VISITS)
        self.searcher.search(self.searcher.tree(), root, self.game.mask_of([action]), few, should_stop, observer)

    def _sensible(self, root: Position, limits: Limits, should_stop: Callable[[], bool]) -> np.ndarray:
        """The actions to choose from, bool [A]."""
        return self.ending.sensible(root, limits, should_stop, friendly=self._settings.friendly_pass)

    def _resigns(self, colour: int, value: float | None) -> bool:
        """Count low values in a row; whether there are enough of them to resign."""
        usual = self._settings.resign_threshold, self._settings.resign_not_before * self.game.kind.points
        threshold, earliest = self.ending.resignation(colour, *usual)
        low_values = self.game.notes.low_values
        if value is None or value >= threshold:
            low_values[colour] = 0
            return False
        low_values[colour] += 1
        return (
            self._settings.resign
            and self.game.position.ply >= earliest
            and low_values[colour] >= self._settings.resign_moves
        )

    # Analysis

    def analyse(
        self,
        colour: int,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer,
        restrictions: Sequence[Restriction] = (),
    ) -> None:
        """Search for ``colour`` and report to ``observer``; nothing is played. TurnError where it is not to move,
        NoChoiceError where no move is left.

        What was found serves the next move, unless moves were left out beyond the first ply.
        """
        root = self.game.root(colour)
        plies = left_out(restrictions, colour, root.game.actions)
        tree = self.searcher.tree_aside(left_out=plies) if plies.max() > 1 else self.searcher.tree()
        self._analyse(tree, root, plies, limits, should_stop, observer)

    def hint(
        self, limits: Limits, should_stop: Callable[[], bool], observer: Observer, among: np.ndarray | None = None
    ) -> None:
        """Search the turn of the side to move for the moves that make sense, or among these, bool [A], and report to
        ``observer``; nothing is played. NoChoiceError where no move is left.
        """
        root = self.game.root(self.game.position.to_play)
        mask = self._sensible(root, limits, should_stop) if among is None else root.legal() & among
        if not mask.any():
            raise NoChoiceError
        action = _only_action(mask)
        if action is not None:
            self._report_forced(root, action, limits, should_stop, observer)
        else:
            self.searcher.search(self.searcher.tree(), root, mask, limits, should_stop, observer, purpose=ANALYSIS)

    def analyse_aside(
        self,
        root: Position,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer,
        restrictions: Sequence[Restriction] = (),
    ) -> None:
        """Search another position of this board, in a tree that is dropped, and report to ``observer``. NoChoiceError
        where no move is left.
        """
        plies = left_out(restrictions, root.to_play, root.game.actions)
        self._analyse(self.searcher.tree_aside(left_out=plies), root, plies, limits, should_stop, observer)

    def _analyse(
        self,
        tree: GameTree,
        root: Position,
        plies: np.ndarray,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer,
    ) -> None:
        """Search without the moves whose ``plies``, int32 [2, A], are above 0 for the side to move."""
        mask = root.legal() & (plies[0] == 0)
        if not mask.any():
            raise NoChoiceError
        self.searcher.search(tree, root, mask, limits, should_stop, observer, purpose=ANALYSIS)

    def ponder(self, should_stop: Callable[[], bool]) -> None:
        """Search the turn of the side to move until `should_stop()` or the tree is full, so that the next move profits.

        Without effect once the game is over.
        """
        if not self.game.position.is_over:
            root = self.game.root(self.game.position.to_play)
            self.searcher.search(self.searcher.tree(), root, root.legal(), Limits(None), should_stop, purpose=PONDERING)


def _only_action(mask: np.ndarray) -> int | None:
    """The action of a mask bool [A] that allows just one, else None."""
    actions = np.flatnonzero(mask)
    return int(actions[0]) if len(actions) == 1 else None
