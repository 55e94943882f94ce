"""Where weights files lie: the name of each game's, and the folders in which a name is looked for."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gozero.nets.weights import WeightsError
from gozero.system import files

WEIGHTS = {
    "go": "best.pt",
    "simple_go": "simple_go5.pt",
    "nogo": "nogo9.pt",
    "gomoku": "gomoku9.pt",
    "othello": "othello8.pt",
    "connect4": "connect4.pt",
    "hex": "hex11.pt",
    "breakthrough": "breakthrough8.pt",
    "tictactoe": "ttt.pt",
    "course_go": "course_go5.pt",
}
"""The weights file of each game where none is given."""
_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED_FOLDER = next(
    (folder for folder in (_PACKAGE / "shipped", _PACKAGE.parent / "weights") if folder.is_dir()), _PACKAGE / "shipped"
)
"""Of the weights that came with gozero: in the installed package, or in the source tree."""


def find(name: Path | str) -> Path:
    """The full path of a weights file: as given, or among the shipped weights."""
    given = os.path.expanduser(name)  # noqa: PTH111 - pathlib raises where there is no such user
    candidates = list(dict.fromkeys(files.full(folder / given) for folder in (Path(), SHIPPED_FOLDER)))
    denied = folder = None
    for candidate in candidates:
        try:
            mode = candidate.stat().st_mode
            if stat.S_ISREG(mode):
                return candidate
            if stat.S_ISDIR(mode):
                folder = folder or candidate
        except PermissionError:
            denied = denied or candidate
        except (OSError, ValueError):  # there is none, or there can be none of this name
            continue
    if denied is not None:
        raise WeightsError(denied, "permission denied")
    if folder is not None:
        raise WeightsError(folder, "it is a folder; give a file in it, such as weights.pt of a run")
    tried = ", ".join(str(candidate) for candidate in candidates[1:])
    hint = f"; {Path(name).name} without a folder is found anywhere" if Path(name).name in WEIGHTS.values() else ""
    raise WeightsError(candidates[0], "no such file" + (f" (nor {tried})" if tried else "") + hint)
