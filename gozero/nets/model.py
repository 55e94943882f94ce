"""The networks: planes and globals of a position → policy, value, score, ownership and the opponent's reply.

The kinds, by name (N layers or blocks, C channels or units); their parts are in blocks.py:

  bNcC    a residual network without a single size-dependent weight, so that one file plays every board (Wu 2019).
  seNcC   the same with squeeze-and-excitation in each block instead of global pooling in some (Hu et al. 2018).
  vggNcC  3x3 convolutions one after the other (Simonyan and Zisserman 2015, in small); vggNcCkK has filters of KxK.
  mlpNxC  fully connected layers; bound to one board.
  agz13   the two-headed AlphaGo Zero network for 13x13 with linear heads (Silver et al. 2017), 256 filters wide;
          agzNcC is the same for a board of N points a side with C filters.
  s0mlp, s0vgg, s0senet  those of course_nets.py, with a policy and one number as value.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from gozero.nets import blocks, course_nets
from gozero.nets.blocks import NORMS, SCORE_UNIT, ConvNorm, ResidualBlock, add_result, quiet, result
from gozero.nets.features import CHAIN_GAMES, GLOBALS, MIDDLE_SIZE, SIZE_SCALE, layout, version_of
from gozero.system.errors import ChoiceError
from gozero.system.words import counted

if TYPE_CHECKING:
    from gozero.games.game import Game

# where the globals hold komi, where the game has one, and the scaled board size, an input and not a shape, so that one
# traced graph serves every board
KOMI_INPUT, SIZE_INPUT = 0, 1


class NetOutput(NamedTuple):
    """A network's outputs for n positions, each from the view of the side to move; None if it has no such head."""

    policy: Tensor  # [n, A] logits (log-probabilities in agz13)
    value: Tensor  # [n] expected result, -1..1
    wdl: Tensor | None = None  # [n, 3] logits of win, draw, loss
    score: Tensor | None = None  # [n] expected final lead in points, komi included
    ownership: Tensor | None = None  # [n, P] logits that the point ends as the side to move's
    reply: Tensor | None = None  # [n, A] logits of the opponent's next move

    @property
    def owners(self) -> Tensor | None:
        """[n, P] expected owner of each point, -1..1, + for the side to move: a logit's expected sign."""
        return None if self.ownership is None else (self.ownership / 2).tanh()


@dataclass(frozen=True)
class NetConfig:
    """All that is needed to rebuild a network before its tensors are loaded."""

    name: str
    kind: str  # a key of KINDS
    blocks: int  # residual blocks or layers; AlphaGo Zero: 19 or 39, the 13x13 seed network: 10
    channels: int  # filters of the trunk, or units of a layer; AlphaGo Zero: 256
    size: int | None = None  # points a side, or columns, if the weights are bound to them; None: any board
    rows: int | None = None  # of that board; None: as many as columns
    planes: int = 11  # input planes, see features.py
    globals: int = 7  # global inputs, see features.py
    head_channels: int = 32  # filters of the policy and value heads (KataGo's b10c128: 32)
    value_hidden: int = 64  # units of the value head's hidden layer (KataGo's b10c128: 64; AlphaGo Zero: 256)
    tactics: int = 0  # planes of the second input tensor, see features.py; 0: the network has none
    kernel: int = 3  # points a side of a vgg network's filters
    norm: str = "renorm"  # one of blocks.NORMS
    value: str = "wdl"  # one of VALUES
    size_limit: int | None = None  # points a side of the largest board that its numbers show, see `limited`; None: all
    directions: int = 1  # in which pieces move from each point; 1: they stay where they are put
    drops: bool = False  # whether a move is a column: the networks of course_nets.py have a logit for each

    @property
    def pool_channels(self) -> int:
        """Channels of a pooling block that are pooled instead of passed on (KataGo: a third to a quarter)."""
        return self.channels // 4

    @property
    def features(self) -> int:
        """The version of the input features that it sees."""
        return version_of(self.tactics)

    @property
    def has_scalar_value(self) -> bool:
        """Whether its value is one number, which learns by squared error."""
        return self.value == "scalar" or self.kind == "agz"

    @property
    def parts(self) -> tuple[str, str]:
        """(norm, value head) that the network is built with: some kinds leave no choice."""
        return OWN_NORMS.get(self.kind, self.norm), "scalar" if self.has_scalar_value else self.value

    @property
    def board(self) -> tuple[int, int] | None:
        """(rows, columns) of the one board that it plays; None: any board."""
        return None if self.size is None else (self.rows or self.size, self.size)

    @property
    def shape(self) -> str:
        """Its trunk in words."""
        block = "layer" if self.kind in ("mlp", "s0mlp", "vgg", "s0vgg") else "block"
        channel = "unit" if self.kind in ("mlp", "s0mlp") else "channel"
        return f"{counted(self.blocks, block)} of {counted(self.channels, channel)}"

    def to_dict(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> NetConfig:
        """The inverse of `to_dict`; ValueError for an unknown or missing field or kind."""
        unknown = sorted(set(values) - {field.name for field in fields(NetConfig)})
        if unknown:
            raise ChoiceError(f"unknown network field {unknown[0]!r}; this gozero is older than the network")
        try:
            result = NetConfig(**values)
        except TypeError as error:
            raise ChoiceError(f"incomplete network configuration: {error}") from None
        for what, known in {"kind": tuple(KINDS), "norm": NORMS, "value": VALUES}.items():
            if (value := getattr(result, what)) not in known:
                raise ChoiceError(f"unknown network {what} {value!r}; known: {', '.join(known)}")
        limit = result.size_limit
        if limit is not None and (type(limit) is not int or limit < 2):
            raise ChoiceError(f"network size_limit is {limit!r}: expected a board's size, 2 or more, or none")
        return result


# of the kinds whose norm is not chosen
OWN_NORMS = {"mlp": "none", "s0mlp": "none", "s0vgg": "none", "s0senet": "batch"}
VALUES = ("wdl", "scalar")  # what the value head gives: win, draw and loss, or one number as in AlphaGo Zero


def config(
    name: str, game: Game | None = None, features: int = 1, *, norm: str | None = None, value: str = VALUES[0]
) -> NetConfig:
    """The configuration called `name` (see the module's list) for a game, None: Go; mlpNxC plays on its board alone.

    `norm` is one of blocks.NORMS, None: the usual one; `value` one of VALUES. ChoiceError if no network has that name,
    it cannot play the game, or the game has no such features.
    """
    if match := re.fullmatch(AGZ, name):
        return _paper_config(name, game, features, norm or "batch", int(match[1]), int(match[2] or 256))
    if name in course_nets.BODIES:
        return _course_config(name, game, features)
    found = [(kind, match) for kind, pattern in NAMES.items() if (match := re.fullmatch(pattern, name))]
    if name.endswith(".pt"):
        raise ChoiceError(f"{name} is no name of a network; `gozero weights {name}` describes a weights file")
    if not found or int(found[0][1][2]) < 4:
        others = ", ".join(("se4c64", "vgg2c64", "vgg2c64k2", "mlp2x200", "agz13", "agz9c32", *course_nets.BODIES))
        usual = "b<blocks>c<channels> with 4 channels or more, such as b10c64"
        raise ChoiceError(f"unknown network {name!r}; use {usual}; or {others}")
    kind, match = found[0]
    blocks, channels, kernel = int(match[1]), int(match[2]), int((match[3] if kind == "vgg" else None) or 3)
    rows, size = (None, None) if kind != "mlp" else (13, 13) if game is None else game.shape
    built: dict[str, Any] = {"head_channels": min(32, channels), "kernel": kernel}
    built |= layout("go" if game is None else game.name, features).counts
    built["directions"] = 1 if game is None else len(game.directions)
    return NetConfig(name, kind, blocks, channels, size, rows, **built, norm=norm or NORMS[0], value=value)


def _paper_config(name: str, game: Game | None, features: int, norm: str, size: int, channels: int) -> NetConfig:
    """The configuration of agz13 and its like; its usual norm is torch's batch norm, as the paper has it."""
    if features != 1:
        raise ChoiceError(f"network {name} sees input features 1, not {features}; choose features = 1")
    if game is not None and (game.name != "go" or game.shape != (size, size)):
        raise ChoiceError(f"network {name} plays Go on {size}x{size} only, not {game.name} on {game.dimensions}")
    return NetConfig(name, "agz", blocks=10, channels=channels, size=size, value_hidden=256, norm=norm)


def _course_config(name: str, game: Game | None, features: int) -> NetConfig:
    """The configuration of a network of course_nets.py; Mini-VGG has channels for about 40,000 parameters."""
    if game is None or game.name in CHAIN_GAMES or game.moves_pieces:
        what = "Go" if game is None else game.name
        raise ChoiceError(f"network {name} plays games such as tictactoe and connect4, not {what}")
    if features != 1:
        raise ChoiceError(f"network {name} sees input features 1, not {features}; choose features = 1")
    drops, (rows, size) = game.name == "connect4", game.shape
    vgg = (2, 39, 4) if drops else (2, 88, 2)
    blocks, channels, kernel = {"s0mlp": (1, 200, 3), "s0vgg": vgg, "s0senet": (8, 64, 3)}[name]
    seen = layout(game.name).counts
    return NetConfig(name, name, blocks, channels, size, rows, **seen, kernel=kernel, value="scalar", drops=drops)


def build(config: NetConfig, seed: int | None = None) -> Network:
    """A new network; the same seed gives the same weights, and torch's own generator is left as it was."""
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        return KINDS[config.kind](config)


def parameter_count(net: nn.Module) -> int:
    """Trainable numbers in the network (batch-norm statistics are not parameters)."""
    return sum(parameter.numel() for parameter in net.parameters())


def block(config: NetConfig, index: int) -> nn.Module:
    """The trunk's block of that index, from 0."""
    channels, norm = config.channels, config.norm
    if config.kind == "senet":
        return blocks.SqueezeBlock(channels, max(channels // 4, 4), norm=norm)
    if config.kind == "vgg":
        return blocks.PlainBlock(channels, config.kernel, norm=norm)
    if index % 3 == 1:
        return blocks.PoolingBlock(channels, config.pool_channels, norm=norm)
    return ResidualBlock(channels, norm=norm)


class Network(nn.Module):
    """Any network: planes [n, C, H, W], globals [n, G] and, if configured, tactics [n, K, H, W] → `NetOutput`."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.config = config

    def example(self, count: int, board: tuple[int, int]) -> tuple[Tensor, ...]:
        """Inputs of zeros for `count` positions on a board (rows, columns): the arguments of `forward`."""
        config = self.config
        inputs = torch.zeros(count, config.planes, *board), torch.zeros(count, config.globals)
        return (*inputs, torch.zeros(count, config.tactics, *board)) if config.tactics else inputs


def limited(globals: Tensor, limit: int | None, has_komi: bool) -> tuple[Tensor, Tensor | None]:
    """Globals [n, G] for a network that knows boards of up to ``limit`` points a side, and the share [n] that such a
    board is of a larger one (None without a limit).

    A number beyond all that it learned from misleads a network: so on a larger board it gets the size of the limit, and
    the komi and score that are in proportion.
    """
    if limit is None:
        return globals, None
    size = globals[:, SIZE_INPUT]
    share = (limit / (MIDDLE_SIZE + SIZE_SCALE * size)).clamp(max=1.0).square()
    komi = globals[:, KOMI_INPUT] * share if has_komi else globals[:, KOMI_INPUT]
    size = size.clamp(max=(limit - MIDDLE_SIZE) / SIZE_SCALE)
    return torch.cat([torch.stack([komi, size], dim=1), globals[:, SIZE_INPUT + 1 :]], dim=1), share


def seen(planes: Tensor, tactics: Tensor | None) -> Tensor:
    """All planes that the first layer sees [n, C + K, H, W]."""
    return planes if tactics is None else torch.cat([planes, tactics], dim=1)


class ConvNet(Network):
    """The size-agnostic networks: a stem plus the globals through a linear layer, blocks by kind, five heads."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__(config)
        width, norm = config.channels, config.norm
        self.stem = ConvNorm(config.planes + config.tactics, width, config.kernel, norm=norm)
        self.globals = nn.Linear(config.globals, width)
        self.blocks = nn.ModuleList(block(config, index) for index in range(config.blocks))
        self.policy = blocks.PolicyHead(width, config.head_channels, config.directions, norm=norm)
        scalar = config.value == "scalar"
        self.value = blocks.ValueHead(width, config.head_channels, config.value_hidden, scalar=scalar, norm=norm)

    def forward(self, planes: Tensor, globals: Tensor, tactics: Tensor | None = None) -> NetOutput:
        dtype = self.globals.weight.dtype
        globals, share = limited(globals, self.config.size_limit, self.config.globals == GLOBALS)
        size = globals[:, SIZE_INPUT, None]
        x = relu(self.stem(seen(planes, tactics).to(dtype)) + self.globals(globals.to(dtype))[:, :, None, None])
        for block in self.blocks:
            x = block(x, size.to(dtype))
        x = x.float()
        policy, reply = self.policy(x, size)
        (value, wdl), score, ownership = self.value(x, size)
        return NetOutput(policy, value, wdl, score if share is None else score / share, ownership, reply)


def _one_board(config: NetConfig) -> tuple[int, int]:
    """(rows, columns) of the board that a network's linear layers are bound to."""
    if config.board is None:
        raise ChoiceError(f"network {config.name} has linear layers, which need a board size")
    return config.board


class MultilayerPerceptron(Network):
    """Fully connected layers over all planes and globals, and one linear layer a head."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__(config)
        rows, cols = _one_board(config)
        points, width = rows * cols, config.channels
        inputs = [(config.planes + config.tactics) * points + config.globals, *[width] * (config.blocks - 1)]
        self.layers = nn.ModuleList(nn.Linear(count, width) for count in inputs)
        actions = config.directions * points + 2
        self.policy, self.reply = quiet(nn.Linear(width, actions)), quiet(nn.Linear(width, actions))
        add_result(self, width, scalar=config.value == "scalar")
        self.score, self.owner = quiet(nn.Linear(width, 1)), quiet(nn.Linear(width, points))

    def forward(self, planes: Tensor, globals: Tensor, tactics: Tensor | None = None) -> NetOutput:
        x = torch.cat([seen(planes, tactics).flatten(1), globals], dim=1)
        for layer in self.layers:
            x = relu(layer(x))
        value, wdl = result(self, x)
        return NetOutput(self.policy(x), value, wdl, SCORE_UNIT * self.score(x)[:, 0], self.owner(x), self.reply(x))


OWN_POINT = 1.0  # of a new linear head: a deviation of the first channel moves its logit so far


class AlphaGoZeroNet(Network):
    """The 13x13 network of 11,941,240 parameters: 3x3 convolutions and linear heads; it does not see the globals."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__(config)
        rows, cols = _one_board(config)
        points, width, norm = rows * cols, config.channels, config.norm
        self.stem = ConvNorm(config.planes, width, norm=norm)
        self.blocks = nn.ModuleList(ResidualBlock(width, norm=norm) for _ in range(config.blocks))
        self.policy_conv = ConvNorm(width, 2, norm=norm)
        self.policy_linear = quiet(nn.Linear(2 * points, points + 2))
        with torch.no_grad():  # it begins as a convolution: each point's logit sees its first channel
            self.policy_linear.weight.diagonal()[:points] += OWN_POINT
        self.policy_log_softmax = nn.LogSoftmax(dim=1)
        self.value_conv = ConvNorm(width, 1, norm=norm)
        self.value_hidden = nn.Linear(points, config.value_hidden)
        self.value_linear = quiet(nn.Linear(config.value_hidden, 1))
        self.value_tanh = nn.Tanh()
        for head in (self.policy_conv, self.value_conv):  # a new norm leaves features as large as they are
            quiet(head.conv)

    def forward(self, planes: Tensor, globals: Tensor) -> NetOutput:
        x = relu(self.stem(planes.to(self.stem.conv.weight.dtype)))
        for block in self.blocks:
            x = block(x, globals)
        x = x.float()
        policy = self.policy_linear(relu(self.policy_conv(x)).flatten(1))
        hidden = relu(self.value_hidden(relu(self.value_conv(x)).flatten(1)))
        return NetOutput(self.policy_log_softmax(policy), self.value_tanh(self.value_linear(hidden))[:, 0])


class CourseNet(Network):
    """A network of course_nets.py: it sees the colours of the stones, and has a logit for each point or column."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__(config)
        rows, cols = _one_board(config)
        moves = cols if config.drops else rows * cols
        self.body = course_nets.BODIES[config.kind]((rows, cols), moves, config.channels, config.kernel)

    def forward(self, planes: Tensor, globals: Tensor) -> NetOutput:
        answer = self.body(course_nets.colours(planes))
        policy = course_nets.over_points(answer[:, :-1].float(), planes, drops=self.config.drops)
        return NetOutput(policy, answer[:, -1].float().tanh())


KINDS: dict[str, type[Network]] = {
    "resnet": ConvNet,
    "senet": ConvNet,
    "vgg": ConvNet,
    "mlp": MultilayerPerceptron,
    "agz": AlphaGoZeroNet,
    **dict.fromkeys(course_nets.BODIES, CourseNet),
}
_BLOCKS, _CHANNELS = r"([1-9]\d?)", r"([1-9]\d{0,3})"
AGZ = rf"agz([2-9]|1\d)(?:c{_CHANNELS})?"  # board, filters
# by the kind: the pattern of its names
NAMES = {
    "resnet": f"b{_BLOCKS}c{_CHANNELS}",
    "senet": f"se{_BLOCKS}c{_CHANNELS}",
    "vgg": f"vgg{_BLOCKS}c{_CHANNELS}(?:k([1-9]))?",
    "mlp": f"mlp{_BLOCKS}x{_CHANNELS}",
}
