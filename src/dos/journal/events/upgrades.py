"""How the facts of older versions are read, which carry in a sentence what now is a field. Nothing else reads those."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from dos.journal.events.envelope import Event
from dos.journal.events.fleet import WorkSalvaged
from dos.journal.events.limits import FleetFound, LimitHit
from dos.journal.events.runs import HaltProposed

_EARLIER = "left by an earlier run"
_WATCHDOG = "watchdog"


def _work_salvaged(fact: WorkSalvaged, event: Event) -> WorkSalvaged:
    """`why` began with whose work it was."""
    was_earlier = fact.why.startswith(_EARLIER)
    return structs.replace(fact, earlier=True) if was_earlier and not fact.earlier else fact


def _fleet_found(fact: FleetFound, event: Event) -> FleetFound:
    """The lanes stood before their holders: `api: host:12`."""
    if not fact.adopted or fact.adopted_lanes:
        return fact
    return structs.replace(fact, adopted_lanes=[line.rpartition(": ")[0] for line in fact.adopted])


def _limit_hit(fact: LimitHit, event: Event) -> LimitHit:
    """The host stood before the digest: `host/0123`."""
    if not fact.login or fact.login_host:
        return fact
    host, _, digest = fact.login.rpartition("/")
    return structs.replace(fact, login=digest, login_host=host)


def _halt_proposed(fact: HaltProposed, event: Event) -> HaltProposed:
    """When the run had moved last stood in the key alone: `watchdog/1700000000000/0`."""
    if fact.moved_ms is not None or fact.owner != _WATCHDOG or not event.key:
        return fact
    _, _, rest = event.key.partition("/")
    moved_ms = rest.partition("/")[0]
    return structs.replace(fact, moved_ms=int(moved_ms)) if moved_ms.isdecimal() else fact


UPGRADES: dict[str, Callable[[Any, Event], Any]] = {  # by kind
    WorkSalvaged.kind: _work_salvaged,
    FleetFound.kind: _fleet_found,
    LimitHit.kind: _limit_hit,
    HaltProposed.kind: _halt_proposed,
}
