"""Networks that behave like trained ones without any training, and positions to show them.

A fresh network says the same of every position, which would hide errors of precision: here batch norm has measured statistics
and uneven scales, and the heads are stretched until their logits are as large as a trained network's.
"""

import numpy as np
import torch
from torch import nn

from gozero import features, nets
from gozero.games.game import NOT_OVER, Game
from gozero.position import Position

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


def trained_like(config: nets.NetConfig, states: np.ndarray, seed: int = 0) -> nn.Module:
    """A network in evaluation mode whose statistics and outputs on `states` int32 [n, S] look like a trained one's."""
    generator = torch.Generator().manual_seed(seed)
    net = nets.build(config, seed)
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.2, 1.2, generator=generator)
            nn.init.normal_(module.bias, 0.0, 0.2, generator=generator)
            module.momentum = None  # statistics: the plain average over all batches
            module.reset_running_stats()
    planes, numbers = map(torch.from_numpy, features.encode(states))
    with torch.no_grad():
        net.train()(planes, numbers)
        net.eval()
        output = net(planes, numbers)
        if output.wdl is None:
            net.policy_linear.weight *= POLICY_DEVIATION / output.policy.std(1).mean()
        else:
            for layer in (net.policy.points, net.policy.others):
                layer.weight *= POLICY_DEVIATION / output.policy.std(1).mean()
            net.value.wdl.weight *= VALUE_DEVIATION / output.wdl.std(0).mean()
            net.value.wdl.bias -= net(planes, numbers).wdl.mean(0)
            net.value.owner.weight *= POLICY_DEVIATION / output.ownership.std(1).mean()
    return net
