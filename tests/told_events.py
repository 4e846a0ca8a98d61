"""Events as a store would have written them, at the moments that a test says."""

from collections import Counter

from msgspec import json

from dos.journal.events.envelope import Event, Fact


class Teller:
    """Hands out positions and versions as a store does, without one."""

    def __init__(self) -> None:
        self.happened: list[Event] = []
        self._versions: Counter[str] = Counter()

    def tell(self, stream: str, fact: Fact, at_ms: int) -> Event:
        self._versions[stream] += 1
        event = Event(
            pos=len(self.happened) + 1,
            stream=stream,
            ver=self._versions[stream],
            kind=fact.kind,
            at_ms=at_ms,
            actor="",
            fence=None,
            key=None,
            schema=1,
            raw=json.encode(fact),
        )
        self.happened.append(event)
        return event
