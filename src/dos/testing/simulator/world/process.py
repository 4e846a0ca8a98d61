"""The clock, the hosts and the processes of a simulation, and how a process gets its answers.

A process is a generator of the product's effects with a table of performers. A performer answers at
once, later, or by resuming the process itself.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct

from dos.fleet import effects
from dos.fleet.effect import Effect, Kind, Steps
from dos.journal.store import Store
from dos.lease import Lease

BEGIN_MS = 1_700_000_000_000  # the wall-clock time at which a simulation begins
E = TypeVar("E")
A = TypeVar("A")
Performer = Callable[["Process", Any], Any]
Performers = Mapping[Kind[Any, Any], Performer]


class VirtualClock(Struct):
    """The clock of the store, in milliseconds since the simulation began.

    A host's clock may be minutes off; the store's is right.
    """

    now_ms: int = 0
    wrong_by_ms: int = 0  # set only by a planted bug

    def wall_ms(self) -> int:
        """The time of day, as events record it."""
        return BEGIN_MS + self.now_ms

    def lease_ms(self) -> int:
        """The time by which leases expire."""
        return self.now_ms + self.wrong_by_ms

    def boot(self) -> str:
        """The clock's boot id: simulated machines are never restarted."""
        return "simulated"


class KilledInEffect(BaseException):
    """Raised in the middle of an effect to end its process there, as SIGKILL does."""


class Later(Struct, Generic[A], frozen=True):
    """An answer that the process gets after some seconds."""

    seconds: float
    answer: A


class Suspended(Generic[A]):
    """The performer itself resumes the process when the answer, an A, is known."""


SUSPENDED: Suspended[Any] = Suspended()


def simulated_by(
    kind: Kind[E, A], perform: Callable[["Process", E], A | Later[A] | Suspended[A]]
) -> tuple[Kind[Any, Any], Performer]:
    """Return a row of the table of performers; mypy checks that the answer fits the effect."""
    return kind, perform


class Host(Struct):
    """A machine of the fleet, with one supervisor at a time that counts as its own."""

    name: str
    wrong_by_ms: int = 0  # error of its wall clock
    away_until: int = 0  # until then it reaches neither the store nor the repository
    supervisor: "Process | None" = None
    version: int = 0  # installed version of dos


class Process:
    """A process of the simulated system: a supervisor, or a worker if it has a run.

    Once dead, it stays dead. `performers` answer its effects, `agent` is the agent that it waits
    for, and `renewers` keep its leases by fence.
    """

    __slots__ = (
        "agent",
        "alive",
        "away_since",
        "doubtful",
        "effect",
        "generator",
        "has_checked",
        "host",
        "is_supervisor",
        "lane",
        "launching",
        "paused_until",
        "performers",
        "pid",
        "renewers",
        "run_id",
        "started",
        "store",
        "tries",
    )  # fmt: skip

    def __init__(
        self, host: Host, pid: int, started: float, store: Store, lane: str, run_id: str
    ) -> None:
        self.host = host
        self.pid = pid
        self.started = started
        self.store = store
        self.lane = lane
        self.run_id = run_id
        self.is_supervisor = not run_id
        self.alive = True
        self.launching = True
        self.generator: Steps[Any]
        self.performers: Performers = {}
        self.effect: Effect[Any] = effects.Pause(seconds=0)  # the effect that it waits for
        self.renewers: dict[int, LeaseRenewer] = {}  # by fence
        self.agent: object | None = None
        self.paused_until = 0
        self.has_checked = False  # it checked its leases and then slept
        self.away_since: int | None = None
        self.tries = 0


class LeaseRenewer:
    """Renews one lease of a process in the background; it dies with the process.

    `ends` is until when the holder may rely on the lease: counted from the request, not from the
    answer, which may have been slow.
    """

    __slots__ = ("ends", "lease", "lost", "stopped")

    def __init__(self, lease: Lease, asked_at: int) -> None:
        self.lease = lease
        self.ends = asked_at + lease.ttl_ms
        self.lost = False
        self.stopped = False
