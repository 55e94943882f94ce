"""Recorded games played again to make rows, and batches of rows.

A row is one recorded position: packed planes, globals and its targets, all from the view of the side to move. Part of
each game's weight is shared out among its rows by their surprise, the divergence of the search's policy from the
network's, because there is most to learn where it is large (policy-surprise weighting, KataGo's
docs/KataGoMethods.md). A search is surprised where it finds a better move than the network thought, so rows drawn by
surprise are won more often than lost (mean result of generation 524's on 13x13: +0.03): in the losses of value, score
and ownership a row counts by its rarity, 1 / weight up to a limit.

A record that is damaged, whose moves are illegal or do not lead to its result makes no rows and is counted.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
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
OPENING = 0.25  # share of a game's moves: one that is searched fully in these alone is an opening, played on cheaply
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
    surprises = np.array([target.surprise for target in record.targets], np.float32)  # nan for None
    known, weights = np.isfinite(surprises), np.ones(record.rows, np.float32)
    mean = surprises[known].mean() if known.any() else 0.0
    if mean > 0:
        weights[known] += settings.surprise_share * (surprises[known] / mean - 1)
    if record.targets and record.targets[-1].ply < OPENING * len(record.moves):
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
    shown, known = layout(rows, game), scoring.known(game)
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


def layout(rows: Rows, game: Game) -> features.Layout:
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


def is_held_out(record: Record, share: float) -> bool:
    """Whether a game is held out; depends on its moves alone."""
    return zlib.crc32(record.moves.astype("<i4").tobytes()) < share * 2**32


class ReadGames(NamedTuple):
    """The rows of games, by (held out, size), and the counters of `Replay` after them."""

    rows: dict[tuple[bool, int], Rows]
    starts: list[int]
    total: int
    corrupt: int


def read_games(
    records: Iterable[Record], total: int, game_of: Callable[[int], Game], settings: ReplaySettings, version: int
) -> ReadGames:
    """Play games of a run that has recorded `total` rows before them; see `Replay`. The rows of records that are
    refused count, as they did when the games were played.
    """
    found: dict[tuple[bool, int], list[Rows]] = {}
    starts, corrupt = [], 0
    for record in records:
        if record.rows:
            try:
                rows = rows_of(record, game_of(record.size), total, settings, version)
            except CorruptRecordError:
                corrupt += 1
                total += record.rows
                continue
            found.setdefault((is_held_out(record, settings.held_out), record.size), []).append(rows)
        starts.append(total)
        total += record.rows
    return ReadGames({key: join(parts) for key, parts in found.items()}, starts, total, corrupt)
