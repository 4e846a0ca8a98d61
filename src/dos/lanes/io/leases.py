"""Leases at one moment of the store's clock: their rows for people, and their holders.

All leases of one call are read at the same moment, so that their ages can be compared.
"""

from typing import Any

from msgspec import Struct

from dos.journal.store import Store
from dos.lanes.leases import HolderEvidence
from dos.lease import Lease
from dos.machine import process


class LeaseRow(Struct, frozen=True, kw_only=True):
    """A lease as verbs show it, at one moment of the store's clock."""

    lease: Lease
    lapsed: bool
    restarted: bool  # the machine has restarted since it was granted
    left_ms: int  # below zero if its time is over
    age_ms: int  # since it was granted or last renewed

    @property
    def expires_in_seconds(self) -> float:
        """The time that is left; 0 if it has lapsed."""
        if self.lapsed:
            return 0.0
        return max(0, self.left_ms) / 1000

    @property
    def age_seconds(self) -> int:
        """The time since it was granted or last renewed."""
        return max(0, self.age_ms) // 1000

    def to_json(self) -> dict[str, Any]:
        """The row in the shape of dos-kernel ≤ 0.30, with the fence and the time that is left."""
        from dos.journal.transfer.lane_log import lane_log_lease  # only `--json` pays for it

        shape = lane_log_lease(self.lease)
        if not shape.get("run_id"):
            shape.pop("run_id", None)
        if self.lease.part_of:
            shape["part_of"] = self.lease.part_of
        return {
            **shape,
            "fence": self.lease.fence,
            "mode": self.lease.mode.value,
            "exclusive": self.lease.exclusive,
            "expires_in_seconds": self.expires_in_seconds,
            "lapsed": self.lapsed,
        }


def lease_rows(store: Store, *, locks: bool = False) -> list[LeaseRow]:
    """The leases of lanes, or of named locks, that have not ended; oldest first, at one moment."""
    rows = []
    with store.backend.read() as view:
        now_ms = view.lease_ms()
        wall_ms = view.wall_ms()
        boot = view.boot()
        for lease in view.leases():
            if lease.is_lock == locks:
                rows.append(lease_row(lease, now_ms, wall_ms, boot))
    return rows


def lease_row(lease: Lease, now_ms: int, wall_ms: int, boot: str) -> LeaseRow:
    """A lease at a moment that the caller has read from the store."""
    restarted = lease.boot != boot
    left_ms = lease.expires_ms - now_ms
    if restarted:
        # Two boots of a machine share no clock but the wall's.
        age_ms = wall_ms - lease.beat_ms
    else:
        age_ms = lease.ttl_ms - left_ms
    return LeaseRow(
        lease=lease,
        lapsed=lease.has_lapsed(now_ms, boot),
        restarted=restarted,
        left_ms=left_ms,
        age_ms=age_ms,
    )


def leases_with_holders(journal: Store) -> list[tuple[Lease, HolderEvidence]]:
    """Every lease and lock that has not ended, with what is known of its holder."""
    with journal.backend.read() as view:
        now_ms = view.lease_ms()
        boot = view.boot()
        leases = view.leases()
    return [(lease, _holder_evidence(lease, now_ms, boot)) for lease in leases]


def _holder_evidence(lease: Lease, now_ms: int, boot: str) -> HolderEvidence:
    """What decides whether the lease has lost its holder."""
    return HolderEvidence(
        left_ms=lease.expires_ms - now_ms,
        restarted=lease.boot != boot,
        process_gone=process.holder_has_exited(lease),
        pid=lease.pid,
    )
