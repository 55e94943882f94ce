"""Reads the journal of a tournament as it stands in the file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any


def journal(folder: Path) -> list[dict[str, Any]]:
    """The finished games, in the order in which they ended."""
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return [line["game"] for line in lines if "game" in line]


def keys(games: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """How often each game was played, by its pair and its index there."""
    return Counter((*game["pair"], game["index"]) for game in games)
