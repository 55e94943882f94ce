"""Numbers with their nouns."""

import pytest

from gozero.system.words import counted


@pytest.mark.parametrize(
    ("number", "noun", "spec", "text"),
    [
        (1, "visit", "", "1 visit"), (0, "visit", "", "0 visits"), (1.2, "move", ".0f", "1 move"),
        (1234, "game", ",", "1,234 games"), (2, "process", "", "2 processes"),
        (2, "full search", "", "2 full searches"),
    ],
)  # fmt: skip
def test_a_noun_agrees_with_its_number_as_written(number: float, noun: str, spec: str, text: str) -> None:
    assert counted(number, noun, spec) == text
