"""Exact reductions over the ranks of torch.distributed: the same bits at any number of ranks and any distribution of the data.

Each rank gives its part of the whole, which may be empty, and every rank gets the result, as a tensor on the host.
"""

import builtins
import functools

from .._partials import MERGEABLE, merged, pack, unpack
from .._ranks import functions

__all__ = ["allreduce", *MERGEABLE]


def allreduce(partial, group=None):
    """One `Exact`, or an array of them, with what those of all ranks of a group hold, gathered as bytes (gloo, nccl)."""
    import torch
    import torch.distributed as dist

    device = torch.device("cuda", torch.cuda.current_device()) if dist.get_backend(group) == "nccl" else torch.device("cpu")
    mine = torch.frombuffer(bytearray(pack(partial)), dtype=torch.uint8)
    size = dist.get_world_size(group)
    lengths = torch.empty(size, dtype=torch.int64, device=device)
    dist.all_gather(list(lengths.split(1)), torch.tensor([len(mine)], device=device), group=group)
    lengths = lengths.tolist()
    padded = torch.zeros(builtins.max(lengths), dtype=torch.uint8, device=device)
    padded[: len(mine)] = mine
    gathered = [torch.empty_like(padded) for _ in range(size)]
    dist.all_gather(gathered, padded, group=group)
    # In the order of ranks, everywhere.
    return merged([unpack(bytes(data[:length].cpu().numpy())) for data, length in zip(gathered, lengths)])


def _tensors(function):
    @functools.wraps(function)
    def reduce(x, /, *args, **keywords):
        import torch

        return torch.as_tensor(function(x, *args, **keywords))

    return reduce


globals().update(
    {name: _tensors(one) for name, one in functions(allreduce, "group", "process group of torch, by default that of all ranks").items()}
)
