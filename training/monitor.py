"""What a run says of itself: a line a generation, progress bars, TensorBoard scalars and log.jsonl.

Vocabulary.
  report  {"group/name": number}, one a generation; the same names in TensorBoard and in log.jsonl.

All talk goes to stderr. Bars are drawn on a terminal only; in a log file each generation leaves one line. This module measures nothing
itself: `game_report` summarises records, the rest comes from the loop. It alone imports tqdm and TensorBoard.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from training.config import LoopSettings
from training.records import Record

if TYPE_CHECKING:
    from training.run import Run

EARLY = 30  # a game that ends before this many moves is a sign of passing too soon


def say(text: str) -> None:
    """A line for the person at the terminal."""
    print(text, file=sys.stderr, flush=True)


def bar(total: int, what: str, unit: str) -> Any:
    """A progress bar with `update(n)` and `close()`; silent where stderr is no terminal."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, leave=False, dynamic_ncols=True, disable=not sys.stderr.isatty())


def game_report(records: Sequence[Record]) -> dict[str, float]:
    """Of each size: games, mean length, shares of games capped, settled or ended before move 30, Black's share of the points."""
    report: dict[str, float] = {}
    for size in sorted({record.size for record in records}):
        games = [record for record in records if record.size == size]
        lengths = np.array([len(record.moves) for record in games])
        report |= {
            f"games{size}/count": len(games),
            f"games{size}/length": float(lengths.mean()),
            f"games{size}/capped": _share(record.ending == "capped" for record in games),
            f"games{size}/settled": _share(record.ending == "settled" for record in games),
            f"games{size}/early": float((lengths < EARLY).mean()),
            f"games{size}/black": float(np.mean([np.sign(record.score) / 2 + 0.5 for record in games])),
        }
    return report


def _share(flags: Iterable[bool]) -> float:
    return float(np.mean(list(flags)))


def summary(report: dict[str, float]) -> str:
    """The report as one line: what to look at first."""
    sizes = sorted(int(key[5:-6]) for key in report if key.startswith("games") and key.endswith("/count"))
    games = " ".join(f"{size}x{size}: {report[f'games{size}/count']:.0f} of {report[f'games{size}/length']:.0f} moves" for size in sizes)
    parts = [
        f"generation {report['run/generation']:.0f}",
        f"{report['run/hours']:.2f} h",
        f"{report['run/rows']:,.0f} rows",
        games,
        f"{report['speed/evaluations']:,.0f} evaluations/s",
    ]
    for group in ("train", "held"):
        found = [
            f"{name} {report[f'{group}/{name}']:.3f}" for name in ("policy", "value", "ownership", "top1") if f"{group}/{name}" in report
        ]
        if found:
            parts.append(f"{group} " + " ".join(found))
    return " | ".join(parts)


class Monitor:
    """Writes each generation's report to the terminal, TensorBoard and log.jsonl of the run folder."""

    def __init__(self, folder: Path, settings: LoopSettings) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.folder, self.settings = folder, settings
        self._log = (folder / "log.jsonl").open("a", encoding="utf-8")
        self._board = SummaryWriter(str(folder / "tensorboard"))

    def generation(self, report: dict[str, float], run: Run, stop: Callable[[], bool] = lambda: False) -> None:
        """One generation of `run` is done; what takes long ends within seconds once `stop()` is true."""
        say(summary(report))
        self._log.write(json.dumps(report) + "\n")
        self._log.flush()
        for name, value in report.items():
            self._board.add_scalar(name, value, int(report["run/generation"]))
        self._board.flush()

    def close(self) -> None:
        self._log.close()
        self._board.close()
