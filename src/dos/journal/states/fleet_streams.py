"""Where what is said of the fleet as a whole is written, and by which name a supervisor holds its lock.

Each supervisor writes under the fence of its own lease, so each system has a stream of its own; what people ask of the
fleet carries no fence and is in one stream. Older versions wrote everything there.
"""

from dos.journal.events import Event
from dos.journal.store import Store, readable

FLEET = "fleet"
_SUPERVISORS = "supervisor/"


def of_system(system: str) -> str:
    """What the supervisors of one system say."""
    return f"{FLEET}/{system}"


def supervisor_lock(system: str) -> str:
    """The lock by which a system has one supervisor at a time."""
    return f"{_SUPERVISORS}{system}"


def is_supervisor_lock(lane: str) -> bool:
    return lane.startswith(_SUPERVISORS)


def load(store: Store) -> list[Event]:
    """What people and supervisors have said of the fleet, in order."""
    with store.backend.read() as view:
        streams = [FLEET, *view.streams(f"{FLEET}/")]
        found = [readable(event) for stream in streams for event in view.load(stream, 0, None)]
    return sorted(found, key=lambda event: event.pos)
