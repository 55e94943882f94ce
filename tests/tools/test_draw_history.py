"""The picture of a run's generations: the steps add up, and what is no table is one line."""

from pathlib import Path

import pytest

from tests import ROOT
from tools import draw_history

TABLE = ROOT / "weights" / "best.csv"


def test_the_steps_add_up() -> None:
    rows = [{"games": games, "won": won} for games, won in ((0, 0), (4, 3), (4, 2), (4, 1))]
    elo, error = draw_history.ratings(rows)
    assert elo.round().tolist() == [0, 147, 147, 0]
    assert (error[1:] > error[:-1]).all()


def test_the_table_of_the_shipped_weights_is_drawn(tmp_path: Path) -> None:
    assert draw_history.main([str(TABLE), "--out", str(tmp_path / "best.png")]) == 0
    assert (tmp_path / "best.png").stat().st_size > 10_000


@pytest.mark.parametrize("text", ["", "games,won\n4,3\n", TABLE.read_text().replace("73", "x")])
def test_what_is_no_table_is_one_line(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.csv").write_text(text)
    assert draw_history.main([str(tmp_path / "table.csv"), "--out", str(tmp_path / "best.png")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
