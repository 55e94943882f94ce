"""Many recorded games in numbers: lengths, results, endings and openings of one board size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from gozero.games.game import Game
from gozero.system.words import counted
from training.records import library
from training.records.library import Entry

BINS = 8  # bars of a histogram
OPENING_PLIES = 4  # what counts as the same opening


def summarise(entries: Sequence[Entry]) -> dict[str, Any]:
    """The games of one size in numbers: lengths in moves with a histogram, results, endings, the commonest openings."""
    games = [entry.record for entry in entries]
    lengths = np.array([len(game.moves) for game in games])
    step = -(-(int(np.ptp(lengths)) + 1) // BINS)  # moves a bar
    bars = [(low, low + step - 1) for low in range(int(lengths.min()), int(lengths.max()) + 1, step)]
    histogram = [
        {"from": low, "to": high, "games": int(((lengths >= low) & (lengths <= high)).sum())} for low, high in bars
    ]
    openings = Counter(library.opening(entry.record, entry.game(), OPENING_PLIES) for entry in entries)
    return {
        "games": len(games),
        "rows": sum(game.rows for game in games),
        "length": {
            "mean": round(float(lengths.mean()), 1),
            "least": int(lengths.min()),
            "most": int(lengths.max()),
            "histogram": histogram,
        },
        "results": {name: sum(library.winner(game) == name for game in games) for name in ("B", "W", "draw")},
        "endings": dict(Counter(game.ending for game in games).most_common()),
        "openings": {"different": len(openings), "commonest": dict(openings.most_common(5))},
        "repeated": len(games) - len({(game.komi, game.moves.tobytes()) for game in games}),
    }


def as_text(game: Game, summary: dict[str, Any]) -> str:
    """A summary as text."""
    games, length = summary["games"], summary["length"]
    most = max(bar["games"] for bar in length["histogram"])
    shares = (
        " ".join(f"{name} {count} ({count / games:.0%})" for name, count in summary[group].items())
        for group in ("results", "endings")
    )
    openings = summary["openings"]
    return "\n".join(
        [
            f"{game.dimensions}: {counted(games, 'game')}, {counted(summary['rows'], 'row')}, "
            f"{summary['repeated']} games that repeat another",
            *(f"  {name:<9}{text}" for name, text in zip(("results", "endings"), shares, strict=True)),
            f"  moves    {length['mean']} on average, {length['least']} to {length['most']}",
            *(
                f"  {bar['from']:>5}-{bar['to']:<5}{bar['games']:>6} {'#' * round(40 * bar['games'] / most)}"
                for bar in length["histogram"]
            ),
            f"  openings {openings['different']} different ones of {OPENING_PLIES} moves, symmetries counted as one; "
            "the commonest:",
            *(f"    {count / games:6.1%}  {text}" for text, count in openings["commonest"].items()),
        ]
    )
