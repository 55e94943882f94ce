"""Training: self-play, records, replay, the learner and the loop that joins them. Neither the engine nor the front ends
import it.

docs/training.md shows the cycle; `training.run.modes` has the whole of it on one screen. Nothing is imported here. A
command imports for seconds before its `main` begins: Ctrl-C ends that without a traceback, and a missing PyTorch, which
only training needs, is one line.
"""

import sys
from types import TracebackType


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """`sys.excepthook` of the package's own commands."""
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        sys.stderr.write("training needs PyTorch, which is not installed; run: pip install 'gozero[train]'\n")
    elif not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


if sys.argv[:1] == ["-m"]:  # Python is looking for the module of `python -m`, and it is one of these
    sys.excepthook = _report
