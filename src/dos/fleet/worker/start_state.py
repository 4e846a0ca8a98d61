"""The state that a loop starts from, with the limits of `dos.toml`: a new one, or that of a run that died."""

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
    limits = structs.asdict(config.loop) | {"gate_mode": Mode(config.loop.gate_mode)}
    return LoopState(max_iterations=config.workers.max_iterations, **limits)


def dead_run(
    fleet: FleetState, leases: Iterable[Lease], lane: str, gone: Callable[[Lease], bool]
) -> str:
    """The run that began on the lane and ended without a word; empty: none did. `leases` are those in force."""
    run_id = fleet.starts.get(lane, LaneStarts()).current_run
    lives = any(lease.run_id == run_id and not gone(lease) for lease in leases)
    return "" if lives else run_id


def state_after(happened: Iterable[Event], first: LoopState) -> LoopState:
    """How a run goes on after one that died: a crash takes back nothing of what was decided.

    What that one had counted counts on, under the limits of `first`.
    """
    taken = record.read_decisions(happened)
    if not taken:
        return first
    return structs.replace(
        taken[-1].decision.next_state, **{name: getattr(first, name) for name in LIMITS}
    )
