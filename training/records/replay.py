"""Replay: recorded moves played again to make rows, and the window of rows from which the learner draws batches.

A row is one recorded position: packed planes, globals and its targets, all from the view of the side to move. Part of
each game's weight is shared out among its rows by their surprise, the divergence of the search's policy from the
network's, because there is most to learn where it is large (policy-surprise weighting, KataGo's
docs/KataGoMethods.md). A search is surprised where it finds a better move than the network thought, so rows drawn by
surprise are won more often than lost (mean result of generation 524's on 13x13: +0.03): in the losses of value, score
and ownership a row counts by its rarity, 1 / weight up to a limit.

The window is in memory; records on disk are its only copy. A record that is damaged, whose moves are illegal or do not
lead to its result makes no rows and is counted. Whether a game is held out depends on its moves alone.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gozero.games import symmetry
from gozero.games.coords import PLACING, Directions
from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.nets import features
from training.records import scoring
from training.records.records import Record, Target
from training.settings.config import ReplaySettings

ALIKE = ReplaySettings(surprise_share=0.0)  # every row is drawn as often
OPENING = 0.25  # share of a game's moves, see `is_opening`
LEAST_WEIGHT = 1e-3  # so that every row can be drawn, also where surprise is all that counts
TO_PLAY_PLANE = -1  # of all layouts of features.py: whether Black is to move
MOST_RARITY = 4.0  # so that no row decides a step (truncated importance sampling, Ionides 2008)


class CorruptRecordError(ValueError):
    """A record that cannot have come from a game: it must not be trained on."""


class Batch(NamedTuple):
    """n rows of one board (H rows, W columns, P points, A actions); everything is the side to move's view."""

    planes: np.ndarray  # float32 [n, C, H, W]
    globals: np.ndarray  # float32 [n, G]
    policy: np.ndarray  # float32 [n, A], sums to 1
    reply: np.ndarray  # float32 [n, A]: the opponent's next move; sums to 1, or all zero after the last move
    value: np.ndarray  # int64 [n]: +1 won, 0 drawn, -1 lost
    score: np.ndarray  # float32 [n]: final lead in points, komi included
    owner: np.ndarray  # float32 [n, P]: +1 ends as the side to move's, -1 as the other's, 0 neither
    known: np.ndarray | None = None  # bool [n, 3]: whether value, score and owner are known; None: all, as in self-play
    # float32 [n]: the root's value by the search, -1..1; NaN where no network searched; None: in no row
    root: np.ndarray | None = None
    tactics: np.ndarray | None = None  # float32 [n, K, H, W], from version 2 of the input features on
    rarity: np.ndarray | None = None  # float32 [n], see the module; None: 1 for all, of rows not drawn by weight

    @property
    def inputs(self) -> tuple[np.ndarray, ...]:
        """The network's inputs, in the order of its arguments."""
        return (self.planes, self.globals) if self.tactics is None else (self.planes, self.globals, self.tactics)

    def map_inputs(self, change: Callable[[np.ndarray], np.ndarray]) -> Batch:
        """The batch with each of its inputs changed."""
        return self._replace(**{name: change(array) for name, array in zip(INPUTS, self.inputs, strict=False)})


INPUTS = ("planes", "globals", "tactics")  # of a batch, in the order of the network's arguments


@dataclass
class Rows:
    """Packed rows of one size, 1.2 KB each at 13x13: planes uint8 [n, ⌈CP/8⌉], policy and reply float16 [n, A], owner
    int8 [n, P].
    """

    planes: np.ndarray
    globals: np.ndarray
    tactics: np.ndarray  # uint8 [n, ⌈KP/8⌉]; [n, 0] in version 1 of the input features
    policy: np.ndarray
    reply: np.ndarray
    value: np.ndarray
    score: np.ndarray
    owner: np.ndarray
    root: np.ndarray  # float32 [n], as in Batch
    weight: np.ndarray  # float32 [n], above 0
    serial: np.ndarray  # int64 [n]: how many rows the run had recorded before this one

    def __len__(self) -> int:
        return len(self.serial)

    @cached_property
    def reach(self) -> np.ndarray:
        """float64 [n]: the weight of each row and all before it."""
        return np.cumsum(self.weight, dtype=np.float64)

    def draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """`count` indices, each row as often as its weight says."""
        places = generator.random(count) * self.reach[-1]
        return np.minimum(np.searchsorted(self.reach, places, side="right"), len(self) - 1)


ROW_FIELDS = tuple(item.name for item in fields(Rows))


def rows_of(
    record: Record, game: Game, first_serial: int = 0, settings: ReplaySettings = ALIKE, version: int = 1
) -> Rows:
    """Play a record's moves and build a row at each of its full searches.

    `game` has the record's board and rules, `first_serial` is the first row's, `settings` say how often the rows are
    drawn, `version` is that of the input features. Raises CorruptRecordError if the moves are no game with this result.
    """
    states, last = _replay(record, game)
    score, owner = _counted(record, game, last), scoring.final_owner(game, last).astype(np.int8)
    planes, global_inputs, tactics = packed_inputs(game, states, version)
    signs = np.where(states[:, TO_PLAY] == BLACK, 1, -1)
    return Rows(
        planes=planes,
        globals=global_inputs,
        tactics=tactics,
        policy=np.stack([_dense(target, game.actions) for target in record.targets]),
        reply=_replies(record, game.actions),
        value=np.sign(score * signs).astype(np.int8),
        score=(score * signs).astype(np.float32),
        owner=(owner[None, :] * signs[:, None]).astype(np.int8),
        root=np.array([np.nan if target.surprise is None else target.value for target in record.targets], np.float32),
        weight=_weights(record, settings),
        serial=np.arange(first_serial, first_serial + record.rows),
    )


def is_opening(record: Record) -> bool:
    """Whether all rows of a game come from its first quarter: it was searched fully in its opening alone
    (`selfplay.full_until`), and played to its end cheaply.
    """
    return bool(record.targets) and record.targets[-1].ply < OPENING * len(record.moves)


def check(record: Record, game: Game) -> None:
    """Raise CorruptRecordError unless the moves are a game with this result, and its targets belong to it."""
    _, last = _replay(record, game)
    _counted(record, game, last)


def _counted(record: Record, game: Game, last: np.ndarray) -> float:
    """Black's score in the last state int32 [S]; CorruptRecordError if it is not the record's."""
    score = scoring.final_score(game, last)
    if abs(score - record.score) > 1e-6:
        raise CorruptRecordError(f"the moves lead to a score of {score:g} for Black, the record says {record.score:g}")
    return score


def packed_inputs(game: Game, states: np.ndarray, version: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first three fields of `Rows` for states int32 [n, S]."""
    planes, numbers, *tactics = features.encode(game, states, version)
    return _bits(planes), numbers, _bits(tactics[0]) if tactics else np.zeros((len(states), 0), np.uint8)


def _bits(planes: np.ndarray) -> np.ndarray:
    """Planes of zeros and ones [n, C, H, W] as uint8 [n, ⌈CP/8⌉]."""
    return np.packbits(planes.reshape(len(planes), -1) > 0.5, axis=1)


def _planes(bits: np.ndarray, count: int, game: Game) -> np.ndarray:
    """The inverse of `_bits` for `count` planes: float32 [n, count, H, W]."""
    return np.unpackbits(bits, axis=1, count=count * game.points).reshape(-1, count, *game.shape).astype(np.float32)


def _replay(record: Record, game: Game) -> tuple[np.ndarray, np.ndarray]:
    """(states int32 [rows, S] before each full search, the last state int32 [S]); every move is checked,
    and that targets are of plies and actions of the game.
    """
    states = np.empty((record.rows, game.state_ints), np.int32)
    row_at = {target.ply: row for row, target in enumerate(record.targets)}
    if len(row_at) != record.rows or any(ply >= len(record.moves) for ply in row_at):
        raise CorruptRecordError("its searched plies are not plies of the game")
    highest = max((int(target.actions.max(initial=0)) for target in record.targets), default=0)
    if highest >= game.actions:
        raise CorruptRecordError(f"a policy target names action {highest}")
    for ply, state in enumerate(states_of(record, game)):
        if ply in row_at:
            states[row_at[ply]] = state
    return states, state


def states_of(record: Record, game: Game) -> Iterator[np.ndarray]:
    """Yield the state int32 [S] before each of the m moves, then the last one. It is the same array each time: the next
    move changes it. Raises CorruptRecordError at a move that the rules forbid.
    """
    state, history = scoring.begin(game, record.komi, len(record.moves))
    legal = np.zeros(game.actions, np.uint8)
    for ply, action in enumerate(record.moves.tolist()):
        yield state
        game.legal(state, history, legal)
        if action >= game.actions or not legal[action]:
            raise CorruptRecordError(f"move {ply + 1}, action {action}, is illegal")
        game.step(state, history, action)
    yield state


def _dense(target: Target, actions: int) -> np.ndarray:
    """float16 [A] policy target of one ply."""
    policy = np.zeros(actions, np.float16)
    policy[target.actions] = target.shares
    return policy


def _weights(record: Record, settings: ReplaySettings) -> np.ndarray:
    """float32 [rows] of mean 1, of which the settings share out some by surprise; of an opening, of their mean.

    A row whose surprise is not known has the mean, and so has every row of a game without any.
    """
    surprises = np.array(
        [np.nan if target.surprise is None else target.surprise for target in record.targets], np.float32
    )
    known, weights = np.isfinite(surprises), np.ones(record.rows, np.float32)
    mean = surprises[known].mean() if known.any() else 0.0
    if mean > 0:
        weights[known] += settings.surprise_share * (surprises[known] / mean - 1)
    if is_opening(record):
        weights *= settings.opening_weight
    return np.maximum(weights, np.float32(LEAST_WEIGHT))


def _replies(record: Record, actions: int) -> np.ndarray:
    """float16 [rows, A]: the target of the opponent's search at the next ply if that was full, else the move it played;
    zero at the end.

    A cheap search's own shares are too noisy to learn from, but the move it led to is a fair sample of the opponent. A
    move of the opening was drawn for variety, so it is no target unless it was searched.
    """
    replies = np.zeros((record.rows, actions), np.float16)
    full = {target.ply: target for target in record.targets}
    for row, target in enumerate(record.targets):
        following = target.ply + 1
        if following in full:
            replies[row] = _dense(full[following], actions)
        elif record.openings <= following < len(record.moves):
            replies[row, record.moves[following]] = 1
    return replies


def rarity(weight: np.ndarray) -> np.ndarray:
    """float32 [n] of rows drawn by weights float32 [n]; see the module."""
    return np.minimum(1 / weight, np.float32(MOST_RARITY))


def join(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, which are of one board and version of the input features."""
    return Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in ROW_FIELDS))


def unpack(rows: Rows, chosen: np.ndarray, game: Game) -> Batch:
    """The rows of the game with these indices int [n] as a batch."""
    shown, known = _layout(rows, game), scoring.known(game)
    return Batch(
        planes=_planes(rows.planes[chosen], len(shown.planes), game),
        globals=rows.globals[chosen],
        policy=rows.policy[chosen].astype(np.float32),
        reply=rows.reply[chosen].astype(np.float32),
        value=rows.value[chosen].astype(np.int64),
        score=rows.score[chosen],
        owner=rows.owner[chosen].astype(np.float32),
        root=rows.root[chosen],
        known=None if all(known) else np.tile(known, (len(chosen), 1)),
        tactics=_planes(rows.tactics[chosen], len(shown.tactics), game) if shown.tactics else None,
    )


def _layout(rows: Rows, game: Game) -> features.Layout:
    """The layout of the rows, by the bytes that its tactics take."""
    lengths = {(len(shown.tactics) * game.points + 7) // 8: shown for shown in features.layouts(game.name)}
    return lengths[rows.tactics.shape[1]]


def transformed(batch: Batch, symmetries: np.ndarray, directions: Directions = PLACING) -> Batch:
    """Each row seen under its own symmetry, symmetries int [n] of `gozero.games.symmetry`; planes, tactics,
    policies and ownership turn together. With exchanged colours it is the other colour's turn.
    """
    boards = ("planes",) if batch.tactics is None else ("planes", "tactics")
    parts = {name: getattr(batch, name).copy() for name in (*boards, "policy", "reply", "owner")}
    shape = batch.planes.shape[2], batch.planes.shape[3]
    for k in np.unique(symmetries).tolist():
        rows = np.flatnonzero(symmetries == k)
        for name in boards:
            parts[name][rows] = symmetry.apply_planes(getattr(batch, name)[rows], k)
        if k & symmetry.COLOURS_EXCHANGED:
            parts["planes"][rows, TO_PLAY_PLANE] = 1 - parts["planes"][rows, TO_PLAY_PLANE]
        parts["policy"][rows] = symmetry.apply_policy(batch.policy[rows], shape, k, directions)
        parts["reply"][rows] = symmetry.apply_policy(batch.reply[rows], shape, k, directions)
        parts["owner"][rows] = symmetry.apply_points(batch.owner[rows], shape, k)
    return batch._replace(**parts)


def window_rows(total: int, settings: ReplaySettings) -> int:
    """How many of `total` rows the window holds: all of the first c, then c(1 + 0.4((N/c)^0.75 - 1)/0.75) (Wu 2019,
    appendix C), or c.
    """
    c = settings.window
    if total <= c or not settings.growing:
        return min(total, c)
    return int(c * (1 + 0.4 * ((total / c) ** 0.75 - 1) / 0.75))


def is_held_out(record: Record, share: float) -> bool:
    """Whether a game is held out; depends on its moves alone."""
    return zlib.crc32(record.moves.astype("<i4").tobytes()) < share * 2**32


@dataclass
class Replay:
    """The window.

    `game_of(size)` gives the game that a record of that size was played under; `version` is that of the input features.
    """

    settings: ReplaySettings
    game_of: Callable[[int], Game]
    version: int = 1
    total: int = 0  # rows recorded by the run so far, held-out ones included
    corrupt: int = 0  # records refused
    rows: dict[tuple[bool, int], Rows] = field(default_factory=dict)  # (held out, size) -> rows
    starts: deque[int] = field(init=False)  # `total` before each game of the window, oldest first

    def __post_init__(self) -> None:
        self.starts = deque(maxlen=self.settings.window_games or None)

    def add(self, records: Iterable[Record], counted: bool = False) -> int:
        """Append the rows of games, oldest first, and remove rows that have left the window. Returns the rows added.

        `counted`: whether the rows of refused records were counted in `total` when they were played.
        """
        before = self.total
        fresh: dict[tuple[bool, int], list[Rows]] = {}
        for record in records:
            if record.rows:
                try:
                    rows = rows_of(record, self.game_of(record.size), self.total, self.settings, self.version)
                except CorruptRecordError:
                    self.corrupt += 1
                    self.total += record.rows if counted else 0
                    continue
                fresh.setdefault((is_held_out(record, self.settings.held_out), record.size), []).append(rows)
            self.starts.append(self.total)
            self.total += record.rows
        for key, added in fresh.items():
            self.rows[key] = join([self.rows[key], *added] if key in self.rows else added)
        self._trim()
        return self.total - before

    def _trim(self) -> None:
        in_games = self.settings.window_games and self.starts
        oldest = self.starts[0] if in_games else self.total - window_rows(self.total, self.settings)
        while self.starts and self.starts[0] < oldest:
            self.starts.popleft()
        for key, rows in list(self.rows.items()):
            first = int(np.searchsorted(rows.serial, oldest))
            if first == len(rows):
                del self.rows[key]
            elif first > 0:
                self.rows[key] = Rows(*(getattr(rows, name)[first:].copy() for name in ROW_FIELDS))

    def sizes(self, held_out: bool = False) -> dict[int, int]:
        """{board size: rows in the window}."""
        return {size: len(rows) for (held, size), rows in sorted(self.rows.items()) if held == held_out}

    def sample(self, batch: int, generator: np.random.Generator) -> Batch:
        """Draw a training batch: a size, then rows, by their weights; each row under a random symmetry.

        If the settings draw none of the sizes that there are, the weights of sizes are left out of it.
        """
        by_size = {size: rows for (held, size), rows in sorted(self.rows.items()) if not held}
        if not by_size:
            raise ValueError("the window holds no rows to train on")
        weights = np.array([rows.reach[-1] for rows in by_size.values()])
        often = np.array([self.settings.size_weights.get(size, 1.0) for size in by_size])
        weights = weights * often if often.any() else weights
        size = int(generator.choice(list(by_size), p=weights / weights.sum()))
        rows, game = by_size[size], self.game_of(size)
        chosen, symmetries = rows.draw(batch, generator), generator.choice(game.symmetries, size=batch)
        drawn = unpack(rows, chosen, game)
        return transformed(drawn._replace(rarity=rarity(rows.weight[chosen])), symmetries, game.directions)

    def games(self, held_out: bool = False) -> np.ndarray:
        """int64 [n]: the rows in the window of each game that is held out, or of each that is not."""
        counts = [np.zeros(0, np.int64)]
        for (held, _), rows in self.rows.items():
            if held == held_out:
                numbers = np.searchsorted(np.array(self.starts, np.int64), rows.serial, side="right")
                counts.append(np.unique(numbers, return_counts=True)[1])
        return np.concatenate(counts)

    def spread(self, size: int, most: int, held_out: bool) -> Batch:
        """At most `most` rows of a size, evenly spread over the games that are held out, or over the others."""
        rows = self.rows[held_out, size]
        chosen = np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(np.int64)
        return unpack(rows, chosen, self.game_of(size))
