"""The door to a store: what is said of wrong URLs, missing drivers and secrets, and the same run in an S3."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest
from fsspec.registry import known_implementations

from tests.training.refusals import Refused, one_line
from tests.training.storage.brittle import state, work
from tests.training.storage.test_mirror import home_of
from training.commands import storage as storage_command
from training.storage import manifest, store
from training.storage.store import MissingError, Store, StoreError


@pytest.mark.parametrize(
    "url, reason",
    [
        ("gs://bucket/run", "--storage gs://bucket/run: Please install gcsfs"),
        ("smb://host/run", "--storage smb://host/run: SMB requires"),
        ("", "--storage '' is empty; give a URL"),
        ("nowhere://run", "--storage nowhere://run: Protocol not known: nowhere"),
        ("dir://", "--storage dir://: "),
        ("github://", "--storage github://: GithubFileSystem.__init__() missing 2 required positional arguments"),
    ],
)
def test_a_url_that_cannot_be_used_is_one_line(url: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gs", "smb"):  # as if their drivers were not there
        monkeypatch.setitem(known_implementations[name], "class", "no_such_module.FileSystem")
    with one_line(StoreError, reason):
        Store(url)


def complaint(url: str, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said where a driver fails with this text."""

    def told(*arguments: object, **named: object) -> None:
        raise OSError(text)

    place = Store(url)
    monkeypatch.setattr(place._files, "find", told)
    with pytest.raises(StoreError) as error:
        place.names()
    return str(error.value)


def test_secrets_of_a_url_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "memory://anna:hidden!w@rd@there/run?token=deep-secret&part=deep"
    assert store.shown(url) == "memory://there/run"
    text = f"cannot log in at {url} as anna with hidden!w@rd and deep-secret\nmore of it"
    said = complaint(url, text, monkeypatch)
    assert said.startswith("cannot read memory://there/run: cannot log in at memory://")
    assert not [secret for secret in ("anna", "hidden", "@rd", "secret", "more of it") if secret in said]


def test_a_short_secret_does_not_hide_parts_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    said = complaint("memory://there/run?k=v", "invalid value v", monkeypatch)
    assert said.endswith("invalid value ***")


def test_half_an_address_is_one_line() -> None:
    with one_line(StoreError, "http://[::1: "):
        Store("http://[::1").names()


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    place = Store(f"file://{tmp_path}/store")
    assert place.names() == []
    with pytest.raises(MissingError, match="its file a/b is missing"):
        place.read("a/b")
    place.remove(["a/b"])


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with one_line(StoreError, f"cannot write to {tmp_path}/file/store: Not a directory"):
        Store(f"{tmp_path}/file/store").write("name", b"content")


def test_a_manifest_is_that_of_a_run_or_refused(tmp_path: Path) -> None:
    place, entry = Store(f"file://{tmp_path}/store"), manifest.FileEntry(3, "c" * 64)
    assert manifest.read(place) is None
    whole = manifest.StoreManifest("a" * 16, "b" * 16, "host", {"weights.pt": entry})
    place.write(manifest.NAME, whole.encode())
    assert manifest.read(place) == whole
    for path in ("../weights.pt", "/weights.pt", "checkpoints/abc.pt"):
        place.write(manifest.NAME, replace(whole, files={path: entry}).encode())
        with pytest.raises(StoreError, match="cannot be in a run folder"):
            manifest.read(place)
    for body in (b"{}", b"[1]", b"[" * 9000, whole.encode()[:-9], b'{"owner": {"host": "h"}, "files": []}'):
        place.write(manifest.NAME, body)
        with pytest.raises(StoreError, match="is damaged, or of another version"):
            manifest.read(place)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The URL of a bucket in an S3 on this machine."""
    server = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        serving = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        serving.start()
        host, port = serving.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        files = fsspec.filesystem("s3", skip_instance_cache=True)
        files.mkdir("bucket")
        yield "s3://bucket"
        serving.stop()


def test_a_run_goes_on_from_s3(bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"{bucket}/runs/go13"
    for generation in (1, 2, 3):
        folder = tmp_path / f"run{generation}"
        home = home_of(folder, url)
        work(folder, generation)
        assert home.close()
        left = state(folder)
    assert len(Store(url).names()) == len(left) + 1, "the files and one manifest"
    assert storage_command.main([url, "--fetch", str(tmp_path / "other")]) == 0
    assert state(tmp_path / "other") == left
    assert storage_command.main([url]) == 0
    assert "checkpoints/000003.pt\n" in capsys.readouterr().out
    shard = next(name for name in Store(url).names() if name.startswith("records/"))
    Store(url).write(shard, b"short")
    assert storage_command.main([url, "--fetch", str(tmp_path / "damaged")]) == 2
    assert f"{url} is damaged: its file {shard} has 5 bytes, not " in capsys.readouterr().err


def test_a_bucket_that_is_not_there_is_one_line_and_is_not_made(bucket: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="s3://mistyped/run: The specified bucket does not exist"):
        home_of(tmp_path, "s3://mistyped/run")
    assert fsspec.filesystem("s3", skip_instance_cache=True).ls("") == ["bucket"]


def test_the_command_refuses_in_one_line(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "run/checkpoints").mkdir(parents=True)
    (tmp_path / "run/checkpoints/000001.pt").touch()
    home = tmp_path / "store"
    for arguments, reason in (
        ([str(home)], f"{home} holds no run"),
        ([str(home), "--fetch", str(tmp_path / "run")], "holds a run; give a new folder"),
        ([str(home), "--fetch", ""], "the name of the folder is empty"),
        ([str(home), "--fetch", "s3://bucket/run"], "is a URL; give a folder of this machine"),
        (["nowhere://run", "--fetch", str(tmp_path / "new")], "Protocol not known: nowhere"),
    ):
        line = refused(storage_command.main, arguments)
        assert line.startswith("gozero storage: ")
        assert reason in line
    folder = tmp_path / "made"
    keeper = home_of(folder, str(home))
    work(folder, 1)
    keeper.close()
    assert storage_command.main([str(home), "--fetch", str(tmp_path / "new"), "--only", "weights.*"]) == 0
    assert list(state(tmp_path / "new")) == ["weights.pt"]
    line = refused(storage_command.main, [str(home), "--fetch", str(tmp_path / "more"), "--only", "nothing"])
    assert "has no file 'nothing'; without --fetch its files are listed" in line
