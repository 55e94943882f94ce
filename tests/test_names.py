"""One name for one thing: a class or a colour is defined in one module."""

import ast
from collections import defaultdict

from tests import ROOT

PACKAGES = ("gozero", "gtp", "training")
COLOURS = {"BLACK", "WHITE", "EMPTY"}


def definitions() -> dict[str, set[str]]:
    """Public classes, and the colours, by name: the files that define them."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)} & COLOURS
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                names.add(node.name)
            for name in names:
                found[name].add(str(path.relative_to(ROOT)))
    return found


def test_one_name_for_one_thing() -> None:
    found = definitions()
    assert all(found[colour] == {"gozero/games/colours.py"} for colour in COLOURS)
    assert {name: files for name, files in found.items() if len(files) > 1} == {}
