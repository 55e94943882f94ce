"""Writes the tables of docs/settings.md from the dataclasses in training/settings:

    python -m tools.settings_page

What stands above the first table is written by hand and stays.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from gozero.system.console import Parser
from training.settings.config import LoopSettings, as_toml

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
MARK = "<!-- python -m tools.settings_page writes what follows -->\n"
MOST = 1_000_000  # a greater limit is none
HEAD = "|setting|default|range|meaning|in publications|\n|---|---|---|---|---|"


def page(text: str) -> str:
    """The page with the present tables below its mark."""
    return text.partition(MARK)[0] + MARK + "\n" + "\n\n".join(tables(LoopSettings, "A run")) + "\n"


def tables(table: type[Any], title: str) -> Iterator[str]:
    """The table of a dataclass, then those of the dataclasses within."""
    hints = get_type_hints(table)
    own = [item for item in fields(table) if "unit" in item.metadata]
    yield "\n".join([f"## {title}", "", textwrap.fill(table.__doc__ or "", 120), "", HEAD, *map(row, own)])
    for item in fields(table):
        if is_dataclass(hints[item.name]):
            yield from tables(hints[item.name], f"`[{item.name}]`")
        elif item not in own:  # a list of tables
            yield from tables(get_args(hints[item.name])[0], f"`[[{item.name}]]`")


def row(item: Field[Any]) -> str:
    """The table's line for a setting."""
    default = item.default_factory() if item.default_factory is not MISSING else item.default
    usual = "required" if default is MISSING else "none" if default == "" else f"`{as_toml(default)}`"
    about = item.metadata
    return "|".join(["", f"`{item.name}`", usual, allowed(about), about["unit"], about["papers"], ""])


def allowed(about: Mapping[str, Any]) -> str:
    """The choices, or the least and the greatest number that can be given; empty if there are no limits."""
    if about["choices"]:
        return ", ".join(f"`{choice}`" for choice in about["choices"])
    low, high = about["low"], about["high"]
    if low <= -MOST:
        return ""
    return f"≥{low:g}" if high > MOST else f"{low:g}–{high:,.0f}" if high > 1 else f"{low:g}–{high:g}"


if __name__ == "__main__":
    Parser(prog="python -m tools.settings_page", description=__doc__).parse_args()
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
