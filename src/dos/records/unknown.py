"""A fact that could not be read. It is never 0, [], False or None, and it never authorises anything."""

from msgspec import Struct


class Unknown(Struct, frozen=True):
    why: str

    def __bool__(self) -> bool:
        raise TypeError(f"an unknown fact has no truth value: {self.why}")
