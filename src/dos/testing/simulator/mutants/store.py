"""What a store must not do: each a small change of one that is right."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import patch

from msgspec import structs

from dos.journal import backend, prune, store, streams
from dos.journal.backends.memory import Rows
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.fleet import UnitLanded
from dos.lanes import admission
from dos.lease import Lease, Refusal, RefusalReason, Request

if TYPE_CHECKING:
    from dos.testing.simulator.simulation import Simulation

GAP_AT = 5  # the version that is left out


def fence_not_checked(_simulation: "Simulation", patches: ExitStack) -> None:
    """A fence is written beside what it should guard, and nobody looks at it."""

    def append(
        self: store.Store, tx: backend.WriteTransaction, entry: backend.Entry, raw: bytes
    ) -> Event:
        if (
            entry.fence is None
            or tx.lease(entry.fence)
            or (entry.key and tx.keyed(entry.stream, entry.key))
        ):
            return original(self, tx, entry, raw)
        return tx.insert(entry, tx.head(entry.stream) + 1, self.actor, raw)

    original = store.Store._append
    patches.enter_context(patch.object(store.Store, "_append", append))


def reap_by_fence_alone(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lease that was judged dead is revoked although it was renewed since."""

    def unchanged(tx: backend.ReadTransaction, fence: int, version: int) -> Lease:
        lease = tx.lease(fence)
        return original(tx, fence, lease.version if lease else version)

    original = store._unchanged
    patches.enter_context(patch.object(store, "_unchanged", unchanged))


def host_clock(simulation: "Simulation", _patches: ExitStack) -> None:
    """Whether a lease has run out is decided by the clock of the host that asks."""
    simulation.site.scheduler.host_clock_decides = True


def answered_again(_simulation: "Simulation", patches: ExitStack) -> None:
    """An answer does not look whether the question is still open."""
    original = store.Store.append_all

    def append_all(self: store.Store, entries: Sequence[backend.Entry]) -> list[Event]:
        answers = [each for each in entries if each.stream in streams.decision]
        return original(
            self,
            [structs.replace(each, expect=None) if each in answers else each for each in entries],
        )

    patches.enter_context(patch.object(store.Store, "append_all", append_all))


def versions_skipped(_simulation: "Simulation", patches: ExitStack) -> None:
    """A stream leaves a version out."""
    insert = Rows.insert

    def inserted(self: Rows, entry: backend.Entry, ver: int, actor: str, raw: bytes) -> Event:
        return insert(self, entry, ver + (ver == GAP_AT), actor, raw)

    patches.enter_context(patch.object(Rows, "insert", inserted))


def everything_admitted(simulation: "Simulation", _patches: ExitStack) -> None:
    """A lane is granted to whoever asks, whatever others hold, as long as its class has room."""
    judge = simulation.site.admit

    def admit(asked: Request, standing: Sequence[Lease]) -> Refusal | None:
        refused = judge(asked, standing)
        return (
            refused if refused and refused.reason is RefusalReason.CLASS_BUDGET_EXHAUSTED else None
        )

    simulation.site.admit = admit  # type: ignore[assignment]


def class_not_counted(simulation: "Simulation", _patches: ExitStack) -> None:
    """How many leases a class may have is nobody's business."""
    simulation.site.admit = partial(admission.judge, budgets={})


def table_left_behind(_simulation: "Simulation", patches: ExitStack) -> None:
    """The end of a lease is written, and its row stays."""
    patches.enter_context(patch.object(Rows, "drop_lease", lambda self, _fence: None))  # noqa: ARG005


def ended_again(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lease that has ended is ended once more."""
    end = store.Store._end

    def ended(self: store.Store, tx: backend.WriteTransaction, lease: Lease, fact: Fact) -> None:
        end(self, tx, lease, fact)
        self._record_lease(tx, lease, fact)

    patches.enter_context(patch.object(store.Store, "_end", ended))


def too_much_pruned(_simulation: "Simulation", patches: ExitStack) -> None:
    """What landed long ago goes with what nobody needs."""
    superseded = prune.superseded

    def more(happened: list[Event], *, older_than_ms: int, now_ms: int) -> list[Event]:
        landed = [event for event in happened if event.kind == UnitLanded.kind]
        return [*superseded(happened, older_than_ms=older_than_ms, now_ms=now_ms), *landed]

    patches.enter_context(patch.object(prune, "superseded", more))
