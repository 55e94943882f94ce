"""Networks that behave like trained ones, and positions to show them.

A fresh network says the same of every position, which would hide errors. `trained_like` costs nothing: batch norm has
measured statistics and uneven scales, and the heads are stretched until their logits are as large as a trained
network's. Its value, though, magnifies noise, since nothing in the trunk stands for who wins.
"""

import numpy as np
import torch
from torch import nn

from gozero.games.game import NOT_OVER, Game
from gozero.games.go import go
from gozero.games.go.chains import SIZE
from gozero.games.position import Position
from gozero.nets import features, model

POLICY_DEVIATION = 2.5  # of the logits over the actions, what a network that has found good moves shows
VALUE_DEVIATION = 1.5  # of the win and loss logits over the positions


def random_states(game: Game, count: int, seed: int = 0) -> np.ndarray:
    """int32 [count, S]: positions of random games, from the opening to the late endgame."""
    rng = np.random.default_rng(seed)
    states: list[np.ndarray] = []
    while len(states) < count:
        position = Position(game)
        for _ in range(int(rng.integers(1, game.points))):
            if position.outcome() != NOT_OVER:
                break
            position.play(int(rng.choice(np.flatnonzero(position.legal()))))
        states.append(position.state.copy())
    return np.stack(states)


def trained_like(config: model.NetConfig, states: np.ndarray, seed: int = 0) -> nn.Module:
    """A network in evaluation mode whose statistics and outputs on `states` int32 [n, S] look like a trained one's."""
    generator = torch.Generator().manual_seed(seed)
    net = model.build(config, seed)
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.2, 1.2, generator=generator)
            nn.init.normal_(module.bias, 0.0, 0.2, generator=generator)
            module.momentum = None  # statistics: the plain average over all batches
            module.reset_running_stats()
    inputs = [
        torch.from_numpy(array) for array in features.encode(go.make(int(states[0, SIZE])), states, config.features)
    ]
    with torch.no_grad():
        net.train()(*inputs)
        net.eval()
        output = net(*inputs)
        if output.wdl is None:
            net.policy_linear.weight *= POLICY_DEVIATION / output.policy.std(1).mean()
            net.value_linear.weight /= output.value.atanh().std()
            net.value_linear.bias -= net(*inputs).value.atanh().mean()
        else:
            for layer in (net.policy.points, net.policy.others):
                layer.weight *= POLICY_DEVIATION / output.policy.std(1).mean()
            net.value.wdl.weight *= VALUE_DEVIATION / output.wdl.std(0).mean()
            net.value.wdl.bias -= net(*inputs).wdl.mean(0)
            net.value.owner.weight *= POLICY_DEVIATION / output.ownership.std(1).mean()
    return net


def lively(config: model.NetConfig) -> model.Network:
    """A network in evaluation mode whose every number, batch-norm statistics included, is unlike a fresh one's."""
    net, generator = model.build(config, seed=1), torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, tensor in net.state_dict().items():
            if name.endswith("running_var"):
                tensor.copy_(0.5 + torch.rand(tensor.shape, generator=generator))
            elif tensor.is_floating_point():
                tensor.add_(0.1 * torch.randn(tensor.shape, generator=generator))
    return net.eval()
