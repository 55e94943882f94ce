"""A game driven straight through its row kernels, one position at a time, with plain Python answers.

`Row` lets a test play what the rules forbid, but never on a stone; `gozero.games.position.Position` is the class for real
use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gozero.games.game import PLY, TO_PLAY, Game
from gozero.games.go import go


class Row:
    """One state row of `game` with a history that has room for `plies` more plies."""

    def __init__(self, game: Game, state: np.ndarray | None = None, plies: int = 2000) -> None:
        self.game = game
        self.state = game.new_states(1)[0] if state is None else state.copy()
        self.history = np.zeros(int(self.state[PLY]) + plies + 1, np.uint64)
        self.history[self.state[PLY]] = game.hash_of(self.state)
        self.actions: list[int] = []

    @property
    def to_play(self) -> int:
        return int(self.state[TO_PLAY])

    def play(self, *moves: int | str) -> Row:
        """Plays actions or vertices without asking whether they are legal."""
        for move in moves:
            action = self.game.action(move) if isinstance(move, str) else int(move)
            is_taken = action < self.game.points and self.stones()[action] != 0
            assert not is_taken or action in self.legal(), f"{move} is not an empty point\n{self}"
            self.game.step(self.state, self.history, action)
            self.actions.append(action)
        return self

    def legal(self) -> set[int]:
        """The legal actions; checks that the kernel's count is their number."""
        mask = np.full(self.game.actions, 7, np.uint8)
        count = self.game.legal(self.state, self.history, mask)
        assert set(mask.tolist()) <= {0, 1}, mask
        assert count == mask.sum(), f"{count} counted, {mask.sum()} marked\n{self}"
        return set(np.flatnonzero(mask).tolist())

    def allows(self, move: int | str) -> bool:
        """Whether one action or vertex is legal."""
        return (self.game.action(move) if isinstance(move, str) else move) in self.legal()

    def points(self, kernel: Callable[[np.ndarray, np.ndarray], None]) -> list[int]:
        """What a kernel(state, out int8 [points]) writes: one number per point."""
        out = np.full(self.game.points, 7, np.int8)
        kernel(self.state, out)
        return out.tolist()

    def stones(self) -> tuple[int, ...]:
        """Colours of the points."""
        out = np.empty(self.game.points, np.uint8)
        self.game.stones(self.state, out)
        return tuple(out.tolist())

    def __str__(self) -> str:
        return f"{self.game.to_text(self.state)}\nafter {' '.join(map(str, self.actions)) or 'no move'}"


def board(text: str, *, to_play: str = "X", rules: str = "chinese", komi: float = 0.0, move_limit: int = 0) -> Row:
    """A Go position from rows of `X`, `O` and `.`, divided by slashes."""
    return shown(lambda size: go.make(size, rules, komi, move_limit=move_limit), text, to_play)


def shown(kind: Game | Callable[[int], Game], text: str, to_play: str = "X") -> Row:
    """A position of any game, or of the one that a function makes of its size, from rows of `X`, `O` and `.`, divided
    by slashes.
    """
    game = kind if isinstance(kind, Game) else kind(text.count("/") + 1)
    return Row(game, game.from_text("\n".join([f"{to_play} to play", *text.split("/")])))


def deviation(row: Row, draws: int, among: Iterable[int] | None = None) -> float:
    """How far so many samples are from drawing each of these actions, None: every legal one, alike: chi-squared. No other
    action may be drawn.
    """
    generator, legal = np.array([5], np.uint64), sorted(row.legal() if among is None else among)
    drawn = np.bincount(
        [row.game.sample(row.state, row.history, generator) for _ in range(draws)], minlength=row.game.actions
    )
    assert np.flatnonzero(drawn).tolist() == legal, str(row)
    expected = draws / len(legal)
    return float(((drawn[legal] - expected) ** 2 / expected).sum())


def picture(row: Row) -> str:
    """The stones of a Go position, rows from the top divided by slashes."""
    size = row.game.rows
    return "/".join("".join(".XO"[stone] for stone in row.stones()[k * size : (k + 1) * size]) for k in range(size))


def grid(numbers: Iterable[int], size: int) -> str:
    """Numbers by point as text rows, for the messages of failing tests."""
    rows = np.array(list(numbers)).reshape(size, size)
    return "\n".join(" ".join(f"{number:2d}" for number in row) for row in rows)
