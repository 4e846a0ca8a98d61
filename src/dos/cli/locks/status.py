"""Show who holds the archive lock."""

from typing import Annotated

from msgspec import Struct

from dos.cli.locks import acquire
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    ttl_seconds: Annotated[
        float | None,
        Option(
            help="call it stale from this age on; its own end when not given", metavar="SECONDS"
        ),
    ] = None


def run(args: Args, context: Context) -> Reply:
    if args.ttl_seconds is not None and args.ttl_seconds < 0:
        raise BadInput("--ttl-seconds cannot be below 0", hint="For example: --ttl-seconds 300")
    held = acquire.current_lock(context.journal_world.journal)
    if held is None:
        return Reply(text="free", data={"state": "free"})
    old = args.ttl_seconds is not None and held.age_ms >= args.ttl_seconds * 1000
    state = "stale" if held.lapsed or old else "held"
    return Reply(
        text=f"{state} {held.lease.holder} age={held.age_seconds}s",
        data={
            "state": state,
            "owner": held.lease.holder,
            "age_seconds": held.age_seconds,
            "expires_in_seconds": held.expires_in_seconds,
            "fence": held.lease.fence,
        },
    )
