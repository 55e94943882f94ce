"""A player of any game: a position, a search over it, and the judgement when to resign.

Vocabulary. The *root* is the position to be searched. A *note* is what was thought of an own move when it was chosen. A
side is *to move* by the rules: here nobody moves out of turn, and a game that is over stays so. Games whose controllers
see both otherwise have a player of their own (`gozero.go_player`), which is this one but for what it redefines. The
search itself is `gozero.game_tree`'s.

The player answers for one game at a time, in one thread. It knows no protocol, and of time only the limits it is given.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gozero import games
from gozero.colours import COLOUR_NAMES
from gozero.engine import tree_memory
from gozero.evaluators.base import Evaluator
from gozero.evaluators.row import RowEvaluator
from gozero.game_tree import GameTree, Limits
from gozero.games.game import BLACK, EMPTY, NOT_OVER, WHITE, Game
from gozero.position import IllegalMove, Position
from gozero.restrictions import Restriction, left_out
from gozero.search.choose import choose
from gozero.search.memory import Memory
from gozero.search.search import RootResult
from gozero.search.settings import SearchSettings
from gozero.search_report import Analysis, Observer

LOOKING_NODES = 2_000  # of a short search for the owners of points
FIRST_MOVES = 5  # of a search, told when it has ended
FORCED_VISITS = 2  # of a move without a choice, so that an observer sees a value


def never() -> bool:
    """No reason to stop."""
    return False


class TurnError(ValueError):
    """It is not for this side to move now; the message says whose turn it is, or that the game is over."""


class NoChoiceError(ValueError):
    """None of the moves to choose from is legal."""

    def __init__(self) -> None:
        super().__init__("none of these moves is legal")


@dataclass(frozen=True)
class PlayerSettings:
    """How a player plays."""

    rules: str | None = None  # None: the game's own
    seed: int | None = None  # None: no two sittings are alike
    friendly_pass: bool = False  # in Go: pass once the opponent has, where the settlement wins
    resign: bool = True
    resign_threshold: float = -0.9  # expected result, -1..1 (KataGo's GTP: -0.9)
    resign_moves: int = 3  # own moves in a row below the threshold (KataGo's GTP: 3)
    resign_not_before: float = 0.25  # plies per point of the board
    opening: float = 0.12  # plies per point of the board in which moves are drawn, for variety
    opening_temperature: float = 0.4  # drawn by visits ** (1 / this); 0: always the most visited move
    temperature: float = 0.0  # the same for the whole game, where it is higher
    keeps_search: bool = (
        True  # whether a move is helped by what was searched before: for the last move, an analysis, pondering
    )
    search: SearchSettings = field(default_factory=lambda: SearchSettings(leaves=8, max_nodes=20_000))
    max_memory: int | None = None  # bytes that search trees may grow to; None: a quarter of the machine's

    def temperature_at(self, position: Position) -> float:
        """Of the draw among the moves of this position."""
        opening = position.ply < self.opening * position.game.points
        return max(self.temperature, self.opening_temperature if opening else 0.0)


@dataclass(frozen=True)
class Searched:
    """A search that has ended."""

    look: Analysis  # with the first moves
    kept: int  # visits that were there when it began
    seconds: float


class Player:
    """One game at a time, on any of ``sizes``.

    Args:
        game: a name in `gozero.games`.
        sizes: board sizes that the weights can play, ascending; the size of a board that is not square is its number of
            columns.
        open_evaluator: gives the evaluator for a game; called when a move is first wanted on a board of that size. It
        may take seconds. settings: how to play. ValueError where the game does not have these rules.
        size: of the first game.

    Attributes:
        on_search: told of each search when it has ended; None: nobody is.
        on_full: told the bytes each time a search has ended because its tree may grow no further; None: nobody is.
        notes: of the moves that it chose in this game, by the number of moves played with them.
        last_note: of the last move that it was asked for, a resignation too; None where there was no choice to think
            of.
    """

    position: Position
    notes: dict[int, Analysis]
    last_note: Analysis | None
    _resignation_at: tuple[int, int] | None  # who resigned, and after how many moves

    def __init__(
        self,
        game: str,
        sizes: Sequence[int],
        open_evaluator: Callable[[Game], Evaluator],
        settings: PlayerSettings,
        *,
        size: int,
    ) -> None:
        self.sizes = sizes
        self._name = game
        self._settings = settings
        self._open_evaluator = open_evaluator
        self._random = np.random.default_rng(settings.seed)
        self._tree: GameTree | None = None
        self._memory = Memory(settings.max_memory or tree_memory(None))
        self.on_search: Callable[[Searched], None] | None = None
        self.on_full: Callable[[int], None] | None = None
        self.new_game(size)

    def change(self, settings: PlayerSettings) -> None:
        """Play like this from the next move on; rules, seed and memory stay what they were."""
        if settings.search != self._settings.search:
            self._tree = None
        kept = self._settings
        self._settings = replace(settings, rules=kept.rules, seed=kept.seed, max_memory=kept.max_memory)

    # The game

    @property
    def game(self) -> Game:
        return self.position.game

    @property
    def size(self) -> int:
        return self.game.size

    @property
    def board(self) -> tuple[int, int]:
        """(columns, rows), as `gozero.coords` takes them."""
        return self.game.cols, self.game.rows

    @property
    def is_over(self) -> bool:
        """Whether nobody is to move any more."""
        return self.position.is_over

    def new_game(self, size: int | None = None) -> None:
        """The first position, on a board of another size if given."""
        self._begin(Position(games.make(self._name, size=size or self.size, rules=self._settings.rules)))

    def play(self, colour: int, action: int) -> None:
        """Play for the side to move; after the end either side may pass. IllegalMove where the rules forbid it,
        TurnError otherwise.
        """
        if self.is_over and action == self.game.pass_action:
            self.position.pass_after_end(colour)
            return
        self._check_turn(colour)
        self.position.play(action)

    def play_all(self, moves: Sequence[tuple[int, int]]) -> None:
        """Play (colour, action) in order: all of them or, where one is refused, none. Errors as `play`."""
        before = self.position.copy()
        try:
            for colour, action in moves:
                self.play(colour, action)
        except (IllegalMove, TurnError):
            self.position = before
            raise

    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        """Begin a game with these stones, a colour for each action. ValueError where they cannot stand: the game is as
        it was.
        """
        position = Position(self.game)
        position.set_up(dict(stones), to_play)
        self._begin(position)

    def undo(self) -> None:
        """Take back the last move. IndexError when there is none."""
        number = len(self.position.moves)
        self.position.undo()
        self._low_values.clear()
        self.notes.pop(number, None)
        self._resignation_at = None

    def legal(self, colour: int) -> np.ndarray:
        """What the rules allow ``colour`` to play now, bool [A]: nothing where it is not to move."""
        if self.is_over or colour != self.position.to_play:
            return np.zeros(self.game.actions, np.bool_)
        return self.position.legal()

    def mask_of(self, actions: Sequence[int]) -> np.ndarray:
        """These actions as a mask, bool [A]."""
        mask = np.zeros(self.game.actions, np.bool_)
        mask[list(actions)] = True
        return mask

    def stones(self) -> np.ndarray:
        """The colours of the points, uint8 [rows, cols]: EMPTY, BLACK or WHITE."""
        return self.game.board(self.position.state)

    @property
    def resigned(self) -> int:
        """The side that the player has resigned for in this position, or EMPTY."""
        colour, number = self._resignation_at or (EMPTY, 0)
        return colour if number == len(self.position.moves) else EMPTY

    def winner(self) -> int:
        """BLACK, WHITE, or EMPTY for a draw. ValueError while the game is not over."""
        outcome = self.position.outcome()
        if outcome == NOT_OVER:
            raise ValueError("the game is not over")
        side = self.position.to_play
        return {1: side, 0: EMPTY, -1: BLACK + WHITE - side}[outcome]

    def _begin(self, position: Position) -> None:
        """Let a game begin, or go on, with this position."""
        self.position = position
        self._low_values: Counter[int] = Counter()  # own moves in a row with a hopeless value, by colour
        self.notes = {}
        self.last_note = self._resignation_at = None

    def _check_turn(self, colour: int) -> None:
        """TurnError unless ``colour`` is to move."""
        if self.is_over:
            raise TurnError("the game is over")
        if colour != self.position.to_play:
            raise TurnError(f"it is {COLOUR_NAMES[self.position.to_play]}'s turn")

    # Moves

    def load(self) -> None:
        """Open the evaluator for this board now, not when the next move is wanted."""
        self._loaded_tree()

    def forget(self) -> None:
        """Drop all that was searched; the next search begins as the first one did."""
        if self._tree is not None:
            self._tree.forget()

    def genmove(
        self, colour: int, limits: Limits, should_stop: Callable[[], bool] = never, observer: Observer | None = None
    ) -> int:
        """Choose a move for ``colour`` and play it; the resign action leaves the board as it is. TurnError where it is
        not to move.

        After the end there are only passes, but a loser resigns unless points are counted: then the margin would be
        lost. ``observer`` is told of the search, at least once unless the game is over.
        """
        self.last_note = None
        if self.is_over:
            if self.winner() == BLACK + WHITE - colour and self._name not in games.COUNTED_GAMES:
                return self.game.resign_action
            self.play(colour, self.game.pass_action)
            return self.game.pass_action
        root = self._root(colour)
        sensible = self._sensible(root, limits, should_stop)
        action, value = _only_action(sensible), None
        if action is not None and observer is not None:
            observer = self._forced_observer(root, action, observer, limits, should_stop)
            self._search(
                self._loaded_tree(), root, sensible, replace(limits, visits=FORCED_VISITS), should_stop, observer
            )
        if action is None:
            if not self._settings.keeps_search:
                self._loaded_tree().forget()
            result = self._search(self._loaded_tree(), root, sensible, limits, should_stop, observer)
            action, value = self._choose(root, result, limits, should_stop), result.value
            self.last_note = self._loaded_tree().note(root, action)
        if self._resigns(colour, value):
            self._resignation_at = colour, len(self.position.moves)
            return self.game.resign_action
        self.play(colour, action)
        if self.last_note is not None:
            self.notes[len(self.position.moves)] = self.last_note
        return action

    def analyse(
        self,
        colour: int,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer,
        restrictions: Sequence[Restriction] = (),
    ) -> None:
        """Search for ``colour`` and tell ``observer``; nothing is played. TurnError as `play`, NoChoiceError where no
        move is left.

        What was found serves the next move, unless moves were left out beyond the first ply.
        """
        self._analyse(self._root(colour), limits, should_stop, observer, restrictions)

    def _analyse(
        self,
        root: Position,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer,
        restrictions: Sequence[Restriction],
        *,
        aside: bool = False,
    ) -> None:
        """Search ``root``, with ``aside`` in a tree of its own. NoChoiceError where no move is left."""
        plies = left_out(restrictions, root.to_play, root.game.actions)
        mask = root.legal() & (plies[0] == 0)
        if not mask.any():
            raise NoChoiceError
        tree = self._tree_aside(left_out=plies) if aside or plies.max() > 1 else self._loaded_tree()
        self._search(tree, root, mask, limits, should_stop, observer)

    def values_after(self, colour: int) -> np.ndarray:
        """What the evaluator expects of each action, float32 [A], -1..1 for ``colour``: nan where it is not legal.
        TurnError as `play`.
        """
        root, evaluator = self._root(colour), self._loaded_tree().evaluator
        actions = np.flatnonzero(root.legal())
        values = np.full(root.game.actions, np.nan, np.float32)
        children = [root.copy() for _ in actions]
        for child, action in zip(children, actions, strict=True):
            child.play(int(action))
        if children:
            expected = evaluator.evaluate(np.stack([child.state for child in children])).value
            outcomes = [child.outcome() for child in children]
            values[actions] = [
                -(value if end == NOT_OVER else end) for value, end in zip(expected, outcomes, strict=True)
            ]
        return values

    def search_text(self, depth: int) -> str:
        """The tree of the last search, ``depth`` plies deep, for the eye."""
        return self._loaded_tree().text(depth)

    def ponder(self, should_stop: Callable[[], bool]) -> None:
        """Search the turn of the side to move until `should_stop()` or the tree is full, to the good of the move after
        it.

        Without effect once the game is over.
        """
        if not self.position.is_over:
            root = self._root(self.position.to_play)
            self._search(self._loaded_tree(), root, root.legal(), Limits(None), should_stop)

    def suggest(
        self, colour: int, limits: Limits, should_stop: Callable[[], bool] = never, among: np.ndarray | None = None
    ) -> int:
        """The move for ``colour`` from a search of its own without chance; not played, and never a resignation.
        TurnError as `play`.

        ``among``, bool [A], are the moves to choose from, None all that make sense; NoChoiceError where none of them is
        legal.
        """
        root = self._root(colour)
        sensible = self._sensible(root, limits, should_stop) if among is None else root.legal() & among
        if not sensible.any():
            raise NoChoiceError
        action = _only_action(sensible)
        if action is not None:
            return action
        return self._search(self._tree_aside(), root, sensible, limits, should_stop).best

    def _root(self, colour: int) -> Position:
        """The position to search for ``colour``, not over, as a copy. TurnError where it is not to move."""
        self._check_turn(colour)
        return self.position.copy()

    def _sensible(self, root: Position, limits: Limits, should_stop: Callable[[], bool]) -> np.ndarray:
        """The actions to choose from, bool [A]; to find them may take a part of the limits."""
        return root.legal()

    def _forced_observer(
        self, root: Position, action: int, observer: Observer, limits: Limits, should_stop: Callable[[], bool]
    ) -> Observer:
        """The observer to use where ``action`` is all there is to choose."""
        return observer

    def _choose(self, root: Position, result: RootResult, limits: Limits, should_stop: Callable[[], bool]) -> int:
        """The action to play by a search's result; a pass is never drawn in the place of a better move."""
        return choose(result, self._settings.temperature_at(root), self._random, undrawn=root.game.pass_action)

    def _ownership(
        self, root: Position, among: np.ndarray, limits: Limits, should_stop: Callable[[], bool]
    ) -> np.ndarray | None:
        """Expected owner of each point, float32 [P], + for the side to move: the mean over a search of its own, without
        chance.

        None where the evaluator knows no owners.
        """
        if isinstance(self._loaded_tree().evaluator, RowEvaluator):
            return None
        looks: list[Analysis] = []
        self._search(
            self._tree_aside(LOOKING_NODES), root, among, limits, should_stop, Observer(looks.append, ownership=True)
        )
        return looks[-1].ownership

    def _loaded_tree(self) -> GameTree:
        if self._tree is None or self._tree.evaluator.game.size != self.size:
            seed = int(self._random.integers(2**63))
            self._tree = GameTree(self._open_evaluator(self.game), self._settings.search, seed, memory=self._memory)
        return self._tree

    def _tree_aside(self, max_nodes: int | None = None, left_out: np.ndarray | None = None) -> GameTree:
        """A tree without chance for one question, beside the game's, that grows no further than `max_nodes`, where
        given.

        It leaves out int32 [2, A], see `GameTree`.
        """
        evaluator, search = self._loaded_tree().evaluator, self._settings.search
        if max_nodes is not None:
            return GameTree(evaluator, replace(search, max_nodes=max_nodes), seed=0, left_out=left_out)
        return GameTree(evaluator, search, seed=0, left_out=left_out, memory=self._memory)

    def _search(
        self,
        tree: GameTree,
        root: Position,
        mask: np.ndarray,
        limits: Limits,
        should_stop: Callable[[], bool],
        observer: Observer | None = None,
    ) -> RootResult:
        """`GameTree.search`, of which `on_search` and `on_full` are told."""
        begun = time.monotonic()
        result = tree.search(root, mask, limits, should_stop, observer)
        if self.on_search is not None:
            self.on_search(Searched(tree.look(root, FIRST_MOVES), tree.kept, time.monotonic() - begun))
        if self.on_full is not None and tree.is_full:
            self.on_full(self._memory.limit)
        return result

    def _resigns(self, colour: int, value: float | None) -> bool:
        """Count low values in a row."""
        threshold, earliest = self._resignation(colour)
        if value is None or value >= threshold:
            self._low_values[colour] = 0
            return False
        self._low_values[colour] += 1
        return (
            self._settings.resign
            and self.position.ply >= earliest
            and self._low_values[colour] >= self._settings.resign_moves
        )

    def _resignation(self, colour: int) -> tuple[float, float]:
        """Below which expected result, and not before which ply, ``colour`` resigns."""
        return self._settings.resign_threshold, self._settings.resign_not_before * self.game.points


def _only_action(mask: np.ndarray) -> int | None:
    """The action of a mask bool [A] that allows just one, else None."""
    actions = np.flatnonzero(mask)
    return int(actions[0]) if len(actions) == 1 else None
