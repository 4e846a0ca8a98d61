"""How commit subjects say that a unit shipped, as data."""

from msgspec import Struct

Words = tuple[str, ...]


class Stamp(Struct, frozen=True, kw_only=True):
    subject_dirs: Words = ()  # one of them must stand before the series; none: any folder may
    summary_bundle_prefixes: Words = ()  # subjects that begin with one bring several units, as a release does
    bookkeeping_prefixes: Words = ()  # subjects that begin with one ship nothing
    progress_markers: Words = ()  # as the next word after the unit they say that it goes on
    sub_phase_parent_fallback: bool = False
    trailer_stamp: bool = False
