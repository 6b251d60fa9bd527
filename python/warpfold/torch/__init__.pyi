from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

__all__ = ["clip_grad_norm_", "exact"]

def exact() -> AbstractContextManager[Any]: ...
def clip_grad_norm_(
    parameters: Any | Iterable[Any],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any: ...
