"""The modules of the packages import each other in one direction only: no circle, wherever in a file the import stands.

The layers of `setup.cfg` (`make check`) say who may import whom between packages. Here are circles of modules, with the
imports that only a type checker runs and those inside functions. A module that is looked up by a name in a table
(`gozero.games`) is not seen.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("analysis", "gozero", "gtp", "training", "web")
Graph = dict[str, set[str]]  # module -> the modules that it imports


def sources(root: Path) -> dict[str, Path]:
    """Each module's file, by its dotted name; a package's is its `__init__.py`."""
    found = {}
    for package in PACKAGES:
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(root: Path) -> Graph:
    """The modules that each module imports anywhere in its file. `from a import b` means a.b where that is a module,
    else a.
    """
    modules = sources(root)
    graph: Graph = {}
    for name, path in modules.items():
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        wanted: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                origin = ".".join([*above, *([node.module] if node.module else [])])
                wanted |= {
                    f"{origin}.{alias.name}" if f"{origin}.{alias.name}" in modules else origin for alias in node.names
                }
        graph[name] = (wanted & modules.keys()) - {name}
    return graph


def reached(graph: Graph, start: str) -> set[str]:
    """The modules that importing `start` leads to; `start` itself only if it stands in a circle."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = graph[waiting.pop()] - found
        found |= fresh
        waiting += fresh
    return found


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """The largest sets of modules that all lead to each other, sorted."""
    onward = {name: reached(graph, name) for name in graph}
    return sorted(
        {
            tuple(sorted(other for other in onward[name] if name in onward[other]))
            for name in graph
            if name in onward[name]
        }
    )


@pytest.fixture(scope="module")
def graph() -> Graph:
    """The imports of the whole tree."""
    return imports(ROOT)


def test_no_module_imports_itself_in_a_circle(graph: Graph) -> None:
    assert len(graph) > 150, "the sources were not found"
    assert circles(graph) == []


def test_every_kind_of_import_counts(tmp_path: Path) -> None:
    """A circle through a relative import, one in a function, one for the type checker alone, and one of a package's own
    name.
    """
    files = {
        "gozero/__init__.py": "",
        "gozero/a.py": "def late() -> None:\n    from gozero import b\n",
        "gozero/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gozero.c import Name\n",
        "gozero/c.py": "from .sub import value\n",
        "gozero/sub/__init__.py": "from ..a import late\nvalue = 1\n",
        "gtp/__init__.py": "import gozero.a\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
    assert circles(imports(tmp_path)) == [("gozero.a", "gozero.b", "gozero.c", "gozero.sub")]
