"""Packed positions → planes and globals, in torch: where the network runs, so that 300 bytes a position travel there
instead of 7,000.

The layout and its vocabulary are those of `gozero.nets.packing`; what comes out equals `features.encode` bit for bit, on
any device.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gozero.games.go.chains import PAST_BOARDS
from gozero.games.go.header import KOMI_UNITS
from gozero.nets import features, packing
from gozero.nets.packing import words


class Unpack(nn.Module):
    """Packed positions int32 [n, packed_ints(size, tactics)] → planes [n, 11, N, N], globals [n, 7] and tactics [n, K,
    N, N].

    All are float32, boards in channels-last layout. Without planes of tactics there are two results.
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
        komi, bonus, flags = (
            packed[:, packing.PACKED_KOMI],
            packed[:, packing.PACKED_BONUS],
            packed[:, packing.PACKED_FLAGS],
        )
        black = (flags & packing.BLACK_FLAG) != 0
        bits = packed[:, : boards * words(self.size)].view(count, boards, -1).transpose(1, 2)  # [n, words, boards]
        points = ((bits.index_select(1, self.word) >> self.shift[:, None]) & 1).float()  # [n, P, boards]
        planes = torch.cat(
            [points[:, :, :stones], black.float()[:, None, None].expand(-1, self.size**2, -1)], 2
        )  # [n, P, 11]
        white = komi.double() / KOMI_UNITS + bonus
        numbers = torch.empty(count, features.GLOBALS, device=packed.device)
        numbers[:, 0] = torch.where(black, -white, white) / features.KOMI_SCALE
        numbers[:, 1] = (self.size - features.MIDDLE_SIZE) / features.SIZE_SCALE
        numbers[:, 2:] = (flags[:, None] >> self.ages) & 1
        return (
            (self._board(planes), numbers, self._board(points[:, :, stones:]))
            if self.tactics
            else (self._board(planes), numbers)
        )

    def _board(self, planes: Tensor) -> Tensor:
        """[n, P, C] as [n, C, N, N], in channels-last layout."""
        return planes.reshape(len(planes), self.size, self.size, planes.shape[2]).permute(0, 3, 1, 2)
