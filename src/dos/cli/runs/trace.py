"""Show everything recorded about a run.

The run's parents and children, what it declared, its leases and its commits. Events are matched by
the run's id or its leases, never by time.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos import run_ids
from dos.runs.io import trace, view
from dos.times import now_ms, utc_datetime
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"found": 0, "not-found": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The run to show."""

    run_id: Annotated[str, Option(help="run id", positional=True, metavar="RID")]


def run(args: Args, context: Context) -> Reply:
    """Show what the journal and git know about the run; nothing is recorded."""
    gathered = trace.gather(context.world, run_ids.validated_run_id(args.run_id))
    return Reply(
        code=0 if gathered.found else 1,
        text=view.render_trace(gathered, utc_datetime(now_ms(None))),
        data=to_builtins(gathered),
        indented=True,
    )
