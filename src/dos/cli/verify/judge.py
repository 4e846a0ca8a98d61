"""Ask a judge for its opinion on a claim.

A judge's opinion can weaken a claim and never prove one. Judges: abstain; command, which runs the
program of $DOS_LLM_JUDGE_CMD or [judges] command; similarity; operator-decision; and those that
other packages add.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.witness.io import judges
from dos.witness.judges import Claim

EXITS = {"AGREE": 0, "DISAGREE": 3, "ABSTAIN": 4, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The claim, the judge, and what the judge is told."""

    claim: Annotated[str, Option(help="claim to judge", positional=True)]
    judge: Annotated[str, Option(help="name of the judge", metavar="NAME")]
    evidence: Annotated[
        list[str], Option(help="evidence; can be repeated", metavar="TEXT", repeatable=True)
    ] = []
    stated_reason: Annotated[str, Option(help="the claimant's reason", metavar="TEXT")] = ""
    subject: Annotated[str, Option(help="subject of the claim", metavar="S")] = ""


def run(args: Args, context: Context) -> Reply:
    """Ask one judge and print its opinion; the exit code is 0 if it agrees.

    Raises BadInput for a judge that is not known. A judge that fails abstains, and says why.
    """
    ask = judges.open_judge(context.world, args.judge, context.warn)
    claim = Claim(
        claim_text=args.claim,
        stated_reason=args.stated_reason,
        evidence=tuple(args.evidence),
        subject=args.subject,
    )
    opinion = ask(claim)
    return Reply(
        code=EXITS[opinion.stance],
        text=f"{opinion.stance}  {opinion.why}",
        data={**to_builtins(opinion), "judge": args.judge, "reason": opinion.why},
        next_action="An opinion proves nothing: ask a witness with `dos witness`.",
        indented=True,
    )
