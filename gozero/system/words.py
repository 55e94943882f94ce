"""Numbers with their nouns, for messages."""

from __future__ import annotations


def counted(number: float, noun: str, spec: str = "") -> str:
    """`1 visit`, `2 visits`, `1 process`, `2 processes`; `spec` is how the number is written."""
    written, plural = f"{number:{spec}}", "es" if noun.endswith(("s", "x", "ch")) else "s"
    return f"{written} {noun}{plural * (written != '1')}"
