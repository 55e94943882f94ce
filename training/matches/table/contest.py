"""A published table as a tournament: each network at each number of simulations is an entrant, each cell a pairing.

The field has every entrant of the table, so that what was played before always belongs to it; which cells are played is
said by its pairs.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gozero.system.words import counted
from training.matches.elo import MatchScore
from training.matches.interface import POLICY
from training.matches.options import SIMS
from training.matches.table.published import PublishedPair, PublishedTable
from training.matches.tournament import field as fields
from training.matches.tournament.field import PAIRS, Field
from training.matches.tournament.results import MatchScores, score

PLAIN_UCT = "plain UCT"


@dataclass(frozen=True)
class Contest:
    """Who plays a table."""

    table: PublishedTable
    weights: tuple[str, ...]  # files, as `locations.find` takes them
    command: str = ""  # of a GTP engine, with `SIMS` in it; empty: plain UCT
    name: str = ""  # of that engine in tables; empty: the program's

    @property
    def opponent(self) -> str:
        if self.name:
            return self.name
        return Path(shlex.split(self.command)[0]).name if self.command else PLAIN_UCT

    def our_name(self, file: str, pair: PublishedPair) -> str:
        return f"{file}, {counted(pair.ours, 'visit', ',') if pair.ours else pair.our_side}"

    def their_name(self, pair: PublishedPair) -> str:
        return f"{self.opponent}, {counted(pair.theirs, 'simulation', ',')}"

    def field(self, where: str, cells: Sequence[PublishedPair], **values: Any) -> Field:
        """The tournament in which these cells are played by every network; `values` are further keys of a field.

        Raises:
            SettingsError: as `fields.load`; `where` begins its line.
        """
        pairs = [
            {"a": self.our_name(file, cell), "b": self.their_name(cell)} for file in self.weights for cell in cells
        ]
        entrants = [{"name": name, "player": player} for name, (player, *_) in self._entrants().items()]
        return fields.made({"kind": PAIRS, "entrant": entrants, "pair": pairs} | values, where)

    def steps(self, field: Field) -> dict[int, tuple[str, int]]:
        """The ladder and the simulations of each entrant of the field by its place, as a rehearsal wants them."""
        entrants = self._entrants()
        return {place: (entrants[name][1], max(1, entrants[name][2])) for place, name in enumerate(field.names)}

    def total(self, found: MatchScores, file: str, pair: PublishedPair) -> MatchScore:
        return score(found, self.our_name(file, pair), self.their_name(pair)) or MatchScore(0, 0)

    def _entrants(self) -> dict[str, tuple[str, str, int]]:
        """(player, ladder, simulations) of each entrant by name; every ladder in ascending order."""
        found: dict[str, tuple[str, str, int]] = {}
        for file in self.weights:
            for pair in self.table.pairs:
                player = f"weights:{file}:{pair.ours or POLICY}"
                found[self.our_name(file, pair)] = player, f"weights:{file}", pair.ours
        for pair in sorted(self.table.pairs, key=lambda pair: pair.theirs):
            command = self.command.replace(SIMS, str(pair.theirs))
            player = f"gtp:{command}" if self.command else f"uct:{pair.theirs}"
            found[self.their_name(pair)] = player, self.opponent, pair.theirs
        return found
