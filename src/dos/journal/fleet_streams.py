"""What is said of the fleet as a whole, from the streams of people and of each system's supervisors."""

from dos.journal import streams
from dos.journal.events.envelope import Event
from dos.journal.store import Store, readable


def load(store: Store) -> list[Event]:
    """What people and supervisors have said of the fleet, in order."""
    with store.backend.read() as view:
        names = [streams.FLEET, *view.streams(streams.system.prefix)]
        found = [readable(event) for name in names for event in view.load(name, 0, None)]
    return sorted(found, key=lambda event: event.pos)
