"""The order of a report's parts, and what its verdicts and speeds say."""

from __future__ import annotations

import re
from pathlib import Path

from gozero import plots
from gozero.plots import Panel
from tests.training.doctor.test_report import OLD, log
from training.doctor import report

EARLY, LEARNING = "too early to say: {} of 200 learning steps", "learning, because the policy is 0.{} nats better"


def cells(page: str) -> list[tuple[str, str]]:
    return re.findall("<tr><td>([^<]*)</td><td>([^<]*)</td></tr>", page)


def test_verdicts_in_a_row_that_differ_in_numbers_alone_are_one_row_below_the_curves(tmp_path: Path) -> None:
    texts = [
        EARLY.format(10),
        EARLY.format(20),
        LEARNING.format(1),
        EARLY.format(5),
        *map(LEARNING.format, range(2, 20)),
    ]
    log(tmp_path, *(OLD | {"verdict": text, "doctor/verdict": 1.0} for text in texts))
    page = report.write(tmp_path).read_text()
    assert cells(page) == [
        ("5 to 22", LEARNING.format(19)),
        ("4", EARLY.format(5)),
        ("3", LEARNING.format(1)),
        ("1 to 2", EARLY.format(20)),
    ]
    assert page.index("<img") < page.index("<h2>Verdicts")


def test_generations_are_whole_numbers_on_the_axis() -> None:
    figure = plots._figure(4, 3)
    plots._panel(figure.add_subplot(), Panel("", [plots.Curve("a", [1, 2], [3, 4])], "generation"))
    assert all(tick == int(tick) for tick in figure.axes[0].get_xticks())
