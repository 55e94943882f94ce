"""Chooses the evaluator of self-play's leaves: rollouts, or the network on the fastest device and backend that is
installed.

OpenVINO, PyTorch and CUDA are imported when they are chosen.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from gozero.evaluators.backends import PrecisionError
from gozero.evaluators.base import Evaluator
from gozero.evaluators.row import RowEvaluator
from gozero.games.game import Game
from gozero.options import SettingsError

if TYPE_CHECKING:
    from torch import nn


def leaf_evaluator(
    kind: str,
    game: Game,
    net: nn.Module | None,
    threads: int,
    seed: int,
    device: str = "cpu",
    previous: Evaluator | RowEvaluator | None = None,
    precision: str = "auto",
    batches: int = 1,
) -> Evaluator | RowEvaluator:
    """Return the evaluator of a stage's leaves.

    Args:
        kind: "rollouts", or "network".
        game: the game whose states come.
        net: the network; a copy of its present weights is taken.
        threads: CPU threads of the network, 0 for what the process may use.
        seed: of rollouts.
        device: "cuda" for an NVIDIA GPU; "cpu" for the fastest CPU backend that is installed.
        previous: what this function returned before for the same game, device and shape of network. On a GPU it takes
            over the new weights in place, which saves capturing its graphs again.
        precision: of the network, see `evaluators.factory.open_evaluator`; SettingsError for one that is not available.
        batches: how many are under way at once; OpenVINO's threads share out among them.
    """
    if kind == "rollouts":
        from gozero.evaluators.rollout import RolloutEvaluator

        return RolloutEvaluator(game, rollouts=1, seed=seed)
    assert net is not None, "a network stage needs a network"
    if device == "cpu" and find_spec("openvino") is not None:
        return _openvino_evaluator(game, net, threads, precision, batches)
    if precision == "int8":
        raise SettingsError("selfplay.precision = 'int8': only OpenVINO on a CPU computes in it; use auto")
    if device == "cuda":
        return _gpu_evaluator(game, net, previous, precision)
    from gozero.evaluators.torch_evaluator import TorchEvaluator

    return TorchEvaluator(net, game, device="cpu", threads=threads, precision=precision)


def _openvino_evaluator(game: Game, net: nn.Module, threads: int, precision: str, batches: int) -> Evaluator:
    from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

    try:
        return OpenVINOEvaluator.from_module(net, game, threads=threads, precision=precision, batches=batches)
    except PrecisionError as error:
        raise SettingsError(f"selfplay.precision: {error}") from None


def _gpu_evaluator(game: Game, net: nn.Module, previous: Evaluator | RowEvaluator | None, precision: str) -> Evaluator:
    from gozero.evaluators.cuda_evaluator import CudaEvaluator, serves
    from gozero.evaluators.torch_evaluator import TorchEvaluator

    if not serves(game):
        return TorchEvaluator(net, game, device="cuda", precision=precision)
    if isinstance(previous, CudaEvaluator):
        previous.refresh(net)
        return previous
    return CudaEvaluator(net, game, precision=precision)
