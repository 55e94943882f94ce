"""The games and the networks that a page can choose from, and what is known of each network's strength."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gozero import games
from gozero.games.descriptions import DESCRIPTIONS
from gozero.games.go.handicap import most_fixed
from gozero.games.go.rules import RULES
from gozero.nets.locations import SHIPPED_FOLDER, WEIGHTS, find
from gozero.nets.weights import Header, WeightsError, header
from gozero.play import engine

GO_AIM = (
    "The larger area wins, by Japanese rules the larger territory with prisoners. Two passes end the game; dead stones "
    "are then marked and taken off."
)
PLAYOUTS = "no weights: it plays by random playouts, and weakly"
CARDS = "cards.toml"  # beside the shipped weights


class OfferedNetwork(NamedTuple):
    """What plays a game: a weights file, or random playouts if there is no path."""

    path: Path | None
    header: Header

    @property
    def sizes(self) -> Sequence[int]:
        """Board sizes that it plays."""
        return engine.supported_sizes(self.header)

    @property
    def usual_size(self) -> int:
        """The board that a game begins with if the page does not say: for Go one that suits a first game."""
        trained = self.header.trained
        if self.header.game == "go" and self.header.only is None and (not trained or 9 in trained):
            return 9
        return self.header.size or games.usual(self.header.game, "size")

    def shown(self, label: str) -> dict[str, Any]:
        """As the page shows it; label "": the game's own."""
        boards = {"sizes": list(self.sizes), "usual": self.usual_size, "trained": list(self.header.trained)}
        if self.path is None:
            return {"label": label, "name": "random playouts", "strength": PLAYOUTS, **boards}
        name = f"{self.path.name}, {self.header.network}" if self.header.network else self.path.name
        strength = "" if label else strengths().get(self.path.name, "")
        return {"label": label, "name": name, "strength": strength, **boards}


def offered_weights(name: str | None) -> dict[str, Path]:
    """The file of ``--weights``, if one is given, by its name on the page. WeightsError if it is missing or damaged."""
    if name is None:
        return {}
    path = find(name)
    header(path)
    return {path.name: path}


def networks(game: str, choices: Mapping[str, Path]) -> dict[str, OfferedNetwork]:
    """What plays a game, by the names that the page shows: under "" the game's own weights or, without any, random
    playouts; then those of ``choices``, files by name, that play it.
    """
    found = {"": OfferedNetwork(None, Header(game))}
    for label, path in {"": WEIGHTS.get(game, ""), **choices}.items():
        offered = _offered(path)
        if offered is not None and offered.header.game == game:
            found[label] = offered
    return found


def shown_games(choices: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Every game, with the `networks` that play it."""
    return [
        {
            "name": name,
            "title": described.title,
            "aim": GO_AIM if name == "go" else described.aim,
            "rules": rule_sets(name),
            "komi": {rules: RULES[rules].komi for rules in rule_sets(name)} if name == "go" else None,
            "handicaps": {size: most_fixed(size) for size in range(2, 20)} if name == "go" else {},
            "engines": [network.shown(label) for label, network in networks(name, choices).items()],
        }
        for name, described in DESCRIPTIONS.items()
    ]


def rule_sets(game: str) -> list[str]:
    """The rule sets of a game, the usual one first; none where there is one only."""
    if game == "go":
        return list(RULES)
    if game == "gomoku":
        from gozero.games.gomoku import LONGEST_LINE

        return list(LONGEST_LINE)
    return []


@cache
def _offered(name: Path | str) -> OfferedNetwork | None:
    """The network of a weights file; None if it cannot be used."""
    try:
        path = find(name)
        return OfferedNetwork(path, header(path))
    except WeightsError:
        return None


@cache
def strengths() -> dict[str, str]:
    """The first match on the card of each game's own weights file, in words."""
    try:
        cards = tomllib.loads((SHIPPED_FOLDER / CARDS).read_text(encoding="utf-8"))
    except OSError:
        return {}
    return {name: _in_words(cards[name]["match"][0]) for name in WEIGHTS.values() if name in cards}


def _in_words(match: Mapping[str, Any]) -> str:
    """A match in words; it has the games lost instead of a score if all possible games were played."""
    where = f"against {match['opponent']}, with {match['visits']} visits a move on {match['board']}"
    if "lost" in match:
        return f"it lost {match['lost'] or 'no'} games {where}"
    won = "won" if isinstance(match["score"], int) else "scored"
    return f"it {won} {match['score']} of {match['games']} games {where}"
