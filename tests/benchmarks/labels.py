"""A file of labelled positions for the tests of what chooses by them."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path


def labelled(folder: Path, games: Sequence[Sequence[str]]) -> Path:
    """A yardstick in the folder: the positions after these moves on 7x7, each even and with the centre best, or the
    point above it where that is taken.
    """
    path = folder / "positions.jsonl.gz"
    row = {"winrate": 0.5, "score": 0.0, "ownership": [0.0] * 49}
    with gzip.open(path, "wt") as file:
        for moves in games:
            best = "D5" if "D4" in moves else "D4"
            file.write(json.dumps({"moves": moves, "best": best, "shares": {best: 1.0}, **row}) + "\n")
    return path
