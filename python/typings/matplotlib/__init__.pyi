# The package looks at what this library has only where it is installed, and takes no types from it.
from typing import Any

def __getattr__(name: str) -> Any: ...
