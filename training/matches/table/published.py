"""Tables of results that others published, read from NAME.toml beside this file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError, read_toml
from training.matches.interface import MOST_VISITS, POLICY

FOLDER = Path(__file__).resolve().parent
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


class Part(NamedTuple):
    """One of the publication's tables."""

    title: str
    pairs: list[PublishedPair]
    figures: dict[str, list[str]]  # of each network, one for each pair: `58.0%`, or `< 10%`


@dataclass(frozen=True)
class PublishedTable:
    """All that was published of one program against one opponent."""

    source: str
    game: str
    size: int
    opponent: str
    games: int  # of each colour in each cell
    parts: list[Part]

    @property
    def pairs(self) -> list[PublishedPair]:
        """Every pair once, by our simulations and then by theirs."""
        return sorted(set(chain.from_iterable(part.pairs for part in self.parts)))

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


def names() -> list[str]:
    """The tables that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> PublishedTable:
    """The table of that name. SettingsError if there is none."""
    if name not in names():
        raise SettingsError(f"there is no table {name!r}: expected {' or '.join(names())}")
    values = read_toml(FOLDER / f"{name}.toml")
    parts = []
    for part in values.pop("part"):
        pairs = [PublishedPair.parse(text, part["title"]) for text in part["pairs"].split()]
        percent = part["percent"].items()
        figures = {name: [f"{text}%".replace("<", "< ") for text in line.split()] for name, line in percent}
        parts.append(Part(part["title"], pairs, figures))
    return PublishedTable(**values, parts=parts)
