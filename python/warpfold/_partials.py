"""Arrays of partials: what engines exchange that reduce chunk by chunk."""

import functools
import operator

from . import _core

# The reductions whose partials merge in any order, and have one number as their result.
MERGEABLE = ("sum", "mean", "var", "std", "l1", "l2", "sumsq", "linf", "min", "max", "any", "all", "count_nonzero")


def _objects(values, shape):
    import numpy as np

    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape)


def as_objects(partials):
    """An array of partials, of one as well."""
    import numpy as np

    return _objects([partials], ()) if isinstance(partials, _core.Exact) else np.asarray(partials, object)


def partials(x, /, axis=None, op="sum", *, keepdims=False, nan="propagate", threads=None):
    """The exact partial of each output of a reduction over axes, as an array of objects.

    Such arrays are added elementwise, in any order and without loss, and `rounded` reads them. 0 stands for a partial of nothing.

    Parameters
    ----------
    x : array
        Of one chunk of the whole.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    op : str
        The reduction, as for `Exact`; one without indices, and of one array.
    keepdims : bool
        Whether reduced axes stay, with length 1.
    nan : {'propagate', 'ignore'}
        What a NaN does.
    threads : int, optional
        Threads at most. By default all cores.

    Returns
    -------
    numpy.ndarray
        Of `Exact` objects.

    Examples
    --------
    >>> import numpy as np
    >>> import warpfold as wf
    >>> a = wf.partials(np.array([[1e16, 1.0], [1.0, 2.0]]), axis=0)
    >>> b = wf.partials(np.array([[-1e16, 0.5]]), axis=0)
    >>> wf.rounded(a + b)
    array([1. , 3.5])
    """
    found, shape = _core._partials(x, axis, op, nan, threads)
    if keepdims:
        import numpy as np

        ndim = np.ndim(x)
        axes = range(ndim) if axis is None else [a % ndim for a in (axis if isinstance(axis, tuple) else (axis,))]
        shape = [1 if a in axes else n for a, n in enumerate(np.shape(x))]
    return _objects(found, shape)


def rounded(partials, /, dtype=None, *, correction=None, overflow="raise"):
    """The results of an array of partials, each rounded once.

    Parameters
    ----------
    partials : array of Exact
        Of one reduction. 0 stands for a partial of nothing.
    dtype : data-type, optional
        The type of the results, as in the reduction.
    correction : float, optional
        The divisor of a variance is `n - correction`. By default 0.
    overflow : {'raise', 'wrap'}
        What an integer result that is too large does.

    Returns
    -------
    numpy.ndarray
        Of the shape of `partials`. What has no value is NaN, where the type has one.

    Examples
    --------
    >>> import numpy as np
    >>> import warpfold as wf
    >>> wf.rounded(wf.partials(np.array([[1.0, 3.0], [5.0, 5.0]]), axis=1, op="var"), correction=0.5)
    array([1.33333333, 0.        ])
    """
    array = as_objects(partials)
    flat = array.ravel().tolist()
    first = next((one for one in flat if isinstance(one, _core.Exact)), None)
    if first is None:
        raise ValueError("there are no partials to round; give one at least")
    nothing = _core.Exact(first.dtype, first.op, nan=first.nan)
    results = _core._rounded([one if isinstance(one, _core.Exact) else nothing for one in flat], dtype, correction, overflow)
    if isinstance(results, tuple):
        return tuple(one.reshape(array.shape) for one in results)
    return results.reshape(array.shape)


def of_groups(codes, x, groups, op, nan="propagate"):
    """The partials of the groups 0 to `groups - 1`, as an array of objects."""
    return _objects(_core._group_partials(codes, x, groups, op, nan, None), (groups,))


def merged(parts):
    """All partials, or arrays of them, in one."""
    return functools.reduce(operator.add, parts)


def result_type(dtype, op, to=None):
    """The type that results of elements of a type have."""
    import numpy as np

    return np.asarray(rounded(partials(np.zeros(1, dtype), op=op), to)).dtype


def pack(partials):
    """A partial, or an array of them, as bytes."""
    if isinstance(partials, _core.Exact):
        return partials.to_bytes()
    import pickle

    return b"A" + pickle.dumps(partials)


def unpack(data):
    """What `pack` packed. Arrays are pickled: such bytes must come from a program that is trusted."""
    if data[:1] != b"A":
        return _core.Exact.from_bytes(data)
    import pickle

    return pickle.loads(data[1:])
