"""Evaluation with torch: on the CPU, and on an NVIDIA GPU where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from gozero.evaluators.base import FLOATING, GPU_BATCH, Evaluation, check_choice
from gozero.nets import features, model
from gozero.nets.inference import folded_for, number_type
from gozero.system.machine import available_threads

if TYPE_CHECKING:
    from gozero.games.game import Game


class TorchEvaluator:
    """Evaluates the states of one game with a torch network (an `Evaluator`)."""

    label = "Torch"  # for users

    def __init__(
        self, net: nn.Module, game: Game, *, device: str = "auto", threads: int | None = None, precision: str = "auto"
    ) -> None:
        """Take a copy of `net`. `device` is "cpu", "cuda", "cuda:1" …, or "auto": the GPU if torch sees one; `threads`
        are torch's, one setting of the process; `precision` is "f32", "bf16", or the faster one.
        """
        check_choice("precision", precision, FLOATING)
        self.game = game
        self.device = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)
        self.precision = number_type(precision, self.device)
        self.preferred_batch = GPU_BATCH if self.device.type == "cuda" else 1
        if self.device.type == "cpu":
            torch.set_num_threads(threads or available_threads())
        self.refresh(net)

    def refresh(self, net: nn.Module) -> None:
        """Evaluate with the present weights of `net` from now on."""
        assert isinstance(net, model.Network)
        self._features = net.config.features
        self._net = folded_for(net, self.device, self.precision)

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S]; see `Evaluator`."""
        self.game.check_states(states)
        return self.infer(*features.encode(self.game, states, self._features))

    @torch.inference_mode()
    def infer(self, *inputs: np.ndarray) -> Evaluation:
        """Evaluate encoded positions, see `features.encode`."""
        output: model.NetOutput = self._net(*(self._moved(array) for array in inputs))
        found = (output.policy, output.value, output.score, output.owners, None)
        return Evaluation._make(None if tensor is None else tensor.float().cpu().numpy() for tensor in found)

    def _moved(self, array: np.ndarray) -> Tensor:
        """An input on the device; boards in the layout that convolutions prefer."""
        tensor = torch.from_numpy(array).to(self.device)
        return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor
