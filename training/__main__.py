"""`python -m training`: lists the commands of training, and what to try first. Nothing heavy is imported."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from gozero.system.exits import FAILURE, SUCCESS, printing
from gozero.system.output import tell

FIRST = """\
Try first, in this order:
  python -m training.loop --list-presets                a line about each preset
  python -m training.loop --preset tiny                 the whole cycle in a minute; what it learns is worth nothing
  python -m training.report runs/tiny                   the page of that run: runs/tiny/report.html
  python -m training.loop --preset ttt --hours 0.1      a network that plays tic-tac-toe
  python -m training.loop --preset go13 --estimate      what a run in earnest would cost here
docs/training.md has the rest; each command has --help."""
_COMMAND = re.compile(r"The command `python -m (training\.\w+)`: (.*)\.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the commands; the exit code: 0, or 2 for an argument that is none of --help and -h."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] not in ("-h", "--help"):
        tell(
            "training",
            f"{given[0]!r} is not understood: a command is python -m training.NAME; python -m training lists them",
        )
        return FAILURE
    return printing("training", _print_commands)


def _print_commands() -> int:
    known = dict(_commands())
    width = max(map(len, known))
    print("Everything that makes weights. The commands, each by python -m NAME:")
    print(*(f"  {name:{width}}  {words}" for name, words in known.items()), "", FIRST, sep="\n")
    return SUCCESS


def _commands() -> list[tuple[str, str]]:
    """(name, what it does) of each module that says in its first line that it is a command, sorted."""
    folder = Path(__file__).parent
    files = sorted([*folder.glob("*.py"), *folder.glob("*/__main__.py")])
    lines = ((ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0] for file in files)
    return sorted((found[1], found[2]) for line in lines if (found := _COMMAND.fullmatch(line)))


if __name__ == "__main__":
    sys.exit(main())
