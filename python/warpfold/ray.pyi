from abc import ABCMeta
from typing import Any

__all__: list[str]

class Aggregate(metaclass=ABCMeta):
    def __init__(
        self,
        op: str = "sum",
        on: str | None = None,
        *,
        correction: float | None = None,
        nan: str = "propagate",
        name: str | None = None,
    ) -> None: ...
    def aggregate_block(self, block: Any) -> bytes: ...
    def combine(self, current_accumulator: bytes, new: bytes) -> bytes: ...
    def finalize(self, accumulator: bytes) -> Any: ...
