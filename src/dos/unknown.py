"""Facts that could not be read.

An unknown fact is never 0, [], False or None, so that it cannot authorise anything by accident.
"""

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

Answer = TypeVar("Answer")


class Unknown(Struct, frozen=True):
    """A fact that could not be read, and why. Using it as a truth value raises TypeError."""

    why: str

    def __bool__(self) -> bool:
        raise TypeError(f"an unknown fact has no truth value: {self.why}")


def call_or_unknown(function: Callable[[], Answer]) -> Answer | Unknown:
    """Return what a plugin's function returns, or Unknown when it raises.

    All calls into the code of plugins go through here, so that no plugin gets its way by raising.
    """
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return Unknown(f"{type(error).__name__}: {error}")
