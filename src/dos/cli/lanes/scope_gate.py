"""Check that changed files belong to the lane.

The files are the named ones, else the staged ones, else those that differ between two commits. If
git cannot read them, the change is refused.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.lanes import scope
from dos.lanes.io.gather import scope_evidence
from dos.lanes.io.parts import config_for
from dos.lanes.scope import Policy
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"IN_SCOPE": 0, "contract_error": 2, "SCOPE_CREEP": 5, "WRONG_TARGET": 6}


class Args(Struct, kw_only=True):
    """The lane, the changed files, and how many others are tolerated."""

    lane: Annotated[str, Option(help="lane (default: the whole repository)", metavar="LANE")] = ""
    file: Annotated[
        list[str],
        Option(help="changed file; can be repeated", metavar="PATH", repeatable=True),
    ] = []
    staged: Annotated[bool, Option(help="check the staged files")] = False
    base: Annotated[
        str, Option(help="check the files changed since this commit (HEAD)", metavar="REF")
    ] = ""
    head: Annotated[str, Option(help="up to this commit (HEAD)", metavar="REF")] = ""
    allow_shared_infra: Annotated[
        bool, Option(help="allow files that every lane edits, such as setup.py")
    ] = False
    creep_tolerance: Annotated[
        int, Option(help="allow this many files outside the lane", metavar="N")
    ] = 0


def run(args: Args, context: Context) -> Reply:
    """Compare the changed files with the lane's paths, and reply with the files outside of it."""
    if args.lane:
        validated_name(args.lane, "lane name")
    policy = Policy(
        allow_shared_infra=args.allow_shared_infra, creep_tolerance=args.creep_tolerance
    )
    evidence = scope_evidence(
        context.policy_world,
        lane=args.lane,
        files=args.file,
        staged=args.staged,
        commits=(args.base, args.head),
    )
    verdict = scope.judge(evidence, policy)
    word = "REFUSE"
    next_action = "Remove these files from the change, or take a lane that contains them."
    if verdict.allowed:
        word = "ALLOW"
        next_action = ""
    return Reply(
        code=verdict.exit_code,
        text=f"{word}: {verdict.reason}",
        data=to_builtins(verdict),
        stderr=_unknown_lane_warning(context, args.lane),
        next_action=next_action,
    )


def _unknown_lane_warning(context: Context, lane: str) -> str:
    """Return a warning if the lane is not declared.

    An undeclared lane has no files, so that every change is refused; the warning says why.
    """
    if not lane or config_for(context.policy_world, lane).canonical_lane(lane):
        return ""
    from dos.cli.lanes import caller  # only a mistyped lane needs it

    try:
        caller.known_lane(context.world, lane)
    except BadInput as error:
        return f"warning: {error.message}\n  hint: {error.hint}"
    return ""
