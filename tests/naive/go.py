"""Go by definition: a slow, plain-Python referee to hold the kernels against.

Vocabulary: a *board* is a tuple of 0 (empty), 1 (Black) and 2 (White), row-major from the top left; a *chain* is a
connected set of stones of one colour; its *liberties* are the empty points next to it; a *region* of a colour is a
connected set of points that hold no stone of it. Actions are numbered as in the engine: points, then pass, then resign
(which is never a move here).

Nothing is incremental and nothing is shared with the engine: every question is answered from the list of past boards by
flood fills, so that a mistake of the kernels cannot hide in this file as well. It does not try to be fast or to prune.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

EMPTY, BLACK, WHITE = 0, 1, 2
Board = tuple[int, ...]
Points = frozenset[int]

HISTORY = 5  # boards in the feature planes
PASSES = 5  # past moves whose being a pass is a feature


class Rules(NamedTuple):
    """One row of the rule table: how repetition is barred, whether suicide is a move, White's bonus for n handicap
    stones, whether territory and prisoners count.
    """

    ko: str  # "simple" | "positional" | "situational"
    suicide: bool
    bonus: str  # "n" | "n-1" | "0"; one stone is no handicap
    territory: bool = False


RULES = {
    "chinese": Rules("positional", False, "n"),
    "chinese-simple": Rules("simple", False, "n"),
    "chinese-ogs": Rules("positional", False, "n"),
    "chinese-kgs": Rules("positional", False, "n"),
    "japanese": Rules("simple", False, "0", territory=True),
    "tromp-taylor": Rules("positional", True, "0"),
    "aga": Rules("situational", False, "n-1"),
    "new-zealand": Rules("situational", True, "0"),
    "ing": Rules("positional", True, "0"),
}


def other(colour: int) -> int:
    """The opponent's colour."""
    return WHITE if colour == BLACK else BLACK


def diagram(board: Sequence[int], cols: int) -> str:
    """A board as rows of text, for the messages of failing tests."""
    return "\n".join(" ".join(".XO"[stone] for stone in board[k : k + cols]) for k in range(0, len(board), cols))


@lru_cache
def neighbours(rows: int, cols: int) -> tuple[tuple[int, ...], ...]:
    """For each point, the points beside it."""
    table = []
    for point in range(rows * cols):
        row, col = divmod(point, cols)
        beside = [(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)]
        table.append(tuple(r * cols + c for r, c in beside if 0 <= r < rows and 0 <= c < cols))
    return tuple(table)


class NaiveGo:
    """One game of Go on a rows x cols board, remembered as the list of all its boards.

    `boards[k]` and `turns[k]` are the board and the side to move after k moves; `moves[k]` is the (colour, action) from
    board k to k + 1.
    """

    def __init__(
        self, rows: int, cols: int | None = None, rules: str = "chinese", komi: float = 7.5, handicap: int = 0
    ) -> None:
        self.rows, self.cols = rows, rows if cols is None else cols
        self.points = self.rows * self.cols
        self.pass_action = self.points
        self.beside = neighbours(self.rows, self.cols)
        self.rules, self.komi, self.handicap = RULES[rules], komi, handicap
        self.boards: list[Board] = [(EMPTY,) * self.points]
        self.turns: list[int] = [BLACK]
        self.moves: list[tuple[int, int]] = []
        self.seen: set[Board | tuple[Board, int]] = {self._key(self.board, self.to_play)}

    # ---- the game as it stands

    @property
    def board(self) -> Board:
        """The current board."""
        return self.boards[-1]

    @property
    def to_play(self) -> int:
        """The side to move."""
        return self.turns[-1]

    def over(self) -> bool:
        """Whether the last two moves were passes."""
        return len(self.moves) >= 2 and all(action == self.pass_action for _, action in self.moves[-2:])

    def result(self) -> int:
        """+1, 0 or -1 for the side to move, by the area of the finished board."""
        lead = self.score() if self.to_play == BLACK else -self.score()
        return (lead > 0) - (lead < 0)

    # ---- moves

    def legal(self) -> set[int]:
        """All legal actions, pass always among them; empty once the game is over."""
        if self.over():
            return set()
        return {self.pass_action} | {point for point in range(self.points) if self.is_legal_point(point)}

    def is_legal_point(self, point: int) -> bool:
        """Whether the side to move may put a stone on `point`: it is empty, no forbidden suicide, no forbidden
        repetition.
        """
        board = self.after(point)
        return board is not None and not self.repeats(board)

    def after(self, point: int) -> Board | None:
        """The board after a stone of the side to move on `point`; None where it is occupied or a forbidden suicide.
        Knows no ko.
        """
        if self.board[point] != EMPTY:
            return None
        board, colour = list(self.board), self.to_play
        board[point] = colour
        for beside in self.beside[point]:
            if board[beside] == other(colour):
                self._remove_if_dead(board, beside)
        if self._remove_if_dead(board, point) and not self.rules.suicide:
            return None
        return tuple(board)

    def repeats(self, board: Board) -> bool:
        """Whether reaching `board` by a play now is a repetition that the ko rule bars."""
        if self.rules.ko == "simple":
            return len(self.boards) >= 2 and board == self.boards[-2]
        return self._key(board, other(self.to_play)) in self.seen

    def play(self, action: int) -> None:
        """Plays a legal action for the side to move."""
        board = self.board if action == self.pass_action else self.after(action)
        assert board is not None and not self.over() and (action == self.pass_action or not self.repeats(board)), (
            f"{action} in\n{self}"
        )
        self.moves.append((self.to_play, action))
        self.turns.append(other(self.to_play))
        self.boards.append(board)
        self.seen.add(self._key(board, self.to_play))

    def undo(self) -> None:
        """Takes the last move back."""
        self.moves.pop()
        self.turns.pop()
        self.boards.pop()
        self.seen = {self._key(board, turn) for board, turn in zip(self.boards, self.turns, strict=True)}

    def _key(self, board: Board, to_play: int) -> Board | tuple[Board, int]:
        """What may not come twice: the board (positional superko), or the board with the side to move (situational)."""
        return (board, to_play) if self.rules.ko == "situational" else board

    def _remove_if_dead(self, board: list[int], point: int) -> bool:
        """Removes the chain on `point` if it has no liberty; tells whether it did."""
        chain, reached = [point], {point}
        for stone in chain:
            for beside in self.beside[stone]:
                if board[beside] == EMPTY:
                    return False
                if board[beside] == board[point] and beside not in reached:
                    reached.add(beside)
                    chain.append(beside)
        for stone in chain:
            board[stone] = EMPTY
        return True

    # ---- counting

    def bonus(self) -> int:
        """White's points for Black's handicap stones."""
        return 0 if self.handicap < 2 else {"n": self.handicap, "n-1": self.handicap - 1, "0": 0}[self.rules.bonus]

    def area(self, board: Board | None = None) -> list[int]:
        """The owner of every point by area: its stone's colour, or the one colour that empty region touches, else 0."""
        board = self.board if board is None else board
        owner = list(board)
        for region in self.regions(board, {EMPTY}):
            touched = {board[beside] for point in region for beside in self.beside[point]} - {EMPTY}
            for point in region:
                owner[point] = min(touched) if len(touched) == 1 else EMPTY
        return owner

    def score(self, owner: list[int] | None = None) -> float:
        """Black's points minus White's, komi and bonus included, by the owner list given or by area as the board
        stands; by territory, from the settled area.
        """
        if self.rules.territory:
            return self._points(BLACK) - self._points(WHITE) - self.komi - self.bonus()
        owner = self.area() if owner is None else owner
        return owner.count(BLACK) - owner.count(WHITE) - self.komi - self.bonus()

    def _points(self, colour: int) -> int:
        """The territory of a side and its prisoners, those that are dead on the board among them."""
        owner, rival = self.settled_area(), other(colour)
        held = [self.board[point] for point in range(self.points) if owner[point] == colour]
        captured = self._placed(rival) - self.board.count(rival)
        return held.count(EMPTY) + 2 * held.count(rival) + captured

    def _placed(self, colour: int) -> int:
        return sum(mover == colour and action != self.pass_action for mover, action in self.moves)

    def settled_area(self) -> list[int]:
        """The owner of every point by area once the stones dead inside the opponent's pass-alive territory are off the
        board.
        """
        board = list(self.board)
        for colour in (BLACK, WHITE):
            for point in self.pass_alive(colour):
                if board[point] == other(colour):
                    board[point] = EMPTY
        return self.area(tuple(board))

    # ---- pass-alive (D. Benson, Life in the Game of Go, 1976)

    def regions(self, board: Board, contents: set[int]) -> list[Points]:
        """The maximal connected sets of points whose contents are in `contents`."""
        found: list[Points] = []
        left = {point for point in range(self.points) if board[point] in contents}
        while left:
            region, frontier = set(), [left.pop()]
            while frontier:
                point = frontier.pop()
                region.add(point)
                here = [beside for beside in self.beside[point] if beside in left]
                left.difference_update(here)
                frontier.extend(here)
            found.append(frozenset(region))
        return found

    def pass_alive(self, colour: int) -> set[int]:
        """The points of `colour`'s pass-alive chains and of the territory they make.

        Chains and regions are struck out until every chain left has two vital regions left and every region left is
        bounded by such chains alone. Territory is a region left in which every empty point touches one of the chains:
        the opponent finds no eye there.
        """
        chains = set(self.regions(self.board, {colour}))
        regions = set(self.regions(self.board, {EMPTY, other(colour)}))
        while True:
            alive = {chain for chain in chains if sum(self._vital(region, chain) for region in regions) >= 2}
            healthy = {region for region in regions if not any(self._touch(region, chain) for chain in chains - alive)}
            if alive == chains and healthy == regions:
                break
            chains, regions = alive, healthy
        stones = {point for chain in chains for point in chain}
        territory = [
            region for region in regions if all(self._beside_any(point, stones) for point in self._empty(region))
        ]
        return stones.union(*territory)

    def _empty(self, region: Points) -> list[int]:
        return [point for point in region if self.board[point] == EMPTY]

    def _beside_any(self, point: int, points: Points | set[int]) -> bool:
        return any(beside in points for beside in self.beside[point])

    def _touch(self, region: Points, chain: Points) -> bool:
        return any(self._beside_any(point, chain) for point in region)

    def _vital(self, region: Points, chain: Points) -> bool:
        """Whether every empty point of the region is a liberty of the chain, and the two touch."""
        return self._touch(region, chain) and all(self._beside_any(point, chain) for point in self._empty(region))

    # ---- features

    def features(self) -> tuple[list[list[int]], list[float]]:
        """The 11 planes, each a list of 0 and 1 by point, and the 7 global numbers of the position, for the side to
        move.
        """
        me = self.to_play
        past = self.boards[::-1][:HISTORY]
        past += [self.boards[0]] * (HISTORY - len(past))
        planes = [[int(stone == colour) for stone in board] for colour in (me, other(me)) for board in past]
        planes.append([int(me == BLACK)] * self.points)
        komi = self.komi + self.bonus()
        if self.rules.territory:
            komi += self._placed(BLACK) - self._placed(WHITE) + (0.5 if me == BLACK else -0.5)
        passes = [float(action == self.pass_action) for _, action in self.moves[::-1][:PASSES]]
        passes += [0.0] * (PASSES - len(passes))
        return planes, [(komi if me == WHITE else -komi) / 20, (self.rows - 13) / 6, *passes]

    # ---- text

    def __str__(self) -> str:
        """The board as a diagram, the side to move and the moves so far."""
        moves = " ".join(f"{'?BW'[colour]}{action}" for colour, action in self.moves) or "no move"
        return f"{diagram(self.board, self.cols)}\n{'?BW'[self.to_play]} to play, {self.rules}, after {moves}"


def perft(game: NaiveGo, depth: int) -> int:
    """The number of sequences of exactly `depth` legal plies."""
    if depth == 0:
        return 1
    count = 0
    for action in sorted(game.legal()):
        game.play(action)
        count += perft(game, depth - 1)
        game.undo()
    return count
