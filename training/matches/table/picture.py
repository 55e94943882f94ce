"""The picture of a table: a group of lines for each pair, a line for each network, with its interval, as SVG.

Published figures are grey and hollow, ours blue and full. A figure of which only a bound is known is a line up to it; a
cell that was not played is said to be so.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

from gozero.system.words import counted
from training.matches.elo import MatchScore

LINE, LEFT, PLOT, RIGHT = 18, 250, 480, 130  # pixels: height of a line, names, 0 to 100 %, numbers
TICKS = (0, 25, 50, 75, 100)  # per cent
STYLE = """\
.pairs { width: 100%; max-width: 880px; font: 12px system-ui, sans-serif; fill: #222 } .pairs .head { font-weight: 600 }
.pairs .grid { stroke: #ddd } .pairs .even { stroke: #999; stroke-dasharray: 4 3 }
.pairs .published line { stroke: #999; stroke-width: 1.5 } .pairs .published circle { fill: #fff; stroke: #777; stroke-width: 1.5 }
.pairs .here line { stroke: #269; stroke-width: 2.5 } .pairs .here circle { fill: #269 } .pairs .none { fill: #a33 }"""


class Line(NamedTuple):
    """What is known of a network in a pair; shares are 0 ... 1, None if they are not known."""

    name: str
    score: float | None
    low: float | None  # of the 95 % interval
    high: float | None
    games: int
    total: MatchScore | None = None  # None: it was published


def picture(title: str, groups: Sequence[tuple[str, Sequence[Line]]]) -> str:
    """The groups one below the other under their heads; stands alone as a file, and inside a page."""
    width, height = LEFT + PLOT + RIGHT, LINE * (4.5 + sum(len(lines) + 1.5 for _, lines in groups))
    foot = height - 1.6 * LINE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pairs" viewBox="0 0 {width} {height:.0f}" role="img" '
        f'aria-label="Shares of the points with 95 % intervals"><style>{STYLE}</style>',
        f'<rect width="{width}" height="{height:.0f}" fill="#fff"/>',
    ]
    parts.append(f'<text x="4" y="{LINE}">{html.escape(title)}</text>')
    for tick in TICKS:
        x = _across(tick / 100)
        kind = "even" if tick == TICKS[len(TICKS) // 2] else "grid"
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{1.6 * LINE:.1f}" y2="{foot:.1f}" class="{kind}"/>')
        parts.append(f'<text x="{x:.1f}" y="{foot + LINE:.1f}" text-anchor="middle">{tick} %</text>')
    y = 2.5 * LINE
    for head, lines in groups:
        parts.append(f'<text x="4" y="{y:.1f}" class="head">{html.escape(head)}</text>')
        for line in lines:
            y += LINE
            parts.append(_drawn(line, y))
        y += 1.5 * LINE
    return "\n".join([*parts, "</svg>"])


def _drawn(line: Line, y: float) -> str:
    kind, middle = "published" if line.total is None else "here", y - 4
    parts = [
        f'<g class="{kind}"><text x="{LEFT - 14}" y="{y:.1f}" text-anchor="end">{html.escape(_short(line.name))}</text>'
    ]
    if line.high is not None:
        ends = _across(line.low or 0.0), _across(line.high)
        parts.append(f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>')
    if line.score is not None:
        parts.append(f'<circle cx="{_across(line.score):.1f}" cy="{middle:.1f}" r="4"/>')
        said = f"{line.score:.1%}, {counted(line.games, 'game')}"
    else:
        said = "not played" if line.high is None else f"less than {line.high:.0%}"
    none = ' class="none"' if line.high is None else ""
    parts.append(f'<text x="{LEFT + PLOT + 14}" y="{y:.1f}"{none}>{said}</text></g>')
    return "".join(parts)


def _across(share: float) -> float:
    return LEFT + PLOT * share


def _short(name: str, most: int = 38) -> str:
    """The end of a long name, where files differ."""
    return name if len(name) <= most else f"…{name[1 - most :]}"
