"""The page of the networks is what their files and their matches say."""

from __future__ import annotations

from tools import cards


def test_the_page_is_up_to_date() -> None:
    assert cards.PAGE.read_text(encoding="utf-8") == cards.page(), "run: python -m tools.cards"


def test_every_shipped_network_has_a_card() -> None:
    shipped = {path.name for path in cards.WEIGHTS.glob("*.pt")}
    assert shipped <= {line.split("`")[1] for line in cards.page().splitlines() if line.startswith("| [`")}
