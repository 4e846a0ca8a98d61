"""Live leases as the arbiter reads them: from the journal, or from JSON that a caller wrote."""

from typing import Annotated

from msgspec import DecodeError, Meta, Struct, ValidationError, convert, json

from dos.errors import BadInput
from dos.lease import Lease
from dos.regions import Mode


class LiveLease(Struct, frozen=True, kw_only=True):
    """A live lease, as a caller writes it in JSON. Unknown keys are ignored."""

    lane: Annotated[str, Meta(min_length=1)]
    lane_kind: str = ""
    tree: tuple[str, ...] = ()  # empty: unknown, so it overlaps everything
    loop_ts: str = ""
    holder: str = ""
    fence: int | None = None
    mode: Mode = Mode.EXCLUSIVE
    exclusive: bool = False


def live_lease(lease: Lease) -> LiveLease:
    """A lease of the journal as the arbiter reads it."""
    return LiveLease(
        lane=lease.lane,
        lane_kind=lease.kind,
        tree=lease.region.globs,
        loop_ts=lease.loop_ts,
        holder=lease.holder,
        fence=lease.fence,
        mode=lease.mode,
        exclusive=lease.exclusive,
    )


def live_leases_from_json(text: str) -> list[LiveLease]:
    """The live leases in a JSON array. Raises BadInput: unreadable is never "none live"."""
    try:
        return json.decode(text, type=list[LiveLease])
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise _unusable(error) from error


def live_leases_from_rows(rows: object) -> list[LiveLease]:
    """The live leases in rows that were parsed from JSON. Raises BadInput."""
    try:
        return convert(rows, type=list[LiveLease])
    except (ValidationError, RecursionError) as error:
        raise _unusable(error) from error


def _unusable(error: Exception) -> BadInput:
    """The error for leases that cannot be read."""
    return BadInput(
        f"the live leases cannot be used: {error}",
        hint='Give a JSON array of objects, as [{"lane": "api", "tree": ["api/**"]}]; [] for none.',
    )
