"""Game records: what self-play writes and the learner replays.

A generation writes one shard, a file of frames: MAGIC, kind, length of the payload and its CRC-32, then the payload,
which is the run's settings (JSON) or a record (compressed). A shard is readable after a crash: a torn or corrupt frame
is skipped and counted, and reading continues at the next MAGIC. Positions are not stored; `training.records.replay`
plays the moves again. A policy target is 64 visits, shared out among the actions in proportion to the search's policy;
fractions are rounded at random, so that the mean is right. It takes about 14 bytes. A 13x13 game takes about 1 KB where
a quarter of its moves are recorded, and about 2.4 KB where all are.
"""

from __future__ import annotations

import contextlib
import io
import json
import lzma
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gozero.system.files import from_json

MAGIC = b"GZR1"
_FRAME = struct.Struct("<4scII")  # magic, kind, payload bytes, CRC-32 of the payload
# size, komi in half points, generation, ending, score in half points, openings, moves, searched plies, ply from which
# on it was conceded or -1, the sides' peaks, flags: 1 unresigned, 2 actions above 255 on a board of fewer points
_HEADER = struct.Struct("<BhIBhHHHhbbB")
_KOMI_UNIT = 0.5
_VISITS = 64  # that a target shares out
_VALUE_STEPS = 127  # a value of 1
_SURPRISE_UNIT = 1 / 32  # nats; up to 7.9
_NO_SURPRISE = 255

# without the contexts that help with text
_LZMA = ({"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 16, "lc": 0, "lp": 0, "pb": 0},)
_BYTE, _WIDE = 256, 2  # actions that fit into a byte; the flag of a record that has others

_SETTINGS, _GAME = b"S", b"I"

# two passes, all of the board pass-alive, the move limit; by the rules of games other than Go
ENDINGS = ("passes", "settled", "capped", "finished")
# of `gozero records list`
COLUMNS = ("game", "generation", "size", "komi", "moves", "result", "ending", "rows", "surprise")


@dataclass(frozen=True)
class Target:
    """The result of a full search at one ply."""

    ply: int  # index of the move in the record that was played after this search
    actions: np.ndarray  # int32 [k], the actions with a share above zero, in ascending order
    shares: np.ndarray  # float32 [k], the policy target; they sum to 1
    value: float  # the root's for the side to move, -1..1
    # Kullback-Leibler divergence of the target from the network's prior, nats; None where playouts evaluated instead
    surprise: float | None = None


@dataclass(frozen=True)
class Record:
    """One finished game. `training.selfplay.resign` defines conceded, unresigned and peak."""

    size: int  # points a side
    komi: float  # points for White
    generation: int  # of the network that played
    moves: np.ndarray  # int32 [m] actions
    targets: tuple[Target, ...]  # of the full searches, in the order of their plies
    score: float  # Black's lead in points, komi included
    ending: str  # one of `ENDINGS`
    openings: int = 0  # how many of the first moves were drawn from the raw policy
    conceded: int | None = None  # ply from which on the game was played cheaply; None if it never was
    unresigned: bool = False  # it was played fully whatever the values
    peaks: tuple[float, float] = (-1.0, -1.0)  # Black's and White's, values -1..1
    number: int = field(default=-1, compare=False)  # games of its pool that began before it; not in the file

    @property
    def rows(self) -> int:
        """Rows that the learner gets from it: the number of full searches."""
        return len(self.targets)


def sparse_target(
    ply: int, policy: np.ndarray, value: float, surprise: float | None = None, chance: float = 0.5
) -> Target:
    """Make a target of a policy float [A], above 0 somewhere, with the precision of the file, so that training sees
    what is on disk. `chance`, 0 up to 1, decides which shares are rounded up, so that the mean of each is right
    (systematic sampling).
    """
    reach = np.cumsum(policy, dtype=np.float64)
    levels = np.diff(np.floor(reach / reach[-1] * _VISITS + chance), prepend=0.0)
    actions = np.flatnonzero(levels)
    return _target(ply, actions, levels[actions], round(value * _VALUE_STEPS), _surprise_level(surprise))


def _surprise_level(surprise: float | None) -> int:
    return _NO_SURPRISE if surprise is None else min(max(round(surprise / _SURPRISE_UNIT), 0), _NO_SURPRISE - 1)


def _target(ply: int, actions: np.ndarray, levels: np.ndarray, value: int, surprise: int) -> Target:
    shares, known = levels.astype(np.float32), None if surprise == _NO_SURPRISE else surprise * _SURPRISE_UNIT
    return Target(ply, actions.astype(np.int32), shares / shares.sum(), value / _VALUE_STEPS, known)


def encode(record: Record) -> bytes:
    """The payload of a record's frame."""
    moves, targets = record.moves, record.targets
    highest = max(int(actions.max(initial=0)) for actions in (moves, *(target.actions for target in targets)))
    wide = _action_type(record.size, highest)
    flags = record.unresigned | _WIDE * (wide != _action_type(record.size))
    header = _HEADER.pack(
        record.size, round(record.komi / _KOMI_UNIT), record.generation, ENDINGS.index(record.ending),
        round(record.score / _KOMI_UNIT), record.openings, len(moves), record.rows,
        -1 if record.conceded is None else record.conceded,
        *(round(peak * _VALUE_STEPS) for peak in record.peaks), flags,
    )  # fmt: skip
    arrays = [
        moves.astype(wide),
        np.diff([target.ply for target in targets], prepend=0).astype("<u2"),
        np.array([len(target.actions) for target in targets], "<u2"),
        np.array([round(target.value * _VALUE_STEPS) for target in targets], np.int8),
        np.array([_surprise_level(target.surprise) for target in targets], np.uint8),
        *(np.diff(target.actions, prepend=0).astype(wide) for target in targets),
        *(np.rint(target.shares * _VISITS).astype(np.uint8) for target in targets),
    ]
    return lzma.compress(header + b"".join(array.tobytes() for array in arrays), lzma.FORMAT_RAW, filters=_LZMA)


def decode(payload: bytes) -> Record:
    """The inverse of `encode`; ValueError for bytes that are no record."""
    try:
        data = lzma.decompress(payload, lzma.FORMAT_RAW, filters=_LZMA)
        (
            size, komi, generation, ending, score, openings, move_count, target_count,
            conceded, black, white, flags,
        ) = _HEADER.unpack_from(data)  # fmt: skip
        arrays = io.BytesIO(data[_HEADER.size :])
        wide = _action_type(size, _BYTE if flags & _WIDE else 0)
        moves = _numbers(arrays, wide, move_count).astype(np.int32)
        return Record(
            size, komi * _KOMI_UNIT, generation, moves, _targets(arrays, wide, target_count),
            score * _KOMI_UNIT, ENDINGS[ending], openings, None if conceded < 0 else conceded, bool(flags & ~_WIDE),
            (black / _VALUE_STEPS, white / _VALUE_STEPS),
        )  # fmt: skip
    except (lzma.LZMAError, struct.error, IndexError) as error:
        raise ValueError(f"not a game record: {error}") from None


def _targets(arrays: io.BytesIO, wide: str, count: int) -> tuple[Target, ...]:
    """The `count` targets of a record whose actions are numbers of the type `wide`."""
    plies, counts, values, surprises = (_numbers(arrays, kind, count) for kind in ("<u2", "<u2", "i1", "u1"))
    actions = [np.cumsum(_numbers(arrays, wide, each)) for each in counts.tolist()]
    levels = [_numbers(arrays, "u1", each) for each in counts.tolist()]
    return tuple(
        _target(*parts)
        for parts in zip(np.cumsum(plies).tolist(), actions, levels, values.tolist(), surprises.tolist(), strict=True)
    )


def _action_type(size: int, highest: int = 0) -> str:
    """The smallest integer that holds an action: one byte for boards up to 15x15, if the highest fits into it too."""
    return "u1" if max(size * size + 2, highest + 1) <= _BYTE else "<u2"


def _numbers(arrays: io.BytesIO, kind: str, count: int) -> np.ndarray:
    """The next `count` numbers of `kind`; ValueError past the end."""
    return np.frombuffer(arrays.read(count * np.dtype(kind).itemsize), kind, count)


class Writer:
    """Appends records to a shard, and flushes each. A new shard begins with the settings."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        if self._file.tell() == 0:
            self._append(_SETTINGS, json.dumps(settings).encode())

    def append(self, record: Record) -> None:
        self._append(_GAME, encode(record))

    def close(self) -> None:
        """Close the shard; what could not be written has been an error of `append`."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _append(self, kind: bytes, payload: bytes) -> None:
        self._file.write(_FRAME.pack(MAGIC, kind, len(payload), zlib.crc32(payload)) + payload)
        self._file.flush()


@dataclass
class Shard:
    settings: dict[str, Any] = field(default_factory=dict)  # of the run that wrote it
    records: list[Record] = field(default_factory=list)
    corrupt: int = 0  # frames that cannot be used
    left_out: int = 0  # games of the file that are not among the records


def read(path: Path) -> Shard:
    """Read a whole shard, skipping and counting what is torn or corrupt."""
    shard = Shard()
    for kind, payload in _frames(path.read_bytes()):
        try:
            if kind == _GAME:
                shard.records.append(decode(payload))
            elif kind == _SETTINGS:
                shard.settings = {**from_json(payload)}  # TypeError for another value
            else:
                shard.corrupt += 1
        except (ValueError, TypeError):
            shard.corrupt += 1
    return shard


def _frames(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(kind, payload) of each frame; kind b"" stands for bytes that is no intact frame."""
    offset = 0
    while offset < len(data):
        end = offset + _FRAME.size
        if end <= len(data) and data.startswith(MAGIC, offset):
            _, kind, length, checksum = _FRAME.unpack_from(data, offset)
            payload = data[end : end + length]
            if len(payload) == length and zlib.crc32(payload) == checksum:
                yield kind, payload
                offset = end + length
                continue
        yield b"", b""
        following = data.find(MAGIC, offset + 1)
        offset = following if following >= 0 else len(data)
