"""`gozero-gtp --check`: what it says of an installation that is well, could be better, or cannot play."""

import shutil
import sys
from pathlib import Path

import pytest

from gozero import games
from gozero.evaluators.cache import CachedEvaluator
from gozero.evaluators.cuda_evaluator import CudaEvaluator
from gozero.nets import model, weights
from gozero.system import jit
from gtp import check
from gtp.check import NOTE, OK, WRONG, CheckResult
from gtp.settings import GtpSettings
from tests.gtp.process import run


@pytest.fixture
def small_weights(small_weights: Path, tmp_path: Path) -> Path:
    """Under a name with blanks and of another alphabet."""
    return Path(shutil.copy(small_weights, tmp_path / "kleines Netz ä.pt"))


@pytest.fixture(autouse=True)
def short_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "SECONDS", 0.2)


def found(settings: GtpSettings) -> dict[str, CheckResult]:
    return {finding.subject: finding for finding in check.findings(settings)}


def test_an_installation_that_is_well(small_weights: Path) -> None:
    findings = found(GtpSettings(weights=str(small_weights), size=7, threads=1, seed=1))
    subjects = ["machine", "packages", "weights", "rules", "network", "speed", "move"]
    assert list(findings) == subjects
    assert {finding.grade for finding in findings.values()} == {OK}
    assert str(small_weights) in findings["weights"].text
    assert " on 7x7 with 100 visits in " in findings["move"].text


def test_the_network_is_measured_not_the_evaluations_kept(small_weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []
    speed = check._speed
    monkeypatch.setattr(check, "_speed", lambda evaluator, *rest: measured.append(evaluator) or speed(evaluator, *rest))
    findings = found(GtpSettings(weights=str(small_weights), size=7, threads=1))
    assert not any(isinstance(evaluator, CachedEvaluator) for evaluator in measured) and measured
    assert "Cached" not in findings["network"].text


def test_captured_graphs_are_told_from_plain_torch() -> None:
    game = games.make("go", size=5)
    evaluator = CudaEvaluator(model.build(model.config("b1c8"), seed=1), game, device="cpu", precision="f32")
    assert check._named(evaluator) == "Torch with captured graphs on the CPU in f32"


def test_without_openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_version", lambda name: "missing" if name == "openvino" else "1.0")
    assert check._packages(GtpSettings()).grade == NOTE
    assert "openvino missing" in check._packages(GtpSettings()).text
    assert check._packages(GtpSettings(backend="torch")).grade == OK


def test_a_library_that_cannot_be_loaded_is_one_line(small_weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gozero.play.player", None)
    finding = found(GtpSettings(weights=str(small_weights)))["engine"]
    assert (finding.grade, finding.text.split(":")[0]) == (WRONG, "ModuleNotFoundError")


def test_a_cache_that_cannot_be_written_is_a_note(small_weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "CACHE_FOLDER", None)
    findings = check._engine(GtpSettings(weights=str(small_weights)))
    next(findings)
    finding = next(findings)
    assert (finding.grade, "cannot be written" in finding.text) == (NOTE, True)


def test_the_command_answers_on_standard_output(tmp_path: Path) -> None:
    done = run(["--check", "--weights", str(tmp_path / "none.pt")])
    assert (done.returncode, done.stderr) == (2, "")
    *_, engine, _, _, last = done.stdout.splitlines()
    assert engine.startswith(f"{WRONG}  engine") and str(tmp_path / "none.pt") in engine
    assert last.endswith("see the line marked WRONG.")


def test_a_board_that_the_weights_never_learned_is_a_note(tmp_path: Path) -> None:
    config = model.config("b1c8")
    weights.save(tmp_path / "net.pt", model.build(config, seed=1), config, size=13, trained_sizes=(7, 9, 13))
    for size, grade in ((9, OK), (5, NOTE), (19, NOTE)):
        findings = check._engine(GtpSettings(weights=str(tmp_path / "net.pt"), size=size))
        finding = next(findings)
        assert (finding.grade, bool(finding.advice)) == (grade, grade == NOTE)
        assert "go, network b1c8, board sizes 5 to 19, trained on 7, 9 and 13" in finding.text
