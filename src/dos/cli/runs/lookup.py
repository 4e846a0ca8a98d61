"""What a verb may still say of a run, and which commit it means."""

import os

from msgspec import Struct

from dos import run_ids
from dos.errors import BadInput, Refused
from dos.fleet.state.fleet import FleetState
from dos.git import commits
from dos.journal import fold, run_state, streams
from dos.journal.events.envelope import Event, Fact
from dos.journal.run_state import RunState
from dos.journal.store import Store
from dos.text import quote, validated_name
from dos.verbs.context import Context, Reply

LONGEST_TEXT = 1_000


def open_run(context: Context, run_id: str) -> RunState:
    """The run, provided that something was declared for it and nobody else goes on with it."""
    return check_open(run_id, run_state.read(context.world.journal, run_id))


def check_open(run_id: str, run: RunState) -> RunState:
    if not run.has_intent:
        raise Refused(
            f"nothing was declared for {run_id}",
            hint=f"dos run begin --run-id {run_id} --goal TEXT",
        )
    if run.successor:
        raise Refused(
            f"{run.successor} goes on with the work of {run_id}",
            hint=f"Speak of {run.successor}, or stop working.",
        )
    return run


def record(context: Context, run_id: str, fact: Fact) -> None:
    """Write of the run, unless another goes on with it by now."""

    def decide(run: RunState) -> list[Fact]:
        check_open(run_id, run)
        return [fact]

    run_state.change(context.journal, run_id, decide, fence=own_fence(run_id))


def declared_step(run: RunState, step: str) -> str:
    validated_name(step, "step")
    if run.steps and step not in run.steps:
        raise BadInput(
            f"{quote(step)} is none of the declared steps: {', '.join(run.steps[:20])}",
            hint="`dos run begin --run-id RUN --step …` declares more.",
        )
    return step


def commit_hash(context: Context, name: str) -> str:
    """The commit that was meant, by its whole hash: a shorter name may mean another one tomorrow."""
    return commits.resolve_commit(context.world.git, name)


def own_fence(run_id: str) -> int | None:
    """Whoever works for the run under a lease may write of it only while it holds the lease."""
    exported = os.environ.get("DOS_FENCE", "")
    if not exported or os.environ.get("DOS_RUN_ID") != run_id:
        return None
    if not exported.isdecimal() or len(exported) > 18:
        raise BadInput(
            f"$DOS_FENCE is {quote(exported)}, which is no fence", hint="Unset DOS_FENCE."
        )
    return int(exported)


def validated_text(given: str, what: str) -> str:
    return validated_name(given, what, longest=LONGEST_TEXT) if given else ""


class FoundRun(Struct, frozen=True, kw_only=True):
    run_id: str
    happened: list[Event]
    missing: Reply | None = None  # the answer when there is no such run


def find_run(context: Context, given: str) -> FoundRun:
    store = context.world.journal
    run_id = named_run_id(store, given) if given else newest_run_id(store)
    happened = store.load(streams.run(run_id)) if run_id else []
    if happened:
        return FoundRun(run_id=run_id, happened=happened)
    what = f"the journal knows no run {run_id}" if run_id else "the journal knows no run yet"
    missing = Reply(
        code=1,
        text=what,
        data={"run_id": run_id or None, "found": False},
        next_action="`dos status` lists the runs." if run_id else "`dos up` starts some.",
    )
    return FoundRun(run_id=run_id, happened=[], missing=missing)


def named_run_id(store: Store, given: str) -> str:
    """A lane means the newest run on it, a unit the one that is or was last at it."""
    if given.startswith("RID-"):
        return run_ids.validated_run_id(given)
    fleet, _ = fold.current(store, FleetState)
    on_lane = [run_id for run_id, run in fleet.runs.items() if run.lane == given]
    of_unit = [
        unit.claimed_by or (unit.last_attempt.run_id if unit.last_attempt else "")
        for name, unit in fleet.units.items()
        if given in (name, name.rpartition("/")[2])
    ]
    if run_id := max(on_lane or of_unit, default=""):
        return run_id
    raise BadInput(
        f"{quote(given)} is no run id, no lane that was worked on, and no unit that was tried",
        hint="`dos top` shows the lanes, `dos status` the runs; without a name it is the newest run.",
    )


def newest_run_id(store: Store) -> str:
    """Run ids sort by their time."""
    with store.backend.read(once=True) as view:
        return max(
            (streams.run.subject(name) for name in view.streams(streams.run.prefix)), default=""
        )
