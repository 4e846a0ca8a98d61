"""Builds the view of `dos top` from a snapshot of the fleet.

The snapshot is read by `report/io/snapshot`; nothing is read here. What a lane waits for is the
same answer that `dos status` and `dos decisions` show, passed in as `waits`; only the state of a
lane with a worker is decided here, in `_Lanes._status`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, structs

from dos.backlog.waiting import Waits, WaitsOn, clears_first
from dos.fleet.state.fleet import LaneStarts
from dos.fleet.state.live import HOUR_MS, HOURS_KEPT, Parked, Tally, WatchedRun
from dos.lease import why_lost
from dos.limits import quota
from dos.loop import tokens
from dos.questions.state import urgent_first
from dos.report.top import (
    HeldLease,
    LaneRow,
    LaneState,
    LimitRow,
    OpenDecisions,
    Snapshot,
    Spend,
    Supervisor,
    TopView,
    Totals,
    waiting_state,
)
from dos.text import comparison_key, plural
from dos.times import utc_datetime

LANDINGS_SHOWN = 10


def build_view(snapshot: Snapshot, waits: Mapping[str, Waits] = {}) -> TopView:
    """Return what `dos top` shows of a snapshot.

    `waits` has an entry for each lane with work: what it waits for, empty if nothing. A lane that
    is not in it and has no worker is idle, unless a worker was started for it a moment ago.
    """
    lanes = _Lanes(snapshot, waits)
    rows = [lanes.row(name) for name in lanes.names]
    paused = None
    pause = snapshot.watching.pauses.get("")
    if pause:
        paused = pause.text
    return TopView(
        at=utc_datetime(snapshot.now_ms),
        rows=rows,
        totals=_totals(rows),
        supervisors=[_supervisor(held, snapshot.fleet.drain) for held in snapshot.supervisors],
        paused=paused,
        decisions=_open_decisions(snapshot),
        limits=[_limit_row(limit) for limit in _limits(snapshot)],
        landings=snapshot.watching.landings[-LANDINGS_SHOWN:][::-1],
    )


def _totals(rows: list[LaneRow]) -> Totals:
    """Return the sums over the rows, and how many lanes are in each state."""
    states = {}
    for state in LaneState:
        count = sum(row.state is state for row in rows)
        if count:
            states[state.value] = count
    return Totals(
        lanes=len(rows),
        workers=sum(bool(row.run_id) for row in rows),
        states=states,
        landed=sum(row.landed for row in rows),
        rejected=sum(row.rejected for row in rows),
        spend=_total_spend([row.spend for row in rows]),
    )


def _open_decisions(snapshot: Snapshot) -> OpenDecisions:
    """Return how many decisions are open, and the first: what costs money, then the oldest."""
    questions = urgent_first(snapshot.decisions)
    if not questions:
        return OpenDecisions()
    first = questions[0].raised
    return OpenDecisions(open=len(questions), first_id=first.id, first_question=first.question)


class _LaneStatus(Struct, frozen=True):
    """The state of a lane that a worker has, since when, what it waits for, and until when."""

    state: LaneState
    since_ms: int
    waits_for: str = ""
    until_ms: int | None = None


class _Lanes:
    """Makes the row of each lane of a snapshot."""

    def __init__(self, snapshot: Snapshot, waits: Mapping[str, Waits]) -> None:
        """Find each lease by its lane's name, without regard to case."""
        self._snapshot = snapshot
        self._waits = waits
        self._held = {comparison_key(held.lease.lane): held for held in snapshot.held}
        self._whole_of = snapshot.lanes.whole_of
        self.names = self._by_whole(self._names())

    def _by_whole(self, names: list[str]) -> list[str]:
        """Return the names with the parts of each repeatable lane behind it."""
        by_whole: dict[str, list[str]] = {name: [] for name in names if not self._whole_of(name)}
        for name in names:
            if whole := self._whole_of(name):
                by_whole.setdefault(whole, []).append(name)
        ordered = []
        for name, parts in by_whole.items():
            ordered += [name, *parts]
        return ordered

    def _names(self) -> list[str]:
        """Return the lanes of the roster, then others that are held, failed or paused.

        Of the parts of repeatable lanes only those are shown that have a worker or need a person.
        """
        snapshot = self._snapshot
        names = list(snapshot.roster)
        names += [held.lease.lane for held in snapshot.held]
        names += snapshot.launched
        for lane, waits in self._waits.items():
            if self._whole_of(lane) and any(waiting.needs_person for waiting in waits):
                names.append(lane)
        others = [lane for lane in snapshot.watching.tallies if self._tallies(lane)]
        for lane, starts in snapshot.fleet.starts.items():
            if starts.failed or starts.pending:
                others.append(lane)
        names += [lane for lane in others if not self._whole_of(lane)]
        names += snapshot.watching.pauses
        by_key: dict[str, str] = {}
        for name in names:
            if name:  # the pause of the whole fleet has no lane
                by_key.setdefault(comparison_key(name), name)
        return list(by_key.values())

    def row(self, lane: str) -> LaneRow:
        """Return the row of a lane, with what it delivered and cost within 24 hours."""
        held = self._held.get(comparison_key(lane))
        if held is None:
            row = self._shared_row(lane) or self._free_row(lane)
        elif held.lease.run_id:
            row = self._worker_row(lane, held)
        else:
            row = self._held_row(lane, held)
        tallies = self._tallies(lane)
        if lane in self._snapshot.lanes.repeatable:
            for part in self._snapshot.watching.tallies:
                if self._whole_of(part) == lane and part not in self.names:
                    tallies += self._tallies(part)
        return structs.replace(
            row,
            landed=sum(tally.landed for tally in tallies),
            rejected=sum(tally.rejected for tally in tallies),
            spend=_total_spend(tallies),
        )

    def _held_row(self, lane: str, held: HeldLease) -> LaneRow:
        """Return the row of a lane whose holder is no worker of the fleet."""
        lease = held.lease
        lost = _describe_loss(held)
        return LaneRow(
            lane=lane,
            state=LaneState.SILENT if lost else LaneState.HELD,
            since=utc_datetime(lease.granted_ms),
            host=lease.host,
            waits_for=lost or f"{lease.holder} holds it",
            waiting=list(self._waits.get(lane, ())),
        )

    def _worker_row(self, lane: str, held: HeldLease) -> LaneRow:
        """Return the row of a lane that a worker of the fleet holds.

        Its last activity is the newer one of what its agent printed, on this host, and its last
        event.
        """
        lease = held.lease
        run = self._snapshot.watching.runs.get(lease.run_id)
        output_ms = self._snapshot.last_output_ms.get(lease.run_id)
        status = self._status(lane, held, run, output_ms)
        row = LaneRow(
            lane=lane,
            state=status.state,
            since=utc_datetime(status.since_ms),
            run_id=lease.run_id,
            host=lease.host,
            last_activity=_optional_datetime(output_ms or None),
            waits_for=status.waits_for,
            until=_optional_datetime(status.until_ms),
            waiting=list(self._waits.get(lane, ())),
        )
        if run is None:
            return row
        return structs.replace(
            row,
            unit=run.unit,
            agent=run.agent if run.agent_since_ms else "",
            iteration=run.iteration,
            last_activity=_optional_datetime(max(output_ms or 0, run.last_ms) or None),
        )

    def _status(
        self, lane: str, held: HeldLease, run: WatchedRun | None, output_ms: int | None
    ) -> _LaneStatus:
        """Return the state of a lane with a worker; the first that applies.

        A lost worker comes first, because nothing else that is known of its run is true any more;
        then a wait, then lack of progress, then silence of the agent.
        """
        lost = _describe_loss(held)
        if lost:
            return _LaneStatus(LaneState.SILENT, held.lease.beat_ms, lost)
        if run is None:
            return _LaneStatus(LaneState.STARTING, held.lease.granted_ms)
        parked = run.parked or run.provider
        if parked:
            return self._parked_status(lane, parked)
        since_ms = run.unit_since_ms if run.unit else run.last_ms
        if run.spinning:
            return _LaneStatus(LaneState.SPINNING, since_ms, run.spinning)
        soon = ""
        if run.halting:
            soon = "halts now"
        elif self._is_paused(lane):
            soon = "pauses after this"
        silent_since_ms = self._silent_since_ms(run, output_ms)
        if silent_since_ms is not None:
            return _LaneStatus(LaneState.SILENT, silent_since_ms, soon or "its agent says nothing")
        return _LaneStatus(LaneState.WORKING, since_ms, soon)

    def _parked_status(self, lane: str, parked: Parked) -> _LaneStatus:
        """Return the state of a lane whose worker waits: by the wait that clears last.

        The worker may wait for a limit while a pause holds the lane too.
        """
        why = parked.detail or parked.why
        waits = self._waits.get(lane)
        if not waits:
            return _LaneStatus(LaneState.RESTING, parked.since_ms, why, parked.until_ms)
        first = waits[0]
        state = waiting_state(first, lane)
        if first.on is WaitsOn.PAUSE and parked.why != "pause":
            return _LaneStatus(state, parked.since_ms, first.why or str(first))
        return _LaneStatus(state, parked.since_ms, why, parked.until_ms)

    def _silent_since_ms(self, run: WatchedRun, output_ms: int | None) -> int | None:
        """Return since when the agent prints nothing, if that is longer than it should be."""
        longest_ms = self._snapshot.silent_after_ms
        if not run.agent_since_ms or output_ms is None or longest_ms is None:
            return None
        # The log may be of an agent that was started before this one.
        since_ms = max(output_ms, run.agent_since_ms)
        if self._snapshot.now_ms - since_ms <= longest_ms:
            return None
        return since_ms

    def _free_row(self, lane: str) -> LaneRow:
        """Return the row of a lane without a holder: what it waits for, if anything."""
        waits = self._waits.get(lane)
        if waits:
            return self._waiting_row(lane, waits)
        starts = self._snapshot.fleet.starts.get(lane, LaneStarts())
        if lane in self._snapshot.launched:
            return LaneRow(
                lane=lane,
                state=LaneState.STARTING,
                since=utc_datetime(starts.at_ms),
                run_id=starts.run_id,
                host=starts.host,
            )
        state = LaneState.READY if lane in self._waits else LaneState.IDLE
        stopped = starts.stopped
        if stopped is None:
            return LaneRow(lane=lane, state=state)
        return LaneRow(
            lane=lane,
            state=state,
            since=utc_datetime(stopped.at_ms),
            waits_for=f"{tokens.words(stopped.reason)}: {stopped.detail}",
        )

    def _waiting_row(self, lane: str, waits: Waits) -> LaneRow:
        """Return the row of a lane that waits: by what clears last."""
        first = waits[0]
        return LaneRow(
            lane=lane,
            state=waiting_state(first, lane),
            since=first.since,
            waits_for=first.why or str(first),
            until=first.until,
            waiting=list(waits),
        )

    def _shared_row(self, lane: str) -> LaneRow | None:
        """Return the row of a repeatable lane by what the units of its parts wait for.

        None: it has no parts with work, or its own units wait for something.
        """
        if lane in self._waits:
            return None
        workers = 0
        for name in self.names:
            workers += self._whole_of(name) == lane and self._has_worker(name)
        others = []
        for part, waits in self._waits.items():
            if self._whole_of(part) == lane and not self._has_worker(part):
                others.append(waits)
        if first := clears_first(others, utc_datetime(self._snapshot.now_ms)):
            return self._waiting_row(lane, first)
        if free := sum(not waits for waits in others):
            return LaneRow(lane=lane, state=LaneState.READY, waits_for=plural(free, "unit"))
        if workers:
            why = f"{plural(workers, 'worker')} on its parts"
            return LaneRow(lane=lane, state=LaneState.WORKING, waits_for=why)
        return None

    def _has_worker(self, lane: str) -> bool:
        return comparison_key(lane) in self._held or lane in self._snapshot.launched

    def _is_paused(self, lane: str) -> bool:
        """Whether the lane, the lane that it is a part of, or the whole fleet is paused."""
        own = {"", comparison_key(lane), comparison_key(self._whole_of(lane))}
        return any(comparison_key(name) in own for name in self._snapshot.watching.pauses)

    def _tallies(self, lane: str) -> list[Tally]:
        """Return the tallies of a lane within 24 hours, one an hour."""
        before_first = self._snapshot.now_ms // HOUR_MS - HOURS_KEPT
        tallies = self._snapshot.watching.tallies.get(lane, {})
        return [tally for hour, tally in tallies.items() if hour > before_first]


def _total_spend(entries: Iterable[Spend | Tally]) -> Spend:
    """Return the sum of costs and tokens."""
    usd = 0.0
    unpriced = 0
    tokens_used = 0
    for entry in entries:
        usd += entry.usd
        unpriced += entry.unpriced
        tokens_used += entry.tokens
    return Spend(usd=usd, unpriced=unpriced, tokens=tokens_used)


def _supervisor(held: HeldLease, drain: int) -> Supervisor:
    """Return a supervisor; `drain` is the position of the newest drain request."""
    lease = held.lease
    if held.gone:
        state = "gone"
    elif held.lapsed:
        state = "silent"
    elif drain > lease.fence:
        state = "draining"
    else:
        state = "running"
    return Supervisor(host=lease.host, pid=lease.pid, state=state)


def _limits(snapshot: Snapshot) -> list[quota.Limit]:
    """Return the limits that hold for the agents in use; all of them where those are unknown."""
    if snapshot.agents is None:
        return snapshot.quota.not_lifted
    return quota.limits_met_by(snapshot.quota.limits, snapshot.agents)


def _limit_row(limit: quota.Limit) -> LimitRow:
    """Return a limit with the end that the provider announced, as a time or as a delay."""
    resets_at_ms = limit.resets_at_ms
    if resets_at_ms is None and limit.retry_after_seconds is not None:
        resets_at_ms = limit.hit_ms + int(limit.retry_after_seconds * 1000)
    return LimitRow(
        vendor=limit.key.vendor,
        account=limit.key.account,
        model=limit.key.model,
        ending=limit.ending,
        since=utc_datetime(limit.hit_ms),
        resets_at=_optional_datetime(resets_at_ms),
        said=quota.describe(limit),
        is_doubted=quota.is_doubted(limit),
    )


def _describe_loss(held: HeldLease) -> str:
    """Return why the holder of a lease is lost; "" if it is alive."""
    return why_lost(process_gone=held.gone, lapsed=held.lapsed)


def _optional_datetime(at_ms: int | None) -> datetime | None:
    """Return the moment, or None where there is none."""
    if at_ms is None:
        return None
    return utc_datetime(at_ms)
