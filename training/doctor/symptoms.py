"""The table of the doctor's checks: what shows that a run is broken or stuck.

Each check is a small class in `training.doctor.game_checks` or `training.doctor.learning_checks`, with its thresholds
and their reasons as fields; what a check is, and the words for it, is in `training.doctor.check`. docs/doctor.md holds
the same table for readers.
"""

from __future__ import annotations

from training.doctor import game_checks, learning_checks
from training.doctor.check import BROKEN, NOTE, STUCK, Check

# In the order in which findings of one level are listed.
CHECKS: tuple[Check, ...] = (
    learning_checks.NotANumber(),
    game_checks.BrokenLaw(),
    learning_checks.Frozen(),
    learning_checks.Misread(),
    learning_checks.BatchNorm(),
    learning_checks.Biased(),
    learning_checks.FirstLine(),
    game_checks.PassWar(),
    game_checks.DamagedRecords(),
    game_checks.CheapRows(),
    game_checks.Repetition(),
    game_checks.Drawn(),
    learning_checks.Collapsed(),
    learning_checks.NoGain(),
    learning_checks.NoStronger(),
    learning_checks.Plateau(),
    learning_checks.Rejected(),
    learning_checks.Overfitted(),
    game_checks.Endless(),
    game_checks.OneSided(),
    learning_checks.Stale(),
    game_checks.Slowed(),
    game_checks.FalseResignations(),
)


def table() -> str:
    """The checks as a table in Markdown, the worst level first: sign, thresholds with their reasons, remedy."""
    lines = ["| level | sign | thresholds | try |", "|---|---|---|---|"]
    for check in sorted(CHECKS, key=lambda check: (BROKEN, STUCK, NOTE).index(check.level)):
        sign = (check.__doc__ or "").splitlines()[0] + " (Go only)" * check.go_alone
        limits = "; ".join(f"`{name}` {_number(value)}: {reason}" for name, value, reason in check.thresholds())
        lines.append(f"| {check.level} | {sign} | {limits} | {check.remedy} |")
    return "\n".join(lines)


def _number(value: float | tuple[float, float]) -> str:
    return " to ".join(f"{end:g}" for end in value) if isinstance(value, tuple) else f"{value:g}"
