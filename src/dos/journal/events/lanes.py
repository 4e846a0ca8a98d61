"""Events about leases of lanes and of named locks. The store records all of them but refusals."""

from dos.journal.events.envelope import Fact
from dos.lease import Request


class LeaseGranted(Fact, frozen=True, kw_only=True):
    """A lease was granted. The event's position in the journal is the lease's fence."""

    kind = "lease_granted"
    asked: Request
    boot: str
    expires_ms: int
    requested_lane: str = ""  # as it was requested, if another lane was chosen


class LeaseRenewed(Fact, frozen=True, kw_only=True):
    """The holder of a lease postponed its end."""

    kind = "lease_renewed"
    lease: int
    expires_ms: int


class LeaseReleased(Fact, frozen=True, kw_only=True):
    """The holder of a lease gave it back."""

    kind = "lease_released"
    lease: int
    reason: str = ""


class LeaseExpired(Fact, frozen=True, kw_only=True):
    """A lease that had lapsed was ended, because a new request needed its place.

    It is recorded together with the grant to the new holder, not when the time ran out.
    """

    kind = "lease_expired"
    lease: int


class LeaseRevoked(Fact, frozen=True, kw_only=True):
    """A supervisor or a person voided a lease whose holder has exited."""

    kind = "lease_revoked"
    lease: int
    reason: str


class LeaseAdopted(Fact, frozen=True, kw_only=True):
    """A new holder continues a lease under a new fence; the same event locks the old holder out."""

    kind = "lease_adopted"
    asked: Request
    boot: str
    expires_ms: int
    previous: int


class LeaseRefused(Fact, frozen=True, kw_only=True):
    """`dos lease-lane acquire` refused a request for a lane. No state follows from it."""

    kind = "lease_refused"
    lane: str
    holder: str
    reason_class: str
    reason: str
    run_id: str = ""
    loop_ts: str = ""
