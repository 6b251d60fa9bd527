from collections.abc import Callable
from typing import Any

def functions(allreduce: Callable[..., Any], keyword: str, about: str) -> dict[str, Callable[..., Any]]: ...
