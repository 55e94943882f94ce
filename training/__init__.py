"""What makes weights: self-play, records, replay, the learner and the loop that joins them. Neither engine nor front
end import it.

docs/training.md shows the cycle; `training.loop` is the whole of it on one screen. None of it is imported here. Between
`python -m training.NAME` and its `main` lie seconds of imports: Ctrl-C ends them as it ends the rest, without a
traceback, and where PyTorch is missing, which only training needs, one line says so.
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
