from contextlib import AbstractContextManager
from typing import Any

Exact: type[AbstractContextManager[Any]]
