"""The fleet as whoever watches it sees it: a row for each lane that says what it is at or what it waits for."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs, to_builtins

from dos.backlog.waiting import Waiting, Waits, WaitsOn
from dos.fleet.state.fleet import LaneStarts
from dos.fleet.state.live import HOUR_MS, HOURS_KEPT, Parked, Tally, WatchedRun
from dos.limits import quota
from dos.limits.quota import Limit as Known
from dos.loop import tokens
from dos.questions.state import urgent_first
from dos.report.snapshot import HeldLease, Snapshot
from dos.text import comparison_key
from dos.times import utc_datetime
from dos.units.unit import LandingEntry

LANDINGS_SHOWN = 10


class LaneState(StrEnum):
    WORKING = "working"
    PERSON = "waiting on a person"
    QUOTA = "waiting on quota"
    SILENT = "silent"
    SPINNING = "spinning"
    STARTING = "starting"
    PAUSED = "paused"
    RESTING = "resting"  # it goes on by itself after a while
    HELD = "held"  # by somebody who is no worker
    WAITING = "waiting"  # for something else: `waits_for` says what
    READY = "ready"  # it has work, and the next free worker takes it
    IDLE = "idle"  # nothing is left to do
    FATAL = "FATAL"  # given up on until a person looks


_STATES = {
    WaitsOn.PERSON: LaneState.PERSON,
    WaitsOn.LOGIN: LaneState.PERSON,
    WaitsOn.BUDGET: LaneState.PERSON,
    WaitsOn.LIMIT: LaneState.QUOTA,
    WaitsOn.PAUSE: LaneState.PAUSED,
    WaitsOn.COOLDOWN: LaneState.RESTING,
    WaitsOn.UNKNOWN: LaneState.RESTING,
}


def state_of(waiting: Waiting, lane: str) -> LaneState:
    """The one word for what a lane waits for."""
    if waiting.on is WaitsOn.START_FAILED:
        return LaneState.FATAL if waiting.until is None else LaneState.RESTING
    if waiting.on is WaitsOn.REGION_HELD and waiting.subject == lane and waiting.clears_with:
        return LaneState.HELD  # by a person; other lanes only overlap it
    if waiting.on is WaitsOn.LANDING and not waiting.needs_person:
        return LaneState.RESTING  # its turn comes
    return _STATES.get(waiting.on, LaneState.PERSON if waiting.needs_person else LaneState.WAITING)


class Spend(Struct, frozen=True, kw_only=True):
    usd: float = 0.0  # as far as prices are known
    unpriced: int = 0  # starts of an agent that cost nobody knows what
    tokens: int = 0


class LaneRow(Struct, frozen=True, kw_only=True):
    lane: str
    state: LaneState
    since: datetime | None = None  # in this state, or at this unit
    unit: str = ""
    agent: str = ""
    run_id: str = ""
    iteration: int = 0
    host: str = ""
    last_activity: datetime | None = None
    waits_for: str = ""  # what, or why; for a lane without a worker, why it has none
    until: datetime | None = None
    waiting: list[Waiting] = []  # all that it waits for; the one that clears last comes first
    landed: int = 0  # these and the spend: within the last day
    rejected: int = 0
    spend: Spend = Spend()


class Supervisor(Struct, frozen=True, kw_only=True):
    host: str
    pid: int | None
    state: str  # running | draining | silent: its lease ran out | gone: its process, by the system's word


class LimitRow(Struct, frozen=True, kw_only=True):
    vendor: str
    account: str
    model: str
    ending: str
    since: datetime
    resets_at: datetime | None  # by the provider's word
    said: str = ""  # what it is, in words
    is_doubted: bool = False  # it claims to last longer than any limit does


class OpenDecisions(Struct, frozen=True, kw_only=True):
    open: int = 0
    first_id: str = ""
    first_question: str = ""


class Totals(Struct, frozen=True, kw_only=True):
    lanes: int
    workers: int
    states: dict[str, int]
    landed: int
    rejected: int
    spend: Spend


class TopView(Struct, frozen=True, kw_only=True):
    at: datetime
    rows: list[LaneRow]
    totals: Totals
    supervisors: list[Supervisor]
    paused: str | None  # why the whole fleet is; None: it is not
    decisions: OpenDecisions
    limits: list[LimitRow]
    landings: list[LandingEntry]  # newest first


def build_view(seen: Snapshot, waits: Mapping[str, Waits] = {}) -> TopView:
    """`waits` are what the lanes wait for that have work."""
    lanes = _Lanes(seen, waits)
    rows = [lanes.row(name) for name in lanes.names()]
    totals = Totals(
        lanes=len(rows),
        workers=sum(bool(row.run_id) for row in rows),
        states={
            state.value: count
            for state in LaneState
            if (count := sum(row.state is state for row in rows))
        },
        landed=sum(row.landed for row in rows),
        rejected=sum(row.rejected for row in rows),
        spend=_total_spend(row.spend for row in rows),
    )
    pause = seen.watching.pauses.get("")
    questions = urgent_first(seen.decisions)
    return TopView(
        at=utc_datetime(seen.now_ms),
        rows=rows,
        totals=totals,
        supervisors=[_supervisor(each, seen.fleet.drain) for each in seen.supervisors],
        paused=_pause_text(pause.by, pause.reason) if pause else None,
        decisions=OpenDecisions(
            open=len(questions),
            first_id=questions[0].raised.id if questions else "",
            first_question=questions[0].raised.question if questions else "",
        ),
        limits=[_limit(each) for each in _limits(seen)],
        landings=seen.watching.landings[-LANDINGS_SHOWN:][::-1],
    )


def to_json(view: TopView) -> dict[str, Any]:
    """The view as JSON has it: a landing is its unit, its commit, its lane and its time."""
    landings = [
        {"unit": each.landing.unit, "lane": each.lane, "commit": each.landing.commit, "at": each.at}
        for each in view.landings
    ]
    found: dict[str, Any] = to_builtins(structs.asdict(view) | {"landings": landings})
    return found


class _Lanes:
    def __init__(self, seen: Snapshot, waits: Mapping[str, Waits]) -> None:
        self._seen = seen
        self._waits = waits
        self._held = {comparison_key(each.lease.lane): each for each in seen.held}

    def names(self) -> list[str]:
        """Those of the roster in its order, then those that somebody holds or that something waits for."""
        seen = self._seen
        failed = [
            lane for lane, starts in seen.fleet.starts.items() if starts.failed or starts.pending
        ]
        worked = [lane for lane in seen.watching.tallies if self._tallies(lane)]
        others = [*(each.lease.lane for each in seen.held), *failed, *worked, *seen.watching.pauses]
        names: dict[str, str] = {}
        for lane in filter(None, [*seen.roster, *others]):
            names.setdefault(comparison_key(lane), lane)
        return list(names.values())

    def row(self, lane: str) -> LaneRow:
        held = self._held.get(comparison_key(lane))
        made = self._worked_on(lane, held) if held else self._free(lane)
        tallies = self._tallies(lane)
        return _with_tallies(made, tallies)

    def _worked_on(self, lane: str, held: HeldLease) -> LaneRow:
        lease, seen = held.lease, self._seen
        run = seen.watching.runs.get(lease.run_id)
        if not lease.run_id:
            lost = _lost(held)
            state = LaneState.SILENT if lost else LaneState.HELD
            return LaneRow(
                lane=lane, state=state, since=utc_datetime(lease.granted_ms), host=lease.host,
                waits_for=lost or f"{lease.holder} holds it", until=None, waiting=list(self._waits.get(lane, ())),
            )  # fmt: skip
        spoken_ms = seen.last_output_ms.get(lease.run_id)
        heard_ms = max(spoken_ms or 0, run.last_ms if run else 0) or None
        state, since_ms, waits_for, until_ms = self._at_work(lane, held, run, spoken_ms)
        return LaneRow(
            lane=lane,
            state=state,
            since=utc_datetime(since_ms),
            unit=run.unit if run else "",
            agent=run.agent if run and run.agent_since_ms else "",
            run_id=lease.run_id,
            iteration=run.iteration if run else 0,
            host=lease.host,
            last_activity=_moment(heard_ms),
            waits_for=waits_for,
            until=_moment(until_ms),
            waiting=list(self._waits.get(lane, ())),
        )

    def _at_work(
        self, lane: str, held: HeldLease, run: WatchedRun | None, spoken_ms: int | None
    ) -> tuple[LaneState, int, str, int | None]:
        """The state of a lane that a worker has, since when, what it waits for, until when."""
        granted_ms, seen = held.lease.granted_ms, self._seen
        if lost := _lost(held):
            return LaneState.SILENT, held.lease.beat_ms, lost, None
        if run is None:
            return LaneState.STARTING, granted_ms, "", None
        if parked := run.parked or run.provider:
            waiting = self._waits.get(lane)
            state = state_of(waiting[0], lane) if waiting else LaneState.RESTING
            return state, parked.since_ms, _why(parked), parked.until_ms
        since_ms = run.unit_since_ms if run.unit else run.last_ms
        soon = "halts now" if run.halting else "pauses after this" if self._pause(lane) else ""
        if run.spinning:
            return LaneState.SPINNING, since_ms, run.spinning, None
        # The agent that was started before this one may have left an old log.
        quiet_since_ms = max(spoken_ms or 0, run.agent_since_ms)
        listening = (
            run.agent_since_ms and spoken_ms is not None and seen.silent_after_ms is not None
        )
        if listening and seen.now_ms - quiet_since_ms > (seen.silent_after_ms or 0):
            return LaneState.SILENT, quiet_since_ms, soon or "its agent says nothing", None
        return LaneState.WORKING, since_ms, soon, None

    def _free(self, lane: str) -> LaneRow:
        """Nobody has it: why not?"""
        seen = self._seen
        starts = seen.fleet.starts.get(lane, LaneStarts())
        if waits := self._waits.get(lane):
            first = waits[0]
            return LaneRow(
                lane=lane,
                state=state_of(first, lane),
                since=first.since,
                waits_for=first.why or str(first),
                until=first.until,
                waiting=list(waits),
            )
        if lane in seen.launched:
            return LaneRow(
                lane=lane,
                state=LaneState.STARTING,
                since=utc_datetime(starts.at_ms),
                run_id=starts.run_id,
                host=starts.host,
            )
        last = starts.stopped
        stopped = f"{tokens.words(last.reason)}: {last.detail}" if last else ""
        state = LaneState.READY if lane in self._waits else LaneState.IDLE
        return LaneRow(
            lane=lane,
            state=state,
            since=utc_datetime(last.at_ms) if last else None,
            waits_for=stopped,
        )

    def _pause(self, lane: str) -> tuple[int, str] | None:
        pauses = self._seen.watching.pauses
        own = next(
            (
                pause
                for name, pause in pauses.items()
                if name and comparison_key(name) == comparison_key(lane)
            ),
            None,
        )
        found = own or pauses.get("")
        return (found.since_ms, _pause_text(found.by, found.reason)) if found else None

    def _tallies(self, lane: str) -> list[Tally]:
        first = self._seen.now_ms // HOUR_MS - HOURS_KEPT
        return [
            tally
            for hour, tally in self._seen.watching.tallies.get(lane, {}).items()
            if hour > first
        ]


def _with_tallies(row: LaneRow, tallies: list[Tally]) -> LaneRow:
    return structs.replace(
        row,
        landed=sum(each.landed for each in tallies),
        rejected=sum(each.rejected for each in tallies),
        spend=Spend(
            usd=sum(each.usd for each in tallies),
            unpriced=sum(each.unpriced for each in tallies),
            tokens=sum(each.tokens for each in tallies),
        ),
    )


def _total_spend(spends: Iterable[Spend]) -> Spend:
    all_of_them = list(spends)
    return Spend(
        usd=sum(each.usd for each in all_of_them),
        unpriced=sum(each.unpriced for each in all_of_them),
        tokens=sum(each.tokens for each in all_of_them),
    )


def _supervisor(held: HeldLease, drain: int) -> Supervisor:
    lease = held.lease
    alive = "draining" if drain > lease.fence else "running"
    return Supervisor(
        host=lease.host,
        pid=lease.pid,
        state="gone" if held.gone else "silent" if held.lapsed else alive,
    )


def _limits(seen: Snapshot) -> list[Known]:
    """Those that hold, of what the lanes use; of everything where nobody can say what they use."""
    if seen.agents is None:
        return [each for each in seen.quota.limits.values() if each.ending]
    return quota.limits_met_by(seen.quota.limits, seen.agents)


def _limit(found: Known) -> LimitRow:
    waits_ms = (
        None
        if found.retry_after_seconds is None
        else found.hit_ms + int(found.retry_after_seconds * 1000)
    )
    return LimitRow(
        vendor=found.key.vendor,
        account=found.key.account,
        model=found.key.model,
        ending=found.ending,
        since=utc_datetime(found.hit_ms),
        resets_at=_moment(waits_ms if found.resets_at_ms is None else found.resets_at_ms),
        said=quota.describe(found),
        is_doubted=quota.is_doubted(found),
    )


def _lost(held: HeldLease) -> str:
    if held.gone:
        return "its process is gone"
    return "its lease ran out" if held.lapsed else ""


def _why(parked: Parked) -> str:
    return parked.detail or parked.why


def _pause_text(by: str, reason: str) -> str:
    return ": ".join(part for part in (f"by {by}" if by else "", reason) if part)


def _moment(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else utc_datetime(at_ms)
