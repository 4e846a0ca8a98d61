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
    process: Annotated[
        str, Option(help="what runs, as `dispatch`", positional=True, metavar="PROCESS")
    ]
    parent: Annotated[str | None, Option(help="the run that starts it", metavar="RID")] = None
    root: Annotated[
        str | None, Option(help="the first run of the family; the parent's when not given")
    ] = None
    write: Annotated[bool, Option(help="keep it in the journal")] = False


def run(args: Args, context: Context) -> Reply:
    root = args.root
    if args.parent is not None and root is None:
        root = _root_of(context.journal_world.journal, run_ids.validated_run_id(args.parent))
    now_ms = time.time_ns() // 1_000_000
    # Not from `secrets`, which loads a library of ciphers for it.
    entropy = int.from_bytes(os.urandom(8)) >> (64 - run_ids.ENTROPY_BITS)
    made = run_ids.mint(now_ms, entropy, args.process, parent=args.parent, root=root)
    if args.write:
        context.journal.record(
            streams.run(made.run_id), RunMinted(**structs.asdict(made)), expect=0
        )
    return Reply(data=structs.asdict(made), plain=made.run_id, indented=True, always_json=True)


def _root_of(store: Store, parent: str) -> str | None:
    """The root of a run that was written down; None when it was not."""
    minted = select(store.load(streams.run(parent), limit=1), RunMinted)
    return next((fact.root_id for _, fact in minted), None)
