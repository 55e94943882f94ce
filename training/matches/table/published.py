"""Tables of results that others published, read from NAME.toml beside this file, to be played again with networks of ours.

What a file has is checked as settings are: a wrong one is a `SettingsError`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

from gozero.games import GAMES
from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError
from training.matches.interface import MOST_VISITS, POLICY
from training.settings import config
from training.settings.config import setting

FOLDER = Path(__file__).resolve().parent
COLUMNS, ROWS = "columns", "rows"
LESS = "<"  # before a figure of which only an upper bound was published
UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
COUNT = re.compile(r"([1-9]\d{0,9}(?:,\d{3})*)([kKmM]?)", re.ASCII)


class PublishedPair(NamedTuple):
    """One cell's players by their simulations a move."""

    ours: int  # 0: the policy alone
    theirs: int

    @classmethod
    def parse(cls, text: str, where: str) -> Self:
        """From `400:50000`, `10k:1M` or `policy:1,000`; SettingsError, which `where` begins, for anything else."""
        ours, _, theirs = text.partition(":")
        counts = [0 if ours == POLICY else _count(ours), _count(theirs)]
        if None in counts:
            raise SettingsError(
                f"{where}: pair {text!r}: expected simulations of ours and theirs such as 400:50k, or {POLICY}:1000"
            )
        return cls(*(count or 0 for count in counts))

    @property
    def our_side(self) -> str:
        """`400`, `10,000`, `policy`."""
        return f"{self.ours:,}" if self.ours else POLICY

    def __str__(self) -> str:
        return f"{self.our_side} : {self.theirs:,}"


def _count(text: str) -> int | None:
    found = COUNT.fullmatch(text)
    count = int(found[1].replace(",", "")) * UNITS[found[2].lower()] if found else 0
    return count if 0 < count <= MOST_VISITS else None


class Figure(NamedTuple):
    """A published share of games won."""

    share: float  # 0 ... 1
    is_bound: bool  # it was less than that

    def __str__(self) -> str:
        return f"{'< ' if self.is_bound else ''}{self.share:.1%}"


@dataclass(frozen=True)
class PublishedNetwork:
    """A network of the publication."""

    name: str = setting("", unit="what the publication calls it")
    percent: str = setting("", unit="share won of each pair in turn, in per cent, `<` before a bound")

    @property
    def figures(self) -> list[Figure]:
        return [Figure(float(text.removeprefix(LESS)) / 100, text.startswith(LESS)) for text in self.percent.split()]


@dataclass(frozen=True)
class Part:
    """One of the publication's tables."""

    network: tuple[PublishedNetwork, ...] = field(metadata={"unit": "whose figures there are"})
    title: str = setting("", unit="of the part")
    networks: str = setting(COLUMNS, unit="where the networks stand", choices=(COLUMNS, ROWS))
    pairs: str = setting("", unit="simulations of ours : theirs, with blanks between")

    @property
    def cells(self) -> list[PublishedPair]:
        """The pairs in the order of the figures."""
        return [PublishedPair.parse(text, self.title) for text in self.pairs.split()]


@dataclass(frozen=True)
class PublishedTable:
    """All that was published of one program against one opponent."""

    part: tuple[Part, ...] = field(metadata={"unit": "its tables"})
    source: str = setting("", unit="where it was published")
    game: str = setting("", unit="game", choices=tuple(GAMES))
    size: int = setting(0, unit="board size", low=1, high=25)
    opponent: str = setting("", unit="the other program's name")
    games: int = setting(250, unit="games of each colour in each cell", low=1, high=100_000)

    @property
    def pairs(self) -> list[PublishedPair]:
        """Every pair once, by our simulations and then by theirs."""
        return sorted(set(chain.from_iterable(part.cells for part in self.part)))

    def chosen(self, texts: Sequence[str] | None, where: str) -> list[PublishedPair]:
        """The pairs that the texts name, in the table's order; all of them for None. ChoiceError for one that it does
        not have.
        """
        if texts is None:
            return self.pairs
        wanted = {PublishedPair.parse(text, "--pairs") for text in texts}
        for pair in wanted - set(self.pairs):
            known = ", ".join(str(known).replace(" ", "").replace(",", "") for known in self.pairs)
            raise ChoiceError(f"--pairs: {pair} is not in {where}: expected some of {known}")
        return [pair for pair in self.pairs if pair in wanted]

    def figures_of(self, pair: PublishedPair) -> dict[str, Figure]:
        """What each network scored in this pair, by name, each figure once."""
        found: dict[str, Figure] = {}
        for part in self.part:
            for network in part.network:
                for cell, figure in zip(part.cells, network.figures, strict=True):
                    if cell == pair and figure not in found.values():
                        found[network.name] = figure
        return found


def names() -> list[str]:
    """The tables that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> PublishedTable:
    """The table of that name. SettingsError if there is none, or where a network has not a figure for each pair."""
    if name not in names():
        raise SettingsError(f"there is no table {name!r}: expected {' or '.join(names())}")
    path = FOLDER / f"{name}.toml"
    table: PublishedTable = config.from_dict(PublishedTable, config.read(path), str(path))
    for part in table.part:
        for network in part.network:
            if len(network.percent.split()) != len(part.cells):
                raise SettingsError(f"{path}: {part.title}: {network.name}: expected {len(part.cells)} figures")
    return table
