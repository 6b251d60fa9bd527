"""Exact grouped reductions for flox, and so for xarray: the same bits at any chunking.

Give `aggregation("sum")` as `func` to `flox.groupby_reduce` or `flox.xarray.xarray_reduce`.
"""

import functools

import numpy as _np
from flox import Aggregation as _Aggregation

from ._partials import MERGEABLE, of_groups, result_type, rounded

__all__ = ["aggregation"]


def _chunk(codes, x, *, op, nan, axis=-1, size=None, fill_value=None, dtype=None):
    codes = _np.ascontiguousarray(codes)
    size = int(codes.max()) + 1 if size is None else size
    rows = _np.ascontiguousarray(x).reshape(-1, x.shape[-1])
    found = _np.empty((len(rows), size), object)
    for k, row in enumerate(rows):
        found[k] = of_groups(codes, row, size, op, nan)
    return found.reshape(*x.shape[:-1], size)


def _combine(parts, axis, keepdims):
    return _np.add.reduce(parts, axis=axis, keepdims=keepdims)


def _whole(codes, x, *, op, nan, correction, to, axis=-1, size=None, fill_value=None, dtype=None):
    # In memory the type is only known here.
    return _finalize(_chunk(codes, x, op=op, nan=nan, size=size), correction=correction, to=to)


def _finalize(found, *, correction, to):
    return rounded(found, to, correction=correction)


def aggregation(op="sum", dtype="float64", *, to=None, correction=None, nan="propagate"):
    """A reduction of groups for flox.

    Parameters
    ----------
    op : str
        The reduction.
    dtype : data-type
        The type of the elements.
    to : data-type, optional
        The type of the results, where the reduction rounds.
    correction : float, optional
        The divisor of a variance is `n - correction`. By default 0.
    nan : {'propagate', 'ignore'}
        What a NaN does.

    Examples
    --------
    >>> import numpy as np, flox
    >>> import warpfold.xarray
    >>> x, by = np.array([1e16, 1.0, -1e16, 2.0]), np.array([0, 0, 0, 1])
    >>> flox.groupby_reduce(x, by, func=warpfold.xarray.aggregation("sum"))[0]
    array([1., 2.])
    """
    if op not in MERGEABLE:
        raise ValueError(f"op={op!r} is not one of {', '.join(MERGEABLE)}")
    finish = {"correction": correction, "to": to}
    return _Aggregation(
        name="exact_" + op,
        numpy=functools.partial(_whole, op=op, nan=nan, **finish),
        chunk=functools.partial(_chunk, op=op, nan=nan),
        combine=_combine,
        finalize=functools.partial(_finalize, **finish),
        fill_value=0,
        final_fill_value=0 if op in ("sum", "l1", "l2", "sumsq", "linf", "count_nonzero", "any") else None,
        dtypes=_np.dtype(object),
        final_dtype=result_type(dtype, op, to),
    )
