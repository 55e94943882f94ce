"""Caches of compiled kernels and converted networks: where the files are, and how much of them is kept.

Several processes share them. The most recently used entries are kept. Each use updates the entry's modification time.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from gozero.system.files import platform_folder

KEPT_VERSIONS = 8  # of gozero, whose kernels (64 MB each) and converted networks are kept side by side


def user_cache() -> Path:
    """The folder of all of them: the platform's cache folder, plus `gozero`. It need not exist.

    Raises:
        OSError: the system names no home folder.
    """
    return platform_folder(("LOCALAPPDATA", "AppData/Local"), "Library/Caches", ("XDG_CACHE_HOME", ".cache"))


def named() -> str:
    """The folder of all of them for a message, or why there is none."""
    try:
        return str(user_cache())
    except OSError:
        return "the cache of a user without a home folder"


def forget(folder: Path, pattern: str, most: int) -> None:
    """Remove the folders in `folder` that match, except the `most` used last; folders that cannot be removed stay."""
    for old in sorted(folder.glob(pattern), key=_last_used, reverse=True)[most:]:
        shutil.rmtree(old, ignore_errors=True)


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process has removed it
        return 0.0
