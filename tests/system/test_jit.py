"""Kernels and Python's global lock (GIL), what a thread's kernel lets other threads do meanwhile, and what a first
start says.
"""

import contextlib
import errno
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest
from numba import types
from numba.core.caching import FunctionCache

from gozero import games
from gozero.search import descent
from gozero.system import files, jit


@pytest.mark.parametrize("name", sorted(games.GAMES))
def test_kernels_too_short_for_a_change_of_threads_keep_the_lock(name: str) -> None:
    game = games.make(name)
    for kernel in (game.step, game.legal, game.outcome, game.score):
        assert kernel is None or not kernel.targetoptions["nogil"]


@pytest.mark.parametrize("kernel", [descent.collect, descent.absorb, descent.simulate_rows, games.make("go").sample])
def test_long_kernels_let_other_threads_run(kernel: object) -> None:
    assert kernel.targetoptions["nogil"]  # type: ignore[attr-defined]


def test_a_change_of_what_is_compiled_into_kernels_is_noticed(tmp_path: Path) -> None:
    rules, other = tmp_path / "games" / "go" / "rules.py", tmp_path / "play" / "player.py"
    for file in (rules, other):
        file.parent.mkdir(parents=True)
        file.write_text("KOMI = 7\n")
    before = jit.source_hash(tmp_path)
    other.write_text("KOMI = 8\n")
    assert jit.source_hash(tmp_path) == before
    rules.write_text("KOMI = 8\n")
    assert jit.source_hash(tmp_path) != before


def test_every_module_with_kernels_is_among_the_sources() -> None:
    package = Path(jit.__file__).parents[1]
    sources = {path for pattern in jit.SOURCES for path in package.glob(pattern)}
    with_kernels = {path for path in package.rglob("*.py") if "from gozero.system.jit import" in path.read_text()}
    assert with_kernels and with_kernels <= sources


def made_twice(number: int) -> int:
    return 2 * number


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder for kernels made in this test."""
    monkeypatch.setattr(jit, "CACHE_FOLDER", tmp_path)
    return tmp_path


def make() -> int:
    return jit.kernel(types.int64(types.int64))(made_twice)(21)


@pytest.mark.parametrize("ending", ["nbi", "nbc"], ids=["index", "code"])
@pytest.mark.parametrize("left", [0, 30])
def test_a_kept_kernel_that_is_damaged_is_compiled_again(ending: str, left: int, folder: Path) -> None:
    assert make() == 42
    (file,) = folder.rglob(f"*made_twice*.{ending}")
    whole = file.read_bytes()
    file.write_bytes(whole[:left])
    assert make() == 42
    assert file.stat().st_size > 0.9 * len(whole), "it is kept again"


def test_only_our_kernels_are_kept_in_our_folder(folder: Path) -> None:
    assert make() == 42
    assert list(folder.rglob("*made_twice*.nbi"))
    assert folder not in Path(numba.njit(cache=True)(made_twice)._cache.cache_path).parents
    assert (jit.CACHE_FOLDER and str(jit.CACHE_FOLDER)) != numba.config.CACHE_DIR


def test_a_helper_that_is_given_a_kernel_is_not_kept(folder: Path) -> None:
    """To read its index is to compile the kernel anew."""
    twice = jit.kernel(types.int64(types.int64))(made_twice)
    called = jit.kernel()(lambda function, number: function(number))
    assert jit.kernel(types.int64(types.int64))(lambda number: called(twice, number))(21) == 42
    assert len([*folder.rglob("*.nbi")]) == 2


def test_kernels_that_cannot_be_kept_are_compiled_in_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(FunctionCache, "save_overload", full)
    assert make() == 42
    assert not list(folder.rglob("*made_twice*.nbc"))
    # a tree whose path the locale's encoding lacks
    monkeypatch.setattr(jit._KernelLocator, "get_suitable_cache_subpath", lambda self, file: f"{file}\udcc3".encode())
    assert make() == 42


def test_a_start_that_must_compile_says_so_once(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "step.py311.nbi").touch()  # an earlier start was interrupted behind this kernel
    jit.announce.cache_clear()
    make()
    assert caplog.messages == [
        "gozero: compiling rules and search, once for each game and version: a minute, or several beside busy programs"
    ]
    make()
    jit.announce.cache_clear()
    make()
    assert len(caplog.messages) == 1, "it was in the cache"
    monkeypatch.setattr(jit, "CACHE_FOLDER", None)
    make()
    assert "at each start" in caplog.messages[-1]
    assert str(files.user_cache()) in caplog.messages[-1]
    jit.announce.cache_clear()


def test_kernels_are_read_from_a_folder_that_cannot_be_written(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    caplog.clear()
    jit.announce.cache_clear()

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for name in ("touch", "write_bytes"):
        monkeypatch.setattr(Path, name, read_only)
    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)
    monkeypatch.setattr(FunctionCache, "save_overload", read_only)
    assert jit._cache_folder() is not None
    assert (make(), caplog.messages) == (42, [])
    next(folder.rglob("*made_twice*.nbi")).unlink()
    assert make() == 42
    assert os.strerror(errno.EROFS) in caplog.messages[-1]
    jit.announce.cache_clear()
    jit._cannot_save.cache_clear()


def test_a_kernel_without_a_file_is_compiled() -> None:
    names: dict[str, Any] = {"kernel": jit.kernel(types.int64(types.int64))}
    exec(compile("@kernel\ndef doubled(number):\n    return 2 * number", "<cell>", "exec"), names)
    assert names["doubled"](21) == 42


def test_an_interrupt_that_a_callback_swallows_is_raised_again() -> None:
    with pytest.raises(KeyboardInterrupt), jit._raising_interrupts():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("no compiled object yet")
    with pytest.raises(RuntimeError), jit._raising_interrupts():
        raise RuntimeError("a failure of numba's own")


def test_an_interrupt_in_a_destructor_is_raised_again_and_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying:
        def __init__(self, die: Callable[[], object]) -> None:
            self.die = die

        def __del__(self) -> None:
            self.die()

    printed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    with pytest.raises(KeyboardInterrupt), jit._raising_interrupts():
        Dying(lambda: signal.raise_signal(signal.SIGINT))
        assert not printed
        Dying(lambda: 1 // 0)
        assert len(printed) == 1, "a failure of another kind"


def test_a_handler_that_sets_another_one_is_obeyed() -> None:
    signal.signal(signal.SIGTERM, lambda number, frame: signal.signal(number, signal.SIG_IGN))
    with jit._raising_interrupts():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
