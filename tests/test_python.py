"""docs/python.md, done: its examples run as they are written, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import gozero
from tests import ROOT


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("training.run.run.carry_graph", lambda path: None)  # takes longer than the run
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 4
    for example in examples:
        exec(compile(example, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "White wins with" in printed
    assert "Black leads by" in printed
    assert names["analysis"].visits == 200
    assert names["policy"].sum() == pytest.approx(1)
    assert (tmp_path / "runs" / "python" / "weights.pt").exists()


def test_the_names_that_are_declared_are_there() -> None:
    assert all(getattr(gozero, name) is not None for name in gozero.__all__)
    with pytest.raises(AttributeError):
        _ = gozero.nothing


def test_a_search_needs_a_limit_and_a_game_that_goes_on() -> None:
    engine = gozero.Engine(game="tictactoe")
    position = gozero.Position(gozero.make("tictactoe"))
    with pytest.raises(ValueError, match="limit"):
        engine.search(position, visits=None)
    for vertex in ("A1", "A2", "B1", "B2", "C1"):
        position.play(position.game.action(vertex))
    with pytest.raises(ValueError, match="over"):
        engine.search(position)


def test_a_player_proves_a_win_as_the_gtp_engine_does() -> None:
    player = gozero.Engine(game="tictactoe").player()
    for number, vertex in enumerate(("A1", "B1", "A3", "A2")):  # C3 then wins in two ways
        player.game.play(gozero.WHITE if number % 2 else gozero.BLACK, player.game.definition.action(vertex))
    player.genmove(gozero.BLACK, gozero.Limits(visits=50))
    assert player.game.notes.last is not None and player.game.notes.last.moves[0].bound == 1
