"""Performs the effects of a generator, one by one, and sends back the answers."""

from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

from dos.errors import DosError, Internal

R = TypeVar("R")
Performers = Mapping[type, Callable[[Any], Any]]


def drive(process: Generator[Any, Any, R], performers: Performers) -> R:
    """An effect that fails with one of our errors is raised where it was yielded; the process decides what it means."""
    answer: Any = None
    failure: DosError | None = None
    while True:
        try:
            effect = process.throw(failure) if failure else process.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        perform = performers.get(type(effect))
        if perform is None:
            raise Internal(f"nothing here can perform {type(effect).__name__}")
        try:
            answer, failure = perform(effect), None
        except DosError as error:
            answer, failure = None, error
