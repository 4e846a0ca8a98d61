"""What `dos top` shows: a row for each lane, the supervisors, limits, decisions and landings."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs, to_builtins

from dos.backlog.waiting import Waiting, WaitsOn
from dos.units.unit import LandingEntry


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
    """Return the state of a lane that waits for this."""
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
    """What agents cost."""

    usd: float = 0.0  # as far as prices are known
    unpriced: int = 0  # starts of agents whose cost is unknown
    tokens: int = 0


class LaneRow(Struct, frozen=True, kw_only=True):
    """One lane: its state, its worker if it has one, and what it waits for."""

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
    """The sums over all lanes."""

    lanes: int
    workers: int
    states: dict[str, int]
    landed: int
    rejected: int
    spend: Spend


class TopView(Struct, frozen=True, kw_only=True):
    """Everything that `dos top` shows; the field names are keys of its JSON."""

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
