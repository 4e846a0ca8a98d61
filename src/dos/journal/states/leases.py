"""Who holds what, from the lease events alone. The lease table must always say the same."""

from typing import ClassVar

from msgspec import Struct, field, structs

from dos.journal import events
from dos.journal.events import Event
from dos.records.leases import Lease, Request

KINDS = frozenset(
    fact.kind
    for fact in (
        events.LeaseGranted,
        events.LeaseRenewed,
        events.LeaseReleased,
        events.LeaseExpired,
        events.LeaseRevoked,
        events.LeaseAdopted,
    )
)


class Leases(Struct, kw_only=True):
    """Every lease that nobody has ended, by its fence; named locks too."""

    name: ClassVar[str] = "leases"

    live: dict[int, Lease] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        if event.kind not in KINDS:
            return
        match events.decode(event):
            case events.LeaseGranted() as fact:
                self._begin(event, fact.asked, fact.boot, fact.expires_ms)
            case events.LeaseAdopted() as fact:
                self.live.pop(fact.previous, None)
                self._begin(event, fact.asked, fact.boot, fact.expires_ms)
            case events.LeaseRenewed() as fact:
                if lease := self.live.get(fact.lease):
                    self.live[fact.lease] = structs.replace(
                        lease, expires_ms=fact.expires_ms, beat_ms=event.at_ms, version=event.ver
                    )
            case events.LeaseReleased() | events.LeaseExpired() | events.LeaseRevoked() as fact:
                self.live.pop(fact.lease, None)

    def _begin(self, event: Event, asked: Request, boot: str, expires_ms: int) -> None:
        self.live[event.pos] = Lease(
            **structs.asdict(asked),
            fence=event.pos,
            boot=boot,
            granted_ms=event.at_ms,
            beat_ms=event.at_ms,
            expires_ms=expires_ms,
            version=event.ver,
        )
