"""The doctor: is the run learning, stuck or broken, why, and what to try; one line after each generation.

The verdict is a pure function of the reports so far and the settings. docs/doctor.md has the table of the checks.
Nothing is stopped or changed here: that is up to the reader.
"""

from __future__ import annotations

from typing import NamedTuple

from gozero.games import GO_FAMILY
from training.doctor.checks import BROKEN, CHECKS, LEAST_GAIN, NOTE, STUCK, Check, Reports
from training.doctor.history import Report
from training.settings.config import LoopSettings

LEVELS = (BROKEN, STUCK, NOTE)  # the worst first

LEARNING, EARLY = "learning", "too early to say"
SCALES = {LEARNING: 1.0, EARLY: 0.0, STUCK: -1.0, BROKEN: -2.0}  # the verdict as a curve
MOST_REASONS = 3
JUDGED_STEPS = 200  # of the learner, before a healthy run is called learning
LEAST_GENERATIONS = 3
MATCHES = {
    "frozen_generation": "{score:.0%} ({low:.0%} to {high:.0%}) against itself of generation {generation:.0f}",
    "uct_rollouts": "{score:.0%} against rollout PUCT with {rollouts:.0f} rollouts",
}
"""What is said of the newest match that has this number."""


class RunVerdict(NamedTuple):
    """The doctor's line: `status` is a key of `SCALES`, `text` the whole line."""

    status: str
    text: str
    findings: list[tuple[Check, str]]  # what was found, and half a sentence with the number that shows it


def verdict(history: list[Report], settings: LoopSettings) -> RunVerdict:
    """Judge a run by its reports, at least one, oldest first."""
    reports, is_go = Reports(history, settings), settings.game in GO_FAMILY
    looked = [(each, each.judge(reports)) for each in CHECKS if is_go or not each.go_alone]
    findings = [(each, because) for each, because in looked if because]
    findings.sort(key=lambda found: LEVELS.index(found[0].level))
    worst = findings[:MOST_REASONS]
    if worst and (level := worst[0][0].level) != NOTE:
        because = "; ".join(because for _, because in worst)
        remedies = "; ".join(dict.fromkeys(check.remedy for check, _ in worst))
        return RunVerdict(level, f"{level}, because {because}; try {remedies}", findings)
    notes = "".join(f"; but {because}: try {check.remedy}" for check, because in worst)
    if missing := _missing(reports):
        return RunVerdict(EARLY, f"{EARLY}: {missing}{notes}", findings)
    return RunVerdict(LEARNING, f"{LEARNING}, because {_reasons(reports)}{notes}", findings)


def _missing(reports: Reports) -> str:
    """What is still missing for a verdict; empty if nothing is."""
    if reports.steps < JUDGED_STEPS:
        return f"{reports.steps:.0f} of {JUDGED_STEPS} learning steps"
    if len(reports.all) < LEAST_GENERATIONS:
        return f"generation {len(reports.all)} of {LEAST_GENERATIONS}"
    gain = _gain(reports, "policy")
    if gain is None:
        return "no held-out games yet" if reports.measured == "held" else "no games in the window"
    return f"the policy is {max(0.0, gain):.2f} nats better than a uniform guess" if gain < LEAST_GAIN else ""


def _gain(reports: Reports, name: str) -> float | None:
    """Nats by which a measured loss is below the constant predictor's."""
    loss, guess = (reports.last(f"{reports.measured}/{part}{name}") for part in ("", "constant_"))
    return None if loss is None or guess is None else guess - loss


def _reasons(reports: Reports) -> str:
    """Why a run counts as learning."""
    where = "" if reports.measured == "held" else " on the games that it learned from"
    reasons = [f"the policy is {_gain(reports, 'policy'):.2f} nats better than a uniform guess{where}"]
    value = _gain(reports, "value")
    if value is not None and value > 0:
        reasons.append(f"the value {value:.2f} better than the base rate")
    for name, text in MATCHES.items():
        if met := [report for report in reports.all if f"strength/{name}" in report]:
            opponent = f"strength/{name.partition('_')[0]}_"
            numbers = {key.removeprefix(opponent): value for key, value in met[-1].items() if opponent in key}
            reasons.append(f"in generation {met[-1]['run/generation']:.0f} it scored {text.format_map(numbers)}")
    return ", ".join(reasons)
