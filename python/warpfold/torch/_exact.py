"""The mode of `exact`, below autograd: gradients are torch's own formulas, whose reductions are exact as well."""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import warpfold as wf

aten = torch.ops.aten
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


def axes(x, dim):
    """The axes of a `dim`, where none and an empty list are all of them."""
    if dim is None or x.ndim == 0 and dim in (0, -1, [0], [-1], []):
        return None
    dims = [dim] if isinstance(dim, int) else list(dim)
    inside = [d % x.ndim for d in dims if -x.ndim <= d < x.ndim] if x.ndim else []
    if len(inside) != len(dims) or len(set(inside)) != len(dims):
        raise Torchs
    return tuple(inside) or None


def length(x, axis):
    return math.prod(x.shape if axis is None else [x.shape[a] for a in axis])


def is_left(x):
    """Integers on a GPU, whose sums wrap, and so have the same bits in any order; and bools, whose sums are not theirs."""
    return x.dtype is torch.bool or x.is_cuda and x.dtype in INTEGERS


def widened(x):
    """Integers of 32 bits and less on a GPU as the same numbers of float64, whose sums over axes kernels round."""
    is_exact = x.is_cuda and x.dtype in INTEGERS and x.dtype is not torch.int64
    return x.double() if is_exact else x


def sums(nan):
    def total(self, dim=None, keepdim=False, *, dtype=None):
        x = plain(self, FLOATS | COMPLEX | INTEGERS)
        to = dtype or (torch.int64 if x.dtype in INTEGERS else x.dtype)
        if to not in FLOATS | COMPLEX | {torch.int64} or nan == "ignore" and x.dtype in COMPLEX:
            raise Torchs
        if x.dtype in COMPLEX and to not in COMPLEX or x.dtype not in INTEGERS and to is torch.int64:
            raise Torchs
        if to in COMPLEX and x.dtype not in COMPLEX:
            x = x.to(to)
        if x.is_cuda and to is torch.int64:
            raise Torchs
        x = widened(x)
        # torch's integers wrap.
        return wf.sum(x, axis=axes(x, dim), keepdims=keepdim, dtype=to, nan=nan, overflow="wrap")

    return total


def mean(self, dim=None, keepdim=False, *, dtype=None):
    x = plain(self, FLOATS | COMPLEX | (INTEGERS if dtype else set()))
    to = dtype or x.dtype
    if to not in FLOATS | COMPLEX or x.dtype in COMPLEX and to not in COMPLEX:
        raise Torchs
    if to in COMPLEX and x.dtype not in COMPLEX:
        x = x.to(to)
    return wf.mean(widened(x), axis=axes(x, dim), keepdims=keepdim, dtype=to)


def spread(function):
    def moment(self, dim=None, *, correction=None, keepdim=False):
        x = plain(self, FLOATS | COMPLEX)
        axis, correction = axes(x, dim), 1 if correction is None else correction
        # Of too few elements torch has NaN or an infinity.
        if length(x, axis) <= correction or not math.isfinite(correction):
            raise Torchs
        if x.is_cuda and correction % 1:
            # Kernels finish one such result alone.
            if length(x, axis) < x.numel():
                raise Torchs
            result = function(x.reshape(-1), correction=correction)
            kept = [1] * x.ndim if keepdim else [n for a, n in enumerate(x.shape) if axis is not None and a not in axis]
            return result.reshape(kept)
        return function(x, axis=axis, keepdims=keepdim, correction=correction)

    return moment


def unbiased(function):
    """The overloads that say `unbiased`."""

    def moment(self, dim=None, unbiased=True, keepdim=False):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        return function(self, dim, correction=int(unbiased), keepdim=keepdim)

    return moment


def and_mean(function):
    def both(self, dim=None, **keywords):
        return function(self, dim, **keywords), mean(self, dim, keywords.get("keepdim", False))

    return both


def vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    x = plain(self, FLOATS | COMPLEX)
    real = torch.empty(0, dtype=dtype or x.dtype)
    if dtype is not None and (dtype not in FLOATS | COMPLEX or dtype.is_complex != x.dtype.is_complex):
        raise Torchs
    to = real.real.dtype if real.is_complex() else real.dtype
    axis = axes(x, dim)
    function = {0.0: wf.count_nonzero, 1.0: wf.l1, 2.0: wf.l2, math.inf: wf.linf}.get(float(ord))
    if function is None or ord == math.inf and length(x, axis) == 0:
        raise Torchs
    if function is wf.count_nonzero:
        return function(x, axis=axis, keepdims=keepdim).to(to)
    return function(x, axis=axis, keepdims=keepdim, dtype=to)


def norm(self, p=2, dim=None, keepdim=False, *, dtype=None):
    return vector_norm(self, 2 if p is None else p, dim, keepdim, dtype=dtype)


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


FUNCTIONS = {
    aten.sum.default: sums("propagate"),
    aten.sum.dim_IntList: sums("propagate"),
    aten.nansum.default: sums("ignore"),
    aten.mean.default: mean,
    aten.mean.dim: mean,
    aten.var.default: unbiased(spread(wf.var)),
    aten.var.dim: unbiased(spread(wf.var)),
    aten.var.correction: spread(wf.var),
    aten.std.default: unbiased(spread(wf.std)),
    aten.std.dim: unbiased(spread(wf.std)),
    aten.std.correction: spread(wf.std),
    aten.var_mean.correction: and_mean(spread(wf.var)),
    aten.std_mean.correction: and_mean(spread(wf.std)),
    aten.linalg_vector_norm.default: vector_norm,
    aten.norm.Scalar: norm,
    aten.norm.ScalarOpt_dim: norm,
    aten.norm.ScalarOpt_dtype: norm,
    aten.norm.ScalarOpt_dim_dtype: norm,
    aten.index_add.default: index_add,
    aten.scatter_add.default: scatter_add,
    aten.scatter_reduce.two: scatter_reduce,
    aten.segment_reduce.default: segment_reduce,
}
OUT = {
    aten.sum.IntList_out: aten.sum.dim_IntList,
    aten.sum.out: aten.sum.default,
    aten.nansum.out: aten.nansum.default,
    aten.mean.out: aten.mean.dim,
    aten.mean.dtype_out: aten.mean.default,
    aten.var.out: aten.var.dim,
    aten.var.correction_out: aten.var.correction,
    aten.std.out: aten.std.dim,
    aten.std.correction_out: aten.std.correction,
    aten.linalg_vector_norm.out: aten.linalg_vector_norm.default,
    aten.norm.Scalar_out: aten.norm.Scalar,
    aten.norm.out: aten.norm.ScalarOpt_dim,
    aten.norm.ScalarOpt_dtype_out: aten.norm.ScalarOpt_dtype,
    aten.norm.dtype_out: aten.norm.ScalarOpt_dim_dtype,
    aten.index_add.out: aten.index_add.default,
    aten.scatter_add.out: aten.scatter_add.default,
    aten.scatter_reduce.two_out: aten.scatter_reduce.two,
    aten.segment_reduce.out: aten.segment_reduce.default,
}
IN_PLACE = {
    aten.index_add_.default: aten.index_add.default,
    aten.scatter_add_.default: aten.scatter_add.default,
    aten.scatter_reduce_.two: aten.scatter_reduce.two,
}


class Exact(TorchDispatchMode):
    """Routes torch's reductions through this library."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        wanted = FUNCTIONS.get(IN_PLACE.get(func) or OUT.get(func) or func)
        if wanted is None:
            return func(*args, **kwargs)
        out = kwargs.get("out") if func in OUT else args[0] if func in IN_PLACE else None
        try:
            result = wanted(*args, **{name: value for name, value in kwargs.items() if name != "out" or func not in OUT})
            if out is not None and (type(out) not in TENSORS or result.dtype != out.dtype or out.numel() and out.shape != result.shape):
                raise Torchs
        except Torchs:
            return func(*args, **kwargs)
        if out is None:
            return result
        if out.shape != result.shape:
            out.resize_(result.shape)
        return out.copy_(result)
