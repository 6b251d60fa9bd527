"""Reductions that JAX follows: under `jit`, `grad` and `vmap`.

The functions are those of the package, of arrays of JAX. Compiled programs call the library by XLA's foreign function interface. Gradients are JAX's
formulas; the means in them are exact.

>>> import jax
>>> import warpfold as wf
>>> import warpfold.jax
>>> jax.jit(wf.jax.sum)(jax.numpy.full(10, 0.1))
Array(1., dtype=float32)
"""

import builtins
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from . import _core

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "dot",
    "l1",
    "l2",
    "linf",
    "max",
    "mean",
    "min",
    "minmax",
    "prod",
    "std",
    "sum",
    "sumsq",
    "var",
]

TARGET = "warpfold_reduce"
ROUNDED = frozenset({"sum", "mean", "var", "std", "l1", "l2", "sumsq", "linf", "prod"})
# Results that are no continuous function of the elements.
STEPS = frozenset({"argmin", "argmax", "any", "all", "count_nonzero"})


@functools.cache
def registered():
    """Registers the library with XLA, once."""
    for platform, handler in _core._handlers():
        jax.ffi.register_ffi_target(TARGET, handler, platform=platform)


def is_narrow():
    """Whether JAX has numbers of 32 bits at most."""
    return not jax.config.jax_enable_x64


def foreign(operands, shape, name, axes, options, mask=""):
    """The call of the library; axes are counted from the last one, so that those of batches may come in front. Where `mask` is "where", the second
    operand says which elements count."""
    registered()
    dtype, correction, accuracy, nan, overflow = options
    result = _core._result(name, operands[0].dtype.name, dtype, is_narrow())
    call = jax.ffi.ffi_call(TARGET, jax.ShapeDtypeStruct(shape, result), vmap_method="broadcast_all")
    return call(
        *operands,
        name=name,
        axes=np.array(axes, np.int64),
        correction=np.float64(correction),
        dtype=dtype or "",
        accuracy=accuracy,
        nan=nan,
        overflow=overflow,
        mask=mask,
        width="narrow" if is_narrow() else "wide",
    )


@functools.partial(jax.custom_jvp, nondiff_argnums=(2, 3, 4))
def reduced(x, mask, name, axes, options):
    """One reduction, with the axes that it leaves; where there is a mask, of the elements for which it holds."""
    kept = tuple(size for axis, size in enumerate(x.shape) if axis - x.ndim not in axes)
    if mask is None:
        return foreign((x,), kept, name, axes, options)
    return foreign((x, mask), kept, name, axes, options, mask="where")


@reduced.defjvp
def reduced_jvp(name, axes, options, primals, tangents):
    (x, mask), (t, _) = primals, tangents
    result = reduced(x, mask, name, axes, options)
    if name in STEPS:
        return result, np.zeros(result.shape, jax.dtypes.float0)
    if name == "sum" and options[3] == "propagate" and mask is None:
        return result, jnp.sum(t, axes, dtype=result.dtype)
    if mask is not None:
        # What is left out is not looked at, so that a NaN there is in no slope.
        x, t = jnp.where(mask, x, 1), jnp.where(mask, t, 0)
    slope = slopes(x, mask, jnp.expand_dims(result, axes), name, axes, options)
    if jnp.iscomplexobj(x) and not jnp.iscomplexobj(result):
        moved = slope.real * t.real + slope.imag * t.imag
    else:
        moved = slope * t
    return result, jnp.sum(moved, axes).astype(result.dtype)


def slopes(x, mask, result, name, axes, options):
    """The derivative of each result by each of its elements; of a real result by a complex element, in its two directions."""
    _, correction, _, nan, _ = options
    kept = mask
    if nan == "ignore":
        kept = ~jnp.isnan(x) if mask is None else mask & ~jnp.isnan(x)
    n = math.prod(x.shape[axis] for axis in axes) if kept is None else jnp.sum(kept, axes, keepdims=True)
    slope = of(x, mask, result, name, axes, correction, nan, n, kept)
    return slope if kept is None else jnp.where(kept, slope, 0)


def of(x, mask, result, name, axes, correction, nan, n, kept):
    if name == "sum":
        return jnp.ones_like(x)
    if name == "mean":
        return jnp.ones_like(x) / n
    if name in ("var", "std"):
        mean = jnp.expand_dims(reduced(x, mask, "mean", axes, (None, 0.0, "exact", nan, "raise")), axes)
        slope = (x - mean) * 2 / (n - correction)
        return slope if name == "var" else slope * safe(1, result * 2)
    if name == "l1":
        return jnp.sign(x)
    if name == "l2":
        return x * safe(1, result)
    if name == "sumsq":
        return x * 2
    if name == "prod":
        return others(x if kept is None else jnp.where(kept, x, 1), axes)
    size = jnp.abs(x) if name == "linf" else x
    holds = (size == result) | (jnp.isnan(size) & jnp.isnan(result))
    if kept is not None:
        holds &= kept
    share = holds / jnp.maximum(jnp.sum(holds, axes, keepdims=True), 1)
    return share * jnp.sign(x) if name == "linf" else share.astype(x.dtype)


def safe(a, b):
    """A quotient, which is 0 where nothing is divided by."""
    is_zero = b == 0
    return jnp.where(is_zero, 0, a / jnp.where(is_zero, 1, b))


def others(x, axes):
    """For each element, the product of all others of its output."""
    last = tuple(range(-len(axes), 0))
    moved = jnp.moveaxis(x, axes, last)
    rows = moved.reshape(*moved.shape[: x.ndim - len(axes)], -1)
    one = jnp.ones_like(rows[..., :1])
    before = jnp.cumprod(jnp.concatenate([one, rows[..., :-1]], -1), -1)
    after = jnp.flip(jnp.cumprod(jnp.concatenate([one, jnp.flip(rows[..., 1:], -1)], -1), -1), -1)
    return jnp.moveaxis((before * after).reshape(moved.shape), last, axes)


def masked(where, x):
    """A mask of the array's shape; `None` where all elements count."""
    if where is None or where is True:
        return None
    mask = jnp.asarray(where)
    if mask.dtype != bool:
        raise TypeError(f"where has elements of {mask.dtype}, and is to be of bools; compare them, as in where != 0")
    return jnp.broadcast_to(mask, x.shape)


def reduce(
    name,
    x,
    *,
    axis=None,
    keepdims=False,
    dtype=None,
    correction=0.0,
    initial=None,
    where=None,
    weights=None,
    accuracy="exact",
    nan="propagate",
    overflow="raise",
    threads=None,
):
    """The reduction of that name."""
    for option, given, remedy in (
        ("initial", initial, "combine it with the result"),
        ("weights", weights, "multiply by them, where rounded products will do"),
        ("threads", threads, "leave it out"),
    ):
        if given is not None:
            raise TypeError(
                f"{option} is not there under jit, grad and vmap, nor on GPUs; {remedy}, or call the function of warpfold outside of them, of jax.device_get(x)"
            )
    x = jnp.asarray(x)
    if name == "minmax":
        return tuple(reduce(side, x, axis=axis, keepdims=keepdims, where=where, nan=nan) for side in ("min", "max"))
    mask = masked(where, x)
    named = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = []
    for one in named:
        if not -x.ndim <= one < x.ndim:
            raise ValueError(f"axis {one} does not exist, of an array with {x.ndim} axes; name axes from 0, each once")
        axes.append(one % x.ndim - x.ndim)
    if len(set(axes)) != len(axes):
        raise ValueError(f"an axis is named twice in {axis}; name each once")
    outputs = math.prod(size for axis, size in enumerate(x.shape) if axis - x.ndim not in axes)
    if name in ("min", "max", "argmin", "argmax") and outputs > 0 and x.size == 0:
        raise ValueError(f"{name} of no elements has no value; give an array that has some")
    shape = tuple(1 if a - x.ndim in axes else s for a, s in enumerate(x.shape) if keepdims or a - x.ndim not in axes)
    if not axes:
        # Each element is a result.
        x, axes = x[..., None], [-1]
        mask = None if mask is None else mask[..., None]
    if dtype is not None:
        dtype = np.dtype(dtype).name
        if name == "prod" and x.dtype.kind in "iu" and jnp.issubdtype(np.dtype(dtype), np.floating):
            # 64 bits hold few products of integers.
            x = x.astype(np.float32 if is_narrow() else np.float64)
    result = reduced(x, mask, name, tuple(sorted(axes)), (dtype, float(correction), accuracy, nan, overflow))
    return result.reshape(shape)


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def dotted(x, y, options):
    return foreign((x, y), (), "dot", tuple(range(-x.ndim, 0)), options)


@dotted.defjvp
def dotted_jvp(options, primals, tangents):
    (x, y), (s, t) = primals, tangents
    result = dotted(x, y, options)
    return result, (jnp.sum(s * y) + jnp.sum(x * t)).astype(result.dtype)


def dot(x, y, /, *, dtype=None, accuracy="exact", nan="propagate", overflow="raise", threads=None):
    """The exact sum of the products of two arrays of one shape, rounded once."""
    x, y = jnp.asarray(x), jnp.asarray(y)
    if x.shape != y.shape or x.dtype != y.dtype:
        raise ValueError(f"dot takes two arrays of one shape and type, and they have {x.shape} of {x.dtype} and {y.shape} of {y.dtype}")
    if x.ndim == 0:
        x, y = x[None], y[None]
    return dotted(x, y, (None if dtype is None else np.dtype(dtype).name, 0.0, accuracy, nan, overflow))


def function(name):
    """The function of that name, with the options that it has."""
    if name in ("var", "std"):

        def call(x, /, axis=None, *, correction=0.0, dtype=None, keepdims=False, where=None, nan="propagate"):
            return reduce(name, x, axis=axis, keepdims=keepdims, dtype=dtype, correction=correction, where=where, nan=nan)

    elif name in ROUNDED:

        def call(x, /, axis=None, *, dtype=None, keepdims=False, where=None, accuracy="exact", nan="propagate", overflow="raise"):
            return reduce(name, x, axis=axis, keepdims=keepdims, dtype=dtype, where=where, accuracy=accuracy, nan=nan, overflow=overflow)

    else:

        def call(x, /, axis=None, *, keepdims=False, where=None, nan="propagate"):
            return reduce(name, x, axis=axis, keepdims=keepdims, where=where, nan=nan)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`warpfold.{name}` of an array of JAX, also under jit, grad and vmap."
    return call


globals().update({name: function(name) for name in __all__ if name != "dot"})
