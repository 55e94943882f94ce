"""Evaluation of Go on an NVIDIA GPU, for self-play and players: several batches at once, with little work for the CPU.

A lane is one batch's way through the GPU: pinned buffers, a stream, and a CUDA graph of the network at one capacity
(positions of a batch). A batch has its lane to itself until its result has been taken; lanes are made if none is free,
and reused. Self-play's lanes fit its batches closely; a player's have the capacities of `PLAYERS`, and a larger batch
takes several. All share the weights, which `refresh` overwrites. Positions go up packed (300 bytes) and become planes
there (`Unpack`). On the CPU the same code runs without streams and graphs, for tests.

`torch.backends.cudnn.benchmark` is set for the whole process: other threads' convolutions, such as a learner's, may sum
in another order.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from gozero.evaluators.base import FLOATING, GPU_BATCH, Evaluation, check_choice
from gozero.games.go.chains import PAST_BOARDS, SIZE
from gozero.games.go.header import KOMI_UNITS
from gozero.nets import features, model
from gozero.nets.blocks import ConvNorm, PoolingBlock, ResidualBlock
from gozero.nets.inference import folded_for, number_type

if TYPE_CHECKING:
    from gozero.games.game import Game

WARM_UPS = 3  # evaluations before a capture: cuDNN chooses its algorithms, and libraries allocate what they need
SMALLEST = 8  # capacity
# makes all lanes: cuDNN stores the algorithms that it has measured by thread, and measures for seconds
MAKER = ThreadPoolExecutor(1, "lanes")
CAPTURING = threading.Lock()  # no thread may synchronise the whole GPU while a graph is captured
# by stream: torch has 32 of them, so lanes come to share some, and a capture would take in what another lane launches
# there meanwhile
TURNS: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)
SPARE = 1.25  # a lane of up to this many times the positions is reused; beyond that a closer fit is made
PLAYERS = (SMALLEST, 16, 32, 64, 128, 256)  # capacities of a player's lanes


def serves(game: Game) -> bool:
    """Whether the positions of this game can be packed: those of Go and small Go."""
    return features.layout(game.name) is features.GO


def capacity_for(count: int) -> int:
    """The capacity of a new lane for `count` positions: up to an eighth more, so that few different ones are needed."""
    step = max(SMALLEST, 1 << max(count.bit_length() - 4, 0))
    return -(-count // step) * step


class Unpack(nn.Module):
    """Packed positions int32 [n, packed_ints(size, tactics)] → the tensors of `features.encode`, bit for bit, on any
    device; boards in channels-last layout.
    """

    word: Tensor
    shift: Tensor
    ages: Tensor

    def __init__(self, size: int, tactics: int = 0) -> None:
        super().__init__()
        self.size, self.tactics = size, tactics
        row, col = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        bit = ((row + 1) * (size + 1) + col + 1).flatten()
        self.register_buffer("word", bit // 32)  # int64 [P]: the word of a board that holds each point
        self.register_buffer("shift", (bit % 32).int())  # int32 [P]: and its place there
        self.register_buffer("ages", torch.arange(PAST_BOARDS, dtype=torch.int32))

    def forward(self, packed: Tensor) -> tuple[Tensor, ...]:
        count, stones, boards = len(packed), 2 * PAST_BOARDS, 2 * PAST_BOARDS + self.tactics
        columns = (features.PACKED_KOMI, features.PACKED_BONUS, features.PACKED_FLAGS)
        komi, bonus, flags = (packed[:, column] for column in columns)
        black = (flags & features.BLACK_FLAG) != 0
        words = packed[:, : boards * features.words(self.size)]
        bits = words.view(count, boards, -1).transpose(1, 2)  # [n, words, boards]
        points = ((bits.index_select(1, self.word) >> self.shift[:, None]) & 1).float()  # [n, P, boards]
        turn = black.float()[:, None, None].expand(-1, self.size**2, -1)
        planes = torch.cat([points[:, :, :stones], turn], 2)  # [n, P, 11]
        white = komi.double() / KOMI_UNITS + bonus
        numbers = torch.empty(count, features.GLOBALS, device=packed.device)
        numbers[:, 0] = torch.where(black, -white, white) / features.KOMI_SCALE
        numbers[:, 1] = (self.size - features.MIDDLE_SIZE) / features.SIZE_SCALE
        numbers[:, 2:] = (flags[:, None] >> self.ages) & 1
        result = self._board(planes), numbers
        return (*result, self._board(points[:, :, stones:])) if self.tactics else result

    def _board(self, planes: Tensor) -> Tensor:
        """[n, P, C] as [n, C, N, N], in channels-last layout."""
        return planes.reshape(len(planes), self.size, self.size, planes.shape[2]).permute(0, 3, 1, 2)


class Forward(nn.Module):
    """Packed int32 [n, packed_ints] → float32 [n, width]: logits [A], value, score and ownership [P] if there are."""

    def __init__(self, net: nn.Module, size: int, *, ownership: bool) -> None:
        """`net`, a folded network, is stored and run once on the empty board of this size, to learn what it gives."""
        super().__init__()
        assert isinstance(net, model.Network)
        self.unpack = Unpack(size, net.config.tactics)
        self.net = net
        self._ownership = ownership
        device = next(net.parameters()).device
        with torch.inference_mode():
            parts = self._parts(net(*(tensor.to(device) for tensor in net.example(1, (size, size)))))
        self.widths = [part.shape[1] for part in parts]  # of logits, value, score and ownership, as far as there are

    def forward(self, packed: Tensor) -> Tensor:
        return torch.cat(self._parts(self.net(*self.unpack(packed))), 1).float()

    def evaluation(self, rows: np.ndarray) -> Evaluation:
        """The results float32 [n, width] of n positions, copied."""
        starts = np.cumsum(self.widths)[:-1]
        logits, value, *others = (part.copy() for part in np.split(rows, starts, axis=1))
        score, ownership = [*others, None, None][:2]
        return Evaluation(logits, value[:, 0], None if score is None else score[:, 0], ownership)

    def _parts(self, output: model.NetOutput) -> list[Tensor]:
        """What is passed on of a network's output, each [n, floats]; whatever has ownership has a score."""
        score = None if output.score is None else output.score[:, None]
        columns = output.policy, output.value[:, None], score, output.owners if self._ownership else None
        return [column for column in columns if column is not None]


class FusedBlock(nn.Module):
    """A residual or pooling block of a folded network on a GPU: a convolution, its bias, what is added and the ReLU are
    one call of cuDNN, which makes the network half as fast again.
    """

    def __init__(self, block: ResidualBlock | PoolingBlock) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Tensor, size: Tensor) -> Tensor:
        block = self.block
        inner = block.inner(x, size) if isinstance(block, PoolingBlock) else _fused(block.conv1, x)
        return _fused(block.conv2, inner, x)


def _fused(layer: ConvNorm, x: Tensor, added: Tensor | None = None) -> Tensor:
    """relu(conv(x) + added) of a folded layer."""
    conv = layer.conv
    where: Any = conv.stride, conv.padding, conv.dilation, conv.groups
    if added is None:
        return torch.cudnn_convolution_relu(x, conv.weight, conv.bias, *where)
    return torch.cudnn_convolution_add_relu(x, conv.weight, added, 1.0, conv.bias, *where)


def fuse(net: nn.Module) -> None:
    """Replace the residual and pooling blocks of a folded network by fused ones."""
    for part in list(net.modules()):
        for name, block in list(part.named_children()):
            if isinstance(block, ResidualBlock | PoolingBlock):
                part.register_module(name, FusedBlock(block))


class Lane:
    """See the module's docstring. `put`, then `launch`, then `take`, by one thread at a time."""

    def __init__(self, forward: Forward, capacity: int, columns: tuple[int, int], device: torch.device) -> None:
        """columns: ints of a packed position, floats of its result."""
        self.capacity = capacity
        self._forward = forward
        on_gpu = device.type == "cuda"
        buffers = [((capacity, columns[0]), torch.int32), ((capacity, columns[1]), torch.float32)]
        self._up, self._down = (torch.zeros(shape, dtype=kind, pin_memory=on_gpu) for shape, kind in buffers)
        self._packed, self._found = (torch.zeros(shape, dtype=kind, device=device) for shape, kind in buffers)
        self._packed_rows, self._found_rows = self._up.numpy(), self._down.numpy()
        self._stream = torch.cuda.Stream(device) if on_gpu else None
        self._turn = TURNS[self._stream.stream_id] if self._stream is not None else threading.Lock()
        self._done = torch.cuda.Event(blocking=True) if on_gpu else None
        self._run: Callable[[], None] = self._capture() if self._stream is not None else self._compute

    def put(self, states: np.ndarray) -> None:
        """Pack states int32 [n, S], n ≤ capacity, into the pinned buffer."""
        features.pack_into(states, self._packed_rows, int(states[0, SIZE]), self._forward.unpack.tactics)

    @torch.inference_mode()
    def launch(self, count: int) -> None:
        """Queue the upload of `count` positions, the network and the download; returns before any of it is done."""
        with self._turn, torch.cuda.stream(self._stream):
            self._packed[:count].copy_(self._up[:count], non_blocking=True)
            self._run()
            self._down[:count].copy_(self._found[:count], non_blocking=True)
            if self._done is not None:
                self._done.record()

    def take(self, count: int) -> Evaluation:
        """Wait for this batch alone, and copy its results."""
        if self._done is not None:
            self._done.synchronize()
        return self._forward.evaluation(self._found_rows[:count])

    def _compute(self) -> None:
        self._found.copy_(self._forward(self._packed))

    @torch.inference_mode()
    def _capture(self) -> Callable[[], None]:
        """Record `_compute` as a graph on the lane's stream, after a warm-up there; the call that launches it."""
        assert self._stream is not None
        graph = torch.cuda.CUDAGraph()
        torch.backends.cudnn.benchmark = True  # for good, see the module's docstring
        self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))
        with torch.cuda.stream(self._stream):
            for _ in range(WARM_UPS):
                self._compute()
        self._stream.synchronize()
        # thread_local: other threads go on launching theirs
        capture = torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local")
        with CAPTURING, self._turn, capture:
            self._compute()
        return graph.replay


class Launched:
    """An evaluation on its way through its lanes, each with some of its positions (a `Pending`)."""

    def __init__(self, evaluator: CudaEvaluator, lanes: list[tuple[Lane, int]]) -> None:
        self._evaluator, self._lanes = evaluator, lanes

    def result(self) -> Evaluation:
        """Wait for it; its lanes are then free for other batches."""
        parts = [lane.take(count) for lane, count in self._lanes]
        self._evaluator.release([lane for lane, _ in self._lanes])
        return parts[0] if len(parts) == 1 else Evaluation.joined(parts)


class CudaEvaluator:
    """Evaluates the states of one game in as many batches at once as are submitted (an `AsynchronousEvaluator`)."""

    label = "Torch with captured graphs"  # for users
    preferred_batch = GPU_BATCH

    def __init__(
        self, net: nn.Module, game: Game, *, device: str = "cuda", precision: str = "auto", ownership: bool = False,
        capacities: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        """Take a copy of `net`, in training or evaluation mode, for a game that `serves` accepts.

        `device` is "cuda", "cuda:1" …, or "cpu": the same, one batch after the other; `precision` "f32", "bf16", or
        "auto". With `ownership` evaluations have the owners of points, if the network knows them. `capacities` are
        those that lanes may have, ascending; none: any that fits the batches.
        """
        check_choice("precision", precision, FLOATING)
        self.game = game
        self.device = torch.device(device)
        self.precision = number_type(precision, self.device)
        self._forward = Forward(self._folded(net), game.rows, ownership=ownership).to(self.device)
        self._columns = (features.packed_ints(game.rows, self._forward.unpack.tactics), sum(self._forward.widths))
        self._capacities = capacities
        self._free: list[Lane] = []
        self._lock = threading.Lock()  # over the list of free lanes

    def refresh(self, net: nn.Module) -> None:
        """Evaluate with the present weights of `net`, a network of the same shape, once present batches are done."""
        fresh = self._folded(net).state_dict()
        with CAPTURING, torch.inference_mode():
            self._synchronize()
            for name, tensor in self._forward.net.state_dict().items():
                tensor.copy_(fresh[name])
            self._synchronize()

    def _folded(self, net: nn.Module) -> nn.Module:
        folded = folded_for(net, self.device, self.precision)
        if self.device.type == "cuda" and self.precision == "bf16":
            fuse(folded)
        return folded

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S]; see `Evaluator`."""
        return self.submit(states).result()

    def submit(self, states: np.ndarray) -> Launched:
        """Begin to evaluate states int32 [n, S]; see `AsynchronousEvaluator`."""
        self.game.check_states(states)
        most = self._capacities[-1] if self._capacities else len(states)
        lanes = []
        for part in (states[at : at + most] for at in range(0, len(states), most)):
            lane = self._lane(len(part))
            lane.put(part)
            lane.launch(len(part))
            lanes.append((lane, len(part)))
        return Launched(self, lanes)

    def release(self, lanes: list[Lane]) -> None:
        """Return lanes whose results have been taken."""
        with self._lock:
            self._free += lanes

    def _lane(self, count: int) -> Lane:
        """The smallest free lane that `count` positions fit into without much waste, or a new one."""
        capacity = next((capacity for capacity in self._capacities if capacity >= count), None) or capacity_for(count)
        with self._lock:
            fitting = [lane for lane in self._free if count <= lane.capacity <= max(SPARE * count, capacity)]
            if fitting:
                lane = min(fitting, key=lambda lane: lane.capacity)
                self._free.remove(lane)
                return lane
        return MAKER.submit(Lane, self._forward, capacity, self._columns, self.device).result()

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
