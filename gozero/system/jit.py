"""The one kernel decorator, and the types kernels hand to each other.

A kernel is a function compiled by numba. A row kernel works on one game (one state row); the row kernels of a game,
such as `step`, `legal` and `outcome`, are passed to the search as first-class functions of the explicit types below.
With explicit types on both sides one compiled search serves every game and is found in the compile cache again;
inferred dispatcher arguments and closures are recompiled in every process (measured with numba 0.68).

numba's cache does not notice that a callee in another file has changed, so the cache folder is named after a hash of
`SOURCES`. Several engines may share the folder, which may be read-only. Missing and damaged kernels are compiled again,
and saved where that is possible.

Kernels that are imported inside `collecting` are compiled by a `Compilation`, a background thread; until then they run
as Python, slowly and with the same results. So a board can be queried before Go's rules are compiled: 14 s of processor
time on an empty cache, and 28 more for the search and the network's input. A search waits for them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys
from numba.core.typeinfer import register_dispatcher
from numba.experimental.function_type import FunctionModel
from numba.extending import NativeValue, register_model, typeof_impl, unbox

from gozero.system import files

STATE = types.Array(types.int32, 1, "C")
HISTORY = types.Array(types.uint64, 1, "C")
MASK = types.Array(types.uint8, 1, "C")
OWNERS = types.Array(types.int8, 1, "C")


class RowKernel(types.FunctionType):
    """The type of row kernels of one signature where they are passed to other kernels, always by `as_argument`."""


register_model(RowKernel)(FunctionModel)

STEP = RowKernel(types.void(STATE, HISTORY, types.int64))
LEGAL = RowKernel(types.int64(STATE, HISTORY, MASK))
OUTCOME = RowKernel(types.int64(STATE))
SAMPLE = RowKernel(types.int64(STATE, HISTORY, HISTORY))
OWNER = RowKernel(types.void(STATE, OWNERS))
STONES = RowKernel(types.void(STATE, MASK))
SCORE = RowKernel(types.float64(STATE))

# a row kernel that takes a microsecond keeps the GIL: among many threads to give it away, and to wait for it again,
# costs ten times as much
BRIEF = (STEP.signature, LEGAL.signature, OUTCOME.signature, SCORE.signature)

_LOG = logging.getLogger(__name__)  # stderr, unless the program has set it up
_PACKAGE = Path(__file__).resolve().parents[1]
SOURCES = tuple(
    f"{name}.py"
    for name in ("games/**/*", "search/*", "scoring/*", "evaluators/*", "nets/features", "system/jit", "system/rng")
)
"""All modules that have kernels, and those whose constants are compiled into them."""


def source_hash(package: Path = _PACKAGE) -> str:
    """Twelve hex digits over the texts of `SOURCES`."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(path for pattern in SOURCES for path in package.glob(pattern)):
        digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _cache_folder() -> Path | None:
    """The kernels' cache folder, without those of old versions; None if there is none and it cannot be made."""
    try:
        folder = files.user_cache() / f"kernels-{source_hash()}"
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        folder.touch()
    files.remove_old(folder, "kernels-*", files.MOST_VERSIONS)
    return folder


CACHE_FOLDER = _cache_folder()


class _KernelLocator(InTreeCacheLocator):
    """Puts a kernel's files into `CACHE_FOLDER`; other numba functions of the process keep numba's own place."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(Path(CACHE_FOLDER or "") / self.get_suitable_cache_subpath(py_file))

    def ensure_cache_path(self) -> None:
        """Make the folder if that is possible; otherwise it is only read."""
        with contextlib.suppress(OSError):
            Path(self._cache_path).mkdir(parents=True, exist_ok=True)


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_KernelLocator]  # noqa: RUF012 - as numba declares it


class _KernelCache(FunctionCache):
    """numba's cache in our folder, which neither a full disk nor a damaged file stops."""

    _impl_class = _KernelCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel as it was compiled before, None if there is none that can be read."""
        found = None
        try:
            rtsys.initialize(target_context)  # the rest of numba's refresh(), 0.2 s, is for code that is compiled now
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - whatever pickle, numba or LLVM raise at a file that was cut off
            with contextlib.suppress(OSError):
                self.flush()
        if found is None:
            announce("once for each game and version")
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled kernel, if that is possible. One that is given functions would never be found again, and
        another process that reads the index would compile those functions anew.
        """
        if any(isinstance(each, types.Dispatcher) for each in data.signature.args):
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _cannot_save(error.strerror)


@functools.cache
def announce(when: str) -> None:
    """Log, once, why this start takes long, and at which starts."""
    _LOG.warning("gozero: compiling rules and search, %s: a minute, or several beside busy programs", when)


@functools.cache
def _cannot_save(why: str) -> None:
    """Log, once, that the next start will take as long."""
    _LOG.warning("gozero: what is compiled cannot be saved in %s (%s): the next start compiles it again", CACHE_FOLDER, why)


_collecting: list[list[Kernel]] = []  # the lists of the `collecting()` that are open, the innermost last


class Kernel:
    """A kernel that runs as plain Python until it is compiled; to numba it is the compiled one.

    `make` compiles it, or finds it in the cache. One without a signature `is_helper`: called from Python it stays
    Python.
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
        """numba's dispatcher, compiled if need be."""
        with global_compiler_lock:  # numba's own: a thread that compiles a caller of this kernel has it already
            if self._compiled is None:
                self._compiled = self.py_func  # of no type: numba knows one that calls itself by its name
                self._compiled = self._make(self.py_func)
                if not self._is_helper:
                    self._run = self._compiled
            return self._compiled

    def get_compile_result(self, signature: Any) -> Any:
        return self.compiled().get_compile_result(signature)

    @property
    def _numba_type_(self) -> Any:
        """Its type for numba, when another kernel calls it."""
        return self.compiled()._numba_type_


@contextmanager
def collecting() -> Iterator[list[Kernel]]:
    """Gives a list that kernels defined inside, by modules imported there, are put into instead of being compiled."""
    kernels: list[Kernel] = []
    _collecting.append(kernels)
    try:
        yield kernels
    finally:
        _collecting.remove(kernels)


class Compilation:
    """A thread that compiles kernels one after the other, in the order in which they were defined, from now on."""

    def __init__(self, kernels: list[Kernel]) -> None:
        self._kernels = kernels
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._compile, name="compilation", daemon=True)
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait at most this many seconds, None: without limit. Returns whether all is compiled; raises its error."""
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


@contextmanager
def _raising_interrupts() -> Iterator[None]:
    """Raise again what the handler of a signal raised, such as KeyboardInterrupt: in a callback of LLVM's it is lost,
    and numba fails later; in a destructor Python would only print it.
    """
    raised: list[BaseException] = []
    handlers, report = {}, sys.unraisablehook
    if threading.current_thread() is threading.main_thread():
        handlers = {each: handler for each in signal.Signals if callable(handler := signal.getsignal(each))}

    def handle(number: int, frame: Any) -> None:
        try:
            handlers[signal.Signals(number)](number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    def report_others(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_value not in raised:
            report(lost)

    try:
        if handlers:  # other threads get no signals, and would restore each other's hooks
            sys.unraisablehook = report_others
        for number in handlers:
            signal.signal(number, handle)
        yield
    except Exception:
        if not raised:
            raise
    finally:
        if handlers:
            sys.unraisablehook = report
        for number, handler in handlers.items():
            if signal.getsignal(number) == handle:  # a handler may have set another one, as for a second Ctrl-C
                signal.signal(number, handler)
    if raised:
        raise raised[0] from None


def kernel(signature: Any = None, *, allocates: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as a kernel: no Python objects, the GIL released (unless it is `BRIEF`), cached on disk; now,
    or in the background, see `collecting`.

    Args:
        signature: a numba signature, compiled at import. None for a helper that is compiled into its callers.
        allocates: whether the kernel makes arrays. If not, numba's reference counting, two atomic additions for every
            array passed, is left out: with it the Go board is three times slower.
        options: further options of `numba.njit`, such as `fastmath=True`.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return lambda function: function
    settings = {"nogil": signature not in BRIEF, "error_model": "numpy", "_nrt": allocates, **options}

    def make(function: Callable[..., Any]) -> Any:
        if signature is None:
            return _cached(numba.njit(forceinline=True, **settings)(function))
        if CACHE_FOLDER is None:
            announce(f"at each start, since {files.cache_name()} cannot be written")
        compiled = _cached(numba.njit(**settings)(function))
        with register_dispatcher(compiled), _raising_interrupts():
            compiled.compile(signature)
        compiled.disable_compile()
        return compiled

    if not _collecting:
        return make

    def collect(function: Callable[..., Any]) -> Kernel:
        _collecting[-1].append(Kernel(function, make, is_helper=signature is None))
        return _collecting[-1][-1]

    return collect


def _cached(dispatcher: Any) -> Any:
    """A numba function whose compiled code is saved in the cache folder, if there is one."""
    if CACHE_FOLDER is not None:
        # the function has no file, as in a notebook; the locale's encoding lacks a character of the tree's path
        with contextlib.suppress(RuntimeError, UnicodeEncodeError):
            dispatcher._cache = _KernelCache(dispatcher.py_func)
    return dispatcher


@kernel()
def copy_row(target, source):  # type: ignore[no-untyped-def]
    """target[:] = source for rows of one length; the slice assignment itself may allocate, which kernels here
    cannot.
    """
    for k in range(source.shape[0]):
        target[k] = source[k]


class _Compiled:
    """A kernel of one signature as a function value: its addresses and its type, looked up once."""

    def __init__(self, function: Any, kind: RowKernel) -> None:
        compiled = function.get_compile_result(kind.signature)
        self.kind = kind
        self._function = function  # keeps the code alive
        self.c_address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
        self.jit_address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


@typeof_impl.register(_Compiled)
def _type_of_compiled(value: _Compiled, context: Any) -> RowKernel:
    """The cached type; numba would make a new one at every call."""
    return value.kind


@unbox(RowKernel)
def _read_addresses(kind: RowKernel, value: Any, c: Any) -> NativeValue:
    """Take the addresses that a `_Compiled` knows; numba itself would look for them by Python calls."""
    function = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    function.py_addr = c.builder.ptrtoint(value, c.context.get_value_type(types.voidptr))
    for field, attribute in (("c_addr", "c_address"), ("jit_addr", "jit_address")):
        address = c.pyapi.object_getattr_string(value, attribute)
        with c.builder.if_then(cgutils.is_null(c.builder, address), likely=False):
            c.builder.ret(c.pyapi.get_null_object())
        setattr(function, field, c.pyapi.long_as_voidptr(address))
        c.pyapi.decref(address)
    return NativeValue(function._getvalue())


def as_argument(function: Any, kind: RowKernel) -> Any:
    """A row kernel, compiled for the signature of `kind` (STEP, LEGAL, ...), as it is passed to other kernels; that
    takes 2 us a call (measured with numba 0.68).
    """
    return _Compiled(function, kind) if hasattr(function, "get_compile_result") else function
