"""Kernels that are compiled in a background thread; until then they run as Python, slowly and with the same results.

Without this a board could not be queried before Go's rules are compiled: 14 s of processor time on an empty cache, and 28
more for the search and the network's input. numba lets other threads run meanwhile, none waiting longer than 0.1 s
(measured with numba 0.68). A search needs compiled kernels, so starting one waits until they are ready.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler_lock import global_compiler_lock

_collecting: list[list[Kernel]] = []  # the lists of the `collecting()` that are open, the innermost last


class Kernel:
    """A kernel that runs as plain Python until it is compiled; to numba it is the compiled one.

    Args:
        function: the kernel's Python.
        make: compiles it, or finds it in the cache.
        is_helper: whether it has no signature: it is compiled into its callers, and called from Python it stays Python.
    """

    def __init__(
        self, function: Callable[..., Any], make: Callable[[Callable[..., Any]], Any], *, is_helper: bool
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._make = make
        self._is_helper = is_helper
        self._compiled: Any = None
        self._run = function

    def __call__(self, *arguments: Any) -> Any:
        return self._run(*arguments)

    def compiled(self) -> Any:
        """numba's dispatcher; compiled now if it is not yet."""
        with global_compiler_lock:  # numba's own: a thread that compiles a caller of this kernel has it already
            if self._compiled is None:
                self._compiled = self._make(self.py_func)
                if not self._is_helper:
                    self._run = self._compiled
            return self._compiled

    def get_compile_result(self, signature: Any) -> Any:
        """numba's compile result for a signature."""
        return self.compiled().get_compile_result(signature)

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for, where another kernel calls it."""
        return self.compiled()._numba_type_


@contextmanager
def collecting() -> Iterator[list[Kernel]]:
    """Kernels defined inside, by the modules that are imported there, are put into the list that it gives instead of
    being compiled.
    """
    kernels: list[Kernel] = []
    _collecting.append(kernels)
    try:
        yield kernels
    finally:
        _collecting.remove(kernels)


def later(make: Callable[[Callable[..., Any]], Any], *, is_helper: bool) -> Callable[[Callable[..., Any]], Any]:
    """Decorator that compiles a kernel now or, inside `collecting()`, later. Arguments as for `Kernel`."""
    if not _collecting:
        return make

    def collect(function: Callable[..., Any]) -> Kernel:
        _collecting[-1].append(Kernel(function, make, is_helper=is_helper))
        return _collecting[-1][-1]

    return collect


class Compilation:
    """A thread that compiles kernels one after the other, in the order in which they were defined, from now on."""

    def __init__(self, kernels: list[Kernel]) -> None:
        self._kernels = kernels
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._compile, name="compilation", daemon=True)
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait at most this many seconds (None: without limit). Returns whether all is compiled; raises the thread's error."""
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def _compile(self) -> None:
        try:
            for kernel in self._kernels:
                kernel.compiled()
        except BaseException as error:  # noqa: BLE001 - raised again by `wait`
            self._error = error
