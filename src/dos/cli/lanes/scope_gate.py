"""Check that changed files belong to the lane.

The files are the named ones, else the staged ones, else those that differ between two commits. If
git cannot read them, the change is refused.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.lanes import scope
from dos.lanes.io.gather import scope_evidence
from dos.lanes.scope import Policy
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"IN_SCOPE": 0, "contract_error": 2, "SCOPE_CREEP": 5, "WRONG_TARGET": 6}


class Args(Struct, kw_only=True):
    lane: Annotated[
        str, Option(help="the lane; the whole repository when not given", metavar="LANE")
    ] = ""
    file: Annotated[
        list[str],
        Option(help="a file that was touched; can be repeated", metavar="PATH", repeatable=True),
    ] = []
    staged: Annotated[bool, Option(help="the files that are staged")] = False
    base: Annotated[
        str, Option(help="the files changed since this commit (HEAD)", metavar="REF")
    ] = ""
    head: Annotated[str, Option(help="and up to this one (HEAD)", metavar="REF")] = ""
    allow_shared_infra: Annotated[
        bool, Option(help="files that every lane edits, such as setup.py, are fine")
    ] = False
    creep_tolerance: Annotated[int, Option(help="so many files outside are fine", metavar="N")] = 0


def run(args: Args, context: Context) -> Reply:
    if args.lane:
        validated_name(args.lane, "lane name")
    policy = Policy(
        allow_shared_infra=args.allow_shared_infra, creep_tolerance=args.creep_tolerance
    )
    seen = scope_evidence(
        context.world,
        context.policy,
        lane=args.lane,
        files=args.file,
        staged=args.staged,
        base=args.base,
        head=args.head,
    )
    verdict = scope.judge(seen, policy)
    return Reply(
        code=verdict.exit_code,
        text=f"{'ALLOW' if verdict.allowed else 'REFUSE'}: {verdict.reason}",
        data=to_builtins(verdict),
        stderr=""
        if not args.lane or context.policy.canonical_lane(args.lane)
        else _unknown(context, args.lane),
        next_action=""
        if verdict.allowed
        else "Take these files out of the change, or take a lane that has them.",
    )


def _unknown(context: Context, lane: str) -> str:
    """A lane that nobody knows has no files, which is a verdict already; this says why."""
    from dos.cli.lanes import caller  # only a typing error needs it

    try:
        caller.known_lane(context.world, lane)
    except BadInput as error:
        return f"warning: {error.message}\n  hint: {error.hint}"
    return ""
