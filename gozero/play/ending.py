"""How a game ends, as far as a player must judge it: which moves are still worth playing, when a pass is sound, the
result.

In Go a side can take more while there is a point between the colours, of no seki, that it can play without being in
atari. It wins as it stands if both counts say so: the area as the board stands, which a server counts that removes no
dead stones, and the area without stones inside the other side's pass-alive territory (Benson 1976). A
`gozero.scoring.settlement.Settlement` judges what else is dead. Where territory counts, a stone costs a point that gains
nothing, so a settlement alone says which moves are left.

A result is +1, 0 or -1 for the side to move, as an outcome. Arrays of points are [P] in action order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gozero.games import COUNTED_GAMES, GO_FAMILY
from gozero.games.colours import leader, opponent
from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.games.go import go
from gozero.games.go.rules import RuleSet
from gozero.games.position import Position
from gozero.play.current_game import CurrentGame, GoGame
from gozero.play.searcher import Limits, Searcher
from gozero.scoring import life_and_death
from gozero.scoring.settlement import (
    SURE,
    Chain,
    Settlement,
    agreed,
    as_it_stands,
    by_territory,
    connected,
    mask_of,
    points,
    settle,
    touches,
)
from gozero.search.root import RootResult

SETTLING_VISITS = 64  # of each of the two searches behind a settlement
FEW_MOVES = 12  # with so few moves left it is worth asking whether any of them gains something
OWNED = 0.8  # expected owner, -1..1, of a point where a move may be worth nothing
UNLIMITED = Limits(None)


class Outcome(NamedTuple):
    """How a game has ended."""

    winner: int  # BLACK, WHITE, or EMPTY for a draw
    lead: float | None  # Black's points above White's; None if points are not counted


class Ending:
    """What a player asks about the end when it chooses a move, within the limits; here the rules alone end the game."""

    def __init__(self, game: CurrentGame) -> None:
        self._current = game

    def outcome(self, limits: Limits = UNLIMITED, dead: Sequence[Chain] | None = None) -> Outcome:
        """Of the game, which is over by the rules; ``dead`` as in `GoEnding.count`."""
        game = self._current
        return Outcome(game.winner(), float(game.position.score()) if game.name in COUNTED_GAMES else None)

    def settled_score(self, limits: Limits) -> float | None:
        """Black's points above White's if both sides passed now; None if nothing is counted then."""
        return None

    def sensible(self, root: Position, limits: Limits, *, friendly: bool) -> np.ndarray:
        """The actions to choose from, bool [A]; ``friendly`` as in `PlayerSettings.friendly_pass`."""
        return root.legal()

    def revised(self, root: Position, action: int, result: RootResult, limits: Limits) -> int:
        """The action to play if a search's result suggests ``action``."""
        return action

    def is_idle(self, root: Position, action: int, limits: Limits) -> bool:
        """Whether the action is on a point that by the last search, of ``root``, belongs to a side already, and nothing
        is left to do but to pass.
        """
        return False

    def forget(self) -> None:
        """Drop what was searched."""


class GoEnding(Ending):
    """The end of a game of Go by a settlement: what the board alone leaves open, searches and readings settle."""

    def __init__(self, game: GoGame, searcher: Searcher) -> None:
        super().__init__(game)
        self._game = game
        self._searcher = searcher
        self._settlement: Settlement | None = None
        self._settled_rules: RuleSet | None = None  # by which that settlement was searched
        self._was_hurried = False  # whether time ended the readings of that settlement
        self._cost = 0.0  # seconds that the last one took for which there was no time

    # Counting

    def settlement(self, limits: Limits = UNLIMITED) -> Settlement:
        """The owners of this board's points and its dead stones; the same object while board and rules are the same.

        Two short searches take half of the limits' time if in doubt, readings half of what is left. If they are
        stopped, the next question is judged anew; if time ran out, the next one without a limit is.
        """
        board, rules, end, begun = self._game.stones(), self._game.rules, limits.end, time.monotonic()
        known, is_final = self._settlement, end < math.inf or not self._was_hurried
        if known is not None and is_final and self._settled_rules == rules and np.array_equal(known.board, board):
            return known
        settlement, self._was_hurried = settle(board), False
        if not settlement.is_complete:
            searched, now = self._expected_owners(limits), time.monotonic()
            deadline = now + (end - now) / 2
            stop = limits.should_stop
            settlement = settle(board, life_and_death.agree(self._game.definition, board, searched, deadline, stop))
            self._was_hurried = time.monotonic() >= deadline
            if begun >= end:
                self._cost = time.monotonic() - begun
        if rules.territory:
            settlement = by_territory(settlement)
        self._settlement, self._settled_rules = None if limits.should_stop() else settlement, rules
        return settlement

    def count(self, limits: Limits = UNLIMITED, dead: Sequence[Chain] | None = None) -> Settlement:
        """What counts if the game ends now. ``dead``: the strings agreed to be; None: judged, if rules remove any."""
        rules, board = self._game.rules, self._game.stones()
        if dead is not None:
            return by_territory(agreed(board, dead)) if rules.territory else agreed(board, dead)
        return self.settlement(limits) if rules.removes_dead else as_it_stands(board)

    def outcome(self, limits: Limits = UNLIMITED, dead: Sequence[Chain] | None = None) -> Outcome:
        lead = self.settled_score(limits, dead)
        return Outcome(leader(lead), lead)

    def settled_score(self, limits: Limits = UNLIMITED, dead: Sequence[Chain] | None = None) -> float:
        """Black's points above White's by `count`, komi and handicap bonus included."""
        return self.count(limits, dead).area - float(go.white_bonus(self._game.position.state))

    def forget(self) -> None:
        self._settlement = None

    def _expected_owners(self, limits: Limits, visits: int = SETTLING_VISITS) -> list[np.ndarray]:
        """float32 [P], + for Black, by a search for either side to move; [] if the evaluator gives no ownership."""
        now = time.monotonic()
        quarter = (limits.end - now) / 4
        expected = []
        for number, colour, sign in ((1, BLACK, 1), (2, WHITE, -1)):
            root = self._game.root(colour)
            root.state[go.PASSES] = 0  # the question is what becomes of the stones, not whether the game ends
            among = sensible_moves(root, opponent_passed=False)
            among[root.game.pass_action] = True
            until = Limits(visits, now + number * quarter, should_stop=limits.should_stop)
            ownership = self._searcher.ownership(root, among, until)
            expected += [] if ownership is None else [sign * ownership]
        return expected

    # Moves

    def sensible(self, root: Position, limits: Limits, *, friendly: bool) -> np.ndarray:
        """The actions to choose from, bool [A]; only the pass beyond a limit of moves."""
        if 0 < root.game.initial[go.MOVE_LIMIT] <= root.ply:
            return self._game.mask_of([root.game.pass_action])
        opponent_passed = self._opponent_passed(root)
        if self._game.rules.territory:
            return self._sensible_by_territory(root, limits, opponent_passed)
        mask = sensible_moves(root, opponent_passed=opponent_passed)
        moves = int(mask[: root.game.points].sum())
        if moves == 0 or not (opponent_passed or moves <= FEW_MOVES):
            return mask
        friendly, settlement = friendly and self._game.rules.removes_dead, self.settlement(limits)
        return settled_moves(root, mask, settlement, opponent_passed=opponent_passed, friendly=friendly)

    def _sensible_by_territory(self, root: Position, limits: Limits, opponent_passed: bool) -> np.ndarray:
        """A settlement has a say after the opponent's pass, and where the network is sure of all but few points."""
        game, mask = root.game, territory_moves(root, opponent_passed=opponent_passed)
        owners = [] if opponent_passed else self._expected_owners(limits, visits=1)
        sure = np.abs(np.sum(owners, axis=0)) >= 2 * SURE if owners else np.zeros(game.points, np.bool_)
        if not opponent_passed and (mask[: game.points] & ~sure).sum() > FEW_MOVES:
            return mask
        return unsettled_moves(root, mask, self.settlement(limits), opponent_passed=opponent_passed)

    def clean_up_moves(self, root: Position, limits: Limits) -> np.ndarray:
        """The moves that help to capture the other side's dead stones, bool [A]; the pass only where none are left."""
        return clean_up_moves(root, self.settlement(limits), opponent_passed=self._opponent_passed(root))

    def revised(self, root: Position, action: int, result: RootResult, limits: Limits) -> int:
        """The action; the pass for an idle one, unless the dead stones decide the game; the next best for a first pass
        after which the opponent could pass and win, or draw in doubt.
        """
        if self.is_idle(root, action, limits):
            settled = settled_result(root, self.settlement(limits))
            return root.game.pass_action if settled == result_as_it_stands(root) else action
        if action != root.game.pass_action or self._opponent_passed(root) or not self._game.rules.removes_dead:
            return action
        settlement = self.settlement(limits)
        settled = settled_result(root, settlement)
        if settled > 0 or (settlement.is_complete and (settled == 0 or self._game.rules.territory)):
            return action
        return next((other for other in result.ranked() if other != action), action)

    def is_idle(self, root: Position, action: int, limits: Limits) -> bool:
        # after the opponent's pass `sensible` has asked already
        if self._opponent_passed(root) or not self._game.rules.removes_dead:
            return False
        if limits.end - limits.begun < self._cost:  # on a clock that runs out a move more is the safer one
            self._cost *= 0.9  # one slow moment does not count for ever
            return False
        owner = self._searcher.last_owners(root)
        if owner is None or action >= len(owner) or abs(owner[action]) < OWNED:
            return False
        if (np.abs(owner) < OWNED).sum() > FEW_MOVES:  # cheap, and in most positions enough
            return False
        guess = settle(self._game.stones(), [owner if root.to_play == BLACK else -owner] * 2)
        return guess.is_complete and self.settlement(limits).is_complete

    def _opponent_passed(self, root: Position) -> bool:
        last = next(reversed(self._game.position.moves), None)
        return last is not None and last.action == root.game.pass_action and last.colour != root.to_play


def candidates(position: Position) -> np.ndarray:
    """bool [A]: the moves worth a thought in a position that is not over; see `sensible_moves`."""
    opponent_passed = bool(position.moves) and position.moves[-1].action == position.game.pass_action
    return sensible_moves(position, opponent_passed=opponent_passed)


def sensible_moves(root: Position, *, opponent_passed: bool) -> np.ndarray:
    """The legal actions worth considering, bool [A]; only the pass where passing is right at once.

    Never among them, while there is anything else: a move into one's own one-point eye or into one's own pass-alive
    territory with no enemy stone in it. The pass is among them if the side to move cannot take more and wins as it
    stands, or draws so and the opponent has just passed; it stands alone if that side wins and the opponent has just
    passed, or all that could still be played is pass-alive, or nothing else is left. A game beyond
    ``game.max_plies`` is ended: the pass is always allowed and moves into either side's pass-alive territory are not.
    In games other than Go every legal action is considered.
    """
    game, legal = root.game, root.legal()
    if game.name not in GO_FAMILY:
        return legal
    alive = _pass_alive(root)
    useful = legal[: game.points] & ~_wasted_points(root, alive)
    contested = useful & (alive == 0)
    standing = result_as_it_stands(root)
    overlong = root.ply >= game.max_plies
    sensible = np.zeros(game.actions, np.bool_)
    sensible[: game.points] = contested if overlong else useful
    passes_now = standing > 0 and (opponent_passed or not contested.any())
    may_pass = standing > 0 or (standing == 0 and opponent_passed)
    if passes_now or not sensible.any():
        sensible[:] = False
        sensible[game.pass_action] = True
    elif overlong or (may_pass and not _can_take_more(root, legal)):
        sensible[game.pass_action] = True
    return sensible


def settled_moves(
    root: Position, sensible: np.ndarray, settlement: Settlement, *, opponent_passed: bool, friendly: bool
) -> np.ndarray:
    """The sensible moves that a settlement leaves, bool [A].

    Only the pass if nothing is left to gain, or if the opponent has passed, the side is ``friendly`` and the settlement
    wins, or draws and is complete. A side that is not friendly must capture dead stones that lower its result.
    """
    passing = root.game.pass_action
    settled, standing = settled_result(root, settlement), result_as_it_stands(root)
    gains = settled > standing and not sensible[passing]
    agreed = friendly and opponent_passed and (settled > 0 or (settled == 0 and settlement.is_complete))
    if agreed or (settlement.is_complete and not gains):
        return np.arange(root.game.actions) == passing
    if settled > standing and opponent_passed:
        taking = sensible & _taking_off(root, settlement)
        return taking if taking.any() else sensible
    return sensible


def territory_moves(root: Position, *, opponent_passed: bool) -> np.ndarray:
    """The legal actions worth considering where territory counts, bool [A], before a settlement is known: no move into
    either side's pass-alive territory or one's own eye, and the pass unless more than neutral points is open.
    """
    game, useful, alive = root.game, root.legal(), _pass_alive(root)
    useful[: game.points] &= ~_wasted_points(root, alive) & (alive == 0)
    useful[game.pass_action] = opponent_passed or not useful[: game.points].any() or not go.is_open(root.state)
    return useful


def unsettled_moves(
    root: Position, useful: np.ndarray, settlement: Settlement, *, opponent_passed: bool
) -> np.ndarray:
    """Those of the `territory_moves` that a settlement leaves, bool [A]: onto open points, or in a ko all, as threats.

    The pass, which after the opponent's would end the game, is among them only if the search counts that end as the
    settlement does, or if all the others would put their own string in atari; it stands alone if nothing is left.
    """
    game, state = root.game, root.state
    left, passing = useful.copy(), np.arange(game.actions) == game.pass_action
    if not state[go.KO]:
        left[: game.points] &= settlement.open
    left[game.pass_action] &= not opponent_passed or settled_result(root, settlement) == np.sign(go.score(state))
    board, colour = game.board(state), root.to_play
    if not left[game.pass_action] and not any(_is_safe(board, action, colour) for action in points(left)):
        left = passing if opponent_passed else left | passing
    return passing if settlement.is_complete else left


def clean_up_moves(root: Position, settlement: Settlement, *, opponent_passed: bool) -> np.ndarray:
    """The moves, bool [A], that help to capture the other side's dead stones, or are open unless the opponent has just
    passed, since they may be threats; only the pass if there are none.
    """
    game, passing = root.game, np.arange(root.game.actions) == root.game.pass_action
    if not settlement.dead_of(opponent(root.to_play)):
        return passing if settlement.is_complete else sensible_moves(root, opponent_passed=opponent_passed)
    useful = root.legal() & ~passing
    useful[: game.points] &= ~_wasted_points(root, _pass_alive(root))
    wanted = _taking_off(root, settlement)
    if not opponent_passed:
        wanted[: game.points] |= settlement.open
    return next(mask for mask in (useful & wanted, useful, passing) if mask.any())


def settled_result(root: Position, settlement: Settlement) -> int:
    """The result of a settlement for the side to move."""
    lead = int(np.sign(settlement.area - go.white_bonus(root.state)))
    return lead if root.to_play == BLACK else -lead


def _taking_off(root: Position, settlement: Settlement) -> np.ndarray:
    """The empty points of the side to move around the other side's dead stones, bool [A]."""
    game, colour, board = root.game, root.to_play, settlement.board
    dead = mask_of(settlement.dead_of(opponent(colour)), len(board))
    around = connected(dead, dead | (board == EMPTY)).reshape(-1) & ~dead.reshape(-1) & (settlement.owner == colour)
    return np.append(around, np.zeros(game.actions - game.points, np.bool_))


def _can_take_more(root: Position, legal: np.ndarray) -> bool:
    """Whether a legal move (bool [A]) goes onto a point between the colours, of no seki, and not into atari."""
    board = root.game.board(root.state)
    return any(_is_safe(board, action, root.to_play) for action in points(as_it_stands(board).open & legal[: board.size]))


def _is_safe(board: np.ndarray, action: int, colour: int) -> bool:
    """Whether a legal move leaves its own string two liberties or more."""
    point = mask_of([action], len(board))
    chain = connected(point, point | (board == colour))
    empty = ((board == EMPTY) & ~point) | _captured(board, point, opponent(colour))
    return bool((touches(chain) & empty).sum() > 1)


def _captured(board: np.ndarray, point: np.ndarray, colour: int) -> np.ndarray:
    """bool [size, size]: the stones of a colour that a stone of the other at `point`, bool [size, size], takes off."""
    captured = np.zeros(board.shape, np.bool_)
    for beside in points(touches(point) & (board == colour)):
        chain = connected(mask_of([beside], len(board)), board == colour)
        if not (touches(chain) & (board == EMPTY) & ~point).any():
            captured |= chain
    return captured


def result_as_it_stands(root: Position) -> int:
    """The certain result of the side to move as it stands: the worse of counting dead stones as alive or dead."""
    return int(np.sign(min(go.score(root.state), go.settled_score(root.state))))


def _wasted_points(root: Position, alive: np.ndarray) -> np.ndarray:
    """Points, bool [P], that it would be a loss to fill: own eyes, own pass-alive territory without enemy stones; and
    where a lone stone would take its own last liberty, which changes nothing and by simple ko may go on for ever.
    """
    board, size = root.game.board(root.state), root.game.rows
    own, empty = board == root.to_play, board == EMPTY
    enemy, territory = ~own & ~empty, (alive.reshape(size, size) > 0) & ~own
    wasted = empty & territory & ~connected(enemy & territory, territory)
    for point in points(empty & ~wasted & ~touches(~own)):  # eyes: every neighbour is an own stone
        neighbours = touches(mask_of([point], size))
        chain = connected(mask_of(points(neighbours)[:1], size), own)
        wasted.reshape(-1)[point] = not (neighbours & ~chain).any()
    for point in points(empty & ~touches(~enemy) & bool(root.state[go.SUICIDE])):
        wasted.reshape(-1)[point] = not _captured(board, mask_of([point], size), opponent(root.to_play)).any()
    return np.asarray(wasted.reshape(-1))


def _pass_alive(root: Position) -> np.ndarray:
    alive = np.empty(root.game.points, np.int8)
    go.pass_alive(root.state, alive)
    return alive
