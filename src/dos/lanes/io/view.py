"""Leases as they are shown: in the released shape, with the fence and the time that is left."""

from typing import Any

from msgspec import Struct

from dos.journal.store import Store
from dos.journal.transfer.lane_log import released_shape
from dos.lease import Lease


class Row(Struct, frozen=True, kw_only=True):
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
        shape = released_shape(self.lease)
        return {
            **{name: value for name, value in shape.items() if name != "run_id" or value},
            "fence": self.lease.fence,
            "mode": self.lease.mode.value,
            "exclusive": self.lease.exclusive,
            "expires_in_seconds": self.expires_in_seconds,
            "lapsed": self.lapsed,
        }


def rows(store: Store, *, locks: bool = False) -> list[Row]:
    """The leases that nobody has ended, oldest first, all at the same moment."""
    with store.backend.read() as view:
        now_ms, wall_ms, boot = view.lease_ms(), view.wall_ms(), view.boot()
        return [
            row(lease, now_ms, wall_ms, boot) for lease in view.leases() if lease.is_lock == locks
        ]


def row(lease: Lease, now_ms: int, wall_ms: int, boot: str) -> Row:
    restarted = lease.boot != boot
    left_ms = lease.expires_ms - now_ms
    return Row(
        lease=lease,
        lapsed=lease.has_lapsed(now_ms, boot),
        restarted=restarted,
        left_ms=left_ms,
        # Two starts of a machine have no clock in common but the one on the wall.
        age_ms=wall_ms - lease.beat_ms if restarted else lease.ttl_ms - left_ms,
    )
