"""The mode of `exact`, below autograd: gradients are torch's own formulas, whose reductions are exact as well."""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import warpfold as wf

from ._plain import COMPLEX, FLOATS, INTEGERS, TENSORS, Torchs, plain
from ._rows import index_add, scatter_add, scatter_reduce, segment_reduce

aten = torch.ops.aten


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
