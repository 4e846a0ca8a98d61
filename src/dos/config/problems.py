"""What is wrong with a `dos.toml`, and where."""

from msgspec import Struct

from dos.fields import Key


class Problem(Struct, frozen=True, kw_only=True):
    """One thing that is wrong with the file."""

    key: Key = ()
    message: str
    hint: str = ""
    path: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}" if place else self.message
