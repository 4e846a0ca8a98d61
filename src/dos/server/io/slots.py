"""Slots for work that runs at the same time. Clients get them in turns, each a part of them."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dos.errors import Refused


class Slots:
    """`most` slots, of which one client has `most_of_client` at once. All others queue.

    Each client has a queue of its own, and a slot that is free goes to them in turns: who asks once
    does not queue behind all that another one has asked before.
    """

    def __init__(self, most: int, most_of_client: int, *, most_queued: int | None = None) -> None:
        """With `most_queued`, a client that has that many in its queue is refused."""
        self._free = most
        self._most_of_client = most_of_client
        self._most_queued = most_queued
        self._held: Counter[object] = Counter()
        self._queues: OrderedDict[object, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def taken(self, client: object) -> AsyncIterator[None]:
        """Hold a slot of a client. Raises Refused where its queue is full."""
        queued = sum(not turn.done() for turn in self._queues.get(client, ()))
        if self._most_queued is not None and queued >= self._most_queued:
            raise Refused(f"{queued} requests of this kind wait already", hint="Ask again.")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client, deque()).append(turn)
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was its turn, and nobody is there any more
                self._give_back(client)
            raise
        try:
            yield
        finally:
            self._give_back(client)

    def _give_back(self, client: object) -> None:
        self._free += 1
        self._held[client] -= 1
        if not self._held[client]:
            del self._held[client]
        self._hand_out()

    def _hand_out(self) -> None:
        """Give the free slots to those whose turn it is."""
        for client in list(self._queues):
            queue = self._queues[client]
            while queue and queue[0].cancelled():
                queue.popleft()
            if not queue:
                del self._queues[client]
        while self._free:
            client = next(filter(self._may_have_more, self._queues), None)
            if client is None:
                return
            queue = self._queues.pop(client)
            turn = queue.popleft()
            if queue:
                self._queues[client] = queue  # behind the others
            if not turn.cancelled():
                self._free -= 1
                self._held[client] += 1
                turn.set_result(None)

    def _may_have_more(self, client: object) -> bool:
        return self._held[client] < self._most_of_client
