"""The threads in which verbs and hooks run, so that a slow one does not hold up the others.

They end with the process: a `wait` that sleeps for most of a minute does not delay its end, and
what a transaction has not committed is rolled back.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from dos.errors import Internal
from dos.server.io.slots import Slots

Result = TypeVar("Result")

# At once, and of one client; more queue behind them.
HOOKS = (8, 4)
VERBS = (8, 4)
WAITS = (128, 16)  # they sleep nearly all of the time
MOST_WAITS_QUEUED = 16  # of one client


class Threads:
    """Slots for each kind of work: a hook never queues behind a verb."""

    def __init__(self) -> None:
        self._hooks = Slots(*HOOKS)
        self._verbs = Slots(*VERBS)
        self._waits = Slots(*WAITS, most_queued=MOST_WAITS_QUEUED)

    async def run(self, ask: str, work: Callable[[], Result], *, client: object) -> Result:
        """Run work of a client in a thread and return its result. `ask` says which slots it takes.

        Work catches what it expects. Raises Refused where too much of it waits already, and
        Internal for anything else that ends it, after the thread has printed where it happened.
        """
        async with self._slots(ask).taken(client):
            results = await _in_thread(work)
        if not results:
            raise Internal("a bug in dos ended the request", hint="The server's log shows where.")
        return results[0]

    def _slots(self, ask: str) -> Slots:
        if ask == "hook":
            return self._hooks
        if ask == "wait":
            return self._waits
        return self._verbs


async def _in_thread(work: Callable[[], Result]) -> list[Result]:
    """Return the result of work as a list; an empty one where it was ended by a bug."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[list[Result]] = loop.create_future()

    def finish(results: list[Result]) -> None:
        if not ended.done():  # it is where the request was cancelled
            ended.set_result(results)

    def body() -> None:
        results: list[Result] = []
        try:
            results.append(work())
        finally:
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(finish, results)

    threading.Thread(target=body, daemon=True).start()
    return await ended
