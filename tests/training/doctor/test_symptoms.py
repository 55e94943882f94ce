"""Each sign that needs a longer run than a test can have: found in a history that shows it, and not in one a step from
it.
"""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gozero.games import symmetry
from gozero.nets import model
from tests import ROOT
from tests.training.games import game_of, random_record, write_shard
from tests.training.run.test_resume import same
from training.commands import records as records_command
from training.doctor import checks, checkup
from training.doctor import verdict as doctor
from training.doctor.checks import CHECKS
from training.doctor.history import Report
from training.records.replay import Replay
from training.records.rows import Batch
from training.run import session
from training.settings import config
from training.settings.config import LoopSettings

SETTINGS = LoopSettings()


def rows() -> Batch:
    """Rows of 30 random games."""
    replay = Replay(config.ReplaySettings(held_out=0.0), game_of)
    replay.add(random_record(5, seed) for seed in range(30))
    return replay.sample(256, np.random.default_rng(1))


SOUND: Report = {
    "run/steps": 2000.0, "run/rows": 1e5, "run/games": 4000.0, "run/corrupt": 0.0, "run/stage": 1.0, "window/held_games": 200.0,
    "games9/count": 100, "games9/length": 70.0, "games9/capped": 0.0, "games9/early": 0.0, "games9/black": 0.45, "games9/draws": 0.0,
    "games9/distinct": 1.0, "games9/recorded": 0.25, "train/policy": 2.5, "held/policy": 2.6, "held/value": 0.45, "fit/value": 0.43,
    "held/constant_policy": 4.0, "held/constant_value": 0.69, "held/entropy": 2.5, "held/top1": 0.4, "speed/evaluations": 1000.0,
    "probe/komi_score": 1.0, "probe/komi_value": 0.04, "probe/view": 0.98, "probe/norm_gap": 0.01, "probe/early_pass": 0.01,
    "moved/net": 0.01, "moved/ema": 0.01, "window/fit_games": 2000.0, "held/value_spread": 0.6, "fit/value_spread": 0.6,
}  # fmt: skip

SIGNS: dict[str, tuple[Report, str, str]] = {
    "loss": ({"held/value": float("nan")}, "broken", "held/value is nan"),
    "komi by score": ({"probe/komi_score": -0.9}, "broken", "sign of komi"),
    "komi by value": ({"probe/komi_value": -0.04}, "broken", "sign of komi"),
    "colours": ({"probe/view": -0.9}, "broken", "judges by colour"),
    "batch norm": ({"probe/norm_gap": 1.2}, "broken", "batch norm costs 1.20 nats"),
    "passing network": ({"probe/early_pass": 0.9}, "broken", "passes on an open board"),
    "first line": ({"probe/first_line19": 0.8}, "stuck", "on an empty 19x19 board 80% of the policy is on the first line"),
    "corrupt": ({"run/corrupt": 400.0}, "broken", "damaged records were skipped, 400 so far"),
    "repeated": ({"games9/distinct": 0.2}, "stuck", "only 20 of 100 games differ"),
    "openings": ({"games9/commonest": 0.8}, "stuck", "240 of 300 games begin with the same 8 moves"),
    "drawn": ({"games9/draws": 0.8}, "stuck", "80 of 100 games are drawn"),
    "high": ({"held9/bias": 0.3, "held9/rows": 800.0}, "stuck", "on 9x9 the side to move is valued 0.30 too high"),
    "low": ({"held9/bias": -0.3, "held9/rows": 800.0}, "stuck", "on 9x9 the side to move is valued 0.30 too low"),
    "some bias": ({"held9/bias": 0.14, "held9/rows": 800.0}, "learning", "the policy is 1.40 nats better"),
    "bias of few": ({"held9/bias": -0.3, "held9/rows": 80.0}, "learning", "the policy is 1.40 nats better"),
    "collapsed": ({"held/entropy": 0.1, "held/top1": 0.2}, "stuck", "the policy has collapsed"),
    "uniform": ({"held/policy": 4.0}, "stuck", "held-out policy loss 4.00 against a constant guess's 4.00"),
    "base rate": ({"held/value": 0.8, "fit/value": 0.8}, "stuck", "held-out value loss 0.80"),
    "base rate of few": ({"held/value": 0.8, "fit/value": 0.8, "window/held_games": 20.0}, "learning", "the policy is 1.40 nats better"),
    "sure of nothing": ({"held/value": 0.7, "fit/value": 0.7, "held/value_spread": 0.01, "window/held_games": 20.0},
                        "stuck", "held-out value loss 0.70"),
    "overfitted": ({"fit/value": 0.1}, "learning", "0.35 higher on held-out games"),
    "endless": ({"games9/length": 130.0}, "learning", "games on 9x9 last 130 moves"),
    "capped": ({"games9/capped": 0.2}, "learning", "reached the limit of moves"),
    "one-sided": ({"games9/black": 0.0}, "learning", "White won 300 of 300 games"),
    "resigned": ({"resign/checked": 100.0, "resign/false_positives": 0.3}, "learning", "30 of 100 games would have been resigned wrongly"),
    "few corrupt": ({"run/corrupt": 2.0}, "learning", "the policy is 1.40 nats better"),
    "openings by chance": ({"games9/commonest": 0.55}, "learning", "the policy is 1.40 nats better"),
    "few openings": ({"games3/commonest": 1.0, "games3/count": 100, "games3/length": 8.0}, "learning", "1.40 nats better"),
    "frozen": ({"moved/net": 0.9e-4}, "broken", "the learner is frozen"),
    "slow": ({"moved/net": 1.1e-4}, "learning", "the policy is 1.40 nats better"),
    "tiny steps": ({"moved/net": 1e-6, "train/rate": 1e-3}, "learning", "the policy is 1.40 nats better"),
    "a rate of 0": ({"moved/net": 0.0, "train/rate": 0.0}, "learning", "the policy is 1.40 nats better"),
    "no step": ({"run/steps": 2000.0}, "broken", "no step: the learner is frozen"),
    "no progress": ({"strength/frozen_games": 40.0, "strength/frozen_score": 0.45}, "stuck", "it scored 72 of 160"),
    "progress": ({"strength/frozen_games": 40.0, "strength/frozen_score": 0.6}, "learning", "1.40 nats better"),
    "none by 95 %": ({"strength/frozen_games": 16.0, "strength/frozen_score": 30 / 64}, "stuck", "it scored 30 of 64"),
    "some": ({"strength/frozen_games": 16.0, "strength/frozen_score": 32 / 64}, "learning", "1.40 nats better"),
    "closed gate": ({"gate/refused": 10.0}, "stuck", "refused 10 networks"),
    "strict gate": ({"gate/refused": 9.0}, "learning", "the policy is 1.40 nats better"),
}


def judged(*changes: Report, generations: int = 4) -> doctor.RunVerdict:
    """The verdict on generations that are sound but for these changes, the last of which goes on."""
    changes = (*changes, *changes[-1:] * (generations - len(changes)))
    history = []
    for number, change in enumerate(changes, 1):
        counters = {
            "run/generation": float(number),
            "run/steps": 1900.0 + 100 * number,
            "run/rows": 1e5 + 6400 * number,
        }
        history.append(SOUND | counters | change)
    return doctor.verdict(history, SETTINGS)


@pytest.mark.parametrize("sign", ["drawn", "endless", "one-sided"])
def test_what_is_a_sign_in_go_alone(sign: str) -> None:
    """Tic-tac-toe is drawn, NoGo may be won by one side: no komi mends it."""
    report = SOUND | SIGNS[sign][0]
    assert SIGNS[sign][2] in doctor.verdict([report] * 4, SETTINGS).text
    assert SIGNS[sign][2] not in doctor.verdict([report] * 4, replace(SETTINGS, game="nogo")).text


def test_a_sound_history_is_learning() -> None:
    reasons = "the policy is 1.40 nats better than a uniform guess, the value 0.24 better than the base rate"
    assert judged({}).text == f"learning, because {reasons}"
    assert doctor.SCALES[judged({}).status] == 1


def test_a_match_is_told_with_its_generation() -> None:
    numbers = {"score": 0.6, "low": 0.4, "high": 0.8, "generation": 1.0}
    frozen = {f"strength/frozen_{name}": value for name, value in numbers.items()}
    found = judged({}, frozen, {"strength/uct_score": 0.9, "strength/uct_rollouts": 128.0}, {}).text
    own, uct = "60% (40% to 80%) against itself of generation 1", "90% against rollout PUCT with 128 rollouts"
    assert found.endswith(f", in generation 2 it scored {own}, in generation 3 it scored {uct}")


def test_the_size_of_the_last_step_says_how_far_weights_must_move() -> None:
    history = [SOUND | {"run/generation": 3.0 + n, "run/steps": 1400.0 + 100 * n, "moved/net": 1e-6} for n in range(2)]
    for rates, is_broken in (({0: 1e-6, 1500: 1e-3}, False), ({0: 1e-3, 1500: 1e-6}, True)):
        learner = replace(SETTINGS.learner, rates=rates)
        found = doctor.verdict([SOUND, SOUND, *history], replace(SETTINGS, learner=learner))
        assert (found.status == "broken") == is_broken, found.text


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_is_found(name: str) -> None:
    change, status, words = SIGNS[name]
    verdict = judged(change)
    assert verdict.status == status, verdict.text
    assert words in verdict.text
    assert ("; try " in verdict.text) == (status != "learning")


@pytest.mark.parametrize(
    "name",
    ["high", "low", "first line", "batch norm", "komi by score", "komi by value", "colours", "passing network"],
)
def test_a_number_that_varies_must_agree_over_three_generations(name: str) -> None:
    change = SIGNS[name][0]
    other = {key: SOUND.get(key, 0.0) for key in change}
    assert judged(change, change, other, change).text == judged({}).text
    assert judged(other, change, change, change).text == judged(change).text


def test_commands_that_are_advised_can_be_given(tmp_path: Path) -> None:
    write_shard(tmp_path / "records" / "000001.gzr", [random_record(5, 1)])
    remedies = [check.remedy for change, _, _ in SIGNS.values() for check, _ in judged(change).findings]
    advised = {command for remedy in remedies for command in re.findall(r"gozero records ([^,;]*)", remedy)}
    assert sum(remedy.count("gozero records") for remedy in set(remedies)) == len(advised) == 2
    for command in advised:
        assert records_command.main(command.replace("RUN_FOLDER", str(tmp_path)).split()) == 0


def test_the_page_on_the_doctor_has_the_table_of_its_checks() -> None:
    page = ROOT / "docs" / "doctor.md"
    listed = sorted(CHECKS, key=lambda each: doctor.LEVELS.index(each.level))
    table = "\n".join(f"|{each.level}|{each.sign}{' (Go only)' * each.go_alone}|" for each in listed)
    assert f"|level|sign|\n|---|---|\n{table}\n" in page.read_text(encoding="utf-8"), f"it should hold:\n{table}"


def test_a_number_that_is_none_is_one_finding_only() -> None:
    """A network whose numbers are all NaN has not collapsed, overfitted or gained nothing: it has diverged."""
    bad = {name: float("nan") for name in SOUND if name.startswith(("held/", "fit/", "train/", "probe/"))}
    assert [because for _, because in judged(bad).findings] == ["train/policy is nan"]


def test_a_run_without_held_out_games_is_judged_by_those_it_learned_from() -> None:
    settings = replace(SETTINGS, replay=replace(SETTINGS.replay, held_out=0.0))
    report = {name.replace("held/", "fit/"): value for name, value in SOUND.items()}
    assert doctor.verdict([report] * 4, settings).text.startswith(
        "learning, because the policy is 1.40 nats better than a uniform guess on the games that it learned from"
    )
    assert doctor.verdict([report | {"fit/policy": 4.0}] * 4, settings).status == "stuck"
    collapsed = report | {"fit/entropy": 0.1, "fit/top1": 0.2}
    assert "the policy has collapsed" in doctor.verdict([collapsed] * 4, settings).text


def test_small_numbers_raise_no_alarm() -> None:
    few = {
        "games9/count": 6, "games9/early": 1 / 6, "games9/black": 5 / 6, "games9/distinct": 5 / 6,
        "games9/commonest": 4 / 6,
    }  # fmt: skip
    assert judged(few).text == judged({}).text
    assert judged({"resign/checked": 3.0, "resign/false_positives": 1.0}).text == judged({}).text
    assert judged({"games9/count": 16, "games9/distinct": 7 / 16}).text == judged({}).text


def test_openings_that_a_symmetry_turns_into_each_other_are_one() -> None:
    record, other = random_record(5, 1), random_record(7, 1)
    turned = replace(record, moves=symmetry.action_map(5, 3)[record.moves])
    late = replace(record, moves=np.append(record.moves[: checkup.OPENING_MOVES], 3))
    early = replace(record, moves=np.roll(record.moves, 1))
    found = checkup.openings([record, turned, late, early, other], game_of)
    assert found == {"games5/commonest": 0.75, "games7/commonest": 0.0}
    assert checkup.openings([], game_of) == {}


def test_signs_of_one_colour_count_only_where_both_win() -> None:
    assert judged({"probe/komi_score": -0.9, "probe/view": -0.9, "games9/black": 0.95}).status == "learning"


def test_the_worst_comes_first_and_three_at_most() -> None:
    verdict = judged(
        {"games9/distinct": 0.2, "games9/early": 0.5, "run/corrupt": 400.0, "probe/norm_gap": 1.0, "fit/value": 0.1}
    )
    assert verdict.text.startswith("broken, because 50 of 100 games ended by passes in the opening")
    assert len(verdict.findings) == 5
    assert "differ" not in verdict.text


def test_rows_are_held_against_the_largest_share_of_full_searches_that_the_run_has_had() -> None:
    now = {"run/full_share": 0.5, "games9/recorded": 0.7}
    assert judged(now).text.startswith("broken, because 70% of the moves are recorded, 50% are searched fully")
    assert judged({"run/full_share": 1.0}, now).status == "learning"  # games in flight from before the change
    assert judged({}, now).status == "learning"  # an older version did not say


def test_steps_that_wait_for_rows_are_no_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = replace(SETTINGS, replay=replace(SETTINGS.replay, least_rows=50_000))
    monkeypatch.setitem(globals(), "SETTINGS", waiting)
    windows = [{"run/steps": 2000.0, "run/window": 30_000.0 + 2_000 * number} for number in range(5)]
    assert judged(*windows).status == "learning"
    emptied = [{"run/steps": 2000.0, "run/window": window} for window in (48_000.0, 300.0, 1_200.0, 900.0)]
    assert judged(*emptied).status == "learning", "a new best network has emptied it"
    passed = [{"run/steps": 2000.0, "run/window": window} for window in (30_000.0, 40_000.0, 49_000.0, 51_000.0)]
    assert judged(*passed).status == "learning", "it has only just enough"
    assert "frozen" in judged({"run/steps": 2000.0, "run/window": 60_000.0}).text


def test_rounding_is_no_reason_to_fail() -> None:
    """Where every move is recorded, rows and moves are one number, counted in two ways."""
    assert checks.beyond(496.00000000000006, 496.00000000000006, 0.9)
    assert not checks.beyond(0.0, 0.0, 0.9)


def test_probes_see_the_sign_of_komi() -> None:
    torch.manual_seed(1)
    net = model.build(model.config("b2c16"), 1).eval()
    with torch.no_grad():
        for part in net.parameters():  # an untrained network is quiet: make its answers differ
            part.add_(torch.randn_like(part) * 0.1)
        batch = rows()
        batch = Batch(*(None if array is None else array[:16] for array in batch))
        before = checkup.probes(net, batch, game_of(5))
        net.get_parameter("globals.weight")[:, 0] *= -1
        after = checkup.probes(net, batch, game_of(5))
    assert before["probe/komi_score"] * after["probe/komi_score"] < 0
    assert -1 <= before["probe/view"] <= 1
    unvaried = batch._replace(globals=np.sign(batch.globals) * np.float32(7.5 / 20))
    assert set(before) - set(checkup.probes(net, unvaried, game_of(5))) == {"probe/komi_value", "probe/komi_score"}


class Known(torch.nn.Module):
    """Gains a point and 0.04 of the value by each point of komi; its policy is the target, in evaluation uniform."""

    target: torch.Tensor

    def forward(self, planes: torch.Tensor, numbers: torch.Tensor) -> model.NetOutput:
        komi = 20 * numbers[:, 0]
        policy = (self.target + 1e-30).log() if self.training else torch.zeros_like(self.target)
        return model.NetOutput(policy, 0.04 * komi, score=komi)


def test_what_a_point_of_komi_and_batch_norm_are_worth() -> None:
    batch, net = rows(), Known()
    net.target = torch.from_numpy(batch.policy)
    found = checkup.probes(net.eval(), batch, game_of(5))
    assert found["probe/komi_score"] == pytest.approx(1, rel=1e-3)
    assert found["probe/komi_value"] == pytest.approx(0.04, rel=1e-3)
    assert found["probe/view"] == pytest.approx(1)
    entropy = -(batch.policy * np.log(batch.policy + 1e-30)).sum(1).mean()
    assert checkup.norm_gap(net, batch) == pytest.approx(np.log(batch.policy.shape[1]) - entropy, rel=1e-3)


def test_a_policy_on_the_first_line_is_seen() -> None:
    net = model.build(model.config("b2c16", features=2), 1).eval()
    found = checkup.first_line(net, [game_of(9), game_of(13)], 2)
    assert set(found) == {"probe/first_line9", "probe/first_line13"}
    # nearly uniform, with pass and resign
    assert found["probe/first_line9"] == pytest.approx((32 + 1 + 1) / 83, abs=0.02)
    head = net.get_parameter("policy.others.weight"), net.get_parameter("policy.others.bias")
    with torch.no_grad():
        head[0].zero_()
        head[1][0] = 20  # it passes
    assert checkup.first_line(net, [game_of(9)], 2)["probe/first_line9"] > 0.99


def test_constants_of_a_batch() -> None:
    batch = rows()
    found = checkup.constants(batch, game_of(5))
    assert 0 < found["constant_policy"] <= np.log(26)
    assert 0 < found["constant_value"] <= np.log(2) + 1e-6
    assert checkup.constants(batch, game_of(5), squared=True)["constant_value"] == pytest.approx(np.var(batch.value))


def test_a_measured_run_is_left_as_it_was(tmp_path: Path) -> None:
    run = session.prepare(LoopSettings(network="b2c16", threads=1), tmp_path)
    run.trainer.replay.add(random_record(5, seed) for seed in range(30))
    learner, measuring = run.trainer.learner, checkup.Checkup()
    before = copy.deepcopy((learner.net.state_dict(), learner.ema.state_dict()))
    first, second = measuring.measure(run, 1), measuring.measure(run, 2)
    assert "moved/net" not in first
    assert second["moved/net"] == second["moved/ema"] == 0
    assert same(before, (learner.net.state_dict(), learner.ema.state_dict()))


@pytest.mark.parametrize(("value", "squared"), [("wdl", False), ("scalar", True)])
def test_the_constant_guess_has_the_loss_by_which_the_value_learns(value: str, squared: bool) -> None:
    batch = rows()
    sizes = lambda held_out=False: {5: len(batch.value)}  # noqa: E731
    replay = SimpleNamespace(sizes=sizes, spread=lambda size, most, held_out: batch)
    learner = SimpleNamespace(config=model.config("b2c16", value=value), evaluate=lambda batch: {})
    guess = checkup.constants(batch, game_of(5), squared)["constant_value"]
    for rows_of, held_out in (("held", 0.05), ("fit", 0.0)):
        settings = LoopSettings(replay=config.ReplaySettings(held_out=held_out))
        found = checkup._guesses(learner, replay, settings)  # type: ignore[arg-type]
        assert found[f"{rows_of}/constant_value"] == guess


def test_a_sign_is_named_where_python_keeps_no_docstrings() -> None:
    def too_quiet(reports: checks.Reports) -> None: ...

    assert checks.check(checks.NOTE, "more noise")(too_quiet).sign == "too_quiet"
