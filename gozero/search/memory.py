"""How much memory the trees of several searches may take together.

A tree counts with what it has reserved. A search begins with a small share of the limit, so that a question beside a
long analysis finds some. While a tree grows, one of its arrays is there twice.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

FIRST_SHARE = 16  # a search begins with at most one part in this many of the limit, or less if more run at once


class Memory:
    """A limit in bytes, shared by the searches that were added, at most `searches` at once; deleted ones have none."""

    def __init__(self, limit: int, searches: int = 1) -> None:
        self.limit = limit
        self._shares = max(FIRST_SHARE, searches)
        self._searches: WeakSet[Any] = WeakSet()

    @property
    def first(self) -> int:
        """Bytes with which a search may begin."""
        return self.limit // self._shares

    @property
    def free(self) -> int:
        """Bytes that no search has reserved, at least 0."""
        return max(0, self.limit - sum(search.reserved for search in self._searches))

    def add(self, search: Any) -> None:
        """Count the bytes that this `Search` has reserved from now on."""
        self._searches.add(search)
