"""The state that a loop starts from: new, or where the lane's dead run came to.

`dos worker` begins with it; `dos decide` and `dos replay` take the limits of `dos.toml` from it.
"""

from collections.abc import Callable, Iterable

from msgspec import structs

from dos.config.schema import Config
from dos.fleet.state.fleet import FleetState, LaneStarts
from dos.journal.events.envelope import Event
from dos.lease import Lease
from dos.loop import record
from dos.loop.gate import Mode
from dos.loop.record import LIMITS
from dos.loop.types import LoopState


def new_state(config: Config) -> LoopState:
    """Return the first state of a loop, with the limits of `dos.toml`.

    The limits are those of [loop], and the number of iterations that [workers] allows a run.
    """
    limits = structs.asdict(config.loop)
    limits["gate_mode"] = Mode(config.loop.gate_mode)
    return LoopState(max_iterations=config.workers.max_iterations, **limits)


def dead_run(
    fleet: FleetState, leases: Iterable[Lease], lane: str, gone: Callable[[Lease], bool]
) -> str:
    """Return the run that began on the lane and ended without a record; empty if there is none.

    `leases` are those in force; `gone` says whether the process of a lease has exited.
    """
    run_id = fleet.starts.get(lane, LaneStarts()).current_run
    is_alive = any(lease.run_id == run_id and not gone(lease) for lease in leases)
    return "" if is_alive else run_id


def state_after(happened: Iterable[Event], first: LoopState) -> LoopState:
    """Return the state in which a run continues after the dead run whose events these are.

    The counters of the dead run are kept, so that a crash cannot reset a limit. The limits
    themselves are those of `first`.
    """
    decisions = record.read_decisions(happened)
    if not decisions:
        return first
    limits = {name: getattr(first, name) for name in LIMITS}
    return structs.replace(decisions[-1].decision.next_state, **limits)
