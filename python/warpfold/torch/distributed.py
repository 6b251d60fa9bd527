"""Exact reductions over the ranks of torch.distributed: the same bits at any number of ranks and any distribution of the data.

Each rank gives its part of the whole, which may be empty, and every rank gets the result, as a tensor on the host. `all_reduce` sums tensors of one shape
element by element, in place.
"""

import builtins
import functools

from .. import _core
from .._partials import MERGEABLE, merged, pack, unpack
from .._ranks import functions

__all__ = ["all_reduce", "allreduce", *MERGEABLE]

# Bytes of all ranks up to which everyone gets everything: one exchange less is worth more than the additions.
_SMALL = 256 << 10
# Bytes of a tensor that are exchanged at once; those of two such pieces have room beside it, so that one is summed while the next is under way.
_PIECE = 128 << 20
# Shares are whole vectors of so many bytes, as kernels read them.
_VECTOR = 16


def all_reduce(x, group=None):
    """Replaces every element of a tensor by its sum over all ranks of a group, rounded once to the tensor's type.

    The bits are those of the exact sum: the same at any number of ranks that hold the same numbers in all, in any order, and on GPUs and processors.
    All ranks give tensors of one shape and type, of real or complex floats, as `torch.distributed.all_reduce` has it. Each receives everyone's elements
    of one share, sums them exactly, and hands the sums to all: the bytes of a ring. On GPUs (nccl) nothing goes through the host, and nothing waits: the
    work is in the current stream. Beside the tensor it takes as much memory, 256 MiB at most; one that is not contiguous, or conjugated, is copied first. A rank that is lost leaves some sums written and others not.
    """
    import torch
    import torch.distributed as dist

    if not (x.is_floating_point() or x.is_complex()):
        raise TypeError(f"all_reduce is of floats, and {x.dtype} are none; torch.distributed.all_reduce sums integers exactly")
    size, rank = dist.get_world_size(group), dist.get_rank(group)
    if rank < 0:
        raise ValueError("this rank is none of the group; call all_reduce on ranks of it alone")
    given = x.detach()
    whole = given.contiguous()
    flat = (torch.view_as_real(whole.resolve_conj()) if x.is_complex() else whole).reshape(-1)
    rows, under_way, gathers = [None, None], None, []
    for k, (start, share) in enumerate(_shares(len(flat), flat.element_size(), size)):
        if share is None:
            _everyones(flat[start:], size, group)
            continue
        some = flat[start : start + size * share]
        if rows[k % 2] is None or rows[k % 2].shape[1] != share:
            rows[k % 2] = flat.new_empty((size, share))
        # It begins behind what the current stream has been given, the sum of the piece before last among it, which read these rows.
        exchange = dist.all_to_all_single(_bytes(rows[k % 2]), _bytes(some), group=group, async_op=True)
        gathers += _sum_and_gather(under_way, rank, group)
        under_way = exchange, rows[k % 2], some
    gathers += _sum_and_gather(under_way, rank, group)
    for gather in gathers:
        gather.wait()
    if flat.data_ptr() != given.data_ptr():
        given.copy_((torch.view_as_complex(flat.view(*x.shape, 2)) if x.is_complex() else flat).view(x.shape))


def _sum_and_gather(under_way, rank, group):
    """Sums a piece once it is there, and begins to hand the sums to all."""
    import torch.distributed as dist

    if under_way is None:
        return []
    exchange, rows, some = under_way
    exchange.wait()
    own = some[rank * rows.shape[1] :][: rows.shape[1]]
    _sum_rows(rows, own)
    # In place, which is nothing to NCCL; gloo wants what it sends elsewhere.
    sent = own if own.is_cuda else own.clone()
    return [dist.all_gather_into_tensor(_bytes(some), _bytes(sent), group=group, async_op=True)]


def _everyones(x, size, group):
    """Everyone gets and sums all of some elements."""
    import torch.distributed as dist

    rows = x.new_empty((size, len(x)))
    dist.all_gather_into_tensor(_bytes(rows), _bytes(x), group=group)
    _sum_rows(rows, x)


def _shares(n, width, size):
    """Where pieces of a tensor begin, and how many elements of each a rank sums: `None` where everyone gets and sums all that is left."""
    grain = _VECTOR // width if width < _VECTOR else 1
    shared = n - n % (size * grain) if n * width * size > _SMALL else 0
    most = builtins.max(_PIECE // (width * size * grain), 1) * grain
    start = 0
    while start < shared:
        share = builtins.min(most, (shared - start) // size)
        yield start, share
        start += size * share
    if start < n:
        yield start, None


def _bytes(x):
    """A tensor as its bytes, which every backend carries."""
    import torch

    return x.reshape(-1).view(torch.uint8)


def _sum_rows(rows, out):
    """The sums of columns, each rounded once."""
    if rows.is_cuda:
        _core._rank_sums(rows, out)
    else:
        import torch

        out.copy_(torch.as_tensor(_core.sum(rows, axis=0)))


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
