"""The doctor: is the run learning, stuck or broken, why, and what to try; one line after each generation.

Vocabulary.
  verdict  `learning, because ...`, `stuck, because ...; try ...`, `broken, because ...; try ...`, or `too early to say`
           while there is too little to judge by. A run can be called broken at any time.

The verdict is a pure function of the reports so far (`training.doctor.history`) and the settings. The checks that it
runs are listed in `training.doctor.symptoms`, what they compare is measured in `training.doctor.checkup`. Nothing is
stopped or changed here: that is up to the reader.
"""

from __future__ import annotations

from dataclasses import dataclass

from gozero.games import GO_FAMILY
from training.doctor.check import BROKEN, NOTE, STUCK, Finding
from training.doctor.history import Report, last
from training.doctor.learning_checks import LEAST_GAIN
from training.doctor.symptoms import CHECKS
from training.settings.config import LoopSettings

LEARNING, EARLY = "learning", "too early to say"
SCALES = {LEARNING: 1.0, EARLY: 0.0, STUCK: -1.0, BROKEN: -2.0}  # the verdict as a curve
MOST_REASONS = 3
JUDGED_STEPS = 200  # of the learner, before a healthy run is called learning
LEAST_GENERATIONS = 3


@dataclass(frozen=True)
class RunVerdict:
    """The doctor's line: `status` is a key of `SCALES`, `text` the whole line."""

    status: str
    text: str
    findings: tuple[Finding, ...] = ()

    @property
    def scale(self) -> float:
        """1 learning, 0 too early, -1 stuck, -2 broken."""
        return SCALES[self.status]


def verdict(history: list[Report], settings: LoopSettings) -> RunVerdict:
    """Judge a run by its reports, at least one, oldest first."""
    checks = [check for check in CHECKS if settings.game in GO_FAMILY or not check.go_alone]
    findings = [finding for check in checks if (finding := check.look(history, settings)) is not None]
    findings.sort(key=lambda finding: (BROKEN, STUCK, NOTE).index(finding.level))
    if findings and findings[0].level != NOTE:
        worst = findings[:MOST_REASONS]
        because = "; ".join(finding.because for finding in worst)
        remedies = "; ".join(dict.fromkeys(finding.remedy for finding in worst))
        return RunVerdict(worst[0].level, f"{worst[0].level}, because {because}; try {remedies}", tuple(findings))
    notes = "".join(f"; but {finding.because}: try {finding.remedy}" for finding in findings[:MOST_REASONS])
    missing = _missing(history)
    if missing:
        return RunVerdict(EARLY, f"{EARLY}: {missing}{notes}", tuple(findings))
    return RunVerdict(LEARNING, f"{LEARNING}, because {_reasons(history)}{notes}", tuple(findings))


def _missing(history: list[Report]) -> str:
    """The text about what is still missing for a verdict; empty if nothing is."""
    steps = last(history, "run/steps") or 0.0
    if steps < JUDGED_STEPS:
        return f"{steps:.0f} of {JUDGED_STEPS} learning steps"
    if len(history) < LEAST_GENERATIONS:
        return f"generation {len(history)} of {LEAST_GENERATIONS}"
    gain = _gain(history, "policy")
    if gain is None:
        return "no held-out games yet"
    if gain < LEAST_GAIN:
        return f"the policy is {max(0.0, gain):.2f} nats better than a uniform guess"
    return ""


def _gain(history: list[Report], name: str) -> float | None:
    """Nats by which a held-out loss is below the constant predictor's."""
    loss, guess = last(history, f"held/{name}"), last(history, f"held/constant_{name}")
    return None if loss is None or guess is None else guess - loss


def _reasons(history: list[Report]) -> str:
    """Why a run counts as learning."""
    reasons = [f"the policy is {_gain(history, 'policy'):.2f} nats better than a uniform guess"]
    value = _gain(history, "value")
    if value is not None and value > 0:
        reasons.append(f"the value {value:.2f} better than the base rate")
    score, low, high, since = (
        last(history, f"strength/frozen_{name}") for name in ("score", "low", "high", "generation")
    )
    if score is not None and low is not None and high is not None and since is not None:
        reasons.append(f"it scores {score:.0%} ({low:.0%} to {high:.0%}) against itself of generation {since:.0f}")
    rollouts, uct = last(history, "strength/uct_rollouts"), last(history, "strength/uct_score")
    if rollouts is not None and uct is not None:
        reasons.append(f"{uct:.0%} against rollout PUCT with {rollouts:.0f} rollouts")
    return ", ".join(reasons)
