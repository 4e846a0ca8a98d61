"""What stopped a run, and what stopped the runs before it, as the journal tells it."""

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
    """For a run, or for the one that stopped last; None when there is no such run."""
    runs = fold.current(journal, FleetState)[0].runs
    stopped = sorted(
        (name for name, run in runs.items() if run.stop_reason),
        key=lambda name: runs[name].stopped_ms,
    )
    asked = run_id or next(reversed(stopped), "")
    if asked not in runs:
        return None
    earlier = stopped[: stopped.index(asked)] if asked in stopped else stopped
    own = _hit(asked, runs[asked])
    return Evidence(
        run=asked,
        cause_keys=(own.cause_key,) if own else (),
        prior_hits=tuple(hit for name in earlier if (hit := _hit(name, runs[name]))),
    )


def _hit(name: str, run: FleetRun) -> Hit | None:
    """A stop that nobody has to clear is no blocker."""
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
    residuals: tuple[int, ...]  # units that were left, for each iteration that counted them
    failures: breaker.Evidence


def rounds(happened: Iterable[Event]) -> Rounds:
    """An iteration that launched nothing, or was told to come back later, neither failed nor succeeded."""
    residuals, in_a_row, total = [], 0, 0
    for step in record.read_decisions(happened):
        if step.state.completion is not None:
            residuals.append(len(step.state.completion.residual))
        failed = (
            step.outcome.kind in (OutcomeKind.UNCLEAR, OutcomeKind.LAUNCH_FAILED)
            or step.outcome.ship_count == 0
        )
        if failed:
            in_a_row, total = in_a_row + 1, total + 1
        elif step.outcome.ship_count:
            in_a_row = 0
    return Rounds(
        residuals=tuple(residuals), failures=breaker.Evidence(consecutive=in_a_row, total=total)
    )


class LeaseQuery(Struct, frozen=True, kw_only=True):
    """Whose leases: the run's; and one that names no run, if it has the lane and the stamp, as older loops know it."""

    run_id: str
    lane: str = ""
    loop_ts: str = ""

    def matches(self, asked: Request) -> bool:
        if asked.is_lock or (self.lane and comparison_key(asked.lane) != comparison_key(self.lane)):
            return False
        if self.loop_ts and asked.loop_ts != self.loop_ts:
            return False
        return asked.run_id == self.run_id or bool(not asked.run_id and self.lane and self.loop_ts)


class LeaseHistory(Struct, kw_only=True):
    """The leases of a run, in the order in which they were granted."""

    granted: dict[int, Request] = field(default_factory=dict)  # by fence
    began_ms: int = 0  # when the first of them was granted
    beats: list[int] = field(default_factory=list)  # when it gave a sign of life
    moves: list[int] = field(default_factory=list)  # when it took another lane, or gave one back
    live: list[Lease] = field(default_factory=list)  # nobody has ended them

    def apply(self, event: Event, wanted: LeaseQuery) -> None:
        match lease_state.reader.decode(event):
            case LeaseGranted() as fact:
                if wanted.matches(fact.asked):
                    if self.granted:  # taking the first lane is no progress yet
                        self.moves.append(event.at_ms)
                    self._take(event, fact.asked)
            case LeaseAdopted() as fact:
                if wanted.matches(fact.asked):
                    self._take(event, fact.asked)
            case LeaseRenewed() as fact:
                if fact.lease in self.granted:
                    self.beats.append(event.at_ms)
            case LeaseReleased() as fact:
                if fact.lease in self.granted:
                    self.moves.append(event.at_ms)
            case LeaseExpired() | LeaseRevoked() | None:
                pass  # what others did to it says nothing good of it
            case never:
                assert_never(never)

    def _take(self, event: Event, asked: Request) -> None:
        if not self.granted:
            self.began_ms = event.at_ms
        self.granted[event.pos] = asked
        self.beats.append(event.at_ms)


def lease_history(store: Store, wanted: LeaseQuery) -> LeaseHistory:
    with store.backend.read() as view:
        history = LeaseHistory(live=[lease for lease in view.leases() if wanted.matches(lease)])
        streams = _streams(view, wanted, history.live)
        found = sorted((event for stream in streams for event in _leases(view, stream)), key=_pos)
    for event in found:
        history.apply(event, wanted)
    return history


def _streams(view: ReadTransaction, wanted: LeaseQuery, live: list[Lease]) -> set[str]:
    """Where its leases are written down; all lanes, only when nothing says which."""
    if lanes := {lease.lane for lease in live} | ({wanted.lane} if wanted.lane else set()):
        return {streams.lease(lane) for lane in lanes}
    return set(view.streams(streams.lane_leases.prefix))


def _leases(view: ReadTransaction, stream: str) -> Iterator[Event]:
    return (
        require_known_schema(event)
        for event in view.load(stream, 0, None)
        if event.kind in lease_state.reader.handles
    )


def _pos(event: Event) -> int:
    return event.pos
