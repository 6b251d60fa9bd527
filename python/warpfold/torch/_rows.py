# mypy: ignore-errors
# Where torch is not installed, nothing of this can be looked at.
"""Rows that are added to others by an index, and segments of rows: each element rounded once."""

import math

import torch

import warpfold as wf

from ._plain import FLOATS, INTEGERS, Torchs, is_left, plain


def check_index(index, size):
    """Leaves an index that is none to torch, which says which."""
    if index.dtype not in (torch.int32, torch.int64):
        raise Torchs
    if index.numel() and (index.min() < 0 or index.max() >= size):
        raise Torchs


def cells(x, dim, index):
    """The number of the element of `x`, in C order, that each element of an index along an axis means."""
    first = torch.arange(x.numel(), device=x.device).reshape(x.shape).narrow(dim, 0, 1)
    for axis, size in enumerate(index.shape):
        if axis != dim:
            first = first.narrow(axis, 0, size)
    return first + index.long() * math.prod(x.shape[dim + 1 :])


def columns_of(values, starts, mean):
    """Sums or means of the rows of a matrix between each start and the next: of each column, as one segment after another."""
    length, inner = values.shape
    if inner > 1:
        first = torch.arange(0, inner * length, length, device=values.device)
        starts = torch.cat([(first[:, None] + starts[:-1]).reshape(-1), starts[-1:] * inner])
    function = wf.segment_mean if mean else wf.segment_sum
    more = {} if mean else {"overflow": "wrap"}
    result = function(values.T.contiguous().reshape(-1), offsets=starts, **more)
    return torch.as_tensor(result, device=values.device).reshape(inner, -1).T


def added(x, keys, values, include, mean):
    """The rows of a matrix, each with the rows of its key added, an element rounded once."""
    rows = len(x)
    counts = torch.bincount(keys, minlength=rows)
    touched = counts.nonzero().reshape(-1)
    # Rows that nothing is added to stay as they are, -0 and NaN included.
    own = x.index_select(0, touched)
    if x.shape[1] == 1 and not x.is_cuda:
        number = torch.empty(rows, dtype=torch.int64).index_copy_(0, touched, torch.arange(len(touched)))
        keys, values = number[keys], values.reshape(-1)
        if include:
            keys, values = torch.cat([torch.arange(len(touched)), keys]), torch.cat([own.reshape(-1), values])
        by = wf.group_by(keys, values, groups=len(touched))
        result = torch.as_tensor(by.mean() if mean else by.sum(overflow="wrap")).reshape(-1, 1)
    else:
        counts = counts[touched]
        if include:
            keys, values, counts = torch.cat([touched, keys]), torch.cat([own, values]), counts + 1
        starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        result = columns_of(values[keys.argsort()], starts, mean)
    return x.index_copy(0, touched, result.to(x.dtype))


def added_along(x, dim, keys, values, include, mean):
    """The same of the rows along an axis."""
    first = x.movedim(dim, 0)
    matrix = first.reshape(len(first), -1)
    result = added(matrix, keys, values.movedim(dim, 0).reshape(len(keys), -1), include, mean)
    return result.reshape(first.shape).movedim(0, dim).contiguous()


def scattered(self, dim, index, src, include=True, mean=False):
    x, values, index = plain(self, FLOATS | INTEGERS), plain(src, {self.dtype}, self), plain(index, {torch.int32, torch.int64}, self)
    if x.ndim == 0 or is_left(x) or mean and x.dtype not in FLOATS or not -x.ndim <= dim < x.ndim:
        raise Torchs
    dim %= x.ndim
    fits = index.ndim == values.ndim == x.ndim and all(
        i <= v and (axis == dim or i <= s) for axis, (i, v, s) in enumerate(zip(index.shape, values.shape, x.shape))
    )
    if not fits or index.numel() == 0:
        raise Torchs
    check_index(index, x.shape[dim])
    values = values[tuple(map(slice, index.shape))]
    others = [axis for axis in range(x.ndim) if axis != dim]
    if all(index.shape[a] == x.shape[a] and (index.stride(a) == 0 or x.shape[a] == 1) for a in others):
        # Whole rows, as of an index that was expanded.
        return added_along(x, dim, index.movedim(dim, 0).reshape(len(values.movedim(dim, 0)), -1)[:, 0], values, include, mean)
    keys = cells(x, dim, index).reshape(-1)
    return added(x.reshape(-1, 1), keys, values.reshape(-1, 1), include, mean).reshape(x.shape)


def scatter_add(self, dim, index, src):
    return scattered(self, dim, index, src)


def scatter_reduce(self, dim, index, src, reduce, *, include_self=True):
    if reduce not in ("sum", "mean"):
        raise Torchs
    return scattered(self, dim, index, src, include_self, reduce == "mean")


def index_add(self, dim, index, source, *, alpha=1):
    x, values, index = plain(self, FLOATS | INTEGERS), plain(source, {self.dtype}, self), plain(index, {torch.int32, torch.int64}, self)
    if x.ndim == 0 or index.ndim != 1 or values.ndim != x.ndim or is_left(x) or not -x.ndim <= dim < x.ndim:
        raise Torchs
    dim %= x.ndim
    fits = values.shape[dim] == len(index) and all(v == s for a, (v, s) in enumerate(zip(values.shape, x.shape)) if a != dim)
    if not fits or values.numel() == 0:
        raise Torchs
    check_index(index, x.shape[dim])
    return added_along(x, dim, index, values if alpha == 1 else values * alpha, True, False)


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    x = plain(data, FLOATS)
    is_known = reduce in ("sum", "mean") and indices is None and initial is None and axis == 0 and (lengths is None) != (offsets is None)
    if not is_known or x.ndim == 0:
        raise Torchs
    stated = plain(offsets if lengths is None else lengths, {torch.int32, torch.int64}, x)
    if stated.ndim != 1:
        raise Torchs
    if lengths is None:
        offsets, lengths = stated, stated.diff()
    else:
        offsets, lengths = torch.cat([stated.new_zeros(1), stated.cumsum(0)]), stated
    if len(lengths) == 0 or x.numel() == 0 or (lengths < 0).any() or offsets[0] != 0 or offsets[-1] != len(x):
        raise Torchs
    # A mean of none is NaN, of which the others need not wait.
    is_any = lengths > 0 if reduce == "mean" else torch.ones_like(lengths, dtype=torch.bool)
    starts = torch.cat([offsets[:-1][is_any], offsets[-1:]]).long()
    result = columns_of(x.reshape(len(x), -1), starts, reduce == "mean")
    whole = result.new_full((len(lengths), result.shape[1]), math.nan)
    whole[is_any] = result
    return whole.reshape(len(lengths), *x.shape[1:])
