"""A run's pen: what it writes carries its fence and a key, so that it is written once, however often it is sent."""

from collections.abc import Iterable
from copy import copy
from itertools import count

from dos.fleet import effects
from dos.fleet.effect import Steps, do
from dos.journal import streams
from dos.journal.events import fleet
from dos.journal.events.envelope import Fact
from dos.lease import Lease
from dos.questions import state
from dos.questions.catalog import AnyQuestion


class JournalWriter:
    def __init__(self, *, run_id: str, lease: Lease) -> None:
        self.run_id = run_id
        self.lease = lease  # that is worked under
        self.run_lease = lease  # that is written under
        self._counter = count(1)

    @property
    def identity(self) -> dict[str, str]:
        return {"run_id": self.run_id, "lane": self.run_lease.lane}

    def for_lease(self, lease: Lease) -> "JournalWriter":
        """The same pen, for work under another lease of the same run."""
        other = copy(self)
        other.lease = lease
        return other

    def append(self, fact: Fact) -> Steps[None]:
        """To the run's own stream."""
        yield from do(self.run_record(fact))

    def run_record(self, fact: Fact) -> effects.Record:
        return self.record(
            streams.run(self.run_id),
            fact,
            f"{fact.kind}/{self.run_lease.fence}.{next(self._counter)}",
        )

    def record(self, stream: str, fact: Fact, key: str) -> effects.Record:
        return effects.Record(stream=stream, fact=fact, key=key, fence=self.run_lease.fence)

    def append_shared(
        self, stream: str, fact: Fact, key: str, *, expect: int | None = None
    ) -> Steps[None]:
        """To a stream that all lanes write to: there, one fence says nothing about another."""
        yield from do(effects.Record(stream=stream, fact=fact, key=key, expect=expect))

    def ask(self, questions: Iterable[AnyQuestion]) -> Steps[None]:
        """Of a person; one that was asked before is not asked again."""
        for question in questions:
            entry = state.raise_entry(question)
            yield from self.append_shared(entry.stream, entry.body, state.RAISED)

    def append_salvage(
        self, salvaged: Iterable[effects.Salvage], *, kept_for: str = ""
    ) -> Steps[None]:
        """`kept_for` is the unit whose next attempt begins with it."""
        for saved in salvaged:
            yield from self.append(
                fleet.WorkSalvaged(
                    **self.identity,
                    ref=saved.ref,
                    commit=saved.commit,
                    why=saved.why,
                    kept_for=kept_for,
                    earlier=saved.earlier,
                ),
            )
