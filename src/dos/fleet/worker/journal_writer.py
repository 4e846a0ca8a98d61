"""What a run appends to the journal: under its fence, and with a key that makes it exactly once.

The fence keeps a worker that has lost its lane from writing: the store refuses it. The key lets an
effect be repeated after an outage, when nothing shows whether the first attempt was stored.
"""

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
    """Appends facts for one run; an effect that is sent twice writes its fact once.

    Its methods are generators of effects, or return the effect for the caller to yield.
    """

    def __init__(self, *, run_id: str, lease: Lease) -> None:
        self.run_id = run_id
        self.lease = lease  # the run works under it
        self.run_lease = lease  # the run writes under it
        self._counter = count(1)

    @property
    def identity(self) -> dict[str, str]:
        """The fields that every fact of the run has."""
        return {"run_id": self.run_id, "lane": self.run_lease.lane}

    def for_lease(self, lease: Lease) -> "JournalWriter":
        """Return a writer of the same run for work under another lease that it holds."""
        other = copy(self)
        other.lease = lease
        return other

    def append(self, fact: Fact) -> Steps[None]:
        """Append a fact to the run's own stream.

        Raises Fenced when the run has lost its lane: another worker may have taken over.
        """
        yield from do(self.run_record(fact))

    def run_record(self, fact: Fact) -> effects.Record:
        """Return the record that appends a fact to the run's own stream."""
        key = f"{fact.kind}/{self.run_lease.fence}.{next(self._counter)}"
        return self.record(streams.run(self.run_id), fact, key)

    def record(self, stream: str, fact: Fact, key: str) -> effects.Record:
        """Return the record that appends a fact to any stream, under the run's fence."""
        return effects.Record(stream=stream, fact=fact, key=key, fence=self.run_lease.fence)

    def append_shared(
        self, stream: str, fact: Fact, key: str, *, expect: int | None = None
    ) -> Steps[None]:
        """Append a fact to a stream that all lanes write to.

        No fence: the fences of different lanes cannot be compared. Raises Conflict unless the
        stream is at version `expect`, where one is given.
        """
        yield from do(effects.Record(stream=stream, fact=fact, key=key, expect=expect))

    def ask(self, questions: Iterable[AnyQuestion]) -> Steps[None]:
        """Ask a person; a question that was asked before is not asked again."""
        for question in questions:
            entry = state.raise_entry(question)
            yield from self.append_shared(entry.stream, entry.body, state.RAISED)

    def append_salvage(
        self, salvaged: Iterable[effects.Salvage], *, kept_for: str = ""
    ) -> Steps[None]:
        """Record saved work; `kept_for` names the unit whose next attempt begins with it."""
        for salvage in salvaged:
            fact = fleet.WorkSalvaged(
                **self.identity,
                ref=salvage.ref,
                commit=salvage.commit,
                why=salvage.why,
                kept_for=kept_for,
                earlier=salvage.earlier,
            )
            yield from self.append(fact)
