"""The user's cache: what was used last stays, what belongs to versions long unused goes, and nothing else is touched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gozero.system import files, jit


def fill(folder: Path, *names: str) -> None:
    """Folders with a file each, the first used longest ago."""
    for age, name in enumerate(reversed(names), start=1):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text("made again whenever it is missing")
        os.utime(folder / name, (1e9 - age, 1e9 - age))


def test_the_longest_unused_go(tmp_path: Path) -> None:
    fill(tmp_path, "kernels-a", "other", "kernels-b", "kernels-c")
    files.remove_old(tmp_path / "kernels-a", "kernels-*", 2)  # in use, whatever a clock that was wrong says
    assert {path.name for path in tmp_path.iterdir()} == {"other", "kernels-a", "kernels-c"}
    files.remove_old(tmp_path / "nowhere" / "a", "*", 0)


def test_without_a_home_folder_there_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it does where it knows no home folder
    with pytest.raises(OSError, match="there is no home folder"):
        files.user_cache()
    assert files.cache_name() == "the cache of a user without a home folder"
    assert jit._cache_folder() is None


def test_a_start_forgets_the_kernels_of_versions_long_unused(tmp_path: Path) -> None:
    home = tmp_path / "gozero"
    old = [f"kernels-{number}" for number in range(files.MOST_VERSIONS + 1)]
    fill(home, *old)
    program = [sys.executable, "-c", "from gozero.system import jit; print(jit.CACHE_FOLDER)"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(2):
        found = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
        assert {path.name for path in home.iterdir()} == {*old[2:], Path(found.stdout.strip()).name}
