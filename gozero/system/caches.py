"""The user's cache folder, in which compiled kernels lie: where it is, and which versions stay in it.

Several processes share it. The most recently used versions stay; each use updates a folder's modification time.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import platformdirs

from gozero.system.files import user_folder

MOST_VERSIONS = 8  # of gozero, whose kernels (64 MB each) stay side by side


def user_cache() -> Path:
    """The platform's cache folder for gozero. It need not exist.

    Raises:
        OSError: the system names no home folder.
    """
    return user_folder(platformdirs.user_cache_path)


def named() -> str:
    """The folder for a message, or why there is none."""
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
