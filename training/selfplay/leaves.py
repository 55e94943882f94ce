"""Chooses the search of a stage of self-play and the evaluator of its leaves: rollouts, or the network on the fastest
device and backend that is installed.

OpenVINO and CUDA are imported when they are chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib.util import find_spec

from torch import nn

from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator, RowEvaluator
from gozero.games.game import Game
from gozero.search.settings import SearchSettings
from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError
from training.settings.config import SelfPlaySettings, Stage


@dataclass(frozen=True)
class Resources:
    """What a network may use to evaluate leaves."""

    threads: int = 0  # of the CPU; 0 for what the process may use
    device: str = "cpu"  # the fastest CPU backend that is installed; "cuda" for an NVIDIA GPU
    precision: str = "auto"  # see `evaluators.factory.open_evaluator`
    batches: int = 1  # how many are under way at once; OpenVINO's threads share out among them


def stage_search(settings: SelfPlaySettings, stage: Stage) -> SearchSettings:
    """The settings of a stage's searches.

    With rollouts the root is PUCT and its visits are the target: they are too noisy for a Gumbel root's completed
    values, have no score, and are noise enough.
    """
    names = {entry.name for entry in fields(SearchSettings)}
    shared = {name: value for name, value in vars(settings).items() if name in names}
    if stage.evaluator == "rollouts":
        shared |= {"root": "puct", "score_weight": 0.0, "dirichlet_weight": 0.0, "forced_playouts": 0.0}
    shared["whole_rounds"] = settings.whole_rounds and shared["root"] == "gumbel"
    # for a kept tree and the new search
    return SearchSettings(**shared, max_nodes=4 * max(stage.full_visits, stage.cheap_visits) + 64)


def leaf_evaluator(
    kind: str,
    game: Game,
    net: nn.Module | None,
    seed: int,
    resources: Resources,
    previous: Evaluator | RowEvaluator | None = None,
) -> Evaluator | RowEvaluator:
    """The evaluator of a stage's leaves: "rollouts" with a seed, or a "network" as `network_evaluator` has it."""
    if kind == "rollouts":
        return RolloutEvaluator(game, seed=seed)
    assert net is not None, "a network stage needs a network"
    return network_evaluator(net, game, resources, previous)


def network_evaluator(
    net: nn.Module, game: Game, resources: Resources, previous: Evaluator | RowEvaluator | None = None
) -> Evaluator:
    """Return an evaluator that computes with a copy of the network's present weights.

    `previous` is what this function returned before for the same game, device and shape of network: on a GPU it takes
    over the new weights in place, which saves capturing its graphs again. SettingsError for a precision that is not to
    be had.
    """
    check_precision(resources.precision, resources.device)
    if _openvino_serves(resources.device):
        from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

        return OpenVINOEvaluator.from_module(
            net, game, threads=resources.threads, precision=resources.precision, batches=resources.batches
        )
    from gozero.evaluators.torch_evaluator import TorchEvaluator

    if resources.device == "cpu":
        return TorchEvaluator(net, game, device="cpu", threads=resources.threads, precision=resources.precision)
    from gozero.evaluators.cuda_evaluator import CudaEvaluator, serves

    if not serves(game):
        return TorchEvaluator(net, game, device="cuda", precision=resources.precision)
    if isinstance(previous, CudaEvaluator):
        previous.refresh(net)
        return previous
    return CudaEvaluator(net, game, precision=resources.precision)


def check_precision(precision: str, device: str) -> None:
    """SettingsError for a `selfplay.precision` that is not to be had on this machine's `device`, cpu or cuda."""
    if not _openvino_serves(device):
        if precision == "int8":
            raise SettingsError("selfplay.precision = 'int8': only OpenVINO on a CPU computes in it; use auto")
        return
    from gozero.evaluators import openvino_evaluator

    try:
        openvino_evaluator.check_precision(precision)
    except ChoiceError as error:
        raise SettingsError(f"selfplay.precision: {error}") from None


def _openvino_serves(device: str) -> bool:
    return device == "cpu" and find_spec("openvino") is not None
