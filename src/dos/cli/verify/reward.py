"""Decide whether work may serve as a training example.

Only a --source that is asked here can accept the work or call it poison. A --witness that is only
typed proves nothing: the claimant could have made it up. Narration is shown and has no effect.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.verify import witness
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.witness import reward
from dos.witness.accountability import Accountability
from dos.witness.belief import EffectClaim
from dos.witness.fact import attest, no_signal, refute
from dos.witness.io import sources

EXITS = {
    "ACCEPT": 0,
    "REJECT_POISON": 3,
    "ABSTAIN": 4,
    "NO_CLAIM": 5,
    "contract_error": 2,
    "unknown": 6,
}
TYPED = "--witness"
SAY = {"confirm": attest, "refute": refute, "none": no_signal}


class Args(Struct, kw_only=True):
    claim: Annotated[bool, Option(help="something is claimed; so it is when nothing is said")] = (
        False
    )
    no_claim: Annotated[bool, Option(help="nothing is claimed")] = False
    source: Annotated[
        list[str],
        Option(help="a witness to ask; repeat it", metavar="NAME[=SUBJECT]", repeatable=True),
    ] = []
    subject: Annotated[str, Option(help="what it is asked about", metavar="S")] = ""
    witness: Annotated[
        str, Option(help="what somebody says that a witness says", choices=tuple(SAY))
    ] = ""
    forgeable: Annotated[bool, Option(help="--witness could be made up; so it is taken anyway")] = (
        False
    )
    narrated: Annotated[
        str, Option(help="what the claimant says", metavar="TEXT", may_be_empty=True)
    ] = ""


def run(args: Args, context: Context) -> Reply:
    if args.claim and args.no_claim:
        raise BadInput(
            "--claim and --no-claim say the opposite of each other", hint="Give one of them."
        )
    claim = (
        None if args.no_claim else EffectClaim(key=args.subject or "claim", narrated=args.narrated)
    )
    asked = witness.wanted(args.source, args.subject)
    if aimless := [name for name, subject in asked if not subject]:
        raise BadInput(
            f"{aimless[0]!r} is asked about nothing", hint=f"Write --source {aimless[0]}=SUBJECT."
        )
    facts = sources.gather(context.world, claim, asked, context.warn) if claim and asked else []
    typed = [SAY[args.witness](TYPED, Accountability.AGENT_AUTHORED)] if args.witness else []
    verdict = reward.judge(claim, [*facts, *typed])
    return Reply(
        code=EXITS[verdict.answer],
        text="\n".join([f"{verdict.answer}  {verdict.reason}", *witness.lines(facts)]),
        data={**to_builtins(verdict), "accountability": verdict.accountability or ""},
    )
