"""A store: a place for files that survives this machine, named by any URL that fsspec knows.

    s3://bucket/runs/go13   gs://bucket/runs/go13   file:///mnt/share/go13   sftp://host/runs/go13

The driver of a URL's protocol (s3fs, gcsfs, ...) finds its keys in the environment or its own files. gozero neither
reads nor keeps them, and shows a URL without the user, password and query. Every error of a driver becomes a
StoreError.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import fsspec

from gozero.system.errors import UserError

# protocols without folders: to make one there could make a bucket of a mistyped name
FLAT = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "memory"})
FIXED = frozenset({"smb", "hdfs", "webhdfs"})  # there a file cannot be moved in place of another


class StoreError(UserError):
    """A store that cannot be used now; one line with its URL and the reason."""


class MissingError(StoreError):
    """A file that is not in the store; one line."""


class Store:
    """The files under a URL. Every method raises StoreError."""

    def __init__(self, url: str) -> None:
        """Load the driver; nothing is read yet."""
        self._url, self.shown = url, shown(url)
        if not url.strip():  # to fsspec it is the working folder
            raise StoreError(f"--storage {url!r} is empty; give a URL such as s3://bucket/run")
        try:
            self._files, root = fsspec.core.url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:  # fsspec names the package
            raise StoreError(f"--storage {self.shown}: {error}; use pip in this environment") from None
        except Exception as error:  # noqa: BLE001 - each driver has its own
            raise StoreError(
                f"--storage {self.shown}: {self._reason(error)}; give a URL such as s3://bucket/run"
            ) from None
        self._root = str(root).rstrip("/")
        protocol = self._files.protocol
        kinds = {protocol} if isinstance(protocol, str) else set(protocol)
        self._flat, self._fixed, self._local = bool(kinds & FLAT), bool(kinds & FIXED), "file" in kinds

    def refuse_within(self, folder: Path) -> None:
        """StoreError for a store that lies within a run folder, or the other way round."""
        place, folder = (Path(os.path.realpath(each)) for each in (self._root, folder))  # also of links in a circle
        if self._local and (place.is_relative_to(folder) or folder.is_relative_to(place)):
            raise StoreError(
                f"the store {self.shown} and the run folder {folder} lie within each other; give another place"
            )

    def names(self) -> list[str]:
        """The names of all files, sorted."""
        with self._errors("read"):
            self._files.invalidate_cache()
            found = self._files.find(self._root)
        return sorted(str(path)[len(self._root) :].lstrip("/") for path in found)

    def read(self, name: str) -> bytes:
        """The content of a file. MissingError if it is not there."""
        with self._errors("read", name):
            return bytes(self._files.cat_file(self._at(name)))

    def write(self, name: str, content: bytes) -> None:
        """Write a file, which is always whole, old or new, but for a moment where files cannot be moved."""
        place = self._at(name)
        with self._errors("write to"):
            if not self._flat:
                self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
            if self._flat or self._fixed:
                self._files.pipe_file(place, content)
            else:
                self._files.pipe_file(f"{place}.tmp", content)
                self._files.mv(f"{place}.tmp", place)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; one that is gone already is no error."""
        for name in names:
            with contextlib.suppress(MissingError), self._errors("remove files in", name):
                self._files.rm_file(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextlib.contextmanager
    def _errors(self, doing: str, name: str = "") -> Iterator[None]:
        """Turn a driver's error into a StoreError; with a name, a missing file into a MissingError."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - each driver has its own
            if name and isinstance(error, FileNotFoundError):
                raise MissingError(f"{self.shown} is damaged: its file {name} is missing") from None
            raise StoreError(f"cannot {doing} {self.shown}: {self._reason(error)}") from None

    def _reason(self, error: Exception) -> str:
        """The error's first line without what the URL keeps secret."""
        said = (error.strerror if isinstance(error, OSError) else "") or str(error)
        reason = (said.strip().splitlines() or [type(error).__name__])[0].strip().rstrip(".;")
        for secret in _secrets(self._url):
            reason = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", reason)  # a short one may lie within a word
        return reason


def shown(url: str) -> str:
    """A URL without user, password and query."""
    return re.sub(r"//[^/?]*@", "//", url).partition("?")[0] if "://" in url else url


def _secrets(url: str) -> list[str]:
    """What `shown` leaves out, the longest first."""
    if "://" not in url:
        return []
    try:
        parts = urlsplit(url)
    except ValueError:  # such as half an IPv6 address: the driver says so
        return []
    account = parts.netloc.rpartition("@")[0]
    found = {account, parts.query, *account.split(":"), *(value for _, value in parse_qsl(parts.query))}
    return sorted(found - {""}, key=len, reverse=True)
