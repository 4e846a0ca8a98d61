"""What `dos top` shows, and what it is made of.

A `Snapshot` is what is known of the fleet at one moment; `top_builder` makes a `TopView` of it: a
row for each lane, the supervisors, limits, decisions and landings. `cli/terminal/top_page` draws
the view as text; `to_json` and `released_keys` are its JSON.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs, to_builtins

from dos.backlog.waiting import Waiting, WaitsOn
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.live import LiveState
from dos.lanes.policy import Lanes
from dos.lease import PROCESS_GONE, Lease
from dos.limits.quota import AgentCandidate
from dos.limits.state.quota import ProviderLimits
from dos.questions.state import Decisions
from dos.text import comparison_key
from dos.units.unit import LandingEntry


class HeldLease(Struct, frozen=True, kw_only=True):
    """A lease, and whether its holder is still alive.

    Both can be false for a holder on another host that was killed a moment ago: only its own host
    knows of its process, and its lease is valid until it expires.
    """

    lease: Lease
    lapsed: bool  # its time is over, and no other holder has taken it
    gone: bool  # its process has exited, by the operating system


class Snapshot(Struct, frozen=True, kw_only=True):
    """The state of a fleet at one moment.

    The folded states and the leases are of the same position of the journal, so that no row
    contradicts another.
    """

    now_ms: int  # by the clock that dates the events
    fleet: FleetState
    watching: LiveState
    decisions: Decisions
    quota: ProviderLimits
    held: list[HeldLease]  # of lanes
    supervisors: list[HeldLease]
    launched: Mapping[str, int] = {}  # by lane: workers that were started and hold no lease yet
    # By run: when its agent last printed something; only of the runs on this host.
    last_output_ms: dict[str, int]
    roster: list[str] = []
    lanes: Lanes = Lanes()  # as dos.toml declares them; none where it has errors
    silent_after_ms: int | None = None  # an agent that prints nothing for so long is shown
    agents: Sequence[AgentCandidate] | None = None  # those in use; None: not known


class LaneState(StrEnum):
    """The one word for what a lane does or waits for; the values are in `dos top --json`."""

    WORKING = "working"
    PERSON = "waiting on a person"
    QUOTA = "waiting on quota"
    SILENT = "silent"
    SPINNING = "spinning"
    STARTING = "starting"
    PAUSED = "paused"
    RESTING = "resting"  # it continues by itself after a while
    HELD = "held"  # by a holder that is no worker of the fleet
    WAITING = "waiting"  # for something else: `waits_for` says what
    READY = "ready"  # it has work for the next free worker
    IDLE = "idle"  # nothing is left to do
    FATAL = "FATAL"  # disabled until a person answers


_STATES = {
    WaitsOn.PERSON: LaneState.PERSON,
    WaitsOn.LOGIN: LaneState.PERSON,
    WaitsOn.BUDGET: LaneState.PERSON,
    WaitsOn.LIMIT: LaneState.QUOTA,
    WaitsOn.PAUSE: LaneState.PAUSED,
    WaitsOn.COOLDOWN: LaneState.RESTING,
    WaitsOn.UNKNOWN: LaneState.RESTING,
}


def waiting_state(waiting: Waiting, lane: str) -> LaneState:
    """Return the state of a lane that waits for this.

    A wait that clears by itself is shown as resting or waiting, one that needs a person as such,
    however it came about.
    """
    if waiting.on is WaitsOn.START_FAILED:
        if waiting.until is None:
            return LaneState.FATAL
        return LaneState.RESTING
    if waiting.on is WaitsOn.REGION_HELD and waiting.subject == lane and waiting.clears_with:
        return LaneState.HELD  # a person holds it; for other lanes the region only overlaps
    if waiting.on is WaitsOn.LANDING and not waiting.needs_person:
        return LaneState.RESTING  # other landings are before it
    other = LaneState.PERSON if waiting.needs_person else LaneState.WAITING
    return _STATES.get(waiting.on, other)


class Spend(Struct, frozen=True, kw_only=True):
    """What agents cost within 24 hours.

    `usd` leaves out what is not known; `unpriced` says how many starts that concerns.
    """

    usd: float = 0.0  # as far as prices are known
    unpriced: int = 0  # starts of agents whose cost is unknown
    tokens: int = 0


class LaneRow(Struct, frozen=True, kw_only=True):
    """One lane: its state, its worker if it has one, and what it waits for.

    A lane without a worker has no unit, agent or run; its `waits_for` says why it has none.
    """

    lane: str
    state: LaneState
    since: datetime | None = None  # in this state, or at this unit
    unit: str = ""
    agent: str = ""
    run_id: str = ""
    iteration: int = 0
    host: str = ""
    last_activity: datetime | None = None
    waits_for: str = ""  # what, or why it has no worker
    until: datetime | None = None
    waiting: list[Waiting] = []  # all that it waits for; the one that clears last comes first
    landed: int = 0  # this, the next and the spend: within 24 hours
    rejected: int = 0
    spend: Spend = Spend()


# People read these; JSON has the values of the states.
_STATE_WORDS = {
    LaneState.PERSON: "needs you",
    LaneState.QUOTA: "limited",
    LaneState.RESTING: "waiting",
    LaneState.FATAL: "disabled",
}


def state_word(row: LaneRow) -> str:
    """Return the word for a lane's state; a worker whose process has exited is dead."""
    if row.state is LaneState.SILENT and row.waits_for == PROCESS_GONE:
        return "dead"
    return _STATE_WORDS.get(row.state, row.state.value)


class Supervisor(Struct, frozen=True, kw_only=True):
    """The supervisor of one host."""

    host: str
    pid: int | None
    state: str  # running | draining | silent: its lease lapsed | gone: its process has exited


class LimitRow(Struct, frozen=True, kw_only=True):
    """A limit of a provider that holds now."""

    vendor: str
    account: str
    model: str
    ending: str
    since: datetime
    resets_at: datetime | None  # as the provider says
    said: str = ""  # what it is, in words
    is_doubted: bool = False  # it claims to last longer than any limit does


class OpenDecisions(Struct, frozen=True, kw_only=True):
    """How many decisions are open, and the most urgent one."""

    open: int = 0
    first_id: str = ""
    first_question: str = ""


class Totals(Struct, frozen=True, kw_only=True):
    """The sums over all lanes; `states` counts the lanes by their state and leaves out zeros."""

    lanes: int
    workers: int
    states: dict[str, int]
    landed: int
    rejected: int
    spend: Spend


class TopView(Struct, frozen=True, kw_only=True):
    """Everything that `dos top` shows; the field names are keys of its JSON.

    It holds values only: times are moments and costs are numbers. How they are written is decided
    by the page.
    """

    at: datetime
    rows: list[LaneRow]
    totals: Totals
    supervisors: list[Supervisor]
    paused: str | None  # why the whole fleet is paused; None: it is not
    decisions: OpenDecisions
    limits: list[LimitRow]
    landings: list[LandingEntry]  # newest first


def to_json(view: TopView) -> dict[str, Any]:
    """Return the view for JSON, with each landing as its unit, commit, lane and time."""
    landings = []
    for entry in view.landings:
        landings.append(
            {
                "unit": entry.landing.unit,
                "lane": entry.lane,
                "commit": entry.landing.commit,
                "at": entry.at,
            }
        )
    document: dict[str, Any] = to_builtins(structs.asdict(view) | {"landings": landings})
    return document


CHIPS = {
    LaneState.WORKING: "🟢 ADVANCING",
    LaneState.SPINNING: "🟡 SPINNING",
    LaneState.SILENT: "🔴 STALLED",
    LaneState.FATAL: "🔴 STALLED",
    LaneState.STARTING: "🔵 SPAWNING",
}
# In every other state: without and with a holder.
FREE = "⚪ FREE"
HELD = "🟢 ADVANCING"
ACTIVITY_SHOWN = 10  # commits


def released_keys(
    view: TopView,
    snapshot: Snapshot,
    *,
    workspace: str,
    initialized: bool,
    exclusive: Collection[str],
    log: Sequence[str],
) -> dict[str, Any]:
    """Return the keys that dos-kernel had; `log` are the newest commits, each as `SHA SUBJECT`.

    Its chips and trust marks are made from the states of this version, so that a script that reads
    them continues to work.
    """
    activity = []
    for line in log:
        sha, _, subject = line.partition(" ")
        activity.append({"sha": sha, "subject": subject})
    return {
        "workspace": workspace,
        "now": view.at.isoformat(),
        "initialized": initialized,
        "lanes": _released_lanes(view, snapshot, exclusive),
        "verdicts": [_released_verdict(entry, snapshot.now_ms) for entry in view.landings],
        "activity": activity,
    }


def _released_lanes(
    view: TopView, snapshot: Snapshot, exclusive: Collection[str]
) -> list[dict[str, Any]]:
    """Return a row for each lane in the fields of dos-kernel, also for lanes without a holder."""
    leases = {comparison_key(held.lease.lane): held.lease for held in snapshot.held}
    lanes = []
    for row in view.rows:
        lane: dict[str, Any] = {
            "lane": row.lane,
            "chip": CHIPS.get(row.state, FREE),
            "loop_ts": "",
            "holder": "",
            "heartbeat_age_ms": None,
            "liveness_reason": row.waits_for or str(row.state),
            "is_exclusive": row.lane in exclusive,
        }
        lease = leases.get(comparison_key(row.lane))
        if lease:
            lane["chip"] = CHIPS.get(row.state, HELD)
            lane["loop_ts"] = lease.loop_ts
            lane["holder"] = lease.holder
            lane["heartbeat_age_ms"] = max(0, snapshot.now_ms - lease.beat_ms)
        lanes.append(lane)
    return lanes


def _released_verdict(entry: LandingEntry, now_ms: int) -> dict[str, Any]:
    """Return a landing as a verdict: nothing lands that the oracle does not call shipped."""
    return {
        "tag": entry.landing.commit[:9],
        "lane": entry.lane,
        "verdict": "SHIPPED",
        "reason_token": "",
        "pick": entry.landing.unit,
        "trust": "✓oracle",
        "age_ms": max(0, now_ms - int(entry.at.timestamp() * 1000)),
    }
