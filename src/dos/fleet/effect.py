"""How a generator asks for something to be done, so that the type of every answer is known.

class TakeLease(Effect[Lease | Refusal], frozen=True, kw_only=True): ...

taken = yield from do(TakeLease(lane="api", run_id=run_id))    # Lease | Refusal
"""

from collections.abc import Callable, Generator, Mapping
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from msgspec import Struct

A = TypeVar("A")
Asked = TypeVar("Asked", covariant=True)
Answer = TypeVar("Answer", contravariant=True)


class Effect(Struct, Generic[A], frozen=True, kw_only=True):
    """A request to the outside world; A is the type of its answer."""

    @classmethod
    def performed_by(cls, perform: Callable[[Self], A], /) -> Callable[[Self], A]:
        """The performer, unchanged: type checkers read from here which effect it takes and what it has to return."""
        return perform


class Kind(Protocol[Asked, Answer]):
    """A class of effects, for functions that register its performer: both of its types are known."""

    def performed_by(self, perform: Callable[[Asked], Answer], /) -> object: ...


Steps = Generator[Effect[Any], Any, A]


def do(effect: Effect[A]) -> Steps[A]:
    """Yield an effect to whoever drives the generator, and return its answer."""
    return cast(A, (yield effect))


E = TypeVar("E")


Performers = Mapping[Kind[Any, Any], Callable[[Any], Any]]


def performs(
    kind: Kind[E, A], perform: Callable[[E], A]
) -> tuple[Kind[Any, Any], Callable[[Any], Any]]:
    """A row of the table of performers; mypy refuses a performer of another effect, and one with another answer."""
    return kind, perform
