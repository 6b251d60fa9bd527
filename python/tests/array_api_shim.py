"""NumPy's namespace with this library's reductions in it: what the array API's own test suite is given (see results/python/checks.json)."""

import numpy as _numpy
import warpfold as _wf
from numpy import *  # noqa: F403


def __getattr__(name):
    return getattr(_numpy, name)


def _array(result):
    """What the suite takes for an array: NumPy's scalars are none to all of it."""
    return _numpy.asarray(result)


def _summed(function):
    def reduction(x, /, *, axis=None, dtype=None, keepdims=False):
        return _array(function(x, axis, dtype=dtype, keepdims=keepdims))

    reduction.__name__ = function.__name__
    return reduction


def _spread(function):
    def reduction(x, /, *, axis=None, correction=0.0, keepdims=False):
        return _array(function(x, axis, correction=correction, keepdims=keepdims))

    reduction.__name__ = function.__name__
    return reduction


def _plain(function):
    def reduction(x, /, *, axis=None, keepdims=False):
        return _array(function(x, axis, keepdims=keepdims))

    reduction.__name__ = function.__name__
    return reduction


sum, prod = _summed(_wf.sum), _summed(_wf.prod)
var, std = _spread(_wf.var), _spread(_wf.std)
mean, min, max, any, all, argmin, argmax, count_nonzero = map(
    _plain, (_wf.mean, _wf.min, _wf.max, _wf.any, _wf.all, _wf.argmin, _wf.argmax, _wf.count_nonzero)
)
bool = _numpy.bool_  # noqa: A001
