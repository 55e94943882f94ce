"""A run folder and its store: what survives when machines and networks do not, and who may write."""

import contextlib
import platform
import shutil
import threading
from pathlib import Path
from typing import Any

import fsspec
import pytest

from gozero.system.options import SettingsError
from tests.training.storage.brittle import BrittleFileSystem, Killed, break_after, objects, state, work, write
from training.commands.storage import fetch
from training.storage import manifest
from training.storage.manifest import FileEntry
from training.storage.mirror import LostError, Mirror, Uploader
from training.storage.store import Store, StoreError


def mirror(folder: Path, url: str) -> Mirror:
    folder.mkdir(exist_ok=True)
    opened = Mirror(Store(url), folder)
    opened.claim()
    return opened


def begun(folder: Path, url: str, generation: int = 1, seed: int = 0) -> Mirror:
    """The mirror of a run of which a generation is copied."""
    opened = mirror(folder, url)
    work(folder, generation, seed)
    opened.push()
    return opened


def home_of(folder: Path, url: str) -> Uploader:
    return Uploader(mirror(folder, url))


def pulled(url: str, folder: Path) -> dict[str, bytes]:
    fetch(Store(url), folder)
    return state(folder)


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"memory://{tmp_path.name}/store" if request.param == "memory" else f"file://{tmp_path}/store"


def test_what_changed_is_copied_and_what_is_not_needed_goes(url: str, tmp_path: Path) -> None:
    home = mirror(tmp_path / "run", url)
    for generation in range(1, 6):
        work(tmp_path / "run", generation)
        assert home.push()
    assert not home.push(), "nothing has changed"
    files, root = fsspec.core.url_to_fs(url)
    names = [name[len(root) + 1 :] for name in files.find(root)]
    assert len(names) == len(state(tmp_path / "run")) + 1, "the files and one manifest"
    checkpoints = sorted(name[len("checkpoints/") :][:6] for name in names if name.startswith("checkpoints/"))
    assert checkpoints == ["000003", "000004", "000005"]
    assert pulled(url, tmp_path / "other") == state(tmp_path / "run")


def test_only_the_files_that_changed_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    real = Store.write
    monkeypatch.setattr(Store, "write", lambda self, name, content: (sent.append(name), real(self, name, content))[1])
    begun(tmp_path / "run", f"file://{tmp_path}/store")
    home = mirror(tmp_path / "run", f"file://{tmp_path}/store")  # another process knows what is there
    sent.clear()
    write(tmp_path / "run/weights.pt", b"another network")
    home.push()
    assert [name.partition("-")[0] for name in sent] == ["weights", "manifest.json"]


def test_a_run_goes_on_in_an_empty_folder(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun(tmp_path / "run", url)
    write(tmp_path / "new/settings.json", b"of a start that failed")
    second = mirror(tmp_path / "new", url)
    assert state(tmp_path / "new") == state(tmp_path / "run")
    assert "holds a run (0 generations, 7 files, 0.0 MB): it is fetched" in capsys.readouterr().err
    work(tmp_path / "new", 2)
    assert second.push()
    assert pulled(url, tmp_path / "other") == state(tmp_path / "new")


def test_a_copy_by_an_earlier_version_is_not_taken_for_an_empty_store(url: str, tmp_path: Path) -> None:
    Store(url).write("manifests/00000001-0123456789abcdef.json", b"{}")
    with pytest.raises(StoreError, match=r"an earlier version of gozero.*give another --storage"):
        mirror(tmp_path / "run", url)


def test_a_store_that_moves_no_file_in_place_of_another(tmp_path: Path) -> None:
    class FixedFileSystem(BrittleFileSystem):
        protocol = "hdfs"

        def mv(self, path1: str, path2: str, **named: object) -> None:
            raise FileExistsError(path2)

    fsspec.register_implementation("hdfs", FixedFileSystem, clobber=True)
    home = mirror(tmp_path / "run", f"hdfs://{tmp_path}/store")
    for generation in (1, 2):
        work(tmp_path / "run", generation)
        assert home.push()


def test_folder_and_store_that_went_apart_are_left_alone(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    begun(tmp_path / "run", url)
    begun(tmp_path / "new", url, 2, seed=1)
    work(tmp_path / "run", 2, seed=2)  # trained without --storage meanwhile
    work(tmp_path / "unknown", 1, seed=3)
    for name in ("run", "unknown"):
        before = state(tmp_path / name)
        with pytest.raises(StoreError, match=r"holds a run \(1 generation, .*give another --run to continue"):
            mirror(tmp_path / name, url)
        assert state(tmp_path / name) == before
    assert pulled(url, tmp_path / "other") == state(tmp_path / "new")


@pytest.mark.parametrize("moment", ["_upload", "_write"])
def test_the_process_that_came_last_has_the_store(moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"file://{tmp_path}/store"
    first = begun(tmp_path / "run", url)
    real = getattr(first, moment)
    monkeypatch.setattr(platform, "node", lambda: "second")
    overtaken = lambda *found: (real(*found), begun(tmp_path / "new", url, 2, seed=1))[0]  # noqa: E731
    work(tmp_path / "run", 2, seed=2)
    with monkeypatch.context() as patch, contextlib.suppress(LostError):
        patch.setattr(first, moment, overtaken)
        first.push()
    with pytest.raises(LostError, match=r"taken over by second .* is whole in .*run"):
        first.push()
    assert pulled(url, tmp_path / "other") == state(tmp_path / "new"), "the first has changed nothing"


@pytest.mark.parametrize("harm", ["missing", "short", "changed"])
def test_a_damaged_store_is_named_and_leaves_the_folder_empty(harm: str, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    begun(tmp_path / "run", url)
    (shard,) = (tmp_path / "store/records").iterdir()
    content = shard.read_bytes()
    shard.unlink()
    if harm != "missing":
        shard.write_bytes(content[:-1] if harm == "short" else content[:-1] + b"x")
    reason = {"missing": "is missing", "short": "has 120 bytes, not 121", "changed": "has another checksum"}[harm]
    with pytest.raises(StoreError, match=rf"is damaged: its file records/{shard.name} {reason}"):
        home_of(tmp_path / "new", url)
    assert not any((tmp_path / "new").glob("checkpoints/*"))
    shard.write_bytes(content)
    home_of(tmp_path / "new", url).close()
    assert state(tmp_path / "new") == state(tmp_path / "run")


def test_a_fetch_that_was_killed_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"file://{tmp_path}/store"
    begun(tmp_path / "run", url)
    for moved in range(8):  # files that are in their places when it happens
        folder, real, left = tmp_path / f"new{moved}", Path.replace, [moved]

        def killed(self: Path, target: Path, real=real, left=left) -> Path:
            if "incoming" in self.parts:
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
            return real(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", killed)
            with pytest.raises(Killed) if moved < 7 else pytest.MonkeyPatch.context():
                mirror(folder, url)
        for half in (folder / "incoming").rglob("*.pt"):
            half.write_bytes(b"half")
        mirror(folder, url).push()
        assert state(folder) == state(tmp_path / "run")


def test_files_of_others_beside_a_store_are_left(tmp_path: Path) -> None:
    mine = {"weights.pt", "records/holiday-0123456789abcdef.jpg"}
    for name in mine:
        write(tmp_path / "store" / name, b"mine")
    home = mirror(tmp_path / "run", f"file://{tmp_path}/store")
    write(tmp_path / "run/checkpoints/best-so-far.pt", b"a copy")
    for generation in (1, 2):
        work(tmp_path / "run", generation)
        home.push()
    assert {name for name in objects(tmp_path / "store") if not manifest.is_object(name)} == mine, "nor are they copied"


def test_a_folder_that_was_emptied_does_not_empty_the_store(tmp_path: Path) -> None:
    home = begun(tmp_path / "run", f"file://{tmp_path}/store")
    (tmp_path / "run/checkpoints/000001.pt").unlink()
    with pytest.raises(StoreError, match="has no checkpoint any more"):
        home.push()


def test_a_store_does_not_replace_files_that_do_not_come_from_it(tmp_path: Path) -> None:
    url, taken = f"file://{tmp_path}/store", tmp_path / "taken"
    begun(tmp_path / "run", url)
    write(taken / "weights.pt", b"mine")
    with pytest.raises(StoreError, match=r"has another weights\.pt, which it would replace: give another --run"):
        mirror(taken, url)
    with pytest.raises(SettingsError, match=r"has another weights\.pt, which stays; give a new folder"):
        fetch(Store(url), taken, ["weights.pt"])
    assert not {path.name for path in taken.iterdir()} - {"weights.pt", "lock"}
    assert (taken / "weights.pt").read_bytes() == b"mine"


def test_a_store_that_is_away_for_a_while_is_not_given_up(tmp_path: Path) -> None:
    home = begun(tmp_path / "run", f"file://{tmp_path}/store")
    (tmp_path / "store").rename(tmp_path / "away")
    work(tmp_path / "run", 2)
    with pytest.raises(StoreError, match="is empty or cannot be reached") as told:
        home.push()
    assert not isinstance(told.value, LostError)
    home = mirror(tmp_path / "run", f"file://{tmp_path}/store")  # a start meanwhile makes another
    shutil.rmtree(tmp_path / "store")
    (tmp_path / "away").rename(tmp_path / "store")
    assert home.push()
    assert pulled(f"file://{tmp_path}/store", tmp_path / "other") == state(tmp_path / "run")


def test_a_store_is_known_however_its_url_is_spelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    work(tmp_path / "run", 1)
    spellings = ("file://{}/store", "file://{}/store/", "{}/store", "store", "local://{}//store")
    for number, url in enumerate(spelling.format(tmp_path) for spelling in spellings):
        work(tmp_path / "run", number + 2)
        assert mirror(tmp_path / "run", url).push()


def test_a_store_that_cannot_be_written_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    url = f"brittle://{tmp_path}/store"
    for place in (f"file://{tmp_path}/circle", url):
        break_after(0)
        with pytest.raises(StoreError):
            mirror(tmp_path / "run", place)
    assert not list((tmp_path / "run").iterdir())
    begun(tmp_path / "run", url)
    break_after(0)
    with pytest.raises(StoreError):
        mirror(tmp_path / "run", url)
    mirror(tmp_path / "run", url)  # the folder knows that the store is its own


def test_store_and_folder_do_not_lie_within_each_other(tmp_path: Path) -> None:
    for url, folder in ((f"{tmp_path}/run", "run"), (f"file://{tmp_path}/run/store", "run"), (str(tmp_path), "run")):
        with pytest.raises(StoreError, match="lie within each other"):
            mirror(tmp_path / folder, url)
    begun(tmp_path / "apart", f"file://{tmp_path}/store")
    with pytest.raises(StoreError, match="lie within each other"):
        pulled(f"file://{tmp_path}/store", tmp_path / "store/copy")


@pytest.mark.parametrize("killed", [False, True])
def test_whatever_fails_the_store_holds_a_state_that_was_whole(killed: bool, tmp_path: Path) -> None:
    folder, url = tmp_path / "run", f"brittle://{tmp_path}/store"
    home = begun(folder, url)
    for changes in range(24):  # of the store, before one is left half done
        whole = [state(folder)]
        for generation in (2 * changes + 2, 2 * changes + 3):
            work(folder, generation)
            whole.append(state(folder))
            break_after(changes, Killed() if killed else None)
            with contextlib.suppress(StoreError, Killed):
                home.push()
            break_after(None)
            if killed:
                home = mirror(folder, url)
            assert pulled(url, tmp_path / f"pulled{generation}") in whole
        home.push()
        assert pulled(url, tmp_path / f"whole{changes}") == whole[-1], "a push that nothing disturbs gets through"
        assert objects(tmp_path / "store") == sorted(home.state.objects), "and leaves nothing behind"


def test_a_checkpoint_is_copied_while_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed, later = threading.Event(), iter([2])
    push, upload = Mirror.push, Mirror._upload_file

    def pushing(self: Mirror) -> bool:
        done = push(self)
        pushed.set()
        return done

    def uploading(self: Mirror, *file: Any) -> FileEntry:
        for generation in later:
            work(self.folder, generation)
        return upload(self, *file)

    monkeypatch.setattr(Mirror, "push", pushing)
    monkeypatch.setattr(Mirror, "_upload_file", uploading)
    keeper = home_of(tmp_path / "run", f"brittle://{tmp_path}/store")
    work(tmp_path / "run", 1)
    keeper.wake()
    assert pushed.wait(60)
    there = pulled(f"brittle://{tmp_path}/store", tmp_path / "other")
    assert "checkpoints/000001.pt" in there and there["records/000002.gzr"], "what a checkpoint needs is never older"
    break_after(0)
    assert not keeper.close(), "the last state is not there"
