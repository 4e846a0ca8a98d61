"""What a tick of the supervisor sees, and the effects that only a supervisor asks for."""

from msgspec import Struct

from dos.backlog.waiting import FleetWaits, Waits
from dos.fleet.effect import Effect
from dos.fleet.population.reconcile import StartupFindings
from dos.fleet.population.types import LaneLiveness
from dos.journal.events import envelope, limits
from dos.lease import Lease
from dos.limits.quota import Limit
from dos.machine.process import Identity
from dos.questions import state
from dos.questions.catalog import AnyQuestion
from dos.questions.lanes import LaneFailed


class LiveRun(Struct, frozen=True, kw_only=True):
    """A run that holds a lane: what the supervisor needs to know once the run spins."""

    lease: Lease
    is_flagged: bool = False
    is_asked_about: bool = False
    expires_ms: int = 0  # when the question whether to stop the run expires
    ordinal: int = 1  # counts the questions about this run, from 1


class FleetSnapshot(Struct, frozen=True, kw_only=True):
    """The fleet as one tick sees it. A tick decides by this value alone.

    `fleet.observe.snapshot` makes it of an observation, for a supervisor and for the simulator.
    """

    lanes: tuple[LaneLiveness, ...]
    leases: dict[str, Lease]  # by lane
    versions: dict[str, int]  # of each lane's spawn stream
    drain_requested: bool
    busy: bool  # a worker holds a lane, or was started and is about to
    idle: bool  # no worker runs, and no unit is left to offer
    waits: FleetWaits = FleetWaits()  # what lanes and units wait for, apart from other lanes
    starts_soon: bool = False  # a lane waits only for a time that is near
    unfinished: dict[str, Waits] = {}  # the units that have not landed, when the fleet is idle
    failing_lanes: list[LaneFailed] = []  # the lanes to disable, each as the question about it
    warnings: list[envelope.Fact] = []  # facts to record for people
    questions: list[AnyQuestion] = []  # not asked yet
    expired: list[state.PendingClose] = []  # open questions whose time is over
    settled: list[state.OpenQuestion] = []  # open questions whose cause is gone
    new_logins: list[Limit] = []  # login limits whose credentials have changed since
    runs: dict[str, LiveRun] = {}  # by lane
    incidents: list[limits.IncidentFound] = []  # not recorded yet
    findings: StartupFindings | None = None  # only in the first snapshot of a supervisor
    baseline_to_check: limits.BaselineStarted | None = None  # must pass before a worker starts


class ObserveFleet(Effect[FleetSnapshot], frozen=True, kw_only=True):
    """Read everything that a tick decides by."""

    lease: Lease
    is_first: bool = False  # also report what earlier supervisors left behind


class CheckBaseline(Effect[limits.BaselineChecked | None], frozen=True, kw_only=True):
    """Run setup and test in a new worktree of the target branch; None when a drain ended it."""

    lease: Lease


class Warn(Effect[None], frozen=True, kw_only=True):
    """Print a warning on stderr."""

    text: str


class ExpireQuestion(Effect[None], frozen=True, kw_only=True):
    """Close an open question with its default; does nothing if a person has answered meanwhile."""

    question: state.OpenQuestion
    choice: str = ""
    reason: str = ""


class SpawnWorker(Effect[Identity | None], frozen=True, kw_only=True):
    """Start a worker process; None when the system could not start one."""

    lane: str
    run_id: str


class RevokeLease(Effect[bool], frozen=True, kw_only=True):
    """End a lease that was judged dead; False when its holder renewed it in the meantime.

    The processes that the dead worker's agent left behind are ended, too.
    """

    lease: Lease
    reason: str


class MintRun(Effect[str], frozen=True, kw_only=True):
    """Generate a run id."""

    process: str
