"""Leases as they are shown: in the released shape, with the fence and the time that is left."""

from typing import Any

from msgspec import Struct

from dos.journal.store import Store
from dos.lanes.abandoned import Evidence
from dos.lease import Lease
from dos.machine import process


class LeaseRow(Struct, frozen=True, kw_only=True):
    """A lease at one moment of the store's clock."""

    lease: Lease
    lapsed: bool
    restarted: bool  # the machine has been started again since it was granted
    left_ms: int  # below zero when its time is over
    age_ms: int  # since it was granted or last renewed

    @property
    def expires_in_seconds(self) -> float:
        return max(0, 0 if self.lapsed else self.left_ms) / 1000

    @property
    def age_seconds(self) -> int:
        return max(0, self.age_ms) // 1000

    def to_json(self) -> dict[str, Any]:
        from dos.journal.transfer.lane_log import lane_log_lease

        shape = lane_log_lease(self.lease)
        return {
            **{name: value for name, value in shape.items() if name != "run_id" or value},
            "fence": self.lease.fence,
            "mode": self.lease.mode.value,
            "exclusive": self.lease.exclusive,
            "expires_in_seconds": self.expires_in_seconds,
            "lapsed": self.lapsed,
        }


def lease_rows(store: Store, *, locks: bool = False) -> list[LeaseRow]:
    """The leases that nobody has ended, oldest first, all at the same moment."""
    with store.backend.read() as view:
        now_ms, wall_ms, boot = view.lease_ms(), view.wall_ms(), view.boot()
        return [
            lease_row(lease, now_ms, wall_ms, boot)
            for lease in view.leases()
            if lease.is_lock == locks
        ]


def lease_row(lease: Lease, now_ms: int, wall_ms: int, boot: str) -> LeaseRow:
    restarted = lease.boot != boot
    left_ms = lease.expires_ms - now_ms
    return LeaseRow(
        lease=lease,
        lapsed=lease.has_lapsed(now_ms, boot),
        restarted=restarted,
        left_ms=left_ms,
        # Two starts of a machine have no clock in common but the one on the wall.
        age_ms=wall_ms - lease.beat_ms if restarted else lease.ttl_ms - left_ms,
    )


def leases_with_holders(journal: Store) -> list[tuple[Lease, Evidence]]:
    """The leases that nobody has ended, of lanes and of named locks, each with what is known of its holder."""
    with journal.backend.read() as view:
        now_ms, boot = view.lease_ms(), view.boot()
        found = view.leases()
    return [(lease, _holder_evidence(lease, now_ms, boot)) for lease in found]


def _holder_evidence(lease: Lease, now_ms: int, boot: str) -> Evidence:
    return Evidence(
        left_ms=lease.expires_ms - now_ms,
        restarted=lease.boot != boot,
        process_gone=process.holder_has_exited(lease),
        pid=lease.pid,
    )
