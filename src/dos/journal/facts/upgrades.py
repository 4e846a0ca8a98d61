"""How the facts of older versions are read, which carry in a sentence what now is a field. Nothing else reads those."""

from collections.abc import Callable
from typing import Any

UPGRADES: dict[str, Callable[[Any], Any]] = {}  # by kind
