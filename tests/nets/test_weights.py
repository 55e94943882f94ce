"""The weights file: what goes in comes out, and whatever is wrong with a file is one line that names it."""

import errno
import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from gozero import games
from gozero.nets import attachments, locations, model, weights

CONFIG = model.config("b2c8")
KEYS = {"format", "metadata", "tensors", "sha256"}
NO_ZIP, NOT_OURS = "not a gozero weights file, or its end is missing", "a torch file, but not one of gozero's ('gozero weights 1')"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.pt"
    weights.save(path, model.build(CONFIG, seed=1), CONFIG, size=13, provenance={"games": 12, "run": "test"})
    return path


def reason(path: Path, **options: Any) -> str:
    """Why a file is refused; the message must be one line that names the full path."""
    with pytest.raises(weights.WeightsError) as caught:
        weights.load(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    start = f"cannot use weights {path}: "
    assert message.startswith(start)
    return message.removeprefix(start)


def rewritten(file: Path, **changes: Any) -> Path:
    """A file with other metadata and a sha256 that fits them."""
    content = torch.load(file, weights_only=True)
    metadata = json.dumps(json.loads(content["metadata"]) | changes)
    digest = weights.content_hash(metadata, content["tensors"])
    torch.save(content | {"metadata": metadata, "sha256": digest}, file)
    return file


def test_what_goes_in_comes_out(file: Path) -> None:
    loaded = weights.load(file)
    assert (loaded.config, loaded.game, loaded.size, loaded.feature_version) == (CONFIG, "go", 13, 1)
    assert loaded.provenance == {"games": 12, "run": "test"}
    expected = model.build(CONFIG, seed=1).state_dict()
    assert list(expected) == list(loaded.state_dict)
    assert all(torch.equal(expected[name], loaded.network().state_dict()[name]) for name in expected)
    assert not loaded.network().training


def test_a_checkpoint_that_does_not_say_what_it_plays_is_named_as_one(file: Path) -> None:
    torch.save({"learner": {}, "metadata": None, "settings": {"game": "go"}}, file)
    assert reason(file) == weights.NO_PLAYER
    with pytest.raises(weights.WeightsError, match=weights.NO_PLAYER):
        weights.header(file)


def test_a_state_dict_can_be_saved_as_well(tmp_path: Path) -> None:
    net = model.build(CONFIG, seed=1)
    saved = weights.save(tmp_path / "a.pt", net, CONFIG), weights.save(tmp_path / "b.pt", net.state_dict(), CONFIG)
    assert saved[0] == saved[1] == weights.load(tmp_path / "a.pt").sha256


def test_the_hash_covers_tensors_and_metadata(file: Path, tmp_path: Path) -> None:
    others = [
        weights.save(
            tmp_path / "x.pt", model.build(CONFIG, seed), CONFIG, size=13, provenance={"games": games, "run": "test"}
        )
        for seed, games in ((1, 12), (2, 12), (1, 13))
    ]
    assert others[0] == weights.load(file).sha256 and len(set(others)) == 3


def test_saving_is_all_or_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        weights.save(file, model.build(CONFIG, seed=2), CONFIG)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file], "no remains"


def test_a_missing_file(tmp_path: Path) -> None:
    assert reason(tmp_path / "none.pt").startswith("no such file")
    assert reason(tmp_path) == "is a directory"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_a_truncated_file(file: Path, share: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    assert reason(file) == NO_ZIP


def test_a_damaged_file_never_loads_as_something_else(file: Path) -> None:
    """A flipped bit is either refused or lies in padding and changes nothing."""
    content, good = file.read_bytes(), weights.load(file)
    for index in range(0, len(content), 997):
        file.write_bytes(content[:index] + bytes([content[index] ^ 16]) + content[index + 1 :])
        try:
            loaded = weights.load(file)
        except weights.WeightsError as error:
            assert "\n" not in str(error) and str(file) in str(error)
        else:
            assert loaded.sha256 == good.sha256
            assert all(torch.equal(loaded.state_dict[name], tensor) for name, tensor in good.state_dict.items())


@pytest.mark.parametrize(("index", "bit"), [(6, 64), (8, 1), (8, 32), (10, 1), (10, 8)])
def test_a_damaged_directory_is_one_line(file: Path, index: int, bit: int) -> None:
    """A version, flags or a method that zipfile does not take, in the directory's first entry."""
    content = bytearray(file.read_bytes())
    content[content.index(b"PK\x01\x02") + index] ^= bit
    file.write_bytes(content)
    with pytest.raises(weights.WeightsError):
        weights.header(file)
    assert attachments.read(file, attachments.GRAPH) is None


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"

    class Attack:
        def __reduce__(self) -> Any:
            return Path.touch, (victim,)

    torch.save({"format": weights.FORMAT, "tensors": Attack()}, tmp_path / "x.pt")
    assert "would have to be executed" in reason(tmp_path / "x.pt")
    assert not victim.exists()
    pickle.loads(pickle.dumps(Attack()))
    assert victim.exists(), "the attack works where it is let in"


def in_a_zip(entry: str) -> bytes:
    """A zip file with this one in it."""
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        archive.writestr(entry, "hello")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        *((each, NO_ZIP) for each in (bytes(range(256)) * 20, b"GIF89a", b"PK", b"", pickle.dumps([1, 2, 3]))),
        (in_a_zip("readme"), "not a readable weights file"),
        *((each, NOT_OURS) for each in ({"model": torch.zeros(3)}, [1], torch.zeros(2), {"format": "gozero weights 9"})),
        *((dict.fromkeys(KEYS - {entry}, weights.FORMAT), "an entry of the weights file is missing")
          for entry in ("metadata", "tensors", "sha256")),
    ],
)  # fmt: skip
def test_a_foreign_file(tmp_path: Path, content: Any, words: str) -> None:
    if isinstance(content, bytes):
        (tmp_path / "x.pt").write_bytes(content)
    else:
        torch.save(content, tmp_path / "x.pt")
    assert reason(tmp_path / "x.pt").startswith(words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"game": "nogo"}, "it plays nogo, not go"),
        ({"feature_version": 4}, "made for input features 4, this gozero has 1, 2, 3"),
        ({"feature_version": 2}, "made for input features 2, but its network sees 1"),
        *((change, f"its metadata lack {next(iter(change))!r}")
          for change in ({"game": 3}, {"network": None}, {"provenance": "x"}, {"size": "13"})),
        ({"network": CONFIG.to_dict() | {"attention": 8}}, "unknown network field 'attention'"),
        ({"network": model.config("b3c8").to_dict()}, "does not fit network b3c8"),
        *(({"trained_sizes": sizes}, "trained_sizes") for sizes in (13, ["13"], [True], {"13": 1})),
    ],
)  # fmt: skip
def test_metadata_that_do_not_fit(file: Path, changes: dict[str, Any], words: str) -> None:
    assert words in reason(rewritten(file, **changes))


@pytest.mark.parametrize(
    ("game", "other", "words"),
    [
        ("connect4", "nogo", "its network sees 4 tactics, and nogo has 3"),
        ("nogo", "connect4", "its network sees 3 tactics, and connect4 has 4"),
        ("go", "nogo", "its network sees 11 planes, and nogo has 5"),
    ],
)
def test_inputs_that_are_not_those_of_the_game(tmp_path: Path, game: str, other: str, words: str) -> None:
    config = model.config("b2c8", games.make(game), features=2)
    weights.save(tmp_path / "net.pt", model.build(config, seed=1), config, game=game)
    assert weights.load(tmp_path / "net.pt", game).config == config
    assert reason(rewritten(tmp_path / "net.pt", game=other), game=other) == words


def test_a_name_is_looked_for_in_two_places(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / name for name in ("working", "shipped")]
    for folder in folders:
        folder.mkdir()
    monkeypatch.chdir(folders[0])
    monkeypatch.setattr(locations, "SHIPPED_FOLDER", folders[1])
    with pytest.raises(weights.WeightsError) as caught:
        locations.find("w.pt")
    assert "\n" not in str(caught.value)
    assert all(str(folder / "w.pt") in str(caught.value) for folder in folders), "every path tried is named"
    for folder in reversed(folders):
        (folder / "w.pt").write_bytes(file.read_bytes())
        assert locations.find("w.pt") == folder / "w.pt"
    assert locations.find(file) == file
    with pytest.raises(weights.WeightsError, match=r"best\.pt without a folder is found anywhere"):
        locations.find("weights/best.pt")
    with pytest.raises(weights.WeightsError, match=r"^cannot use weights /nowhere/w.pt: no such file$"):
        locations.find("/nowhere/w.pt")
    with pytest.raises(weights.WeightsError, match="no such file"):
        locations.find("a" * 300)
    with pytest.raises(weights.WeightsError, match="it is a folder; give a file in it"):
        locations.find(tmp_path)


def test_weights_that_may_not_be_read_are_not_called_missing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()

    def refuse(path: Path, **options: Any) -> os.stat_result:
        if path.is_relative_to(locked):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return os.stat(path, **options)  # noqa: PTH116 - the method is replaced

    monkeypatch.chdir(locked)
    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(locations, "SHIPPED_FOLDER", tmp_path)
    assert locations.find(file.name) == file, "a working folder that may not be read hides none of the shipped ones"
    with pytest.raises(weights.WeightsError, match=r"locked/w\.pt: permission denied"):
        locations.find("w.pt")


def test_the_description_says_what_a_person_asks(file: Path) -> None:
    text = weights.describe(file)
    rows = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert rows["file"].startswith(str(file))
    assert f"{model.parameter_count(model.build(CONFIG)):,} parameters" in rows["network"]
    assert rows["boards"] == "every size that the game is played on; 13 when none is given"
    assert rows["sha256"] == weights.load(file).sha256
    assert (rows["game"], rows["games"], rows["run"]) == ("go", "12", "test")


def test_a_file_names_the_sizes_that_it_was_trained_on(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    weights.save(path, model.build(CONFIG, seed=1), CONFIG, size=13, trained_sizes={9: 0.5, 7: 0.5, 13: 1.0})
    assert weights.load(path).trained_sizes == weights.header(path).trained == (7, 9, 13)
    assert "trained on  board sizes 7, 9 and 13" in weights.describe(path)


def test_every_shipped_file_names_the_sizes_that_it_was_trained_on() -> None:
    found = {path.name: weights.load(path, game=None) for path in locations.SHIPPED_FOLDER.glob("*.pt")}
    assert found["best.pt"].trained_sizes == (7, 9, 11, 13, 15, 17, 19)
    assert found["nogo9.pt"].trained_sizes == (5, 7, 9)
    for each in found.values():
        assert each.size in each.trained_sizes
