"""Statistics of the games of a generation: how many there are, how long they are, how they end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from training.records.records import Record

EARLY = 30 / 169  # of the area: a game that ends before that many moves is a sign of passing too soon


def game_report(records: Sequence[Record]) -> dict[str, float]:
    """The numbers `games<size>/*` of each size.

    count; length: mean, in moves; capped, settled, early, draws, distinct: shares of the games; black: Black's share of
    the points; recorded: share of the moves that left a row.
    """
    found: dict[str, float] = {}
    for size in sorted({record.size for record in records}):
        games = [record for record in records if record.size == size]
        lengths = np.array([len(record.moves) for record in games])
        found |= {
            f"games{size}/count": len(games),
            f"games{size}/length": float(lengths.mean()),
            f"games{size}/capped": _share(record.ending == "capped" for record in games),
            f"games{size}/settled": _share(record.ending == "settled" for record in games),
            f"games{size}/early": float((lengths < EARLY * size * size).mean()),
            f"games{size}/black": float(np.mean([np.sign(record.score) / 2 + 0.5 for record in games])),
            f"games{size}/draws": _share(record.score == 0 for record in games),
            f"games{size}/distinct": len({record.moves.tobytes() for record in games}) / len(games),
            f"games{size}/recorded": sum(record.rows for record in games) / max(1, int(lengths.sum())),
        }
    return found


def _share(flags: Iterable[bool]) -> float:
    return float(np.mean(list(flags)))
