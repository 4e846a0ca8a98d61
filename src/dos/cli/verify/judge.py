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
    claim: Annotated[str, Option(help="what is claimed", positional=True)]
    judge: Annotated[str, Option(help="who is asked", metavar="NAME")]
    evidence: Annotated[
        list[str], Option(help="what it is to go by; repeat it", metavar="TEXT", repeatable=True)
    ] = []
    stated_reason: Annotated[str, Option(help="why the claimant says so", metavar="TEXT")] = ""
    subject: Annotated[str, Option(help="what it is about", metavar="S")] = ""


def run(args: Args, context: Context) -> Reply:
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
        next_action="An opinion proves nothing: ask a witness, as in `dos witness`.",
        indented=True,
    )
