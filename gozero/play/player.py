"""A player of any game: chooses and plays moves, analyses, ponders and resigns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gozero import games
from gozero.evaluators.base import Evaluator
from gozero.games import GO_FAMILY
from gozero.games.colours import opponent
from gozero.games.game import BLACK, EMPTY, WHITE, Game
from gozero.games.go.handicap import FEWEST_STONES, fixed_points, most_fixed
from gozero.games.position import IllegalMove, Position
from gozero.play.current_game import CurrentGame, GoGame, check_board
from gozero.play.ending import Ending, GoEnding
from gozero.play.engine import EngineSettings
from gozero.play.searcher import ANALYSIS, CHECK, PONDERING, Analysis, Limits, Observer, Searcher
from gozero.scoring.settlement import touches
from gozero.search.root import RootResult, left_out
from gozero.search.search import choose
from gozero.search.settings import Restriction, SearchSettings
from gozero.system.errors import ChoiceError

OPENING = 0.4  # plies per point of the board in which a drawn move on Go's first line must touch stones
MOST_DRAWS = 12  # of moves that lose too much, before the best one is played
CHECK_VISITS = 2  # of the search that says how much a move loses
CHECK_NODES = 64  # of its tree
POINTS_OF_A_WIN = 10  # what a win is worth more than a draw where no points are counted
FORCED_VISITS = 2  # of a move without a choice, so that an observer sees a value
NO_CHOICE = "none of these moves is legal"


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
    # of analyses, see `SearchRequest` (KataGo 0.04): several moves are searched enough to be compared
    wide_root_noise: float = 0.0
    top_p: float = 1.0  # share of the weights that the actions drawn from have, see `nucleus`
    most_loss: float = math.inf  # points that a move may lose against the best one, see `POINTS_OF_A_WIN`
    keeps_search: bool = True  # whether a move uses what was searched before: earlier moves, analyses, pondering
    search: SearchSettings = field(default_factory=lambda: SearchSettings(leaves=8))
    max_memory: int | None = None  # bytes that search trees may grow to; None: a quarter of the machine's

    def temperature_at(self, position: Position) -> float:
        """Temperature of the draw among the moves of this position."""
        opening = position.ply < self.opening * position.game.points
        return max(self.temperature, self.opening_temperature if opening else 0.0)


class Player:
    """Plays and analyses one game at a time, in one thread; the game may be changed between two calls."""

    def __init__(
        self, game: CurrentGame, open_evaluator: Callable[[Game], Evaluator], settings: PlayerSettings
    ) -> None:
        """Play a game that is there already, which several players may share; its rules are the game's."""
        self.game, self._settings = game, settings
        self._random = np.random.default_rng(settings.seed)  # draws the moves of the opening
        memory = settings.max_memory or EngineSettings().tree_memory
        self.searcher = Searcher(open_evaluator, settings.search, self._random, memory)
        self.ending = GoEnding(game, self.searcher) if isinstance(game, GoGame) else Ending(game)

    def change(self, settings: PlayerSettings) -> None:
        """Play like this from the next move on; rules, seed and memory stay what they were."""
        self.searcher.change(settings.search)
        old = self._settings
        self._settings = replace(settings, rules=old.rules, seed=old.seed, max_memory=old.max_memory)

    def load(self) -> None:
        """Open the evaluator for this board now, not when the next move is wanted."""
        self.searcher.open(self.game.definition)

    def forget(self) -> None:
        """Drop all that was searched; the next search begins as the first one did."""
        self.searcher.forget()
        self.ending.forget()

    # Moves

    def genmove(self, colour: int, limits: Limits, observer: Observer | None = None) -> int:
        """Choose a move for ``colour`` and play it; the resign action leaves the board as it is. TurnError if it is not
        to move. After the end there are only passes, but a loser resigns unless points are counted.
        """
        game = self.game
        game.notes.last = None
        if game.is_over:
            return self._move_after_the_end(colour)
        root = game.root(colour)
        action, value, note = self._decide(root, limits, observer)
        game.notes.last = note
        if self._resigns(colour, value):
            game.notes.resignation = colour, len(game.position.moves)
            return game.definition.resign_action
        game.play(colour, action)
        if note is not None:
            game.notes.by_move[len(game.position.moves)] = note
        return action

    def suggest(self, colour: int, limits: Limits, among: np.ndarray | None = None) -> int:
        """The move among these, bool [A] (None: all that make sense), by a search aside; it is not played."""
        root = self.game.root(colour)
        mask, action = self._choices(root, limits, among)
        return self.searcher.search(root, mask, limits, aside=True).best if action is None else action

    def _move_after_the_end(self, colour: int) -> int:
        """The resign action for a loser if points are not counted, else a pass, which is played."""
        game = self.game
        if game.winner() == opponent(colour) and game.name not in games.COUNTED_GAMES:
            return game.definition.resign_action
        game.play(colour, game.definition.pass_action)
        return game.definition.pass_action

    def _decide(
        self, root: Position, limits: Limits, observer: Observer | None
    ) -> tuple[int, float | None, Analysis | None]:
        """The action to play, the value of the root and a note on the action, both None if there was no choice."""
        mask, only = self._choices(root, limits)
        if only is not None:
            if observer is not None:
                self._report_forced(root, only, limits, observer)
            return only, None, None
        if not self._settings.keeps_search:
            self.searcher.restart()
        result = self.searcher.search(root, mask, limits, observer)
        action = self._drawn(root, result, limits)
        action = self.ending.revised(root, action, result, limits)
        return action, result.value, self.searcher.note(root, action)

    def _drawn(self, root: Position, result: RootResult, limits: Limits) -> int:
        """The action to play by a search's result: the best one, or one drawn that loses no more than it may."""
        settings, passing = self._settings, root.game.pass_action
        temperature = settings.temperature_at(root)
        if settings.most_loss == math.inf:
            return choose(result, temperature, self._random, undrawn=passing)
        weights = result.visits if result.visits.any() else result.prior
        among, least = nucleus(weights, settings.top_p) & has_reason(root), None
        for _ in range(MOST_DRAWS):  # rejection costs a look a draw, and not one for each action
            left = replace(result, visits=result.visits * among, prior=result.prior * among)
            action = choose(left, temperature, self._random, undrawn=passing)
            if action == result.best:
                break
            if least is None:
                least = self._worth(root, result.best, limits) - settings.most_loss
            if self._worth(root, action, limits) >= least:
                return action
            among[action] = False
        return result.best

    def _worth(self, root: Position, action: int, limits: Limits) -> float:
        """Points that the search expects of an action, or one of it alone if the search has not visited it."""
        move = self.searcher.note(root, action).moves[0]
        if not move.visits:
            found: list[Analysis] = []
            mask, few = self.game.mask_of([action]), replace(limits, visits=CHECK_VISITS)
            self.searcher.search(root, mask, few, Observer(found.append), CHECK, aside=True, max_nodes=CHECK_NODES)
            move = found[-1].moves[0]
        return POINTS_OF_A_WIN * move.value if move.score is None else move.score

    def _choices(
        self, root: Position, limits: Limits, among: np.ndarray | None = None
    ) -> tuple[np.ndarray, int | None]:
        """The actions to choose from, bool [A], and the only one if there is one. IllegalMove if there is none."""
        if among is None:
            mask = self.ending.sensible(root, limits, friendly=self._settings.friendly_pass)
        else:
            mask = root.legal() & among
        actions = np.flatnonzero(mask)
        if not len(actions):
            raise IllegalMove(NO_CHOICE)
        return mask, int(actions[0]) if len(actions) == 1 else None

    def _report_forced(self, root: Position, action: int, limits: Limits, observer: Observer) -> None:
        """Report on a move without a choice. Of a forced pass the count is reported, not the network's estimate."""
        lead = self.ending.settled_score(limits) if action == root.game.pass_action else None
        if lead is not None:
            report, sign = observer.report, 1 if root.to_play == BLACK else -1
            observer = replace(observer, report=lambda analysis: report(analysis.ended(sign * lead)))
        few = replace(limits, visits=FORCED_VISITS)
        self.searcher.search(root, self.game.mask_of([action]), few, observer)

    def _resigns(self, colour: int, value: float | None) -> bool:
        """Count low values in a row; whether there are enough to resign. After a handicap White resigns later."""
        game, settings = self.game, self._settings
        handicap = game.handicap if colour == WHITE else 0
        given = max(0, 2 * (handicap - game.placed_handicap) - 1)  # plies of stones played, with White's passes
        earliest = settings.resign_not_before * game.definition.points * (1 + handicap / 9) + given
        low_values = game.notes.low_values
        if value is None or value >= -1 + (1 + settings.resign_threshold) / (1 + handicap):
            low_values[colour] = 0
            return False
        low_values[colour] += 1
        enough = low_values[colour] >= settings.resign_moves
        return settings.resign and enough and game.position.ply >= earliest

    # Analysis

    def analyse(
        self, colour: int, limits: Limits, observer: Observer, restrictions: Sequence[Restriction] = ()
    ) -> None:
        """Search for ``colour`` and report; nothing is played. A later move profits if none was left out below the
        root. IllegalMove if no legal move is left.
        """
        root = self.game.root(colour)
        plies = left_out(restrictions, colour, root.game.actions)
        mask = root.legal() & (plies[0] == 0)
        if not mask.any():
            raise IllegalMove(NO_CHOICE)
        self.searcher.search(
            root, mask, limits, observer, ANALYSIS, aside=bool(plies.max() > 1), left_out=plies,
            wide_root_noise=self._settings.wide_root_noise,
        )  # fmt: skip

    def hint(self, limits: Limits, observer: Observer) -> None:
        """Search the side to move's turn as `suggest` would, and report to ``observer``; nothing is played. The last
        report is of a pass if nothing else is left to do.
        """
        root = self.game.root(self.game.position.to_play)
        mask, only = self._choices(root, limits)
        if only is None:
            best = self.searcher.search(root, mask, limits, observer, ANALYSIS).best
            only = root.game.pass_action if self.ending.is_idle(root, best, limits) else None
        if only is not None:
            self._report_forced(root, only, limits, observer)

    def ponder(self, should_stop: Callable[[], bool]) -> None:
        """Search the side to move's turn until `should_stop()` or the tree is full, for the next move to profit."""
        if not self.game.position.is_over:
            root = self.game.root(self.game.position.to_play)
            limits = Limits(None, should_stop=should_stop)
            self.searcher.search(root, root.legal(), limits, purpose=PONDERING)


def make_player(
    name: str, sizes: Sequence[int], open_evaluator: Callable[[Game], Evaluator], settings: PlayerSettings, *,
    size: int, komi: float | None = None, handicap: int = 0,
) -> Player:  # fmt: skip
    """A player of a new game: arguments as for `make_game`, `Searcher`."""
    game = make_game(name, sizes, size=size, rules=settings.rules, komi=komi, handicap=handicap)
    return Player(game, open_evaluator, settings)


def make_game(
    name: str, sizes: Sequence[int], *, size: int, rules: str | None, komi: float | None, handicap: int = 0
) -> CurrentGame:
    """A game in progress, before its first move, with Black's stones (2 or more) on the fixed points; arguments as for
    `CurrentGame`, `GoGame`. ChoiceError for unknown rules, a board that is not among the sizes, and a handicap that the
    game does not have there.
    """
    check_board(size, sizes)
    if name not in GO_FAMILY:
        game = CurrentGame(name, sizes, size=size, rules=rules)
    else:
        game = GoGame(name, sizes, size=size, rules=rules, komi=komi)
    if handicap < FEWEST_STONES:
        return game
    if name != "go" or not isinstance(game, GoGame):
        raise ChoiceError(f"{name} has no handicap")
    if handicap > most_fixed(size):
        raise ChoiceError(f"handicap {handicap}: a board of {size}x{size} has at most {most_fixed(size)}")
    game.place_handicap(fixed_points(handicap, size))
    return game


def nucleus(weights: np.ndarray, top_p: float) -> np.ndarray:
    """bool [A]: the fewest actions, heaviest first, that have this share of the sum of weights [A] (Holtzman et al.
    2020).
    """
    order = np.argsort(-weights, kind="stable")
    before = np.cumsum(weights[order]) - weights[order]
    chosen = np.zeros(len(weights), np.bool_)
    chosen[order] = before < top_p * weights.sum()
    return chosen & (weights > 0)


def has_reason(position: Position) -> np.ndarray:
    """bool [A]: all actions, but in the opening of Go not those on the first line that touch no stone, and in Gomoku
    not those more than two points from any stone.
    """
    game = position.game
    allowed, stones = np.ones(game.actions, np.bool_), game.board(position.state) != EMPTY
    if game.name in GO_FAMILY and position.ply < OPENING * game.points:
        sound = touches(stones)
        sound[1:-1, 1:-1] = True
        allowed[: game.points] = sound.reshape(-1)
    elif game.name == "gomoku" and stones.any():
        allowed[: game.points] = sliding_window_view(np.pad(stones, 2), (5, 5)).any((2, 3)).reshape(-1)
    return allowed
