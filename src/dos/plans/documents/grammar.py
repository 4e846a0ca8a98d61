"""What counts as a unit of a plan document: the same keys as the table `[enumerate]`."""

from msgspec import Struct


class Grammar(Struct, frozen=True, kw_only=True):
    heading_levels: tuple[int, ...] = (2, 3, 4, 5, 6)
    scan_tables: bool = True
    generic_numeric_table: bool = False
    bare_phase_fallback: bool = True
    rollup_parents: bool = False
    style: str = "generic"
