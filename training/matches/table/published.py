"""Tables of results that others published, read from NAME.toml beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError, read_toml
from training.matches.interface import POLICY

FOLDER = Path(__file__).resolve().parent


class PublishedPair(NamedTuple):
    """One cell's players by their simulations a move."""

    ours: int  # 0: the policy alone
    theirs: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """From `400:50000`, `10k:1M` or `policy:1,000`. ValueError for other texts."""
        ours, _, theirs = text.lower().replace(",", "").replace("k", "000").replace("m", "000000").partition(":")
        return cls(0 if ours == POLICY else int(ours), int(theirs))

    @property
    def our_side(self) -> str:
        """`400`, `10,000`, `policy`."""
        return f"{self.ours:,}" if self.ours else POLICY

    def __str__(self) -> str:
        return f"{self.our_side} : {self.theirs:,}"


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

    def pair(self, text: str) -> PublishedPair:
        """The pair that a text names. ChoiceError if the table does not have it."""
        with suppress(ValueError):
            if (pair := PublishedPair.parse(text)) in self.pairs:
                return pair
        known = ", ".join(str(known).replace(" ", "").replace(",", "") for known in self.pairs)
        raise ChoiceError(f"--pairs: the table has no {text!r}: expected some of {known}")

    def chosen(self, texts: Sequence[str] | None) -> list[PublishedPair]:
        """The pairs that the texts name, in the table's order; all of them for None. ChoiceError as in `pair`."""
        return self.pairs if texts is None else sorted({self.pair(text) for text in texts})


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> PublishedTable:
    """The table of that name. SettingsError if there is none."""
    if name not in names():
        raise SettingsError(f"there is no table {name!r}: expected {' or '.join(names())}")
    values = read_toml(FOLDER / f"{name}.toml")
    parts = []
    for part in values.pop("part"):
        pairs = [PublishedPair.parse(text) for text in part["pairs"].split()]
        percent = part["percent"].items()
        figures = {name: [f"{text}%".replace("<", "< ") for text in line.split()] for name, line in percent}
        parts.append(Part(part["title"], pairs, figures))
    return PublishedTable(**values, parts=parts)
