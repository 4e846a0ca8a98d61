"""How a generator asks for an effect, so that type checkers know the type of every answer.

class TakeLease(Effect[Lease | Refusal], frozen=True, kw_only=True): ...

taken = yield from do(TakeLease(lane="api", run_id=run_id))    # Lease | Refusal
"""

from collections.abc import Callable, Generator, Mapping
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from msgspec import Struct

A = TypeVar("A")
E = TypeVar("E")
EffectT = TypeVar("EffectT", covariant=True)
AnswerT = TypeVar("AnswerT", contravariant=True)


class Effect(Struct, Generic[A], frozen=True, kw_only=True):
    """A request to the outside world; A is the type of its answer."""

    @classmethod
    def performed_by(cls, perform: Callable[[Self], A], /) -> Callable[[Self], A]:
        """Return the performer unchanged.

        Its signature tells type checkers which effect a performer takes and what it returns.
        """
        return perform


class Kind(Protocol[EffectT, AnswerT]):
    """A class of effects, whose effect and answer types are both known."""

    def performed_by(self, perform: Callable[[EffectT], AnswerT], /) -> object: ...


Steps = Generator[Effect[Any], Any, A]
Performers = Mapping[Kind[Any, Any], Callable[[Any], Any]]


def do(effect: Effect[A]) -> Steps[A]:
    """Yield an effect to the driver of the generator, and return its answer."""
    return cast(A, (yield effect))


def performs(
    kind: Kind[E, A], perform: Callable[[E], A]
) -> tuple[Kind[Any, Any], Callable[[Any], Any]]:
    """Return a row of the table of performers.

    mypy refuses a performer that takes another effect or returns another answer.
    """
    return kind, perform
