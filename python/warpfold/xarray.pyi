from typing import Any, Literal, TypeAlias

_Nan: TypeAlias = Literal["propagate", "ignore"]

__all__: list[str]

def aggregation(op: str = "sum", dtype: Any = "float64", *, to: Any = None, correction: float | None = None, nan: _Nan = "propagate") -> Any: ...
