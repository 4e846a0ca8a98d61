"""What a unit says about itself before it is worked on, where its plan document does not."""

from typing import Literal

from dos.fields import Table, check_not_blank, check_text
from dos.records import regions


class DeclaredUnit(Table, frozen=True, kw_only=True):
    """`[units.AUTH1]`, or `[units."AUTH/AUTH1"]` where two plans have one of that id."""

    paths: tuple[str, ...] = ()
    accept: str = ""
    kind: Literal["code", "docs", "config"] = "code"

    def __post_init__(self) -> None:
        for place, glob in enumerate(self.paths):
            check_not_blank(glob, ("paths", place))
        regions.region(self.paths)
        check_text(self.accept, ("accept",))
