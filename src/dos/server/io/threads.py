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

Result = TypeVar("Result")

HOOKS = 8  # at once; more queue behind them
VERBS = 8
WAITS = 32  # they sleep nearly all of the time


class Threads:
    """Slots for each kind of work: a hook never queues behind a verb."""

    def __init__(self) -> None:
        self._hooks = asyncio.Semaphore(HOOKS)
        self._verbs = asyncio.Semaphore(VERBS)
        self._waits = asyncio.Semaphore(WAITS)

    async def run(self, ask: str, work: Callable[[], Result]) -> Result:
        """Run work in a thread and return its result. `ask` says which slots it takes.

        Work catches what it expects. Raises Internal for anything else, after the thread has
        printed where it happened.
        """
        async with self._slots(ask):
            results = await _in_thread(work)
        if not results:
            raise Internal("a bug in dos ended the request", hint="The server's log shows where.")
        return results[0]

    def _slots(self, ask: str) -> asyncio.Semaphore:
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
