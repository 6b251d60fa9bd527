from typing import Any, Literal

_Axis = int | tuple[int, ...] | None
_Accuracy = Literal["exact", "fast"]
_Nan = Literal["propagate", "ignore"]
_Overflow = Literal["raise", "wrap"]

def sum(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
) -> Any: ...
def mean(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
) -> Any: ...
def l1(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
) -> Any: ...
def l2(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
) -> Any: ...
def sumsq(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
) -> Any: ...
def linf(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
) -> Any: ...
def prod(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
) -> Any: ...
def var(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    correction: float = 0.0,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    nan: _Nan = "propagate",
) -> Any: ...
def std(
    x: Any,
    /,
    axis: _Axis = None,
    *,
    correction: float = 0.0,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = None,
    nan: _Nan = "propagate",
) -> Any: ...
def min(x: Any, /, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate") -> Any: ...
def max(x: Any, /, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate") -> Any: ...
def minmax(x: Any, /, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate") -> Any: ...
def argmin(x: Any, /, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate") -> Any: ...
def argmax(x: Any, /, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate") -> Any: ...
def any(x: Any, /, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate") -> Any: ...
def all(x: Any, /, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate") -> Any: ...
def count_nonzero(x: Any, /, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate") -> Any: ...
def dot(
    x: Any,
    y: Any,
    /,
    *,
    dtype: Any = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
) -> Any: ...
