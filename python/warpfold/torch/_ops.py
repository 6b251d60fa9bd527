# mypy: ignore-errors
# Where torch is not installed, nothing of this can be looked at.
"""Operators of torch for graphs: what `torch.compile` finds in place of the functions, with shapes, gradients and batches.

`warpfold::reduce` and `warpfold::dot` call the functions themselves; a graph holds one node for each of them.
"""

import importlib

import torch

import warpfold as wf

from . import _gradients

_core = importlib.import_module("warpfold._core")

NAMES = (*_gradients.SLOPES, *sorted(_gradients.STEPS))

library = torch.library.Library("warpfold", "DEF")
library.define(
    "reduce(Tensor x, Tensor? where, Tensor? weights, str name, int[] dims, bool keepdims, ScalarType? dtype, float correction, "
    "Scalar? initial, str accuracy, str nan, str overflow, int? threads) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
library.define(
    "dot(Tensor x, Tensor y, ScalarType? dtype, str accuracy, str nan, str overflow, int? threads) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)


def result(name, dtype, to):
    """The element type of results."""
    return getattr(torch, _core._result(name, dtype, to, False))


def chosen(dtype, correction, initial, accuracy, nan, overflow, threads):
    return {
        "dtype": dtype,
        "correction": correction,
        "initial": initial,
        "accuracy": accuracy,
        "nan": nan,
        "overflow": overflow,
        "threads": threads,
    }


def reduce(x, where, weights, name, dims, keepdims, *options):
    return _gradients.call(name, x, where, weights, tuple(dims), keepdims, chosen(*options))


def reduce_shape(x, where, weights, name, dims, keepdims, dtype, *_):
    shape = [1 if axis in dims else size for axis, size in enumerate(x.shape) if keepdims or axis not in dims]
    return x.new_empty(shape, dtype=result(name, x.dtype, dtype))


def reduce_context(ctx, inputs, output):
    x, where, weights, name, dims, keepdims, *options = inputs
    ctx.chosen = name, tuple(dims), keepdims, chosen(*options)
    if name in _gradients.STEPS:
        ctx.mark_non_differentiable(output)
    ctx.save_for_backward(x, where, weights, output)


def reduce_gradient(ctx, g):
    x, where, weights, output = ctx.saved_tensors
    name, dims, keepdims, options = ctx.chosen
    slope = None if name in _gradients.STEPS else _gradients.gradient(g, x, where, weights, output, name, dims, keepdims, options)
    return slope, *[None] * 12


def dot(x, y, dtype, accuracy, nan, overflow, threads):
    return wf.dot(x, y, dtype=dtype, accuracy=accuracy, nan=nan, overflow=overflow, threads=threads)


def dot_shape(x, y, dtype, *_):
    torch._check(x.shape == y.shape, lambda: f"dot takes two arrays of one shape, and they have {x.shape} and {y.shape}")
    return x.new_empty((), dtype=result("dot", x.dtype, dtype))


def dot_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2])


def dot_gradient(ctx, g):
    x, y = ctx.saved_tensors
    return (g * y.conj()).to(x.dtype), (g * x.conj()).to(y.dtype), *[None] * 5


for function, shape, context, backward in (
    (reduce, reduce_shape, reduce_context, reduce_gradient),
    (dot, dot_shape, dot_context, dot_gradient),
):
    name = f"warpfold::{function.__name__}"
    library.impl(function.__name__, function, "CompositeExplicitAutograd")
    torch.library.register_fake(name, shape, lib=library)
    torch.library.register_autograd(name, backward, setup_context=context, lib=library)


def traced(name):
    """What a graph has in place of the function of that name: Python that `torch.compile` follows."""

    def function(
        x,
        axis=None,
        *,
        dtype=None,
        out=None,
        keepdims=False,
        correction=None,
        ddof=None,
        initial=None,
        where=None,
        weights=None,
        accuracy="exact",
        nan="propagate",
        overflow="raise",
        threads=None,
    ):
        if out is not None:
            raise TypeError("under torch.compile a reduction has no out; leave it out")
        if axis is None:
            dims = list(range(x.ndim))
        elif isinstance(axis, int):
            dims = [_gradients.inside(axis, x.ndim)]
        else:
            dims = [_gradients.inside(a, x.ndim) for a in axis]
        if isinstance(dtype, str):
            dtype = getattr(torch, dtype)
        divisor = ddof if correction is None else correction
        divisor = 0.0 if divisor is None else float(divisor)
        return torch.ops.warpfold.reduce(
            x, where, weights, name, dims, keepdims, dtype, divisor, initial, accuracy, nan, overflow, threads
        )

    return function


def traced_minmax(x, axis=None, **options):
    return traced("min")(x, axis, **options), traced("max")(x, axis, **options)


def traced_dot(x, y, *, dtype=None, accuracy="exact", nan="propagate", overflow="raise", threads=None):
    if isinstance(dtype, str):
        dtype = getattr(torch, dtype)
    return torch.ops.warpfold.dot(x, y, dtype, accuracy, nan, overflow, threads)


def register():
    """Tells `torch.compile` what stands for each function."""
    functions = {name: traced(name) for name in NAMES} | {"minmax": traced_minmax, "dot": traced_dot}
    for name, function in functions.items():
        torch.compiler.substitute_in_graph(getattr(wf, name), skip_signature_check=True)(function)
