"""The weights file: a network's tensors with everything needed to use them, and no executable code.

A `.pt` file is `torch.save` of a dict of `format` (text), `metadata` (JSON text: network, game, board size, sizes
trained on, feature version, provenance), `tensors` (name → tensor) and `sha256` (over metadata and tensors), read with
`weights_only=True`. A run's checkpoint is read as the weights of its averaged network. Whatever is wrong with a file,
the reader raises `WeightsError`; MemoryError if there is no room for it.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import pickletools
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gozero.nets import attachments
from gozero.nets.attachments import DAMAGE, GRAPH
from gozero.system import files
from gozero.system.errors import UserError, lack_of_memory_told
from gozero.system.options import flat

if TYPE_CHECKING:
    from torch import Tensor, nn

    from gozero.nets.model import NetConfig

FORMAT = "gozero weights 1"
NO_PLAYER = "a checkpoint that does not say what it plays; `gozero train` continues its run and writes weights.pt"


class WeightsError(UserError):
    """A weights file cannot be used; the message is one line with the full path and the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"cannot use weights {files.full(path)}: {reason}")


class Header(NamedTuple):
    """What must be known of a weights file before a game can be made for it."""

    game: str
    board: tuple[int, int] | None = None  # (rows, columns) of the one board that it plays; None: any
    size: int | None = None  # the board it was made for, which is the default
    network: str = ""  # its name, such as b10c64
    trained: tuple[int, ...] = ()  # board sizes that it learned from, ascending; () where that is not known
    features: int = 1  # version of the input features

    @property
    def only(self) -> int | None:
        """Points a side, or columns, of the one board that it plays; None: any."""
        return self.board and self.board[1]


@dataclass(frozen=True)
class Weights:
    """A weights file in memory."""

    config: NetConfig
    state_dict: dict[str, Tensor] = field(repr=False)
    game: str  # the name of the game it plays, "go"
    size: int | None  # board size it was made for, in points a side; the default where the network plays several
    feature_version: int  # of features.py
    provenance: dict[str, Any]  # how it came to be: run, games, settings; JSON values
    sha256: str  # over metadata and tensors, 64 hexadecimal digits
    path: Path
    trained_sizes: tuple[int, ...]  # board sizes that it learned from, ascending; () if that is not known

    @property
    def parameters(self) -> int:
        """Numbers that were learned; running statistics of norms are none."""
        statistics = ("running_mean", "running_var", "num_batches_tracked")
        return sum(tensor.numel() for name, tensor in self.state_dict.items() if not name.endswith(statistics))

    def network(self) -> nn.Module:
        """A network with these weights, in evaluation mode."""
        from gozero.nets import model

        net = model.build(self.config)
        net.load_state_dict(self.state_dict)
        return net.eval()


def save(
    path: Path | str, net: nn.Module | dict[str, Tensor], config: NetConfig, *, game: str = "go",
    size: int | None = None, trained_sizes: Iterable[int] = (), provenance: dict[str, Any] | None = None,
) -> str:  # fmt: skip
    """Write a network's weights to `path`, whole or not at all, and return its sha256. No `trained_sizes`: unknown."""
    import torch

    state = net if isinstance(net, dict) else net.state_dict()
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    metadata = metadata_of(config, game=game, size=size, trained_sizes=trained_sizes, provenance=provenance)
    digest = content_hash(metadata, tensors)
    target = files.full(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with files.replacing(target) as file:
        torch.save({"format": FORMAT, "metadata": metadata, "tensors": tensors, "sha256": digest}, file)
    return digest


def metadata_of(
    config: NetConfig, *, game: str = "go", size: int | None = None, trained_sizes: Iterable[int] = (),
    provenance: dict[str, Any] | None = None,
) -> str:  # fmt: skip
    """A file's metadata, as JSON; the arguments are those of `save`."""
    facts: dict[str, Any] = {"network": config.to_dict(), "game": game, "size": size or config.size}
    facts |= {"trained_sizes": sorted(trained_sizes), "feature_version": config.features}
    return json.dumps(facts | {"provenance": provenance or {}})


def load(path: Path | str, game: str | None = "go") -> Weights:
    """Read a weights file and check all of it; `game` is the one that it must play, None: any."""
    from gozero.nets.features import layout

    target = files.full(path)
    content = _content(target)
    metadata, tensors = content["metadata"], content["tensors"]
    if content_hash(metadata, tensors) != content["sha256"]:
        raise WeightsError(target, "its sha256 does not fit its content; the file is damaged")
    values = _metadata(target, metadata)
    check_features(target, values["game"], values["feature_version"])
    if game is not None and values["game"] != game:
        raise WeightsError(target, f"it plays {values['game']}, not {game}")
    config = _config(target, values["network"], tensors)
    if config.features != values["feature_version"]:
        version = values["feature_version"]
        raise WeightsError(target, f"made for input features {version}, but its network sees {config.features}")
    for name, has in layout(values["game"], config.features).counts.items():
        if (sees := getattr(config, name)) != has:
            raise WeightsError(target, f"its network sees {sees} {name}, and {values['game']} has {has}")
    facts = {name: values[name] for name in ("game", "size", "feature_version", "provenance")}
    trained = tuple(sorted(values["trained_sizes"]))
    return Weights(config, tensors, **facts, sha256=content["sha256"], path=target, trained_sizes=trained)


def check_features(path: Path, game: str, version: int) -> None:
    """WeightsError unless `game` has this version of the input features."""
    from gozero.nets.features import layouts

    known = [shown.version for shown in layouts(game)]
    if version not in known:
        raise WeightsError(path, f"made for input features {version}, this gozero has {', '.join(map(str, known))}")


def header(path: Path | str) -> Header:
    """The game and boards of a weights file, by the texts of its pickled dict; needs no torch, checks no sha256."""
    target = files.full(path)
    _check_archive(target)
    try:
        with zipfile.ZipFile(target) as archive:
            pickled = archive.read(next(name for name in archive.namelist() if name.endswith("/data.pkl")))
        texts = [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
        metadata = texts[texts.index("metadata") + 1]
    except (StopIteration, ValueError, IndexError, OSError, *DAMAGE):
        raise WeightsError(target, f"not one of gozero's files ({FORMAT!r})") from None
    if "learner" in texts and not metadata.startswith("{"):
        raise WeightsError(target, NO_PLAYER)
    values = _metadata(target, metadata)
    network, trained = values["network"], tuple(sorted(values["trained_sizes"]))
    columns = network.get("size")
    board = None if columns is None else (network.get("rows") or columns, columns)
    name, features = str(network.get("name", "")), values["feature_version"]
    return Header(values["game"], board, values["size"], name, trained, features)


def describe(path: Path | str) -> str:
    """The facts about a weights file as aligned text."""
    weights = load(path, game=None)
    config, limit = weights.config, weights.config.size_limit
    boards = f"{config.board[1]}x{config.board[0]} only" if config.board else "every size that the game is played on"
    default = f"; {weights.size} when none is given" if weights.size and not config.size else ""
    learned = "sizes that the file does not name"
    if weights.trained_sizes:
        learned = f"board size{'s' * (len(weights.trained_sizes) > 1)} {listed(weights.trained_sizes)}"
    rows = {
        "file": f"{weights.path} ({weights.path.stat().st_size:,} bytes)",
        "network": f"{config.name}: {config.shape}, {weights.parameters:,} parameters",
        "game": weights.game,
        "boards": boards + default,
        "trained on": learned,
        "size limit": f"{limit}; it is shown a larger board as one of {limit}" if limit else "",
        "features": f"version {weights.feature_version}",
        "graph": _about_graph(weights.path),
        "sha256": weights.sha256,
    }
    origin = {f"  {key}": _readable(value) for key, value in flat(weights.provenance).items()}
    return "\n".join([*_aligned({key: value for key, value in rows.items() if value}), *_aligned(origin)])


def _about_graph(path: Path) -> str:
    try:
        return "carried: plays without PyTorch" if attachments.read(path, GRAPH) else "made at the first start"
    except ValueError:
        return "damaged; gozero graph FILE makes it again"


def _aligned(rows: dict[str, Any]) -> list[str]:
    """A line for each key and its value."""
    width = max(map(len, rows), default=0)
    return [f"{key:{width}}  {value}" for key, value in rows.items()]


def _readable(value: Any) -> Any:
    """A number with separators of thousands, or of six digits."""
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if type(value) is int else value


def content_hash(metadata: str, tensors: dict[str, Tensor]) -> str:
    """sha256 over the metadata and each tensor's name, type, shape and bytes, in the order of their names."""
    import torch

    digest = hashlib.sha256(metadata.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _content(path: Path) -> dict[str, Any]:
    """The file's dict with its four entries, of the right types."""
    import torch

    _check_archive(path)
    try:
        with lack_of_memory_told():
            content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise WeightsError(path, "not a gozero weights file: it holds objects that would have to be executed") from None
    except (RuntimeError, EOFError, KeyError, ValueError, OSError, AttributeError, IndexError, TypeError) as error:
        raise WeightsError(path, f"not a readable weights file ({_first_line(error)})") from None
    if isinstance(content, dict) and isinstance(content.get("learner"), dict) and content.get("metadata"):
        average = content["learner"].get("ema", {})
        digest = content_hash(content["metadata"], average)
        return {"metadata": content["metadata"], "tensors": average, "sha256": digest}
    if isinstance(content, dict) and "learner" in content:
        raise WeightsError(path, NO_PLAYER)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise WeightsError(path, f"a torch file, but not one of gozero's ({FORMAT!r})")
    types = {"metadata": str, "sha256": str, "tensors": dict}
    whole = all(isinstance(content.get(name), kind) for name, kind in types.items())
    if not whole or not all(isinstance(tensor, torch.Tensor) for tensor in content["tensors"].values()):
        raise WeightsError(path, "an entry of the weights file is missing")
    return content


def _check_archive(path: Path) -> None:
    """WeightsError for the common accidents, before torch sees the file."""
    try:
        with path.open("rb") as file:
            is_whole = zipfile.is_zipfile(file)
    except zipfile.BadZipFile:  # its end is there and makes no sense
        is_whole = False
    except OSError as error:
        raise WeightsError(path, (error.strerror or "unreadable").lower()) from None
    if not is_whole:
        raise WeightsError(path, "not a gozero weights file, or its end is missing")


def _metadata(path: Path, text: str) -> dict[str, Any]:
    """The metadata, once every entry is known to be there with its type."""
    types: dict[str, Any] = {
        "network": dict, "game": str, "size": (int, type(None)), "trained_sizes": list, "feature_version": int,
        "provenance": dict,
    }  # fmt: skip
    try:
        values = files.from_json(text)
    except ValueError:
        values = None
    for name, kind in types.items():
        if not isinstance(values, dict) or not isinstance(values.get(name, types), kind):
            raise WeightsError(path, f"its metadata lack {name!r}")
    if not all(type(size) is int for size in values["trained_sizes"]):
        raise WeightsError(path, "its metadata name 'trained_sizes' that are no whole numbers")
    return values


def listed(sizes: Iterable[int]) -> str:
    """Board sizes as a person lists them: `7, 9, 11 and 13`."""
    *others, last = map(str, sizes)
    return f"{', '.join(others)} and {last}" if others else last


def _config(path: Path, values: dict[str, Any], tensors: dict[str, Tensor]) -> NetConfig:
    """The network configuration, once the tensors are known to fit it by name and shape."""
    import torch

    from gozero.nets import model

    try:
        config = model.NetConfig.from_dict(values)
        with torch.device("meta"):  # shapes without memory or initialisation
            expected = model.build(config).state_dict()
    except (ValueError, TypeError, RuntimeError) as error:
        raise WeightsError(path, _first_line(error)) from None
    for name, tensor in expected.items():
        if name not in tensors or tensors[name].shape != tensor.shape:
            raise WeightsError(path, f"tensor {name!r} does not fit network {config.name}")
    return config


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
