"""Questions that take long, put at the same time. Threads of their own: a pool costs more to load than it saves."""

from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

from dos.errors import DosError


def run_concurrently(questions: Sequence[Callable[[], Any]]) -> list[Any]:
    """The answers in the order of the questions; the first failure is raised once all have answered."""
    answers: dict[int, Any] = {}

    def answer(place: int) -> None:
        try:
            answers[place] = questions[place]()
        except (DosError, OSError) as failure:
            answers[place] = failure

    threads = [Thread(target=answer, args=(place,)) for place in range(len(questions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # One that came to no end has a bug: asked here, it ends the caller.
    found = [
        answers[place] if place in answers else question()
        for place, question in enumerate(questions)
    ]
    for each in found:
        if isinstance(each, DosError | OSError):
            raise each
    return found
