"""What counts as a unit of a plan document."""

from typing import Annotated

from msgspec import Meta

from dos.fields import Table


class Grammar(Table, frozen=True, kw_only=True):
    """[enumerate]: how the units of a plan document are found."""

    heading_levels: tuple[Annotated[int, Meta(ge=1, le=6)], ...] = (2, 3, 4, 5, 6)
    scan_tables: bool = True
    generic_numeric_table: bool = False
    bare_phase_fallback: bool = True
    rollup_parents: bool = False
    style: str = "generic"
