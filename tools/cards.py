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

from gozero.nets.weights import Weights, is_statistic, load
from training.matches.elo import wilson

ROOT = Path(__file__).parents[1]
WEIGHTS, PAGE = ROOT / "weights", ROOT / "docs" / "networks.md"
LINE = 120  # characters
HEAD = """\
# Networks

The networks that come with gozero, and how strong each is. Name a file to play with it; all but `large/agz13.pt` are
found from any folder. The second command prints a file's metadata:

```
gozero-gtp --weights best.pt
gozero weights best.pt
```

They learned only from the project's own self-play: no game records, books, solvers or other engines. On a board larger
or smaller than all that a network learned from it plays weaker moves, and the engine warns of that.

"""
METHOD = """
**How strength is measured.** The players swap colours in pairs of games with the same opening of two random plies (four
against GRhino); seeds are fixed beforehand, a draw counts half, and intervals are Wilson's of 95 %. In Go the rules are
Chinese, with komi 7.5. *Earlier*: weights that shipped before these played. Some matches were stopped early. The ladder
of UCT has twelve searches by 10 to 20,480 random playouts. The moves are in `benchmarks/matches`; `gozero tournament
release` plays all networks against their usual opponents. In the commands below:

```
GNUGO="gtp:gnugo --mode gtp --level 10 --seed 1 --chinese-rules --positional-superko --capture-all-dead"
```
"""


def page() -> str:
    """The page as Markdown: one table of all networks, then a card for each but the variants of another."""
    cards = tomllib.loads((WEIGHTS / "cards.toml").read_text(encoding="utf-8"))
    networks = {name: load(WEIGHTS / name, game=None) for name in cards}
    rows = [_row(name, card, networks[name]) for name, card in cards.items()]
    table = ["| file | plays | network | strength | interval |", "|---|---|---|---|---|", *rows]
    variants = {name: _variants(cards, name) for name in cards}
    texts = [_card(name, cards[name], networks[name], variants[name]) for name in cards if "of" not in cards[name]]
    return HEAD + "\n".join(table) + "\n" + METHOD + "".join(texts)


def _row(name: str, card: dict[str, Any], weights: Weights) -> str:
    first = card["match"][0]
    link = "".join(sign for sign in card.get("of", name) if sign.isalnum() or sign in "_-")
    strength = f"{_result(first)} against {first['opponent']}"
    return f"| [`{name}`](#{link}) | {card['plays']} | `{weights.config.name}` | {strength} | {_interval(first)} |"


def _card(name: str, card: dict[str, Any], weights: Weights, variants: list[str]) -> str:
    """A network's section: its matches, what it learned from, how to train it further."""
    numbers = sum(tensor.numel() for key, tensor in weights.state_dict.items() if not is_statistic(key))
    plays = card["plays"][0].upper() + card["plays"][1:]
    rows = [_match(match) for match in card["match"]]
    commands = [match["command"] for match in card["match"] if "command" in match]
    continued = f"gozero train {card['continued']} --run runs/{Path(name).stem}-2 --from weights/{name}"
    parts = [
        f"## {name}",
        fill(f"{plays}. The network has {weights.config.shape} and {numbers:,} parameters.", LINE),
        "\n".join(["| opponent | board | visits | result | interval |", "|---|---|---|---|---|", *rows]),
        "\n".join(["```", *commands, "```"]),
        *(fill(card[key], LINE, break_on_hyphens=False) for key in ("more", "weak") if key in card),
        *([card["picture"]] if "picture" in card else []),
        fill(f"{card.get('learned') or _learned(weights.provenance)} To train it further:", LINE),
        f"```\n{continued}\n```",
    ]
    if variants:
        parts += ["Its variants learn by the same preset with these settings:", "\n".join(["```", *variants, "```"])]
    return "\n" + "\n\n".join(parts) + "\n"


def _variants(cards: dict[str, dict[str, Any]], name: str) -> list[str]:
    return [f"{card['continued']}  # {other}" for other, card in cards.items() if card.get("of") == name]


def _match(match: dict[str, Any]) -> str:
    opponent = match["opponent"] + (" (earlier)" if match.get("earlier") else "")
    visits = match["visits"] or "none"
    return f"| {opponent} | {match['board']} | {visits} | {_result(match)} | {_interval(match)} |"


def _result(match: dict[str, Any]) -> str:
    if "lost" in match:
        return f"lost {match['lost'] or 'none'}"
    if "share" in match:
        return f"{match['share']:.1%} of {match['games']:,}".replace("%", " %")
    return f"{match['score']} of {match['games']}"


def _interval(match: dict[str, Any]) -> str:
    if "lost" in match:
        return "all games"
    low, high = wilson(match.get("score", match.get("share", 0) * match["games"]), match["games"])
    return f"{100 * low:.1f}–{100 * high:.1f} %"


def _learned(provenance: dict[str, Any]) -> str:
    """What a run's metadata says of its length."""
    hours, rows, games = (provenance[key] for key in ("hours", "rows", "games"))
    time = f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.0f} minutes"
    return f"Its last run took {time} and had {rows:,} positions of {games:,} games."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
