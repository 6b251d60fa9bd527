# mypy: ignore-errors
# Where torch is not installed, nothing of this can be looked at.
"""Which tensors the functions of `exact` read, and which they leave to torch."""

import torch

FLOATS = {torch.float16, torch.bfloat16, torch.float32, torch.float64}
COMPLEX = {torch.complex64, torch.complex128}
INTEGERS = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
TENSORS = (torch.Tensor, torch.nn.Parameter)


class Torchs(Exception):
    """What stays torch's, errors included."""


def plain(x, dtypes, beside=None):
    """A tensor without gradients and lazy conjugates, if it is one that can be read here, and lies where another does."""
    is_plain = type(x) in TENSORS and x.device.type in ("cpu", "cuda") and x.layout is torch.strided and x.dtype in dtypes
    if not is_plain or beside is not None and x.device != beside.device:
        raise Torchs
    return x.detach().resolve_conj().resolve_neg()


def is_left(x):
    """Integers on a GPU, whose sums wrap, and so have the same bits in any order; and bools, whose sums are not theirs."""
    return x.dtype is torch.bool or x.is_cuda and x.dtype in INTEGERS
