"""Correctly rounded reductions of arrays.

Every result is the mathematical value, rounded once: the same bits for any order, layout, number of threads and machine.

>>> import numpy as np
>>> import warpfold as wf
>>> wf.sum(np.full(10, 0.1))
np.float64(1.0)
"""

import os as _os

from . import _core
from ._core import (
    __version__,
    Exact,
    GroupBy,
    Operator,
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    dot,
    group_by,
    l1,
    l2,
    linf,
    max,
    mean,
    min,
    minmax,
    operator,
    prod,
    reduce,
    segment_all,
    segment_any,
    segment_argmax,
    segment_argmin,
    segment_count_nonzero,
    segment_l1,
    segment_l2,
    segment_linf,
    segment_max,
    segment_mean,
    segment_min,
    segment_minmax,
    segment_prod,
    segment_std,
    segment_sum,
    segment_sumsq,
    segment_var,
    stats,
    std,
    sum,
    sumsq,
    var,
    warm,
)
from ._deferred import check
from ._explain import Explanation, devices, explain
from ._expressions import arg
from ._partials import partials, rounded
from ._types import Device, Groups, Stats

# Names of element types, which NumPy's functions take as well.
int8 = "int8"
int16 = "int16"
int32 = "int32"
int64 = "int64"
uint8 = "uint8"
uint16 = "uint16"
uint32 = "uint32"
uint64 = "uint64"
float16 = "float16"
bfloat16 = "bfloat16"
float32 = "float32"
float64 = "float64"
complex64 = "complex64"
complex128 = "complex128"

__all__ = [
    "Device",
    "Exact",
    "Explanation",
    "GroupBy",
    "Groups",
    "Operator",
    "Stats",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "all",
    "any",
    "arg",
    "argmax",
    "argmin",
    "check",
    "count_nonzero",
    "devices",
    "dot",
    "explain",
    "group_by",
    "l1",
    "l2",
    "linf",
    "max",
    "mean",
    "min",
    "minmax",
    "operator",
    "partials",
    "prod",
    "reduce",
    "rounded",
    "segment_all",
    "segment_any",
    "segment_argmax",
    "segment_argmin",
    "segment_count_nonzero",
    "segment_l1",
    "segment_l2",
    "segment_linf",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_minmax",
    "segment_prod",
    "segment_std",
    "segment_sum",
    "segment_sumsq",
    "segment_var",
    "stats",
    "std",
    "sum",
    "sumsq",
    "var",
    "warm",
]

if hasattr(_os, "register_at_fork"):
    # The threads of the parent are not in the child, which starts its own.
    _os.register_at_fork(after_in_child=_core._forked)
