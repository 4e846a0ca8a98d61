"""What is written of leases."""

from dos.journal.events.envelope import Fact
from dos.lease import Request


class LeaseGranted(Fact, frozen=True, kw_only=True):
    """Its position in the journal is the lease's fence."""

    kind = "lease_granted"
    asked: Request
    boot: str
    expires_ms: int
    requested_lane: str = ""


class LeaseRenewed(Fact, frozen=True, kw_only=True):
    kind = "lease_renewed"
    lease: int
    expires_ms: int


class LeaseReleased(Fact, frozen=True, kw_only=True):
    kind = "lease_released"
    lease: int
    reason: str = ""


class LeaseExpired(Fact, frozen=True, kw_only=True):
    kind = "lease_expired"
    lease: int  # its time was over, and another took the place


class LeaseRevoked(Fact, frozen=True, kw_only=True):
    kind = "lease_revoked"
    lease: int
    reason: str


class LeaseAdopted(Fact, frozen=True, kw_only=True):
    """A new holder goes on with a lease, under a new fence: the old holder is locked out by the same event."""

    kind = "lease_adopted"
    asked: Request
    boot: str
    expires_ms: int
    previous: int


class LeaseRefused(Fact, frozen=True, kw_only=True):
    kind = "lease_refused"
    lane: str
    holder: str
    reason_class: str
    reason: str
    run_id: str = ""
    loop_ts: str = ""
