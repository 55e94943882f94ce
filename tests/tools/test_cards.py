"""The page of the networks is what their files and their matches say."""

from __future__ import annotations

import runpy
import sys

import pytest

from tools import cards


def test_the_page_is_up_to_date() -> None:
    assert cards.PAGE.read_text(encoding="utf-8") == cards.page(), "run: python -m tools.cards"


def test_every_shipped_network_has_a_card() -> None:
    shipped = {path.name for path in cards.WEIGHTS.glob("*.pt")}
    assert shipped <= {line.split("`")[1] for line in cards.page().splitlines() if line.startswith("| [`")}


@pytest.mark.parametrize("tool", ["build_pachi", "cards", "settings_page"])
def test_a_tool_without_arguments_refuses_one(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [tool, "--dry-run"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(f"{cards.ROOT}/tools/{tool}.py", run_name="__main__")
    assert ended.value.code == 2
