"""The pictures of the manual: the steps of a run's table add up, and what is no table is one line."""

import json
from pathlib import Path

import pytest

from tests import ROOT
from tests.training.refusals import Refused
from tools import draw

TABLE = ROOT / "weights" / "best.csv"


def test_the_steps_add_up() -> None:
    rows = [{"games": games, "won": won} for games, won in ((0, 0), (4, 3), (4, 2), (4, 1))]
    elo, error = draw.ratings(rows)
    assert elo.round().tolist() == [0, 147, 147, 0]
    assert (error[1:] > error[:-1]).all()


def test_the_table_of_the_shipped_weights_is_drawn(tmp_path: Path) -> None:
    assert draw.main(["history", str(TABLE), "--out", str(tmp_path / "best.png")]) == 0
    assert (tmp_path / "best.png").stat().st_size > 10_000


@pytest.mark.parametrize("text", ["", "games,won\n4,3\n", TABLE.read_text().replace("73", "x")])
def test_what_is_no_table_is_one_line(text: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "table.csv").write_text(text)
    refused(draw.main, ["history", str(tmp_path / "table.csv"), "--out", str(tmp_path / "best.png")])


def test_the_levels_of_a_tournament_are_drawn(tmp_path: Path, refused: Refused) -> None:
    pairs = (("level 2", "level 1"), ("GNU Go 1", "level 1"), ("level 2", "GNU Go 1"))
    pairings = [{"a": a, "b": b, "won": 3, "drawn": 0, "lost": 1} for a, b in pairs]
    results, out = tmp_path / "results.json", tmp_path / "levels.png"
    results.write_text(json.dumps({"pairings": pairings}))
    assert draw.main(["levels", str(results), "--out", str(out)]) == 0 and out.stat().st_size > 10_000
    for text in ("", "[]", '{"pairings": [{"a": "level 1"}]}', json.dumps({"pairings": pairings[:1]})):
        results.write_text(text)
        refused(draw.main, ["levels", str(results), "--out", str(out)])
