"""What every front end lets its user choose of the engine: memory, threads, and what evaluates the network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gozero.evaluators.backends import BACKENDS, PRECISIONS
from gozero.play.engine import LEAST_MEMORY, MOST_MEMORY, Evaluators, cache_memory, most_memory, tree_memory
from gozero.system.options import option


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """The options that all front ends have; None: the program chooses."""

    max_memory: int | None = option(
        None,
        "most memory in MB for all search trees and evaluations kept; a search that needs more ends (default: a "
        "quarter of the machine's)",
        low=LEAST_MEMORY,
        high=MOST_MEMORY,
        metavar="MB",
    )
    threads: int | None = option(None, "CPU threads (default: as many cores as this process may use)", low=1, high=1024)
    backend: str = option(
        "auto", f"what evaluates the network: {', '.join(BACKENDS)} (default auto)", choices=BACKENDS, metavar="NAME"
    )
    precision: str = option(
        "auto",
        f"number type of the network: {', '.join(PRECISIONS)} (default auto: the fastest that this processor has)",
        choices=PRECISIONS,
        metavar="NAME",
    )

    @property
    def most_memory(self) -> int:
        """Bytes that search trees and the evaluations kept may take."""
        return most_memory(self.max_memory)

    @property
    def tree_memory(self) -> int:
        """Bytes that search trees may take."""
        return tree_memory(self.max_memory)

    def evaluators(self, path: Path) -> Evaluators:
        """The evaluators of a weights file."""
        return Evaluators(path, self.backend, self.threads, self.precision, cache_memory(self.max_memory))
