"""The run that a verb is asked about: by its id, or by its lane or its unit, as people think of it."""

from msgspec import Struct

from dos import run_ids
from dos.errors import BadInput
from dos.fleet.state.fleet import Fleet
from dos.journal import fold, streams
from dos.journal.events.envelope import Event
from dos.journal.store import Store
from dos.text import quote
from dos.verbs.context import Context, Reply


class Found(Struct, frozen=True, kw_only=True):
    run_id: str
    happened: list[Event]
    missing: Reply | None = None  # the answer when there is no such run


def find(context: Context, given: str) -> Found:
    store = context.world.journal
    run_id = named(store, given) if given else newest(store)
    happened = store.load(streams.run(run_id)) if run_id else []
    if happened:
        return Found(run_id=run_id, happened=happened)
    what = f"the journal knows no run {run_id}" if run_id else "the journal knows no run yet"
    missing = Reply(
        code=1,
        text=what,
        data={"run_id": run_id or None, "found": False},
        next_action="`dos status` lists the runs." if run_id else "`dos up` starts some.",
    )
    return Found(run_id=run_id, happened=[], missing=missing)


def named(store: Store, given: str) -> str:
    """A lane means the newest run on it, a unit the one that is or was last at it."""
    if given.startswith("RID-"):
        return run_ids.validated_run_id(given)
    fleet, _ = fold.current(store, Fleet)
    on_lane = [run_id for run_id, run in fleet.runs.items() if run.lane == given]
    of_unit = [
        unit.claimed_by or (unit.tried.run_id if unit.tried else "")
        for name, unit in fleet.units.items()
        if given in (name, name.rpartition("/")[2])
    ]
    if run_id := max(on_lane or of_unit, default=""):
        return run_id
    raise BadInput(
        f"{quote(given)} is no run id, no lane that was worked on, and no unit that was tried",
        hint="`dos top` shows the lanes, `dos status` the runs; without a name it is the newest run.",
    )


def newest(store: Store) -> str:
    """Run ids sort by their time."""
    with store.backend.read(once=True) as view:
        return max(
            (streams.run.subject(name) for name in view.streams(streams.run.prefix)), default=""
        )
