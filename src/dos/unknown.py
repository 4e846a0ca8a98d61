"""A fact that could not be read. It is never 0, [], False or None, and it never authorises anything."""

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

Given = TypeVar("Given")


class Unknown(Struct, frozen=True):
    why: str

    def __bool__(self) -> bool:
        raise TypeError(f"an unknown fact has no truth value: {self.why}")


def call_or_unknown(stranger: Callable[[], Given]) -> Given | Unknown:
    """The one door to code that is not ours: what it raises becomes a value, and the caller decides what that means."""
    try:
        return stranger()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything, and must not get its way by raising
        return Unknown(f"{type(error).__name__}: {error}")
