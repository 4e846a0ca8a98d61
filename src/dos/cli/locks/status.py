"""Show who holds the archive lock."""

from typing import Annotated

from msgspec import Struct

from dos.cli.locks.acquire import current_lock
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """From which age on a held lock is called stale."""

    ttl_seconds: Annotated[
        float | None,
        Option(help="call it stale from this age on (default: its expiry)", metavar="SECONDS"),
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Reply with the holder and whether the lock is held or stale."""
    if args.ttl_seconds is not None and args.ttl_seconds < 0:
        raise BadInput("--ttl-seconds cannot be below 0", hint="For example: --ttl-seconds 300")
    lock = current_lock(context.journal_world.journal)
    if lock is None:
        return Reply(text="free", data={"state": "free"})
    too_old = args.ttl_seconds is not None and lock.age_ms >= args.ttl_seconds * 1000
    state = "stale" if lock.lapsed or too_old else "held"
    return Reply(
        text=f"{state} {lock.lease.holder} age={lock.age_seconds}s",
        data={
            "state": state,
            "owner": lock.lease.holder,
            "age_seconds": lock.age_seconds,
            "expires_in_seconds": lock.expires_in_seconds,
            "fence": lock.lease.fence,
        },
    )
