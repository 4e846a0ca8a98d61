"""What is known of a fleet at one moment: folded state, leases and the processes behind them."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from dos.fleet.state.fleet import FleetState
from dos.fleet.state.live import LiveState
from dos.lease import Lease
from dos.limits.quota import AgentCandidate
from dos.limits.state.quota import ProviderLimits
from dos.questions.state import Decisions


class HeldLease(Struct, frozen=True, kw_only=True):
    """A lease, and whether its holder is still alive."""

    lease: Lease
    lapsed: bool  # its time is over, and no other holder has taken it
    gone: bool  # its process has exited, by the operating system


class Snapshot(Struct, frozen=True, kw_only=True):
    """The state of a fleet at one moment."""

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
    silent_after_ms: int | None = None  # an agent that prints nothing for so long is shown
    agents: Sequence[AgentCandidate] | None = None  # those in use; None: not known
