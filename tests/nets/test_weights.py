"""The weights file: what goes in comes out, and whatever is wrong with a file is one line that names it."""

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
from gozero.nets import locations, model, weights

CONFIG = model.config("b2c8")


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


def test_a_state_dict_can_be_saved_as_well(tmp_path: Path) -> None:
    net = model.build(CONFIG, seed=1)
    saved = weights.save(tmp_path / "a.pt", net, CONFIG), weights.save(tmp_path / "b.pt", net.state_dict(), CONFIG)
    assert saved[0] == saved[1] == weights.load(tmp_path / "a.pt").sha256


def test_the_hash_covers_tensors_and_metadata(file: Path, tmp_path: Path) -> None:
    hashes = {weights.load(file).sha256}
    hashes.add(
        weights.save(
            tmp_path / "other.pt", model.build(CONFIG, seed=2), CONFIG, size=13, provenance={"games": 12, "run": "test"}
        )
    )
    hashes.add(
        weights.save(
            tmp_path / "later.pt", model.build(CONFIG, seed=1), CONFIG, size=13, provenance={"games": 13, "run": "test"}
        )
    )
    assert len(hashes) == 3


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
    assert reason(file) == "not a gozero weights file, or its end is missing"


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


@pytest.mark.parametrize("content", [os.urandom(5000), b"GIF89a", b"PK", b"", pickle.dumps([1, 2, 3])])
def test_a_foreign_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.pt").write_bytes(content)
    assert reason(tmp_path / "x.pt") == "not a gozero weights file, or its end is missing"


def test_another_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
        archive.writestr("readme", "hello")
    assert reason(tmp_path / "x.pt").startswith("not a readable weights file")


@pytest.mark.parametrize("content", [{"model": torch.zeros(3)}, [1], torch.zeros(2), {"format": "gozero weights 9"}])
def test_another_torch_file(tmp_path: Path, content: Any) -> None:
    torch.save(content, tmp_path / "x.pt")
    assert reason(tmp_path / "x.pt") == "a torch file, but not one of gozero's ('gozero weights 1')"


@pytest.mark.parametrize("entry", ["metadata", "tensors", "sha256"])
def test_a_file_without_one_of_its_entries(file: Path, entry: str) -> None:
    content = torch.load(file, weights_only=True)
    del content[entry]
    torch.save(content, file)
    assert reason(file) == "an entry of the weights file is missing"


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


def test_another_games_weights(file: Path) -> None:
    assert reason(file, game="nogo") == "it plays go, not nogo"


def test_other_input_features(file: Path) -> None:
    assert reason(rewritten(file, feature_version=4)) == "made for input features 4, this gozero has 1, 2, 3"
    assert "made for input features 2, but its network sees 1" in reason(rewritten(file, feature_version=2))


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


@pytest.mark.parametrize("changes", [{"game": 3}, {"network": None}, {"provenance": "x"}, {"size": "13"}])
def test_metadata_of_the_wrong_type(file: Path, changes: dict[str, Any]) -> None:
    assert reason(rewritten(file, **changes)) == f"its metadata lack {next(iter(changes))!r}"


def test_a_network_that_this_version_cannot_build(file: Path) -> None:
    assert reason(rewritten(file, network=CONFIG.to_dict() | {"attention": 8})).startswith(
        "unknown network field 'attention'"
    )


def test_tensors_that_do_not_fit_the_network(file: Path) -> None:
    assert reason(rewritten(file, network=model.config("b3c8").to_dict())).endswith("does not fit network b3c8")


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


def test_the_shipped_folder_exists() -> None:
    assert (locations.SHIPPED_FOLDER / "README.md").is_file()


def test_the_description_says_what_a_person_asks(file: Path) -> None:
    text = weights.describe(file)
    rows = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert rows["file"].startswith(str(file))
    assert f"{model.parameter_count(model.build(CONFIG)):,} parameters" in rows["network"]
    assert rows["boards"] == "every size that the game is played on; 13 when none is given"
    assert rows["sha256"] == weights.load(file).sha256
    assert (rows["game"], rows["games"], rows["run"]) == ("go", "12", "test")


def test_a_file_can_be_read_back_from_memory(file: Path) -> None:
    """The format is plain torch: other programs can read it without gozero."""
    content = torch.load(io.BytesIO(file.read_bytes()), weights_only=True)
    assert set(content) == {"format", "metadata", "tensors", "sha256"}
    assert json.loads(content["metadata"])["network"]["name"] == "b2c8"


def test_a_file_names_the_sizes_that_it_was_trained_on(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    weights.save(path, model.build(CONFIG, seed=1), CONFIG, size=13, trained_sizes={9: 0.5, 7: 0.5, 13: 1.0})
    assert weights.load(path).trained_sizes == weights.header(path).trained == (7, 9, 13)
    assert "trained on  board sizes 7, 9 and 13" in weights.describe(path)


@pytest.mark.parametrize("sizes", [13, ["13"], [True], {"13": 1}])
def test_sizes_that_are_none_are_refused(file: Path, sizes: Any) -> None:
    assert "trained_sizes" in reason(rewritten(file, trained_sizes=sizes))


def test_every_shipped_file_names_the_sizes_that_it_was_trained_on() -> None:
    found = {path.name: weights.load(path, game=None) for path in locations.SHIPPED_FOLDER.glob("*.pt")}
    assert found["best.pt"].trained_sizes == (7, 9, 11, 13, 15, 17, 19)
    assert found["nogo9.pt"].trained_sizes == (5, 7, 9)
    for each in found.values():
        assert each.size in each.trained_sizes
