"""Generate a run id.

With --write the journal records the run's parent and root, and runs with this parent find their
root there.
"""

import os
import time
from typing import Annotated

from msgspec import Struct, structs

from dos import run_ids
from dos.journal import streams
from dos.journal.events.fleet import RunMinted
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"minted": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """What the run is, and which run starts it."""

    process: Annotated[
        str, Option(help="what runs, such as `dispatch`", positional=True, metavar="PROCESS")
    ]
    parent: Annotated[str | None, Option(help="run that starts it", metavar="RID")] = None
    root: Annotated[
        str | None, Option(help="first run of the family (default: the parent's root)")
    ] = None
    write: Annotated[bool, Option(help="record it in the journal")] = False


def run(args: Args, context: Context) -> Reply:
    """Print a new run id with its parent and root; it is recorded only with --write."""
    root = args.root
    if args.parent is not None and root is None:
        parent = run_ids.validated_run_id(args.parent)
        root = _recorded_root(context.journal_world.journal, parent)
    now_ms = time.time_ns() // 1_000_000
    # os.urandom instead of `secrets`, which would load a library of ciphers at every start.
    entropy = int.from_bytes(os.urandom(8)) >> (64 - run_ids.ENTROPY_BITS)
    identity = run_ids.mint(now_ms, entropy, args.process, parent=args.parent, root=root)
    data = structs.asdict(identity)
    if args.write:
        context.journal.record(streams.run(identity.run_id), RunMinted(**data), expect=0)
    return Reply(data=data, plain=identity.run_id, indented=True, always_json=True)


def _recorded_root(store: Store, parent: str) -> str | None:
    """Return the root that the journal recorded for the parent; None if it recorded none."""
    for _, minted in select(store.load(streams.run(parent), limit=1), RunMinted):
        return minted.root_id
    return None
