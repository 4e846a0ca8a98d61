"""Leases as lanes are judged by them: as the arbiter reads them, and whether a holder is gone.

A `LiveLease` comes from the journal, or from JSON that a caller wrote. `judge_holder` decides
whether a lease may be revoked. Only dead holders lose a lease: one that is slow, or whose process
cannot be seen from here, keeps it until its time is over. `Leases` sets how long that is.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from msgspec import DecodeError, Meta, Struct, ValidationError, convert, json

from dos.errors import BadInput
from dos.fields import Table
from dos.lease import Lease
from dos.regions import Mode
from dos.times import format_duration

LeaseMinutes = Annotated[float, Meta(gt=0, le=525_600)]
LeaseSeconds = Annotated[float, Meta(ge=1, le=86_400)]


class Leases(Table, frozen=True, kw_only=True):
    """[leases]: how long a lease lasts unless it is renewed, of workers and of people."""

    ttl_seconds: LeaseSeconds = 120.0
    """How long a worker's lease lasts unless it is renewed."""
    manual_ttl_minutes: LeaseMinutes = 50.0
    """How long a lease that a person or a script takes lasts unless it is renewed."""

    @property
    def ttl(self) -> timedelta:
        return timedelta(seconds=self.ttl_seconds)

    @property
    def manual_ttl(self) -> timedelta:
        return timedelta(minutes=self.manual_ttl_minutes)


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
    part_of: str = ""  # the repeatable lane that it is a part of


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
        part_of=lease.part_of,
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


class HolderState(StrEnum):
    """What is known of the holder of a lease."""

    PROCESS_GONE = "PROCESS_GONE"
    RESTARTED = "RESTARTED"  # the machine restarted, so no process of before is left
    LAPSED = "LAPSED"  # its time is over: anybody may take it
    HELD = "HELD"


class HolderEvidence(Struct, frozen=True, kw_only=True):
    """What the store's clock and the system say of a lease's holder."""

    left_ms: int  # by the store's clock; 0 or less if its time is over
    restarted: bool = False
    process_gone: bool = False  # only if the system says so, of that very process
    pid: int | None = None


class HolderVerdict(Struct, frozen=True, kw_only=True):
    """Whether the holder is gone, and by what that is known."""

    answer: HolderState
    reason: str

    @property
    def abandoned(self) -> bool:
        """Whether the lease may be revoked."""
        return self.answer is not HolderState.HELD


def judge_holder(evidence: HolderEvidence) -> HolderVerdict:
    """Decide whether a lease has lost its holder, and by what that is known."""
    # First, because `dos doctor --fix` releases only these without being asked.
    if evidence.process_gone:
        return HolderVerdict(
            answer=HolderState.PROCESS_GONE, reason=f"its process {evidence.pid} has exited"
        )
    # Before the time, because the clocks of two boots cannot be compared.
    if evidence.restarted:
        reason = "the machine has restarted since it was granted"
        return HolderVerdict(answer=HolderState.RESTARTED, reason=reason)
    seconds = evidence.left_ms / 1000
    if seconds <= 0:
        reason = f"it expired {format_duration(-seconds)} ago"
        return HolderVerdict(answer=HolderState.LAPSED, reason=reason)
    return HolderVerdict(
        answer=HolderState.HELD, reason=f"it expires in {format_duration(seconds)}"
    )
