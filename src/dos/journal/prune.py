"""Removes old events that later ones superseded, so that no state folded from the rest differs.

Removable are the renewals of a lease except its newest, refusals, faults of hooks, whole leases
that have ended and belong to no run, results of checks, earlier positions of exports and earlier
messages, and of tool calls, answers of hooks and verdicts of verbs all but the newest. Everything
else is kept for ever, and so is the newest event of every stream, because the next version follows
it; of the streams of checks nothing is: each tree has its own, and a result that is gone costs one
more run.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, takewhile
from pathlib import Path
from typing import assert_never

from msgspec import Struct, json

from dos.errors import BadInput
from dos.journal import lease_state, streams
from dos.journal.backend import Entry
from dos.journal.events import doors, fleet, lanes, runs
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import JournalPruned
from dos.journal.events.reader import FactReader
from dos.journal.fold import pruned_through
from dos.journal.lines import Archive
from dos.journal.store import Store

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
FLOOR_MS = DAY_MS  # no younger event is ever removed
KEYED_MS = 7 * DAY_MS  # a writer that retries with a key must find its first event
BATCH = 5_000

# No state follows from them, or only from the newest of their stream.
Outward = doors.ExportAdvanced | doors.NotificationSent
Transient = lanes.LeaseRefused | fleet.HookFault | runs.CommandChecked | Outward
HookRecord = doors.ToolCalled | doors.HookAnswered
Handled = lease_state.Handled | Transient | HookRecord | doors.VerdictGiven
# Events of the silent kinds are kept.
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_started
        fleet_stopped decision_forced run_minted run_begun unit_claimed unit_taken work_salvaged
        agent_started agent_ended work_measured landing_intended unit_landed landing_refused
        unit_attempted iteration_committed run_stopped id_allocated journal_pruned limit_hit
        limit_probed limit_lifted units_screened run_parked landing_queued landing_deferred
        run_unparked agent_waiting agent_went_on pause_requested pause_ended halt_requested
        spin_flagged decision_raised decision_answered plans_approved settings_approved lane_cleared
        unit_cleared budget_warned budget_spent budget_promised baseline_started baseline_checked
        work_committed fleet_found incident_found intent_declared extent_changed step_claimed
        step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed
        ledger_line_unreadable receipt_issued test_witnessed line_imported line_unreadable
        marker_held marker_reset session_bound lifecycle_ticked run_steered steer_delivered
    """,
)
Head = Callable[[str], int]


class PruneResult(Struct, frozen=True, kw_only=True):
    """How many events were examined, removed and kept, and the file with the removed ones."""

    examined: int
    removed: int
    kept: int
    archived_to: str | None = None


class Ages(Struct, frozen=True, kw_only=True):
    """Which events are old enough to be removed."""

    now_ms: int
    cutoff_ms: int

    def is_young(self, event: Event) -> bool:
        """Whether the young part of a journal begins with this event.

        A time in the future does not count: then a clock was wrong.
        """
        return self.cutoff_ms < event.at_ms <= self.now_ms

    def is_old(self, event: Event) -> bool:
        """Whether an event is old enough; one with a key is kept longer, for writers that retry."""
        cutoff_ms = self.cutoff_ms
        if event.key is not None:
            cutoff_ms = min(cutoff_ms, self.now_ms - KEYED_MS)
        return event.at_ms <= cutoff_ms


class Records(Struct, frozen=True, kw_only=True):
    """How many old records of each sort are kept, the newest ones; None: all of them."""

    verdicts: int | None = None
    hook_events: int | None = None


class Newest:
    """The positions of the newest events of one sort, as many as are kept."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._positions: deque[int] = deque(maxlen=most)

    def add(self, event: Event) -> None:
        """Count an event, in order of position."""
        if self._most:
            self._positions.append(event.pos)

    def lets_go(self, event: Event) -> bool:
        """Whether as many newer ones are there as are kept."""
        if self._most is None:
            return False
        is_full = len(self._positions) == self._most
        return is_full and (not self._most or event.pos < self._positions[0])


class Survey:
    """What must be known of the old part of a journal before any of its events can be judged.

    It is small, however long the journal is.
    """

    def __init__(self, ages: Ages, head: Head, records: Records = Records()) -> None:
        self.ages = ages
        hook_events = Newest(records.hook_events)
        self._newest = {  # by kind
            doors.VerdictGiven.kind: Newest(records.verdicts),
            doors.ToolCalled.kind: hook_events,
            doors.HookAnswered.kind: hook_events,
        }
        self.through = 0  # the position of the last old event
        self.examined = 0
        self._head = head
        self._heads: dict[str, int] = {}
        # The leases that are live at the end of the old part -> position of the newest renewal.
        self._renewed: dict[int, int] = {}
        self._kept: set[int] = set()  # leases whose beginning is kept, and so must their ending

    def read(self, events: Iterable[Event]) -> "Survey":
        """Read events up to the first young one."""
        for event in events:
            if self.ages.is_young(event):
                break
            self.through = event.pos
            self.examined += 1
            self._survey(event)
            if event.kind in self._newest:
                self._newest[event.kind].add(event)
        self._kept.update(self._renewed)
        return self

    def is_superseded(self, event: Event) -> bool:
        """Whether an event of the old part can be removed."""
        if event.pos > self.through:
            return False
        fact = _reader.decode(event)
        if isinstance(fact, runs.CommandChecked):
            return self._is_replaceable(event)
        if fact is None or not self._is_free(event):
            return False
        match fact:
            case lanes.LeaseGranted() | lanes.LeaseAdopted():
                return event.pos not in self._kept
            case lanes.LeaseReleased() | lanes.LeaseExpired() | lanes.LeaseRevoked():
                return fact.lease not in self._kept
            case lanes.LeaseRenewed():
                return self._renewed.get(fact.lease) != event.pos
            case (
                lanes.LeaseRefused()
                | fleet.HookFault()
                | doors.ExportAdvanced()
                | doors.NotificationSent()
            ):
                return True
            case doors.VerdictGiven() | doors.ToolCalled() | doors.HookAnswered():
                return self._newest[event.kind].lets_go(event)
            case never:
                assert_never(never)

    def _survey(self, event: Event) -> None:
        match lease_state.reader.decode(event):
            case None:
                pass
            case lanes.LeaseGranted() as fact:
                self._begin(event, is_kept=bool(fact.asked.run_id))
            case lanes.LeaseAdopted() as fact:
                # It ends the lease before it, so it is kept as long as that one's beginning is.
                is_kept = bool(fact.asked.run_id) or fact.previous in self._kept
                self._begin(event, is_kept=is_kept)
                self._renewed.pop(fact.previous, None)
            case lanes.LeaseRenewed() as fact:
                if fact.lease in self._renewed:
                    self._renewed[fact.lease] = event.pos
            case lanes.LeaseReleased() | lanes.LeaseExpired() | lanes.LeaseRevoked() as fact:
                self._renewed.pop(fact.lease, None)
                if not self._is_free(event):
                    self._kept.add(fact.lease)
            case never:
                assert_never(never)

    def _begin(self, event: Event, *, is_kept: bool) -> None:
        # A lease of a run is part of what the run did, and other states follow it.
        self._renewed[event.pos] = 0
        if is_kept or not self._is_free(event):
            self._kept.add(event.pos)

    def _is_free(self, event: Event) -> bool:
        """Whether only an event's meaning can keep it.

        One with a fence is kept, because the fence guards its stream.
        """
        return self._is_replaceable(event) and event.ver < self._newest_version(event.stream)

    def _is_replaceable(self, event: Event) -> bool:
        """Whether an event is old, and guards no stream."""
        return event.fence is None and self.ages.is_old(event)

    def _newest_version(self, stream: str) -> int:
        if stream not in self._heads:
            self._heads[stream] = self._head(stream)
        return self._heads[stream]


def superseded(events: list[Event], *, older_than_ms: int, now_ms: int) -> list[Event]:
    """Return which events of a whole journal can be removed."""
    heads = {event.stream: event.ver for event in events}
    survey = Survey(_ages(older_than_ms, now_ms), heads.__getitem__).read(events)
    return [event for event in events if survey.is_superseded(event)]


def prune(
    store: Store,
    *,
    older_than_ms: int,
    max_entries: int | None = None,
    archive: Path | None = None,
    dry_run: bool = False,
    records: Records = Records(),
    now_ms: int,
) -> PruneResult:
    """Remove superseded old events, after writing them to a new file in the directory `archive`.

    In a journal of more than `max_entries` events an age of one day is old enough. With `dry_run`
    nothing is written or removed. Raises BadInput for a negative age.
    """
    with store.backend.read() as view:
        is_crowded = max_entries is not None and view.count(0) > max_entries
    ages = _ages(FLOOR_MS if is_crowded else older_than_ms, now_ms)
    survey = Survey(ages, lambda stream: _head(store, stream), records).read(store.events())
    removed = 0
    archived = None
    if archive:
        archived = Archive(archive, f"journal-{now_ms}-through-{survey.through}.jsonl")
    for batch in _batches(store, survey):
        removed += len(batch)
        if dry_run:
            continue
        if archived:
            archived.write(batch)
        _remove(store, batch, survey.through)
    return PruneResult(
        examined=survey.examined,
        removed=removed,
        kept=survey.examined - removed,
        archived_to=str(archived.path) if archived and archived.written else None,
    )


def _ages(older_than_ms: int, now_ms: int) -> Ages:
    if older_than_ms < 0:
        raise BadInput(
            f"an age of {older_than_ms} ms is negative", hint="Give the age as a positive number."
        )
    return Ages(now_ms=now_ms, cutoff_ms=now_ms - max(older_than_ms, FLOOR_MS))


def _batches(store: Store, survey: Survey) -> Iterator[list[Event]]:
    examined = takewhile(lambda event: event.pos <= survey.through, store.events())
    removable = filter(survey.is_superseded, examined)
    while batch := list(islice(removable, BATCH)):
        yield batch


def _remove(store: Store, batch: list[Event], through: int) -> None:
    """Remove a batch and record it in the same transaction.

    Batches come in order of position, so that a lease's ending never goes before its beginning. A
    pruning that is cut off leaves a journal whose gaps are explained.
    """
    with store.backend.write() as tx:
        tx.delete([event.pos for event in batch])
        fact = JournalPruned(through=max(through, pruned_through(tx)), removed=len(batch))
        entry = Entry(stream=streams.PRUNINGS, kind=fact.kind, body=fact)
        tx.insert(entry, tx.head(streams.PRUNINGS) + 1, store.actor, json.encode(fact))


def _head(store: Store, stream: str) -> int:
    with store.backend.read() as view:
        return view.head(stream)
