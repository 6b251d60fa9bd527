from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, final

__version__: str

# An array of any library: by the buffer protocol, DLPack or the Arrow C data interface.
_Array: TypeAlias = Any
# A scalar or an array of the library that the input came from.
_Result: TypeAlias = Any
# A name such as "float32", a numpy.dtype, a scalar type or a torch.dtype.
_DType: TypeAlias = Any
_Axis: TypeAlias = int | tuple[int, ...] | None
_Accuracy: TypeAlias = Literal["exact", "fast"]
_Nan: TypeAlias = Literal["propagate", "ignore"]
_Overflow: TypeAlias = Literal["raise", "wrap", "defer"]

int8: Literal["int8"]
int16: Literal["int16"]
int32: Literal["int32"]
int64: Literal["int64"]
uint8: Literal["uint8"]
uint16: Literal["uint16"]
uint32: Literal["uint32"]
uint64: Literal["uint64"]
float16: Literal["float16"]
bfloat16: Literal["bfloat16"]
float32: Literal["float32"]
float64: Literal["float64"]
complex64: Literal["complex64"]
complex128: Literal["complex128"]

def sum(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    initial: Any = None,
    where: _Array = None,
    weights: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_sum(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    dtype: _DType = None,
    out: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def mean(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    weights: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_mean(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    dtype: _DType = None,
    out: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def l1(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_l1(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    dtype: _DType = None,
    out: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def l2(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_l2(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    dtype: _DType = None,
    out: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def sumsq(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_sumsq(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    dtype: _DType = None,
    out: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def linf(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_linf(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    dtype: _DType = None,
    out: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def prod(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    initial: Any = None,
    where: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_prod(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    dtype: _DType = None,
    out: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def var(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    correction: float | None = None,
    ddof: float | None = None,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    weights: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_var(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    correction: float | None = None,
    ddof: float | None = None,
    dtype: _DType = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def std(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    correction: float | None = None,
    ddof: float | None = None,
    dtype: _DType = None,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    weights: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_std(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    correction: float | None = None,
    ddof: float | None = None,
    dtype: _DType = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def min(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    out: _Array = None,
    keepdims: bool = False,
    initial: Any = None,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_min(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def max(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    out: _Array = None,
    keepdims: bool = False,
    initial: Any = None,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_max(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def argmin(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_argmin(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def argmax(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_argmax(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def any(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    out: _Array = None,
    keepdims: bool = False,
    initial: Any = None,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_any(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def all(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    out: _Array = None,
    keepdims: bool = False,
    initial: Any = None,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_all(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def count_nonzero(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    out: _Array = None,
    keepdims: bool = False,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> _Result: ...
def segment_count_nonzero(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    out: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> _Result: ...
def minmax(
    x: _Array | str,
    /,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    stream: Any = None,
    **names: _Array,
) -> tuple[_Result, _Result]: ...
def segment_minmax(
    x: _Array | str,
    /,
    offsets: _Array = None,
    *,
    lengths: _Array = None,
    every: int | None = None,
    where: _Array = None,
    nan: _Nan = "propagate",
    threads: int | None = None,
    **names: _Array,
) -> tuple[_Result, _Result]: ...
def dot(
    x: _Array,
    y: _Array,
    /,
    *,
    dtype: _DType = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
) -> _Result: ...
@final
class Operator: ...

def operator(
    *,
    state: str,
    lift: str,
    merge: str,
    finish: str | None = None,
    identity: str | None = None,
    commutative: bool = False,
    tolerance: float = 1e-9,
) -> Operator: ...
def reduce(
    x: _Array,
    op: Operator,
    /,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    offsets: _Array = None,
    lengths: _Array = None,
    every: int | None = None,
    threads: int | None = None,
    **names: _Array,
) -> Any: ...
def stats(
    x: _Array,
    /,
    axis: _Axis = None,
    *,
    correction: float | None = None,
    ddof: float | None = None,
    keepdims: bool = False,
    where: _Array = None,
    nan: _Nan = "propagate",
    overflow: _Overflow = "raise",
    threads: int | None = None,
    stream: Any = None,
) -> Stats: ...
def group_by(
    keys: _Array,
    x: _Array | str,
    /,
    *,
    groups: int | None = None,
    where: _Array = None,
    threads: int | None = None,
    **names: _Array,
) -> GroupBy: ...

class Groups(NamedTuple):
    keys: _Result
    values: _Result

class Stats(NamedTuple):
    count: _Result = None
    nan_count: _Result = None
    sum: _Result = None
    mean: _Result = None
    var: _Result = None
    std: _Result = None
    min: _Result = None
    max: _Result = None
    argmin: _Result = None
    argmax: _Result = None
    l1: _Result = None
    l2: _Result = None

@final
class GroupBy:
    @property
    def keys(self) -> _Result: ...
    def reduce(self, op: Operator, /, **names: _Array) -> _Result: ...
    def sum(
        self,
        *,
        dtype: _DType = None,
        accuracy: _Accuracy = "exact",
        nan: _Nan = "propagate",
        overflow: _Overflow = "raise",
    ) -> _Result: ...
    def mean(
        self,
        *,
        dtype: _DType = None,
        accuracy: _Accuracy = "exact",
        nan: _Nan = "propagate",
        overflow: _Overflow = "raise",
    ) -> _Result: ...
    def l1(
        self,
        *,
        dtype: _DType = None,
        accuracy: _Accuracy = "exact",
        nan: _Nan = "propagate",
        overflow: _Overflow = "raise",
    ) -> _Result: ...
    def l2(
        self,
        *,
        dtype: _DType = None,
        accuracy: _Accuracy = "exact",
        nan: _Nan = "propagate",
        overflow: _Overflow = "raise",
    ) -> _Result: ...
    def sumsq(
        self,
        *,
        dtype: _DType = None,
        accuracy: _Accuracy = "exact",
        nan: _Nan = "propagate",
        overflow: _Overflow = "raise",
    ) -> _Result: ...
    def linf(
        self,
        *,
        dtype: _DType = None,
        accuracy: _Accuracy = "exact",
        nan: _Nan = "propagate",
        overflow: _Overflow = "raise",
    ) -> _Result: ...
    def prod(
        self,
        *,
        dtype: _DType = None,
        accuracy: _Accuracy = "exact",
        nan: _Nan = "propagate",
        overflow: _Overflow = "raise",
    ) -> _Result: ...
    def var(
        self,
        *,
        correction: float | None = None,
        ddof: float | None = None,
        dtype: _DType = None,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def std(
        self,
        *,
        correction: float | None = None,
        ddof: float | None = None,
        dtype: _DType = None,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def min(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def max(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def argmin(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def argmax(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def any(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def all(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def count_nonzero(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def minmax(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...
    def stats(
        self,
        *,
        nan: _Nan = "propagate",
    ) -> _Result: ...

def partials(
    x: _Array,
    /,
    axis: _Axis = None,
    op: str = "sum",
    *,
    keepdims: bool = False,
    nan: _Nan = "propagate",
    threads: int | None = None,
) -> Any: ...
def rounded(
    partials: Any,
    /,
    dtype: _DType = None,
    *,
    correction: float | None = None,
    overflow: _Overflow = "raise",
) -> Any: ...
@final
class Exact:
    def __new__(cls, dtype: _DType, /, op: str = "sum", *, nan: _Nan = "propagate") -> Exact: ...
    @property
    def count(self) -> int | None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def nan(self) -> str: ...
    def add(self, x: _Array, y: _Array = None, /, *, start: int | None = None, threads: int | None = None) -> None: ...
    def __add__(self, other: Exact | int, /) -> Exact: ...
    def __radd__(self, other: int, /) -> Exact: ...
    def merge(self, other: Exact) -> None: ...
    def round(
        self,
        dtype: _DType = None,
        *,
        correction: float | None = None,
        ddof: float | None = None,
        overflow: _Overflow = "raise",
    ) -> Any: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Exact: ...
    def __bytes__(self) -> bytes: ...
    def __copy__(self) -> Exact: ...
    def __deepcopy__(self, memo: Any, /) -> Exact: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Exact], tuple[bytes]]: ...

class Device(NamedTuple):
    kind: str
    name: str
    isa: str
    threads: int

class Explanation(NamedTuple):
    op: str
    dtype: str
    elements: int
    outputs: int
    bytes: int
    device: str
    isa: str
    threads: int
    kernel: str
    why: str
    workspace: int
    def _repr_html_(self) -> str: ...

def devices() -> list[Device]: ...
def warm() -> None: ...
def explain(
    op: str,
    x: _Array,
    /,
    axis: _Axis = None,
    *,
    where: _Array = None,
    accuracy: _Accuracy = "exact",
    nan: _Nan = "propagate",
    threads: int | None = None,
) -> Explanation: ...
def arg(name: str, /) -> Any: ...
def check() -> None: ...
