"""Find the run that an argument names, and check what may still be recorded about it."""

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from dos import run_ids
from dos.errors import BadInput, Refused
from dos.journal import fold, run_state, streams
from dos.journal.events.envelope import Event, Fact
from dos.journal.run_state import RunState
from dos.journal.store import Store
from dos.text import join_some, quote, validated_name
from dos.verbs.context import Context, Reply

if TYPE_CHECKING:  # imported at use: most verbs find a run by its id
    from dos.fleet.state.fleet import FleetState

LONGEST_TEXT = 1_000  # characters of a goal, a plan or a reason
MOST_FENCE_DIGITS = 18  # a longer number is none that the store can hold
MOST_STEPS_LISTED = 20  # in an error


class FoundRun(Struct, frozen=True, kw_only=True):
    """A run and its events; or `missing`, the reply that says that there is no such run."""

    run_id: str
    events: list[Event]
    missing: Reply | None = None


def find_run(context: Context, name: str) -> FoundRun:
    """Find a run by its id, its lane or its unit; without a name, the newest run.

    A run that the journal does not know is no error: the reply says so with exit code 1. Raises
    BadInput for a name that is neither a run id nor a known lane or unit.
    """
    store = context.world.journal
    run_id = named_run_id(store, name) if name else newest_run_id(store)
    if not run_id:
        missing = Reply(
            code=1,
            text="the journal has no run yet",
            data={"run_id": None, "found": False},
            next_action="`dos up` starts the fleet.",
        )
        return FoundRun(run_id="", events=[], missing=missing)
    events = store.load(streams.run(run_id))
    if events:
        return FoundRun(run_id=run_id, events=events)
    missing = Reply(
        code=1,
        text=f"the journal has no run {run_id}",
        data={"run_id": run_id, "found": False},
        next_action="`dos timeline LANE` shows the newest run of a lane, and its id.",
    )
    return FoundRun(run_id=run_id, events=[], missing=missing)


def named_run_id(store: Store, name: str) -> str:
    """Return the run id itself, else the newest run on the lane, else the last run of the unit.

    Raises BadInput if the name is none of them. Run ids sort by their time.
    """
    if name.startswith("RID-"):
        return run_ids.validated_run_id(name)
    from dos.fleet.state.fleet import FleetState

    fleet, _ = fold.current(store, FleetState)
    candidates = [run_id for run_id, run in fleet.runs.items() if run.lane == name]
    if not candidates:
        candidates = _runs_of_unit(fleet, name)
    newest = max(candidates, default="")
    if newest:
        return newest
    lanes = sorted({run.lane for run in fleet.runs.values() if run.lane})
    with_runs = join_some(lanes) or "none"
    raise BadInput(
        f"{quote(name)} is not a run id, a lane with a run, or a unit that was attempted",
        hint=f"Lanes with runs: {with_runs}. Without a name, the newest run is used.",
    )


def _runs_of_unit(fleet: "FleetState", name: str) -> list[str]:
    """Return the runs that hold the unit, or that attempted it last; plans may share its id."""
    run_ids_of_unit = []
    for unit_name, unit in fleet.units.items():
        if name not in (unit_name, unit_name.rpartition("/")[2]):
            continue
        if unit.claimed_by:
            run_ids_of_unit.append(unit.claimed_by)
        elif unit.last_attempt:
            run_ids_of_unit.append(unit.last_attempt.run_id)
    return run_ids_of_unit


def newest_run_id(store: Store) -> str:
    """Return the id of the newest run; "" without any. Ids sort by the time of their minting."""
    with store.backend.read(once=True) as view:
        names = view.streams(streams.run.prefix)
        return max((streams.run.subject(name) for name in names), default="")


def open_run(context: Context, run_id: str) -> RunState:
    """Read the run from the journal and return it.

    Raises Refused if it declared nothing or another run has resumed it.
    """
    return check_open(run_id, run_state.read(context.world.journal, run_id))


def check_open(run_id: str, run: RunState) -> RunState:
    """Return the run; raises Refused if it declared nothing or another run has resumed it.

    A run that was resumed is closed for good: two runs that record the same steps would both
    count as having done them.
    """
    if not run.has_intent:
        raise Refused(
            f"{run_id} has declared nothing",
            hint=f"dos run begin --run-id {run_id} --goal TEXT",
        )
    if run.successor:
        raise Refused(
            f"{run.successor} has resumed the work of {run_id}",
            hint=f"Use {run.successor}, or stop working.",
        )
    return run


def record(context: Context, run_id: str, fact: Fact) -> None:
    """Append the event to the run's stream, unless another run has resumed it meanwhile.

    Raises Refused in that case, and Fenced if the caller's lease has ended.
    """

    def decide(run: RunState) -> list[Fact]:
        check_open(run_id, run)
        return [fact]

    run_state.change(context.journal, run_id, decide, fence=own_fence(run_id))


def declared_step(run: RunState, step: str) -> str:
    """Return the validated step; raises BadInput if the run declared steps and not this one."""
    validated_name(step, "step")
    if run.steps and step not in run.steps:
        raise BadInput(
            f"{quote(step)} is not a declared step: {', '.join(run.steps[:MOST_STEPS_LISTED])}",
            hint="`dos run begin --run-id RUN --step …` declares more.",
        )
    return step


def commit_hash(context: Context, name: str) -> str:
    """Return the full hash of the commit: a branch or a short hash may mean another one later.

    Raises BadInput if the name means no commit in this repository.
    """
    from dos.git import commits

    return commits.resolve_commit(context.world.git, name)


def optional_commit_hash(context: Context, name: str) -> str:
    """Return the full hash of the commit, or "" if the option was not given."""
    if not name:
        return ""
    return commit_hash(context, name)


def own_fence(run_id: str) -> int | None:
    """Return the fence that the environment exports for this run, or None.

    A process that works for the run under a lease may record events only while it holds the lease.
    """
    exported = os.environ.get("DOS_FENCE", "")
    if not exported or os.environ.get("DOS_RUN_ID") != run_id:
        return None
    if not exported.isdecimal() or len(exported) > MOST_FENCE_DIGITS:
        raise BadInput(f"$DOS_FENCE is {quote(exported)}, not a fence", hint="Unset DOS_FENCE.")
    return int(exported)


def validated_text(text: str, what: str) -> str:
    """Return the text, validated as one line of at most LONGEST_TEXT characters, or ""."""
    if not text:
        return ""
    return validated_name(text, what, longest=LONGEST_TEXT)
