"""Keeps a run's second home up to date in the background, while training goes on.

Vocabulary.
  wake  to tell that a checkpoint has been written. Pushes do not queue: the next one takes what is newest then.

A store that is slow or broken neither holds up nor ends a run: each failed push is one line, and the next checkpoint
tries again. Only the last push, at the end of the run, is waited for. The rules are in `training.storage.mirror`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

from gozero.system.console import say
from training.storage.mirror import LostError, Mirror
from training.storage.storage import StorageError
from training.storage.store import Store, StoreError


def second_home(
    url: str, folder: Path, take_over: bool = False, accept: Callable[[bytes], None] = lambda _: None
) -> Keeper:
    """Open the store of a run folder; the folder then holds the store's run, if it had none or an older state of it.

    `accept` is given the settings.json of a run before anything of it is fetched, and may raise an error of its own.

    Raises:
        StoreError: the store cannot be used, is damaged or in use, or holds something else than the folder.
        StorageError: the folder cannot be written.
    """
    mirror = Mirror(Store(url), folder, take_over, accept)
    mirror.claim()
    if mirror.behind:
        try:
            mirror.fetch()
        except BaseException:
            with contextlib.suppress(StoreError, StorageError):
                mirror.push(ended=True)  # gives the store free
            raise
    return Keeper(mirror)


class Keeper:
    """Pushes a run folder in a thread of its own. Use it until `close`."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self.lost = False  # whether another process has taken the store over
        self._due, self._closing, self._held = threading.Event(), False, False
        self._thread = threading.Thread(target=self._work, name="storage", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """A checkpoint has been written. Returns at once; any thread may call it."""
        self._due.set()

    def close(self) -> bool:
        """Push for the last time, wait for it, and give the store free. Returns whether the store holds it all.

        Later calls return the same.
        """
        if not self._closing:
            self._closing = True
            self._due.set()
            self._thread.join()
            self._held = not self.lost and self._push(ended=True)
            if self._held:
                say(f"{self._mirror.store.shown} holds the run: {self._mirror.state}")
        return self._held

    def _work(self) -> None:
        while not self._closing and not self.lost:
            self._due.wait()
            self._due.clear()
            if not self._closing:
                self._push()

    def _push(self, ended: bool = False) -> bool:
        """Push once; a failure is one line. Returns whether it succeeded."""
        again = "the same command tries again" if ended else "training goes on, and the next checkpoint tries again"
        try:
            self._mirror.push(ended)
            return True
        except LostError as error:
            self.lost = True
            say(str(error))
        except (StoreError, StorageError) as error:
            say(f"{error}; {again}")
        return False
