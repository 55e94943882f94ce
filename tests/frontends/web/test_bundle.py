"""The page that is kept in the tree is the one that its sources build."""

import filecmp
import subprocess
from pathlib import Path

import pytest

from tests import ROOT
from tests.conftest import BOARD_PACKAGES

WEB = ROOT / "gozero" / "frontends" / "web"


@pytest.mark.node
def test_the_kept_page_is_built_from_its_sources(tmp_path: Path) -> None:
    command = ["node", WEB / "client" / "build.mjs", tmp_path, BOARD_PACKAGES]
    subprocess.run(command, check=True, timeout=120)
    built, kept = ({path.name for path in folder.iterdir()} for folder in (tmp_path, WEB / "static"))
    assert built == kept
    _, different, unread = filecmp.cmpfiles(tmp_path, WEB / "static", sorted(built), shallow=False)
    assert (different, unread) == ([], []), "make boardpage builds them again"


def test_licences_are_told() -> None:
    text = (WEB / "static" / "licences.txt").read_text(encoding="utf-8")
    for name in ("@sabaki/shudan", "classnames", "preact"):
        assert f"\n{name} " in text
    assert text.count("MIT") >= 3
