"""Several processes that take the steps of one learner together.

Each works on its part of every batch, and the gradients are averaged (DistributedDataParallel, Li et al. 2020), so that
after a step all have the same weights, those of the whole batch. Statistics of norms that look at a batch are the first
process's. Gradients travel by NCCL between GPUs and by gloo otherwise; both open ports on each machine.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from datetime import timedelta

from torch import Tensor, nn

LONGEST_STEP = timedelta(minutes=5)  # that a process waits for another in a step


class PeerLostError(Exception):
    """A step that failed because another process did, or failed itself; the whole learner must be opened again."""


@dataclass(frozen=True)
class Peers:
    """Which of `count` processes this one is."""

    rank: int = 0
    count: int = 1

    @property
    def part(self) -> slice:
        """The rows of a batch that are this process's."""
        return slice(self.rank, None, self.count)

    def parallel(self, net: nn.Module) -> nn.Module:
        """What `net` is called through in a step, so that its gradients become those of the whole batch."""
        if self.count == 1:
            return net
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(net)

    def mean(self, numbers: Tensor) -> Tensor:
        """The mean of each number over the processes."""
        if self.count > 1:
            from torch import distributed

            distributed.all_reduce(numbers)
            numbers /= self.count
        return numbers


ALONE = Peers()


def meeting_place(host: str) -> str:
    """A free port of this machine, at which the first process waits for the others: an address for `meet`."""
    with socket.socket() as free:
        free.bind((host, 0))
        return f"tcp://{host}:{free.getsockname()[1]}"


def meet(peers: Peers, place: str, device: str) -> None:
    """Join the group of all processes; returns when all have come. `device`: cpu or cuda."""
    from torch import distributed

    backend = "nccl" if device == "cuda" and distributed.is_nccl_available() else "gloo"
    distributed.init_process_group(
        backend, init_method=place, rank=peers.rank, world_size=peers.count, timeout=LONGEST_STEP
    )
