"""What the journal says of runs: what stopped them, their rounds, and their leases.

Every function here only reads. What a run says about itself is not used, except for the leases that
it took.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from msgspec import Struct, field

from dos.fleet.state.fleet import FleetRun, FleetState
from dos.journal import fold, lease_state, streams
from dos.journal.backend import ReadTransaction, require_known_schema
from dos.journal.events.envelope import Event
from dos.journal.events.lanes import (
    LeaseAdopted,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    LeaseRevoked,
)
from dos.journal.store import Store
from dos.lease import Lease, Request
from dos.loop import record
from dos.loop.types import OutcomeKind
from dos.loop.verdicts import breaker
from dos.loop.verdicts.recurring import Evidence, Hit
from dos.reasons.table import Needs
from dos.text import comparison_key


def recurring_evidence(journal: Store, run_id: str = "") -> Evidence | None:
    """Return what stopped a run and the runs before it; None when there is no such run.

    Without `run_id` it is the run that stopped last.
    """
    state, _ = fold.current(journal, FleetState)
    runs = state.runs
    stopped = [name for name, run in runs.items() if run.stop_reason]
    stopped.sort(key=lambda name: runs[name].stopped_ms)
    if not run_id and stopped:
        run_id = stopped[-1]
    if run_id not in runs:
        return None
    causes: tuple[str, ...] = ()
    own = _hit(run_id, runs[run_id])
    if own is not None:
        causes = (own.cause_key,)
    prior_hits = []
    for name in stopped:
        if name == run_id:
            break  # later runs are not prior ones
        hit = _hit(name, runs[name])
        if hit is not None:
            prior_hits.append(hit)
    return Evidence(run=run_id, cause_keys=causes, prior_hits=tuple(prior_hits))


def all_hits(journal: Store, *, since_ms: int = 0, newest: int | None = None) -> list[Hit]:
    """Return what stopped each run, in the order in which the runs stopped.

    Only of those that stopped since then, and only of the `newest` runs; None: of all.
    """
    state, _ = fold.current(journal, FleetState)
    stopped = []
    for name, run in state.runs.items():
        if run.stop_reason and run.stopped_ms >= since_ms:
            stopped.append(name)
    stopped.sort(key=lambda name: state.runs[name].stopped_ms)
    if newest is not None:
        stopped = stopped[max(0, len(stopped) - newest) :]
    hits = [_hit(name, state.runs[name]) for name in stopped]
    return [hit for hit in hits if hit is not None]


def _hit(name: str, run: FleetRun) -> Hit | None:
    """Return the stop of a run as a hit; a stop that needs nobody is none."""
    if not run.stop_reason or run.needs in ("", Needs.NOBODY):
        return None
    return Hit(
        run=name,
        cause_key=run.stop_reason,
        iter_n=run.iterations,
        wall_min=max(0, run.stopped_ms - run.begun_ms) / 60_000,
        example=run.stop_detail,
        source="journal",
    )


class Rounds(Struct, frozen=True, kw_only=True):
    """The iterations of a run, as numbers."""

    residuals: tuple[int, ...]  # open units, for each iteration that counted them
    failures: breaker.Evidence


def rounds(happened: Iterable[Event]) -> Rounds:
    """Count the open units and the failures of a run's iterations.

    An iteration that started no agent, or has to wait, neither failed nor succeeded.
    """
    residuals: list[int] = []
    consecutive = 0
    total = 0
    for step in record.read_decisions(happened):
        if step.state.completion is not None:
            residuals.append(len(step.state.completion.residual))
        outcome = step.outcome
        is_broken = outcome.kind in (OutcomeKind.UNCLEAR, OutcomeKind.LAUNCH_FAILED)
        if is_broken or outcome.ship_count == 0:
            consecutive += 1
            total += 1
        elif outcome.ship_count:
            consecutive = 0
    failures = breaker.Evidence(consecutive=consecutive, total=total)
    return Rounds(residuals=tuple(residuals), failures=failures)


class LeaseQuery(Struct, frozen=True, kw_only=True):
    """Which leases belong to a run.

    With a lane and a time stamp also leases that name no run, as older loops took them.
    """

    run_id: str
    lane: str = ""
    loop_ts: str = ""

    def matches(self, request: Request) -> bool:
        """Whether the lease was taken for the run."""
        if request.is_lock:
            return False
        if self.lane and comparison_key(request.lane) != comparison_key(self.lane):
            return False
        if self.loop_ts and request.loop_ts != self.loop_ts:
            return False
        if request.run_id:
            return request.run_id == self.run_id
        return not self.run_id or bool(self.lane and self.loop_ts)


class LeaseHistory(Struct, kw_only=True):
    """The leases of a run, in the order in which they were granted."""

    granted: dict[int, Request] = field(default_factory=dict)  # by fence
    began_ms: int = 0  # when the first of them was granted
    beats: list[int] = field(default_factory=list)  # when it sent a heartbeat
    moves: list[int] = field(default_factory=list)  # when it took another lane or released one
    live: list[Lease] = field(default_factory=list)  # not ended yet

    def apply(self, event: Event, query: LeaseQuery) -> None:
        """Add an event of a lease, if it is one of the run's."""
        match lease_state.reader.decode(event):
            case LeaseGranted() as fact:
                is_another = bool(self.granted)  # the first lane is no progress yet
                if self._take(event, fact.asked, query) and is_another:
                    self.moves.append(event.at_ms)
            case LeaseAdopted() as fact:
                self._take(event, fact.asked, query)
            case LeaseRenewed() as fact:
                if fact.lease in self.granted:
                    self.beats.append(event.at_ms)
            case LeaseReleased() as fact:
                if fact.lease in self.granted:
                    self.moves.append(event.at_ms)
            case LeaseExpired() | LeaseRevoked() | None:
                pass  # these are no progress of the run
            case never:
                assert_never(never)

    def _take(self, event: Event, request: Request, query: LeaseQuery) -> bool:
        """Add a granted lease; False when it is not the run's."""
        if not query.matches(request):
            return False
        if not self.granted:
            self.began_ms = event.at_ms
        self.granted[event.pos] = request
        self.beats.append(event.at_ms)
        return True


def lease_history(store: Store, query: LeaseQuery) -> LeaseHistory:
    """Read the leases of a run from the journal."""
    with store.backend.read() as view:
        live = list(filter(query.matches, view.leases()))
        history = LeaseHistory(live=live)
        events: list[Event] = []
        for stream in _lease_streams(view, query, live):
            events += _lease_events(view, stream)
    for event in sorted(events, key=_position):
        history.apply(event, query)
    return history


def _lease_streams(view: ReadTransaction, query: LeaseQuery, live: list[Lease]) -> set[str]:
    """Return the streams with the run's leases: all lanes only where its lane is not known."""
    lanes = set()
    for lease in live:
        lanes.add(lease.lane)
    if query.lane:
        lanes.add(query.lane)
    if lanes:
        return set(map(streams.lease, lanes))
    return set(view.streams(streams.lane_leases.prefix))


def _lease_events(view: ReadTransaction, stream: str) -> Iterator[Event]:
    """Yield the events of leases in a stream. Raises for one that a newer dos wrote."""
    for event in view.load(stream, 0, None):
        if event.kind in lease_state.reader.handles:
            yield require_known_schema(event)


def _position(event: Event) -> int:
    """The sort key of an event: its place in the whole journal."""
    return event.pos
