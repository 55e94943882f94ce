"""What every front end sets an engine up with: options, weights file, board sizes, evaluators, the size of a search.
Nothing heavy is imported before an evaluator is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gozero import games
from gozero.evaluators.base import BACKENDS, PRECISIONS
from gozero.evaluators.factory import Evaluators
from gozero.games import GAMES, GO_FAMILY
from gozero.games.coords import MAX_SIZE
from gozero.games.go.rules import MIN_SIZE, rule_set
from gozero.nets.locations import WEIGHTS, find
from gozero.nets.weights import Header, WeightsError, header, listed
from gozero.system import machine
from gozero.system.errors import ChoiceError
from gozero.system.options import option

if TYPE_CHECKING:
    from gozero.search.settings import SearchSettings

DEFAULT_GAME = "go"
SMALLEST_GO = 5  # points a side; Go is smaller only in tests of its rules

# with at least BATCHING_VISITS a move, positions are evaluated MANY_LEAVES at a time, or up to MOST_LEAVES if the
# evaluator prefers large batches and the tree has grown
MOST_LEAVES, MANY_LEAVES, FEW_LEAVES = 64, 8, 2
BATCHING_VISITS = 200

# of the machine's memory, one part in this many is for trees and cache, unless the user says otherwise
MEMORY_SHARE = 4
CACHE_SHARE, MOST_CACHE = 8, 2**30  # the cache has one part in this many of that, and no more bytes than this
LEAST_MEMORY, MOST_MEMORY = 64, 10_000_000  # MB that the user may give them

C_PUCT = {"nogo": 0.65}  # where short searches gain by exploring less; other games have the usual one
LCB = 2.5  # deviations below its mean at which a move's lower bound lies; the move of the highest one is played
# of points beside the result, in Go (as KataGo's score utilities): games that are decided are still played well
SCORE_WEIGHT = 0.3


def find_weights(name: str | None, game: str | None) -> tuple[Path, Header]:
    """The weights file of that name (None: the game's own) and its header; needs no torch. `game` None: the file's, or
    Go. WeightsError if it is missing or damaged, or plays an unknown game or another one; ChoiceError for a game
    without a network of its own.
    """
    wanted = game or (DEFAULT_GAME if name is None else None)
    if name is None and wanted not in WEIGHTS:
        raise ChoiceError(f"no network comes with {wanted}: name a weights file")
    path = find(name or WEIGHTS[wanted or DEFAULT_GAME])
    found = header(path)
    if found.game not in GAMES or (wanted and found.game != wanted):
        raise WeightsError(path, f"it plays {found.game}, not {wanted or 'one of ' + ', '.join(GAMES)}")
    return path, found


def check_choices(game: str, size: int | None, rules: str | None) -> None:
    """ChoiceError for an unknown game, or a size or rules that Go does not have (None: its own); loads no rules."""
    if game not in GAMES:
        raise ChoiceError(f"unknown game {game!r}: expected one of {', '.join(GAMES)}")
    if game == DEFAULT_GAME:
        if size is not None and not MIN_SIZE <= size <= MAX_SIZE:
            raise ChoiceError(f"board size {size} is not supported: expected {MIN_SIZE} to {MAX_SIZE}")
        if rules is not None:
            rule_set(rules)


def supported_sizes(header: Header) -> Sequence[int]:
    """The board sizes that a weights file plays, ascending; of a board that is not square, its columns."""
    if header.only is not None:
        return (header.only,)
    if header.game == "go":
        return range(SMALLEST_GO, MAX_SIZE + 1)
    sizes = []
    for size in range(1, MAX_SIZE + 1):
        with suppress(ValueError):
            sizes.append(games.make(header.game, size=size).size)
    return sizes


def beyond_training(trained: Sequence[int], size: int) -> str:
    """A line for the user if a board is smaller or larger than all that were learned (`Header.trained`), else ""."""
    if not trained or trained[0] <= size <= trained[-1]:
        return ""
    learned = f"these weights learned from {listed(trained)}"
    return f"board size {size} was never trained: {learned}; expect weak moves and wrong estimates"


def search_settings(visits: int | None, game: str) -> SearchSettings:
    """Search settings for this game at this many visits a move; None: as many as there is time for."""
    from gozero.search.settings import SearchSettings

    many, is_go = visits is None or visits >= BATCHING_VISITS, game in GO_FAMILY
    leaves, most_leaves = (MANY_LEAVES, MOST_LEAVES) if many else (FEW_LEAVES, FEW_LEAVES)
    return SearchSettings(
        c_puct=C_PUCT.get(game, SearchSettings.c_puct), leaves=leaves, most_leaves=most_leaves,
        score_weight=SCORE_WEIGHT if is_go else 0.0, lcb=LCB, solve=not is_go,
    )  # fmt: skip


def no_more_memory(limit: int, remedy: str = "--max-memory MB gives more") -> str:
    """The line for the user when a search ended because its tree reached this limit in bytes."""
    return f"a search ended early: its tree has used up its memory, {limit / 2**20:,.0f} MB; {remedy}"


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """The options that all front ends have; None: the program chooses."""

    max_memory: int | None = option(
        None,
        "most memory in MB for all search trees and evaluations kept; a search that needs more ends (default: a "
        "quarter of the machine's)", low=LEAST_MEMORY, high=MOST_MEMORY, metavar="MB",
    )  # fmt: skip
    threads: int | None = option(
        None, "CPU threads (default: as many cores as this process may use)", low=1, high=machine.MOST_THREADS
    )
    backend: str = option(
        "auto", f"what evaluates the network: {', '.join(BACKENDS)} (default auto)", choices=BACKENDS, metavar="NAME"
    )
    precision: str = option(
        "auto",
        f"number type of the network: {', '.join(PRECISIONS)} (default auto: the fastest that this processor has)",
        choices=PRECISIONS, metavar="NAME",
    )  # fmt: skip

    @property
    def most_memory(self) -> int:
        """Bytes that search trees and cached evaluations may take: the user's MB, or a share of the machine's."""
        return machine.memory() // MEMORY_SHARE if self.max_memory is None else self.max_memory * 2**20

    @property
    def cache_memory(self) -> int:
        """Bytes of these that are for cached evaluations."""
        return min(self.most_memory // CACHE_SHARE, MOST_CACHE)

    @property
    def tree_memory(self) -> int:
        """Bytes of these that are for search trees."""
        return self.most_memory - self.cache_memory

    def evaluators(self, path: Path) -> Evaluators:
        return Evaluators(path, self.backend, self.threads, self.precision, self.cache_memory)
