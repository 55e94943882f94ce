"""The page's texts in other languages: every catalogue has all texts, and no other but sentences of the engine."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from gozero.frontends.web.catalogue import GO_AIM, rule_sets
from gozero.frontends.web.engine.views import UNITS
from gozero.games.descriptions import DESCRIPTIONS
from tests import ROOT

CLIENT = ROOT / "gozero" / "frontends" / "web" / "client"
REPORTING = [*CLIENT.parent.glob("*/*.py"), ROOT / "gozero" / "games" / "refusals.py"]
LESSONS = CLIENT.parent / "engine" / "lessons.toml"
TEXT = re.compile(r'\b(?:t|english)\((?:[^"()]*\? )?"((?:[^"\\]|\\.)*)"(?: : "((?:[^"\\]|\\.)*)")?')
VALUE = re.compile(r"\{\w+\}")


def texts() -> set[str]:
    """The English texts of the page, and those of games, units and lessons that it shows."""
    sources = (path.read_text(encoding="utf-8") for path in (CLIENT / "src").iterdir() if path.name != "translate.js")
    found = {text for source in sources for pair in TEXT.findall(source) for text in pair}
    found |= {GO_AIM, "points", *UNITS.values(), *(rules for name in DESCRIPTIONS for rules in rule_sets(name))}
    for name, game in DESCRIPTIONS.items():
        found |= {game.title, game.won_by, game.won_by.removesuffix("s")} | ({game.aim} if name != "go" else set())
    return (found | set(lesson_texts(tomllib.loads(LESSONS.read_text(encoding="utf-8"))))) - {""}


def lesson_texts(table: Any) -> Iterator[str]:
    """All texts of the lessons' file."""
    for key, value in table.items() if isinstance(table, dict) else enumerate(table):
        if key in ("diagram", "moves"):
            continue
        if isinstance(value, str):
            yield value
        else:
            yield from lesson_texts(value)


@pytest.mark.parametrize("language", ["de", "ja", "ko", "zh"])
def test_a_catalogue_has_every_text_with_its_values(language: str) -> None:
    catalogue = json.loads((CLIENT / "languages" / f"{language}.json").read_text(encoding="utf-8"))
    assert texts() - catalogue.keys() == set()
    reported = catalogue.keys() - texts()  # sentences of the engine that are translated
    sources = "".join(path.read_text(encoding="utf-8") for path in REPORTING)
    assert [text for text in reported if text.removeprefix("{move} ") not in sources] == []
    assert [text for text, other in catalogue.items() if set(VALUE.findall(text)) != set(VALUE.findall(other))] == []
