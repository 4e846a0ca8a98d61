"""The run that a verb is asked about, with all that its stream holds."""

from msgspec import Struct

from dos.journal.events import Event
from dos.journal.store import Store
from dos.records import run_ids
from dos.surfaces.cli.desk import Desk, Reply


class Found(Struct, frozen=True, kw_only=True):
    run_id: str
    happened: list[Event]
    missing: Reply | None = None  # the answer when there is no such run


def find(desk: Desk, given: str) -> Found:
    store = desk.world.journal
    run_id = run_ids.checked_id(given) if given else newest(store)
    happened = store.load(f"run/{run_id}") if run_id else []
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


def newest(store: Store) -> str:
    """Run ids sort by their time."""
    with store.backend.read(once=True) as view:
        return max((name.removeprefix("run/") for name in view.streams("run/")), default="")
