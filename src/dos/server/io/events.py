"""The journal as server-sent events: nothing is lost between two connections, nothing is doubled.

One thread waits for the journal, however many look on; each client reads on from its own position.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial

from dos.errors import DosError
from dos.journal.backends.open import embedded_path
from dos.journal.lines import format_line
from dos.server.http import server_sent_event
from dos.server.io.threads import Threads
from dos.workspace import Workspace
from dos.world import World

EVENTS = "events"  # in whose name the threads read
PAGE = 500  # events that are sent at once
BEAT_SECONDS = 15.0  # between two signs of life; a client that is gone is noticed by one
RETRY_MS = 1000  # after which a browser connects again
SLICE_SECONDS = 5.0
PAUSE_SECONDS = 1.0  # before a journal that is away is opened again
BREATH_SECONDS = 0.02  # between two rings: a busy fleet moves the journal all the time


class EventFeed:
    """Follows the journal of a workspace for several clients."""

    def __init__(
        self, place: Workspace, threads: Threads, *, most: int, most_of_client: int
    ) -> None:
        self._place = place
        self._threads = threads
        self._most = most
        self._most_of_client = most_of_client
        self._streams: Counter[str] = Counter()
        self._bells: set[asyncio.Event] = set()
        self._is_watched = False

    def has_room(self, client: str) -> bool:
        """Whether one more client of this kind may look on: programs leave room to browsers."""
        is_below = self._streams[client] < self._most_of_client
        return is_below and self._streams.total() < self._most

    async def follow(self, after: int | None, client: str) -> AsyncIterator[bytes]:
        """Yield all events after a position, by default after the newest, and what comes."""
        self._streams[client] += 1
        bell = asyncio.Event()
        self._bells.add(bell)
        try:
            self._watch()
            yield b"retry: %d\n\n" % RETRY_MS
            position = after
            while True:
                bell.clear()
                page = await self._threads.run("verb", partial(self._read, position), client=EVENTS)
                if page is None:
                    yield b": the journal cannot be read\n\n"
                    await asyncio.sleep(SLICE_SECONDS)
                    continue
                position, lines = page
                if lines:
                    yield b"".join(lines)
                    continue
                try:
                    await asyncio.wait_for(bell.wait(), BEAT_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self._bells.discard(bell)
            self._streams[client] -= 1

    def _read(self, after: int | None) -> tuple[int, list[bytes]] | None:
        """Return a page of events with the position after it; None: the journal is away."""
        try:
            with World(self._place.root, lenient=True) as world:
                if after is None:
                    return world.journal.last(), []
                events = world.journal.tail(after, PAGE)
        except DosError:
            return None
        lines = []
        for event in events:
            lines.append(server_sent_event(event.pos, event.kind, format_line(event).encode()))
        return (events[-1].pos if events else after), lines

    def _watch(self) -> None:
        """Start the thread that waits for the journal, unless it runs."""
        if self._is_watched:
            return
        self._is_watched = True
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._ring, args=(loop,), daemon=True).start()

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ring whenever the journal has moved, until nobody looks on."""
        pause = threading.Event()
        while self._bells:
            try:
                with World(self._place.root, lenient=True) as world:
                    self._ring_while_open(world, loop, pause)
            except DosError:
                pass  # the journal is away; the clients are told where they read it
            pause.wait(PAUSE_SECONDS)
        self._is_watched = False

    def _ring_while_open(
        self, world: World, loop: asyncio.AbstractEventLoop, pause: threading.Event
    ) -> None:
        """Ring for what one opened journal shows; one that does not exist yet shows nothing."""
        path = embedded_path(world.config.store.url, world.workspace.state)
        exists = path is None or path.exists()
        journal = world.journal
        position = journal.last()
        loop.call_soon_threadsafe(self._ring_all)
        while self._bells and exists:
            journal.wait(position, SLICE_SECONDS)
            last = journal.last()
            if last != position:
                position = last
                loop.call_soon_threadsafe(self._ring_all)
                pause.wait(BREATH_SECONDS)

    def _ring_all(self) -> None:
        for bell in self._bells:
            bell.set()
