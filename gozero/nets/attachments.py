"""Files inside a weights file beside its tensors: entries of its zip archive that torch does not read."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from gozero.system import files

FOLDER = "extra"  # where torch's own formats keep such files
DAMAGE = (EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)  # what zipfile raises where bits of a file are wrong
GRAPH = ("graph.xml", "graph.bin", "graph.json")  # the inference graph, see `gozero.evaluators.graphs`


def write(path: Path, attached: Mapping[str, bytes]) -> None:
    """Attach files to a weights file in place of those attached before; whole or not at all. OSError as `open`."""
    target = path.resolve()
    # the entries of torch lie unaligned afterwards, which it accepts
    with files.replacing(target) as new, zipfile.ZipFile(target) as old, zipfile.ZipFile(new, "w") as archive:
        for entry in old.infolist():
            if f"/{FOLDER}/" not in entry.filename:
                archive.writestr(entry, old.read(entry))
        root = old.namelist()[0].split("/")[0]
        for name, content in attached.items():
            # without a date, the same files always give the same bytes
            archive.writestr(zipfile.ZipInfo(f"{root}/{FOLDER}/{name}"), content, zipfile.ZIP_DEFLATED)


def read(path: Path, names: Sequence[str]) -> dict[str, bytes] | None:
    """The attached files of these names; None if one is missing. ValueError if one cannot be read."""
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, *DAMAGE):
        return None
    with archive:
        entries = {name.split("/", 1)[-1]: name for name in archive.namelist()}
        try:
            return {name: archive.read(entries[f"{FOLDER}/{name}"]) for name in names}
        except KeyError:
            return None
        except (OSError, *DAMAGE):
            raise ValueError(f"{path}: an attached file is damaged") from None
