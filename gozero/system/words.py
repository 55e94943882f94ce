"""Numbers with their nouns, for messages."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: float, noun: str, spec: str = "") -> str:
    """`1 visit`, `2 visits`, `1 process`, `2 processes`; `spec` is how the number is written."""
    written, plural = f"{number:{spec}}", "es" if noun.endswith(("s", "x", "ch")) else "s"
    return f"{written} {noun}{plural * (written != '1')}"


def spanned(sizes: Sequence[int]) -> str:
    """Board sizes, ascending, as a person lists them: `5 to 19`, or `4, 6, 8`."""
    if len(sizes) > 2 and list(sizes) == list(range(sizes[0], sizes[-1] + 1)):
        return f"{sizes[0]} to {sizes[-1]}"
    return ", ".join(map(str, sizes))
