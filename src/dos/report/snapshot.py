"""What is to be seen of a fleet at one moment."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from dos.fleet.state.fleet import FleetState
from dos.fleet.state.live import LiveState
from dos.lease import Lease
from dos.limits.quota import AgentCandidate
from dos.limits.state.quota import ProviderLimits
from dos.questions.state import Decisions


class HeldLease(Struct, frozen=True, kw_only=True):
    lease: Lease
    lapsed: bool  # its time is over, and nobody has taken its place
    gone: bool  # its process, by the system's word


class Snapshot(Struct, frozen=True, kw_only=True):
    now_ms: int  # by the clock that dates the events
    fleet: FleetState
    watching: LiveState
    decisions: Decisions
    quota: ProviderLimits
    held: list[HeldLease]  # lanes
    supervisors: list[HeldLease]
    launched: Mapping[str, int] = {}  # lane -> how many workers are on their way to it
    last_output_ms: dict[
        str, int
    ]  # run -> when its agent last said something; only of this host's runs
    roster: list[str] = []
    silent_after_ms: int | None = None  # an agent that says nothing for so long is worth a look
    agents: Sequence[AgentCandidate] | None = (
        None  # all that the lanes may be worked on by; None: nobody can say
    )
