"""Who stands in the way of what was asked for, and whether they are still there."""

from collections.abc import Sequence

from dos.journal.store import Store
from dos.lanes import admission
from dos.lanes.arbitrate import Ask
from dos.lanes.io import lane as evidence
from dos.lanes.preference import Candidate
from dos.lease import Lease
from dos.machine import process
from dos.regions import region
from dos.verbs.context import Context


def in_the_way(context: Context, journal: Store, ask: Ask) -> list[Lease]:
    """The live leases that the named lane meets; all of them, for a request that names none."""
    live = journal.leases(lapsed=False)
    if not ask.lane:
        return live
    roster = evidence.roster(context.world, context.policy)
    lane = roster.canonical(ask.lane) or ask.lane
    wanted = Candidate(
        lane=lane,
        kind=ask.kind,
        region=region(ask.tree or roster.tree(lane)),
        mode=ask.mode,
        exclusive=roster.runs_alone(lane),
    )
    return [lease for lease in live if admission.judge_pair(wanted, lease)]


def hint(leases: Sequence[Lease]) -> dict[str, str]:
    """What to type when somebody in the way is dead, under the key it has in JSON; nothing when nobody is."""
    gone = next((lease for lease in leases if process.gone(lease)), None)
    if gone is None:
        return {}
    who = f"the process of {gone.holder!r}, who holds {gone.lane!r}"
    return {"hint": f"`dos lease-lane reap` frees the lane: {who}, is gone"}
