"""Show which lane the caller works on, and what it may change.

It looks at the lease that the caller can prove to hold, by its key or by its processes, and never
at what an agent says of itself. Exit code 1: the caller holds no lease.
"""

import os
from collections.abc import Mapping

from msgspec import Struct

from dos.machine import process
from dos.permission.ask import Asker, AskerKind
from dos.permission.io.asker import find_asker
from dos.text import join_some
from dos.verbs.context import Context, Reply

EXITS = {"holder": 0, "no-lease": 1, "lost": 3, "contract_error": 2}
CODES = {AskerKind.HOLDER: EXITS["holder"], AskerKind.LOST: EXITS["lost"]}
NEXT = {
    AskerKind.HOLDER: "Change only these paths; everything else is refused.",
    AskerKind.LOST: "Stop: the lane may be another's now. Commit nothing.",
    AskerKind.STRANGER: "Change nothing in this tree: it belongs to a lane of the fleet.",
    AskerKind.PERSON: "Take a lane before you change it: dos lease-lane acquire --lane LANE",
}


class Args(Struct, kw_only=True):
    """Nothing: the caller is asked about."""


def run(_args: Args, context: Context) -> Reply:
    """Find the lease of the calling process, and reply with its region and its neighbours."""
    world = context.journal_world
    caller_pid = os.getpid()
    environment: Mapping[str, str] = os.environ
    if context.caller_pid is not None:
        caller_pid = context.caller_pid
        environment = process.environment_of(caller_pid)
    asker = find_asker(
        world,
        session="",
        tree=world.workspace.tree,
        caller_pid=caller_pid,
        environment=environment,
    )
    return Reply(
        code=CODES.get(asker.kind, EXITS["no-lease"]),
        text=_text(asker),
        data={
            "kind": asker.kind.value,
            "lane": asker.lane or None,
            "tree": list(asker.region.globs) if asker.region else [],
            "fence": asker.fence,
            "run_id": asker.run_id or None,
            "also_held": [
                {"lane": own.lane, "tree": list(own.region.globs)} for own in asker.further
            ],
            "held_by_others": [
                {"lane": other.lane, "tree": list(other.region.globs), "run_id": other.run_id}
                for other in asker.neighbours
            ],
        },
        next_action=NEXT[asker.kind],
    )


def _text(asker: Asker) -> str:
    """Return the lease, and who works beside it, as lines for people."""
    match asker.kind:
        case AskerKind.HOLDER:
            globs = ", ".join(asker.region.globs) if asker.region else "nothing"
            lines = [f"lane {asker.lane}, fence {asker.fence}: may change {globs}"]
            for own in asker.further:
                lines.append(f"lane {own.lane}: may change {', '.join(own.region.globs)}")
        case AskerKind.LOST:
            lines = [f"The lease on lane {asker.lane} has ended: nothing may be changed."]
        case AskerKind.STRANGER:
            lines = ["This is the tree of a lane, and the caller holds no lease."]
        case AskerKind.PERSON:
            lines = ["The caller holds no lease."]
    if asker.neighbours:
        lines.append(f"held by others: {join_some([other.lane for other in asker.neighbours])}")
    return "\n".join(lines)
