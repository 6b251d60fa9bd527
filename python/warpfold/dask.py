"""Exact reductions of dask's arrays and data frames: the same bits at any chunking.

>>> import dask.array as da
>>> import warpfold.dask
>>> x = da.from_array([1e16, 1.0, -1e16, 1.0], chunks=1)
>>> float(warpfold.dask.sum(x).compute())
2.0
"""

import functools

import dask.array as _da
import numpy as _np

from . import Exact, partials, rounded
from ._partials import MERGEABLE, _objects, as_objects, merged, of_groups, result_type

__all__ = ["Aggregation", "dot", *MERGEABLE]


def _chunk(x, axis, keepdims, op, nan, computing_meta=False):
    if computing_meta:
        return _np.empty((0,) * x.ndim)
    # Dask has its own threads: one a chunk.
    return partials(_np.asarray(x), axis if x.ndim else None, op, keepdims=keepdims, nan=nan, threads=1)


def _dot_chunk(x, weights=None, axis=None, keepdims=True, nan="propagate", computing_meta=False):
    if computing_meta:
        return _np.empty((0,) * x.ndim)
    partial = Exact(x.dtype, "dot", nan=nan)
    if weights is not None:
        partial.add(_np.asarray(x), _np.asarray(weights), threads=1)
    return _objects([partial], (1,) * x.ndim)


def _flat(parts):
    if not isinstance(parts, list):
        return [as_objects(parts)]
    return [one for part in parts for one in _flat(part)]


def _combine(parts, axis, keepdims):
    return as_objects(merged(_flat(parts)))


def _aggregate(parts, axis, keepdims, to, correction, overflow, dtype, is_whole):
    merged = _combine(parts, axis, True)
    if not merged.size:
        return _np.empty(merged.shape if keepdims else merged.squeeze(axis).shape, dtype)
    if is_whole and isinstance(one := merged.item(), Exact) and one.op in ("min", "max"):
        # Says that there is no result; of several, one that does not exist is NaN.
        one.round()
    total = rounded(merged, to, correction=correction, overflow=overflow)
    return total if keepdims or not total.ndim else total.squeeze(axis)


def _reduction(op, x, axis, keepdims, to, correction, nan, overflow, split_every, other=None):
    x = _da.asanyarray(x)
    if other is None:
        chunk, dtype = functools.partial(_chunk, op=op, nan=nan), result_type(x.dtype, op, to)
    else:
        chunk, dtype = functools.partial(_dot_chunk, nan=nan), result_type(x.dtype, "sum", to)
    axes = tuple(range(x.ndim)) if axis is None else axis
    reduced = {a % x.ndim for a in (axes if isinstance(axes, (tuple, list)) else (axes,)) if -x.ndim <= a < x.ndim}
    kept = x.ndim - len(reduced)
    if op in ("min", "max") and 0 in (x.shape[a] for a in reduced):
        raise ValueError(f"{op} of no elements has no value; give an array that has some")
    return _da.reduction(
        x,
        chunk=chunk,
        combine=_combine,
        aggregate=functools.partial(_aggregate, to=to, correction=correction, overflow=overflow, dtype=dtype, is_whole=not kept),
        axis=axes,
        keepdims=keepdims,
        dtype=dtype,
        split_every=split_every,
        name="warpfold-" + op,
        concatenate=False,
        meta=_np.empty((0,) * (x.ndim if keepdims else kept), dtype),
        weights=other,
    )


def _function(op):
    if op in ("var", "std"):

        def function(x, /, axis=None, *, correction=None, ddof=None, dtype=None, keepdims=False, nan="propagate", split_every=None):
            if correction is not None and ddof is not None:
                raise TypeError("correction and ddof are two names of one choice; give one of them")
            correction = ddof if correction is None else correction
            return _reduction(op, x, axis, keepdims, dtype, correction, nan, "raise", split_every)

    elif op in ("min", "max", "any", "all", "count_nonzero"):

        def function(x, /, axis=None, *, keepdims=False, nan="propagate", split_every=None):
            return _reduction(op, x, axis, keepdims, None, None, nan, "raise", split_every)

    else:

        def function(x, /, axis=None, *, dtype=None, keepdims=False, nan="propagate", overflow="raise", split_every=None):
            return _reduction(op, x, axis, keepdims, dtype, None, nan, overflow, split_every)

    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"As `warpfold.{op}`, of a dask array; lazy, and the same bits at any chunking."
    return function


for _op in MERGEABLE:
    globals()[_op] = _function(_op)


def dot(x, y, /, *, dtype=None, nan="propagate", overflow="raise", split_every=None):
    """As `warpfold.dot`, of two dask arrays of one shape."""
    x, y = _da.asanyarray(x), _da.asanyarray(y)
    if x.shape != y.shape:
        raise ValueError(f"dot takes two arrays of one shape, and they have {x.shape} and {y.shape}")
    return _reduction("dot", x, None, False, dtype, None, nan, overflow, split_every, other=y)


def _series_chunk(groups, op, nan):
    import pandas as pd

    # Where a key is missing its group has no number: it is -1, or NaN.
    codes, values = groups.ngroup().fillna(-1).to_numpy(_np.int64), groups.obj.to_numpy()
    index = groups.size().index
    kept = codes >= 0
    codes, values = (codes, values) if kept.all() else (codes[kept], values[kept])
    # The numbers of groups, in the order of their index.
    found = of_groups(_np.ascontiguousarray(codes), _np.ascontiguousarray(values), len(index), op, nan)
    return pd.Series(found, index=index, dtype=object, name=groups.obj.name)


def _series_merge(groups):
    return groups.agg(lambda parts: merged(list(parts)))


def _series_round(series, correction):
    import pandas as pd

    if not len(series):
        return series.astype(float)
    return pd.Series(rounded(series.to_numpy(object), correction=correction), index=series.index, name=series.name)


def Aggregation(op="sum", *, correction=None, nan="ignore"):
    """An aggregation for `groupby(…).agg(…)` of dask's data frames. NaN is what is missing, and skipped, as in pandas.

    Parameters
    ----------
    op : str
        The reduction.
    correction : float, optional
        The divisor of a variance is `n - correction`. By default 1, as in pandas.
    nan : {'ignore', 'propagate'}
        What a NaN does.
    """
    from dask.dataframe import Aggregation

    if op not in MERGEABLE:
        raise ValueError(f"op={op!r} is not one of {', '.join(MERGEABLE)}")
    if correction is None and op in ("var", "std"):
        correction = 1
    chunk = functools.partial(_series_chunk, op=op, nan=nan)
    return Aggregation("exact_" + op, chunk, _series_merge, functools.partial(_series_round, correction=correction))
