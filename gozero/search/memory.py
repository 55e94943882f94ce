"""How much memory the trees of several searches may take together.

Vocabulary. A tree *holds* what it has reserved, whether or not it has grown into it. A search begins with a small room,
at most a share of the limit, whatever the others hold, so that a question beside a long analysis finds some; all else
it must find free. While a tree grows, one of its arrays is there twice.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet

FIRST_SHARE = 16
"""A search begins with at most one part in this many of the limit, or less where more searches run at once."""


class Holder(Protocol):
    """Whoever has trees."""

    @property
    def held(self) -> int:
        """Bytes that its trees hold."""


class Memory:
    """A limit in bytes, shared by the searches that were added, `searches` at once at most; a search that was deleted
    holds none.
    """

    def __init__(self, limit: int, searches: int = 1) -> None:
        self.limit = limit
        self._shares = max(FIRST_SHARE, searches)
        self._holders: WeakSet[Holder] = WeakSet()

    @property
    def first(self) -> int:
        """Bytes with which a search may begin."""
        return self.limit // self._shares

    @property
    def free(self) -> int:
        """Bytes that no search holds, at least 0."""
        return max(0, self.limit - sum(holder.held for holder in self._holders))

    def add(self, holder: Holder) -> None:
        """Count the memory of this search from now on."""
        self._holders.add(holder)
