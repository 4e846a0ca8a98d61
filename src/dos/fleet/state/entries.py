"""What the fleet's state holds: a run, a unit, the starts of a lane, and what people have asked of a run."""

from msgspec import Struct, field

from dos.choices import ChoiceName
from dos.journal.events import fleet
from dos.journal.events.limits import DecisionAnswered, IncidentFound
from dos.questions.units import Incident


class FleetRun(Struct, kw_only=True):
    """A run as a supervisor needs it; kept after its end, so that the next run of the lane can go on after it."""

    lane: str
    begun_ms: int
    begun: int = 0  # the position of its first event
    version: str = ""  # of dos, as the run recorded it
    unit: str = ""  # claimed, and not committed yet
    iterations: int = 0
    landed: int = 0
    landed_ms: int = 0  # the newest
    stop_reason: str = ""
    stop_detail: str = ""
    needs: str = ""
    stopped_ms: int = 0
    parked: bool = False
    flagged: bool = False  # as spinning; whoever lands something is not any more
    limit: str = ""  # the name of what its last agent ran into
    missed: str = ""  # what did not land last, and why
    failed: list[str] = field(
        default_factory=list
    )  # the units that it tried in vain, or a run that it goes on after
    reported: bool = False  # that it died was told to whoever started the fleet


class LastAttempt(Struct, kw_only=True, frozen=True):
    run_id: str
    outcome: str
    at_ms: int
    text: str = ""  # the unit's fingerprint then


class UnitState(Struct, kw_only=True):
    landed: str = ""  # the commit
    landed_on: str = ""  # the branch
    landed_ms: int = 0
    claimed_by: str = ""  # the run that is at it, or died at it
    deaths: int = 0  # how often in a row a run died at it
    claim: str = ""  # what the agent said last
    outcome: str = ""  # how it ended last
    tries: list[str] = field(default_factory=list)  # why each try did not land, newest last
    intended: fleet.LandingIntended | None = None
    refusals: list[str] = field(default_factory=list)  # why its landing was refused, the last times
    refused: int = 0  # how often
    saved: list[str] = field(
        default_factory=list
    )  # where the work of the newest try lies that did not land
    saved_commit: str = (
        ""  # the saved commit of what an agent forgot to commit: the next one begins with it
    )
    saved_by_newest: bool = False  # by the newest try
    missed: bool = False  # the newest try did not land, and that was written down
    last_attempt: LastAttempt | None = (
        None  # the newest try, unless a person has cleared the unit since
    )
    attempt_over: bool = False  # the newest claim was tried to its end
    failures: int = 0  # tries in vain since it landed or was cleared
    cleared_ms: int = 0  # when a person last said that it may be tried now
    undone: str = ""  # never folded: what git shows, where it landed and is not there any more

    @property
    def is_interrupted(self) -> bool:
        """A run is at it, or died at it before its try was over."""
        return bool(self.claimed_by) and not self.attempt_over


class LastStop(Struct, kw_only=True, frozen=True):
    run_id: str
    reason: str
    detail: str
    needs: str
    at_ms: int
    landed: int = 0
    limit: str = ""  # the name of the limit that its agents could not be started for
    missed: str = ""  # what did not land last, and why
    failed: list[str] = []  # the units that were tried in vain


class LaneStarts(Struct, kw_only=True):
    """A lane's spawns, and the one whose worker has not shown up yet."""

    unended: dict[str, int] = field(
        default_factory=dict
    )  # when each run was started that has not stopped with a word
    at_ms: int = 0
    intended: int = 0  # the position of the newest start, or of the supervisor's that started it
    told_to_wait_ms: int = 0
    woken_ms: int = 0  # when a person last cleared one of its units
    run_id: str = ""
    host: str = ""
    system: str = ""  # in whose table of processes the pid is; empty: unknown
    pid: int = 0
    pid_started: float = 0.0
    pending: bool = False
    failed: str = ""
    times_failed: int = 0
    stopped: LastStop | None = None  # how its last run ended, until somebody says that it may go on
    current_run: str = ""  # the run that has begun here and not stopped: it is at work, or dead
    version: int = 0

    def clear_failure(self) -> None:
        self.failed, self.unended, self.told_to_wait_ms, self.stopped = "", {}, 0, None


class SupervisorStart(Struct, kw_only=True, frozen=True):
    """The newest start of a supervisor on one machine."""

    position: int
    version: str  # of dos


class StopRequests(Struct, kw_only=True, frozen=True):
    """What people have asked of a run."""

    drain: bool = False
    superseded_by: str = ""  # the version of dos that was started on its machine since it began
    halted: str = ""
    paused: str = ""

    @property
    def must_stop(self) -> bool:
        return self.drain or bool(self.superseded_by or self.halted)


class Incidents(Struct, kw_only=True):
    found: dict[str, IncidentFound] = field(default_factory=dict)  # by the question about each
    kept: set[str] = field(default_factory=set)  # the questions that were answered so

    def add(self, fact: IncidentFound) -> None:
        self.found.setdefault(Incident.id_of(fact.id), fact)

    def answer(self, fact: DecisionAnswered) -> None:
        if fact.choice == ChoiceName.KEEP and fact.id in self.found:
            self.kept.add(fact.id)

    @property
    def disputed(self) -> frozenset[str]:
        """The commits that are no landing, whatever they say."""
        open_ones = (fact for name, fact in self.found.items() if name not in self.kept)
        return frozenset(commit for fact in open_ones for commit in fact.commits)

    @property
    def kept_commits(self) -> frozenset[str]:
        """Those that a person took for their own."""
        return frozenset(commit for name in self.kept for commit in self.found[name].commits)
