"""Write the cards of the networks that come with gozero.

    python -m tools.cards

They are docs/networks.md. What a network is and learned from is read from its file, the matches and all else from
weights/cards.toml. A test compares the page with what this writes.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from textwrap import fill
from typing import Any

from gozero.nets.weights import Weights, load
from gozero.system.console import Parser
from training.elo import wilson

ROOT = Path(__file__).parents[1]
WEIGHTS, PAGE = ROOT / "weights", ROOT / "docs" / "networks.md"
LINE = 120  # characters
HEAD = """\
# Networks

The networks that come with gozero, and how strong each is. To play with one, see its metadata, or train it further with
the options of its card:

```
gozero-gtp --weights nogo9.pt
gozero weights nogo9.pt
gozero train --preset nogo --run runs/nogo9-2 --from weights/nogo9.pt
```

They learned only from the project's own self-play: no game records, books, solvers or other engines.

"""
METHOD = """
**How strength is measured.** The players swap colours in pairs of games with the same opening of two random plies (four
against GRhino); a draw counts half, and intervals are Wilson's of 95 %. In Go the rules are Chinese, with komi 7.5.
*Earlier*: weights that shipped before these played. Some matches were stopped early. The ladder of UCT has twelve
searches by 10 to 20,480 playouts. UCT and PUCT have no network but random playouts, so many a move. The moves are in
`benchmarks/matches`. `gozero tournament release` plays the networks against their usual opponents.
"""


def page() -> str:
    """The page as Markdown: one table of all networks, then a card for each but the variants of another."""
    cards = tomllib.loads((WEIGHTS / "cards.toml").read_text(encoding="utf-8"))
    networks = {name: load(WEIGHTS / name, game=None) for name in cards}
    rows = [_row(name, card, networks[name]) for name, card in cards.items()]
    table = ["| file | plays | network | strength |", "|---|---|---|---|", *rows]
    texts = [_card(name, cards, networks[name]) for name in cards if "of" not in cards[name]]
    return HEAD + "\n".join(table) + "\n" + METHOD + "".join(texts)


def _row(name: str, card: dict[str, Any], weights: Weights) -> str:
    first = card["match"][0]
    link = "".join(sign for sign in card.get("of", name) if sign.isalnum() or sign in "_-")
    strength = f"{_result(first)} against {_opponent(first)}{_interval(first)}"
    return f"| [`{name}`](#{link}) | {card['plays']} | `{weights.config.name}` | {strength} |"


def _card(name: str, cards: dict[str, dict[str, Any]], weights: Weights) -> str:
    """A network's section: its matches, what it learned from, how to train it further."""
    card = cards[name]
    variants = [f"{each['continued']}  # {other}" for other, each in cards.items() if each.get("of") == name]
    rows = [_match(match) for match in card["match"]]
    commands = [match["command"] for match in card["match"] if "command" in match]
    learned = card.get("learned") or _learned(weights.provenance)
    size = f"{weights.config.shape}, {weights.parameters:,} parameters; `{card['continued']}`."
    parts = [
        f"## {name}",
        fill(f"{size} {learned}", LINE),
        "\n".join(["| opponent | board | visits | result |", "|---|---|---|---|", *rows]),
        *(["\n".join(["```", *commands, "```"])] if commands else []),
        *(fill(card[key], LINE, break_on_hyphens=False) for key in ("more", "weak") if key in card),
        *([card["picture"]] if "picture" in card else []),
    ]
    if variants:
        parts += ["Its variants learn by the same preset with these settings:", "\n".join(["```", *variants, "```"])]
    return "\n" + "\n\n".join(parts) + "\n"


def _opponent(match: dict[str, Any]) -> str:
    return match["opponent"] + (" (earlier)" if match.get("earlier") else "")


def _match(match: dict[str, Any]) -> str:
    visits = match["visits"] or "none"
    return f"| {_opponent(match)} | {match['board']} | {visits} | {_result(match)}{_interval(match)} |"


def _result(match: dict[str, Any]) -> str:
    if "lost" in match:
        return f"lost {match['lost'] or 'none'}"
    if "share" in match:
        return f"{match['share']:.1%} of {match['games']:,}".replace("%", " %")
    return f"{match['score']} of {match['games']}"


def _interval(match: dict[str, Any]) -> str:
    if "lost" in match:
        return ""
    low, high = wilson(match.get("score", match.get("share", 0) * match["games"]), match["games"])
    return f" ({100 * low:.1f}–{100 * high:.1f} %)"


def _learned(provenance: dict[str, Any]) -> str:
    """What a run's metadata says of its length."""
    hours, rows, games = (provenance[key] for key in ("hours", "rows", "games"))
    time = f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.0f} minutes"
    return f"Its last run took {time}: {rows:,} positions, {games:,} games."


if __name__ == "__main__":
    Parser(prog="python -m tools.cards", description=__doc__).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
