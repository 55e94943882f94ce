"""docs/gtp.md describes every command that is offered."""

import re

import pytest

from gtp.settings import WEIGHTS, GtpSettings
from tests import ROOT
from tests.gtp.engine import Engine

PAGE = (ROOT / "docs" / "gtp.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("game", WEIGHTS)
def test_every_command_is_named(game: str) -> None:
    commands = Engine(GtpSettings(game, visits=1, seed=1)).ask("list_commands").split()
    assert [name for name in commands if not re.search(rf"`{re.escape(name)}[` \[]", PAGE)] == []
