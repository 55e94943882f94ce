"""Checkpoints: everything that a run needs to continue exactly where it stopped, in one file that is written whole or
not at all: checkpoints/NNNNNN.pt of the run folder, numbered by generation. A run continues from the newest that is
not damaged.

Records on disk are the only copy of the window, so a checkpoint does not hold it, nor search trees. Files are read with
`weights_only=True`: they hold tensors and plain values, nothing that can be executed.
"""

from __future__ import annotations

import io
import pickle
import zipfile
import zlib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch

from gozero.nets import attachments
from gozero.system import files
from gozero.system.errors import UserError, lack_of_memory_told
from training.storage.storage import numbered, writing

UNREADABLE = (
    OSError, KeyError, TypeError, ValueError, AttributeError, OverflowError, pickle.UnpicklingError, *attachments.DAMAGE,
)  # fmt: skip


@dataclass
class Progress:
    """The counters of a run. Games and rows count once they are in the window, so a crash cannot count them twice."""

    generation: int = 1  # the one whose games are being played or, while `learning`, learned from
    learning: bool = False  # its self-play is complete and all of its games are in the window
    absorbed: int = 0  # games of its shard that are in the window
    games: int = 0
    rows: int = 0
    evaluations: int = 0  # visits of all finished searches of self-play
    hours: float = 0.0  # of work, all sessions
    steps_backlog: float = 0.0  # learner's steps that the recorded rows have paid for
    # by board size, what earlier generations left over (negative: too many)
    rows_backlog: dict[int, float] = field(default_factory=dict)
    games_backlog: dict[int, float] = field(default_factory=dict)  # the same where generations are counted in games
    rate: float = 1.0  # factor of the learning rate for the backlog of steps
    handed_steps: int = 0  # learner's steps when its average was last handed over, or refused by the gate
    refused: int = 0  # of the newest networks, by the gate, in a row
    window_start: int = 1  # generation from which on games may be in the window
    # board sizes that the learner had rows of, with those of its first weights
    trained_sizes: list[int] = field(default_factory=list)
    imported: int = 0  # its first generations, whose games were played elsewhere
    # largest `full_share` that it has had, which games in flight outlive
    full_share: float = 1.0
    evaluations_reported: int = 0  # at the last report
    # seconds since then, see `training.run.measures.Timeline`; not compared: they differ between runs
    spent: dict[str, float] = field(default_factory=dict, compare=False)
    window_skip: int = 0  # of that generation's games, the first so many were in it when a new best network emptied it

    def counters(self) -> dict[str, float]:
        """Those that reports and weights show."""
        return {name: getattr(self, name) for name in ("generation", "games", "rows", "evaluations", "hours")}


@dataclass
class Snapshot:
    """The content of a checkpoint. `weights/resume` has neither games in flight nor a network that plays."""

    progress: Progress
    learner: dict[str, Any]  # Learner.state_dict()
    playing: dict[str, torch.Tensor] | None = None  # the network that plays; None: the learner's average
    # Pool.state_dict() by (board size, slot), or that as bytes of `compress`
    pools: dict[tuple[int, int], Any] = field(default_factory=dict)
    shard_bytes: int | None = None  # of the generation's shard; later bytes are newer than this. None: not known
    # what a weights file of the learner's average would say (`gozero.nets.weights`), so that a checkpoint plays
    metadata: str | None = None


def save(folder: Path, snapshot: Snapshot, settings: dict[str, Any], keep: int) -> None:
    """Write checkpoints/GENERATION.pt and remove all earlier ones but the `keep` before it. StorageError if it cannot
    be written: the checkpoints before it are as they were.
    """
    content = {field.name: getattr(snapshot, field.name) for field in fields(snapshot)}
    content |= {"progress": asdict(snapshot.progress), "settings": settings}
    # as bytes: torch would handle each of their millions of numbers in Python
    content["pools"] = torch.frombuffer(bytearray(compress(snapshot.pools)), dtype=torch.uint8)
    target = folder / f"{snapshot.progress.generation:06d}.pt"
    with writing(target):
        folder.mkdir(parents=True, exist_ok=True)
        with files.replacing(target) as file:
            torch.save(content, file)
        for old in [path for path in numbered(folder, ".pt") if int(path.stem) <= int(target.stem)][: -keep - 1]:
            old.unlink()


def latest(folder: Path) -> tuple[Snapshot, list[str]] | None:
    """(the newest snapshot that is not damaged, a line for each newer file that is); None where there is no checkpoint.
    UserError if all are damaged, or the system refuses to read one.
    """
    complaints: list[str] = []
    for path in reversed(numbered(folder, ".pt")):
        try:
            saved = path.read_bytes()  # an OSError of those below is damage
        except OSError as error:  # the file may be whole, and continuing from another one would undo what it has
            raise UserError(
                f"cannot read the checkpoint {path.absolute()}: {error.strerror}; make it readable, or move it away to "
                "continue from the one before it"
            ) from None
        try:
            content = loaded(saved)
            content.pop("settings", None)
            pools = decompress(content["pools"].numpy().tobytes())
            content["pools"] = {
                key: decompress(pool) if isinstance(pool, bytes) else pool for key, pool in pools.items()
            }
            content["progress"] = Progress(**content["progress"])
            return Snapshot(**content), complaints
        except UNREADABLE:
            complaints.append(
                f"cannot read the checkpoint {path.absolute()}: it is damaged, or of another version of gozero; "
                "continuing from the one before it"
            )
    if complaints:
        run = folder.absolute().parent
        raise UserError(
            f"no checkpoint in {folder.absolute()} can be read; give another --run, with "
            f"--from {run / 'weights.pt'} and --records {run} to go on from this run's network and games"
        )
    return None


def loaded(saved: bytes) -> Any:
    """What `torch.save` wrote as these bytes. One of `UNREADABLE` if they are damaged, or hold more than plain values;
    MemoryError if there is no room for it.
    """
    file = io.BytesIO(saved)
    with zipfile.ZipFile(file) as archive:
        if archive.testzip() is not None:  # torch does not look at its checksums
            raise zipfile.BadZipFile
    file.seek(0)
    with lack_of_memory_told():  # no damage: a run that went back for it would lose what is newer
        return torch.load(file, map_location="cpu", weights_only=True)


def compress(value: Any) -> bytes:
    """Numbers, text, lists and dictionaries as bytes, a fifth of their pickle for games in flight."""
    return zlib.compress(pickle.dumps(value), level=1)


def decompress(content: bytes) -> Any:
    """The inverse of `compress`. zlib.error, UnpicklingError or EOFError if the content is damaged, or holds anything
    else than plain values.
    """
    return _PlainUnpickler(io.BytesIO(zlib.decompress(content))).load()


class _PlainUnpickler(pickle.Unpickler):
    """Refuses whatever needs an import, so that nothing is executed."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")
