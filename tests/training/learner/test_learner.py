"""The learner: it fits a small data set, averages its weights, and comes back from a saved state."""

import copy

import numpy as np
import pytest
import torch

from gozero import games
from gozero.nets import model
from gozero.nets.blocks import OPENED_BATCHES, BatchRenorm
from gozero.system.options import SettingsError
from tests.training.games import game_of, random_record
from tests.training.refusals import one_line
from tests.training.run.test_resume import same
from training.learner.learner import LOSSES, DivergedError, Learner, losses, measures
from training.records.replay import Replay
from training.records.rows import Batch, rows_of, unpack
from training.settings.config import LearnerSettings, ReplaySettings

TINY = model.config("b2c16")


def fixed_batch(rows: int = 32) -> Batch:
    replay = Replay(ReplaySettings(held_out=0), game_of)
    replay.add([random_record(5, seed) for seed in range(4)])
    return replay.sample(rows, np.random.default_rng(0))


@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_losses_fall_on_a_fixed_batch(precision: str) -> None:
    settings = LearnerSettings(learning_rate=5e-3, warm_up=1, precision=precision)
    learner = Learner(TINY, settings, seed=1)
    batch = fixed_batch()
    first = {name: float(loss) for name, loss in learner.train(batch).items()}
    for _ in range(80):
        last = {name: float(loss) for name, loss in learner.train(batch).items()}
    assert set(first) == {*LOSSES, "total", "gradient", "update"}
    # the policy loss's lower bound
    entropy = float(-(batch.policy * np.log(np.maximum(batch.policy, 1e-9))).sum(1).mean())
    assert last["policy"] - entropy < 0.5 * (first["policy"] - entropy)
    for name in ("value", "ownership", "score"):
        assert last[name] < 0.5 * first[name], name


def test_the_seeds_own_network_trains_on_its_two_heads() -> None:
    small = model.NetConfig("agz-test", "agz", blocks=1, channels=8, size=5, value_hidden=8)
    learner = Learner(small, LearnerSettings(learning_rate=5e-3, warm_up=1, precision="f32"), seed=1)
    batch = fixed_batch()
    first = learner.train(batch)
    assert set(first) == {"policy", "value", "total", "gradient", "update"}
    for _ in range(40):
        last = learner.train(batch)
    assert last["total"] < first["total"]


def test_a_batch_norm_gets_no_single_rows() -> None:
    """A network that ends in one point has no variance there."""
    with pytest.raises(SettingsError):
        Learner(model.config("s0senet", games.make("tictactoe")), LearnerSettings(batch=1), seed=1)


def test_perfect_outputs_have_the_least_loss() -> None:
    """Right signs and classes: outputs made from the targets lose less than the same outputs seen from the other side."""
    record = random_record(5, 1)
    batch = unpack(rows_of(record, game_of(5)), np.arange(record.rows), game_of(5))
    value = torch.from_numpy(batch.value)

    def output(sign: int) -> model.NetOutput:
        wdl = torch.stack([sign * value, 1 - value.abs(), -sign * value], 1) * 4.0
        owner, score = torch.from_numpy(batch.owner) * 4 * sign, torch.from_numpy(batch.score) * sign
        policy = torch.from_numpy(batch.policy if sign > 0 else np.roll(batch.policy, 1, 1)).clamp_min(1e-6).log()
        reply = torch.from_numpy(batch.reply if sign > 0 else np.roll(batch.reply, 1, 1)).clamp_min(1e-6).log()
        return model.NetOutput(policy, value.float() * sign, wdl, score, owner, reply)

    right, wrong = losses(output(1), batch), losses(output(-1), batch)
    for name in LOSSES:
        assert right[name] < wrong[name], name


def test_a_row_without_reply_adds_nothing() -> None:
    batch = fixed_batch(rows=8)
    silent = batch._replace(reply=np.zeros_like(batch.reply))
    output = model.build(TINY, 1)(torch.from_numpy(batch.planes), torch.from_numpy(batch.globals))
    assert losses(output, silent)["reply"].item() == 0


@pytest.mark.parametrize(
    "config", [TINY, model.NetConfig("agz-test", "agz", blocks=1, channels=8, size=5, value_hidden=8)]
)
def test_a_target_that_is_not_known_adds_nothing(config: model.NetConfig) -> None:
    batch = fixed_batch(rows=6)
    output = model.build(config, 1).eval()(torch.from_numpy(batch.planes), torch.from_numpy(batch.globals))
    whole = losses(output, batch)
    for column, name in enumerate(("value", "score", "ownership")):
        if name not in whole:
            continue
        known = np.ones((6, 3), bool)
        known[4:, column] = False
        part = model.NetOutput(*(None if part is None else part[:4] for part in output))
        masked = losses(output, batch._replace(known=known))
        alone = losses(part, Batch(*(None if rows is None else rows[:4] for rows in batch)))
        assert masked[name].item() == pytest.approx(alone[name].item(), abs=1e-6)
        assert all(
            torch.equal(masked[other], losses(output, batch._replace(known=np.ones((6, 3), bool)))[other])
            for other in whole
            if other != name
        )
        assert losses(output, batch._replace(known=np.zeros((6, 3), bool)))[name] == 0


def test_value_score_and_ownership_count_rows_by_their_rarity() -> None:
    batch = fixed_batch(rows=6)._replace(rarity=None)
    output = model.build(TINY, 1).eval()(torch.from_numpy(batch.planes), torch.from_numpy(batch.globals))
    rarity = np.array([2, 1, 1, 0, 0, 0], np.float32)
    twice = [0, 0, 1, 2]  # the same rows, the first one doubled
    wanted = losses(
        model.NetOutput(*(part[twice] for part in output)),
        Batch(*(rows if rows is None else rows[twice] for rows in batch)),
    )
    plain, found = losses(output, batch), losses(output, batch._replace(rarity=rarity))
    for name in ("value", "score", "ownership"):
        assert found[name].item() == pytest.approx(wanted[name].item(), abs=1e-6), name
    assert all(found[name] == plain[name] for name in ("policy", "reply"))
    known = np.zeros((6, 3), bool)
    known[0] = True
    both = losses(output, batch._replace(rarity=rarity, known=known))
    first = losses(
        model.NetOutput(*(part[:1] for part in output)), Batch(*(rows if rows is None else rows[:1] for rows in batch))
    )
    assert both["score"].item() == pytest.approx(first["score"].item(), abs=1e-6)


@pytest.mark.parametrize(
    ("seen", "rate", "fixed", "changes"),
    [
        (OPENED_BATCHES, 0.5, True, False),
        (OPENED_BATCHES, 1.0, True, True),  # the step size has not fallen
        (OPENED_BATCHES, 0.5, False, True),
        (OPENED_BATCHES - 1, 0.5, True, True),  # the running statistics are young
    ],
)
def test_norms_are_constants_once_the_step_size_has_fallen(seen: int, rate: float, fixed: bool, changes: bool) -> None:
    settings = LearnerSettings(warm_up=0, precision="f32", fixed_norms=fixed, ema=0.0)
    learner = Learner(TINY, settings, seed=1)
    norms = [module for module in learner.net.modules() if isinstance(module, BatchRenorm)]
    for norm in norms:
        norm.num_batches_tracked.fill_(seen)
        norm.running_mean += 0.1
    learner.load_state_dict(learner.state_dict() | {"ema": learner.net.state_dict()})
    batch, before = fixed_batch(), [norm.running_mean.clone() for norm in norms]
    in_play = losses(learner.ema(*map(torch.from_numpy, batch.inputs)), batch, settings.root_value_share)
    found = learner.train(batch, rate)
    unchanged = [torch.equal(norm.running_mean, mean) for norm, mean in zip(norms, before, strict=True)]
    assert all(unchanged) != changes
    if not changes:
        assert all(found[name].item() == pytest.approx(in_play[name].item(), abs=1e-5) for name in LOSSES)
    learner.train(batch, 1.0)  # the next step is not bound by it
    assert not any(torch.equal(norm.running_mean, mean) for norm, mean in zip(norms, before, strict=True))


def test_the_average_warms_up_and_then_lags() -> None:
    learner = Learner(TINY, LearnerSettings(learning_rate=1e-2, warm_up=1, precision="f32", ema=0.9), seed=1)
    batch = fixed_batch()
    name = "policy.points.weight"
    history = []
    for _ in range(30):
        learner.train(batch)
        history.append(learner.net.state_dict()[name].clone())
    expected = model.build(TINY, 1).state_dict()[name].clone()
    for step, weights in enumerate(history, 1):
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * weights
    torch.testing.assert_close(learner.ema.state_dict()[name], expected)


def test_evaluation_changes_nothing() -> None:
    learner = Learner(TINY, LearnerSettings(precision="f32"), seed=1)
    learner.train(fixed_batch())
    before = copy.deepcopy(learner.ema.state_dict())
    found = learner.evaluate(fixed_batch())
    assert {"top1", "entropy", "value_sign", "bias", "calibration", "value_spread", *LOSSES} == set(found)
    assert same(learner.ema.state_dict(), before)


@pytest.mark.parametrize("rows", [1, 128, 300])
def test_evaluation_sees_one_shape_whatever_the_number_of_rows(rows: int) -> None:
    """oneDNN keeps code for each shape it meets; the rows that fill a part up take no part in the figures."""
    learner, batch = Learner(TINY, LearnerSettings(precision="f32"), seed=1), fixed_batch(rows=rows)
    expected = losses(learner.ema(torch.from_numpy(batch.planes), torch.from_numpy(batch.globals)), batch)
    shapes = set()
    learner.ema.register_forward_pre_hook(lambda net, inputs: shapes.add(tuple(inputs[0].shape)))
    found = learner.evaluate(batch)
    assert len(shapes) == 1
    assert {name: found[name] for name in LOSSES} == pytest.approx(
        {name: float(loss) for name, loss in expected.items()}, rel=1e-4
    )
    learner.evaluate(fixed_batch(rows=40))
    assert len(shapes) == 1


def test_warm_up_and_rate_set_the_step() -> None:
    learner = Learner(TINY, LearnerSettings(learning_rate=1e-3, warm_up=4, precision="f32"), seed=1)
    rates = []
    for step in range(6):
        learner.train(fixed_batch(rows=4), rate=0.5 if step == 5 else 1.0)
        rates.append(learner.optimiser.param_groups[0]["lr"])
    assert rates == pytest.approx([0.25e-3, 0.5e-3, 0.75e-3, 1e-3, 1e-3, 0.5e-3])


def test_a_saved_learner_goes_on_identically() -> None:
    batches = [fixed_batch(rows=rows) for rows in (8, 12, 16, 20)]
    settings = LearnerSettings(precision="f32")
    whole, first = Learner(TINY, settings, 1), Learner(TINY, settings, 1)
    for batch in batches:
        whole.train(batch)
    for batch in batches[:2]:
        first.train(batch)
    second = Learner(TINY, settings, 2)
    second.load_state_dict(first.state_dict())
    for batch in batches[2:]:
        second.train(batch)
    assert second.steps == 4
    assert same(whole.ema.state_dict(), second.ema.state_dict())


def test_the_search_has_its_share_in_the_value() -> None:
    """(1 - s) result + s root, as win, draw and loss; a drawn game lends its draws, and an unknown root leaves the
    result alone.
    """
    root = np.array([0.5, 0.5, 0.5, np.nan, -1.0], np.float32)
    result = np.array([1, -1, 0, -1, 1])
    batch = fixed_batch(rows=5)._replace(value=result, root=root)
    targets = np.array([[0.9375, 0, 0.0625], [0.1875, 0, 0.8125], [0.125, 0.875, 0], [0, 0, 1], [0.75, 0, 0.25]])
    output = model.build(TINY, 1).eval()(torch.from_numpy(batch.planes), torch.from_numpy(batch.globals))
    expected = -(targets * output.wdl.log_softmax(1).detach().numpy()).sum(1).mean()
    assert losses(output, batch, 0.25)["value"].item() == pytest.approx(expected, rel=1e-5)
    plain = torch.nn.functional.cross_entropy(output.wdl, torch.from_numpy(1 - result)).item()
    assert losses(output, batch)["value"].item() == pytest.approx(plain, rel=1e-5)
    assert losses(output, batch._replace(root=None), 0.25)["value"].item() == pytest.approx(plain, rel=1e-5)
    scalar = output._replace(wdl=None)
    wanted = np.array([0.875, -0.625, 0.125, -1, 0.5])
    squared = ((output.value.detach().numpy() - wanted) ** 2).mean()
    assert losses(scalar, batch, 0.25)["value"].item() == pytest.approx(squared, rel=1e-5)


def test_measurements_are_held_against_the_result_alone() -> None:
    learner = Learner(TINY, LearnerSettings(precision="f32", root_value_share=1.0), seed=1)
    batch = fixed_batch()
    assert learner.evaluate(batch._replace(root=-batch.value.astype(np.float32))) == learner.evaluate(batch)


def test_calibration_is_the_distance_of_what_is_predicted_from_what_happens() -> None:
    batch = fixed_batch(rows=4)._replace(value=np.array([1, -1, 1, 1]))
    output = model.build(TINY, 1).eval()(torch.from_numpy(batch.planes), torch.from_numpy(batch.globals))
    right = output._replace(value=torch.tensor([0.01, 0.02, 1.0, 1.0]))  # two of the four in one bin: one won, one lost
    assert measures(right, batch)["calibration"] == pytest.approx(0.03 / 4, abs=1e-6)
    far = measures(output._replace(value=torch.full((4,), -1.0)), batch)
    assert (far["calibration"], far["bias"]) == (pytest.approx(1.5), pytest.approx(-1.5))


def test_moves_signs_and_spread_are_measured() -> None:
    batch = fixed_batch(rows=4)._replace(value=np.array([1, -1, 1, 0]))
    output = model.build(TINY, 1).eval()(torch.from_numpy(batch.planes), torch.from_numpy(batch.globals))
    wdl, policy, best = torch.zeros(4, 3), torch.zeros(4, 27), batch.policy.argmax(1)
    wdl[0, 0], policy[range(3), best[:3]], policy[3, best[3] - 1] = 50, 50, 50
    found = measures(output._replace(policy=policy, value=torch.full((4,), 0.5), wdl=wdl), batch)
    assert (found["top1"], found["value_sign"]) == (0.75, pytest.approx(2 / 3))
    assert found["value_spread"] == pytest.approx(np.log(3) * np.sqrt(3) / 4)  # of one loss of 0 and three of log 3
    assert found["entropy"] == pytest.approx(0, abs=1e-5)
    assert measures(output._replace(policy=0 * policy), batch)["entropy"] == pytest.approx(np.log(27))


def test_sgd_is_the_published_rule() -> None:
    """v = 0.9 v + g + decay w, w -= rate v; biases and batch norms do not decay."""
    settings = LearnerSettings(
        optimiser="sgd", learning_rate=0.1, warm_up=0, weight_decay=0.01, precision="f32", clip=1e6
    )
    learner, batch = Learner(TINY, settings, seed=1), fixed_batch()
    speeds: dict[str, torch.Tensor] = {}
    for _ in range(3):
        before = {name: weight.detach().clone() for name, weight in learner.net.named_parameters()}
        learner.train(batch)
        for name, weight in learner.net.named_parameters():
            assert weight.grad is not None
            gradient = weight.grad + (0.01 * before[name] if weight.dim() > 1 else 0)
            speeds[name] = 0.9 * speeds.get(name, 0) + gradient
            torch.testing.assert_close(weight.detach(), before[name] - 0.1 * speeds[name], msg=name)


def test_a_state_of_another_optimiser_keeps_the_weights_and_settings_may_change() -> None:
    batch, adam = fixed_batch(), LearnerSettings(warm_up=1)
    learner = Learner(TINY, adam, seed=1)
    learner.train(batch)
    other = Learner(TINY, LearnerSettings(optimiser="sgd"), seed=2)
    other.load_state_dict(learner.state_dict())
    assert not other.optimiser.state and other.steps == 1
    decaying = Learner(TINY, LearnerSettings(weight_decay=0.5), seed=2)
    decaying.load_state_dict(learner.state_dict())
    assert decaying.optimiser.state
    assert [group["weight_decay"] for group in decaying.optimiser.param_groups] == [0.5, 0.0]


def test_the_step_and_the_gradient_are_reported() -> None:
    frozen = Learner(TINY, LearnerSettings(learning_rate=1e-8, precision="f32"), seed=1).train(fixed_batch())
    moving = Learner(TINY, LearnerSettings(learning_rate=1e-2, warm_up=0, precision="f32"), seed=1).train(fixed_batch())
    assert float(frozen["update"]) < 1e-6 < 1e-3 < float(moving["update"])
    assert float(moving["gradient"]) == float(frozen["gradient"]) > 0


@pytest.mark.parametrize(
    ("name", "words"), [("score", "score loss became nan at step 2"), ("owner", "ownership loss became nan at step 2")]
)
def test_a_loss_that_is_no_number_stops_before_anything_changes(name: str, words: str) -> None:
    learner, batch = Learner(TINY, LearnerSettings(precision="f32"), seed=1), fixed_batch()
    learner.train(batch)
    before = copy.deepcopy(learner.net.state_dict())
    with one_line(DivergedError, words):
        learner.train(batch._replace(**{name: getattr(batch, name) * np.float32("nan")}))
    assert learner.steps == 1 and same(learner.net.state_dict(), before)


def test_a_gradient_that_is_no_number_stops_too() -> None:
    learner, batch = Learner(TINY, LearnerSettings(precision="f32"), seed=1), fixed_batch()
    next(learner.net.parameters()).register_hook(lambda gradient: gradient * float("inf"))
    before = copy.deepcopy(learner.net.state_dict())
    with pytest.raises(DivergedError, match="gradient's norm"):
        learner.train(batch)
    assert same(learner.net.state_dict(), before)


def test_a_new_optimiser_warms_up_wherever_the_run_is() -> None:
    settings, batch = LearnerSettings(precision="f32", warm_up=100), fixed_batch()
    learner, other = Learner(TINY, settings, seed=1), Learner(TINY, settings, seed=2)
    learner.train(batch)
    state = copy.deepcopy(learner.state_dict()) | {"steps": 5000}
    other.load_state_dict({name: value for name, value in state.items() if name != "optimiser"})
    assert other.steps == 5000 and same(learner.ema.state_dict(), other.ema.state_dict())
    first, second = (float(each.train(batch)["update"]) for each in (other, learner))
    assert first == pytest.approx(second / 2, rel=0.2)  # at 1 and 2 % of the rate
    again = Learner(TINY, settings, seed=1)
    again.load_state_dict(copy.deepcopy(other.state_dict()))
    assert float(again.train(batch)["update"]) == float(other.train(batch)["update"])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_learns_the_same() -> None:
    batch, settings = fixed_batch(), LearnerSettings(precision="f32", warm_up=1)
    here, there = Learner(TINY, settings, 1), Learner(TINY, settings, 1, device="cuda")
    for _ in range(3):
        first, second = here.train(batch), there.train(batch)
    assert float(second["total"]) == pytest.approx(float(first["total"]), rel=1e-2)
    assert there.evaluate(batch)["policy"] == pytest.approx(here.evaluate(batch)["policy"], rel=1e-2)
