"""The games and the networks that a page can choose from, and what is known of each network's strength."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gozero import games
from gozero.games.descriptions import DESCRIPTIONS
from gozero.games.go.handicap import most_fixed
from gozero.games.go.rules import RULES
from gozero.games.gomoku import LONGEST_LINE
from gozero.nets.locations import SHIPPED_FOLDER, WEIGHTS, find
from gozero.nets.weights import Header, WeightsError, header
from gozero.play import engine
from gozero.system.errors import ChoiceError

TITLES = {name: described.title for name, described in DESCRIPTIONS.items()}
AIMS = {name: described.aim for name, described in DESCRIPTIONS.items()} | {
    "go": "The larger area wins. Two passes end the game; dead stones are then marked and taken off."
}
PLAYOUTS = "no weights: it plays by random playouts, and weakly"
STRENGTHS = "strength.toml"  # beside the shipped weights


def shown_games(choices: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Every game, with the networks that play it.

    Args:
        choices: weights files beyond each game's own, by the name that the page shows.
    """
    own = {name: _own(name) for name in WEIGHTS}
    found = []
    for name in TITLES:
        engines = [_network(name, "", own[name])]
        for label, path in choices.items():
            head = _header(path)
            if head is not None and head.game == name:
                engines.append(_network(name, label, path))
        found.append(
            {
                "name": name,
                "title": TITLES[name],
                "aim": AIMS[name],
                "rules": rule_sets(name),
                "komi": games.usual(name, "komi"),
                "handicaps": {size: most_fixed(size) for size in range(2, 20)} if name == "go" else {},
                "engines": engines,
            }
        )
    return found


def sizes_of(game: str, path: Path | None) -> Sequence[int]:
    """Board sizes that a weights file plays, None: random playouts."""
    head = None if path is None else _header(path)
    return engine.supported_sizes(Header(game, None, None) if head is None else head)


def usual_size(game: str, path: Path | None) -> int:
    """The board that a game begins with where the page does not say: for Go one that suits a first game."""
    head = None if path is None else _header(path)
    if game == "go" and (head is None or (head.only is None and (not head.trained or 9 in head.trained))):
        return 9
    usual: int = games.usual(game, "size")
    return (head.size if head is not None else None) or usual


def trained_sizes(path: Path | None) -> tuple[int, ...]:
    """Board sizes that a weights file learned from; () where that is not known."""
    head = None if path is None else _header(path)
    return () if head is None else head.trained


def title_of(game: str) -> str:
    """What people call a game; its own name, where the page does not offer it."""
    return TITLES.get(game, game)


def weights_of(game: str, given: str | None) -> Path | None:
    """The weights file to play with, None: random playouts. ChoiceError where the one that was asked for plays another
    game or cannot be used.
    """
    if given is None:
        return _own(game)
    head = _header(Path(given))
    if head is None or head.game != game:
        raise ChoiceError(f"these weights cannot be used for {title_of(game)}")
    return Path(given)


def _own(game: str) -> Path | None:
    try:
        return find(WEIGHTS[game])
    except WeightsError:
        return None


def _network(game: str, label: str, path: Path | None) -> dict[str, Any]:
    """A network as the page shows it; label "": the game's own."""
    head = None if path is None else _header(path)
    if path is None or head is None:
        return {"label": label, "name": "random playouts", "strength": PLAYOUTS, **_boards(game, None)}
    name = f"{path.name}, {head.network}" if head.network else path.name
    strength = strengths().get(path.name, "") if not label else ""
    return {"label": label, "name": name, "strength": strength, **_boards(game, path)}


def _boards(game: str, path: Path | None) -> dict[str, Any]:
    return {
        "sizes": list(sizes_of(game, path)),
        "usual": usual_size(game, path),
        "trained": list(trained_sizes(path)),
    }


@cache
def _header(path: Path) -> Header | None:
    try:
        return header(path)
    except WeightsError:
        return None


@cache
def strengths() -> dict[str, str]:
    """A match of each shipped weights file, in words."""
    try:
        matches = tomllib.loads((SHIPPED_FOLDER / STRENGTHS).read_text(encoding="utf-8"))
    except OSError:
        return {}
    return {name: _told(**match) for name, match in matches.items()}


def _told(opponent: str, visits: int, board: str, games: int = 0, score: float = 0, lost: int | None = None) -> str:
    """A match in words; ``lost`` where all possible games were played."""
    where = f"against {opponent}, with {visits} visits a move on {board}"
    if lost is not None:
        return f"it lost {lost or 'no'} games {where}"
    return f"it {'won' if isinstance(score, int) else 'scored'} {score} of {games} games {where}"


def rule_sets(game: str) -> list[str]:
    """The rule sets of a game, the usual one first; none where there is one only."""
    if game == "go":
        return list(RULES)
    return list(LONGEST_LINE) if game == "gomoku" else []
