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
TYPED = "--witness"  # the name of a witness that is only typed
STANCES = {"confirm": attest, "refute": refute, "none": no_signal}


class Args(Struct, kw_only=True):
    """Whether something is claimed, and the witnesses."""

    claim: Annotated[bool, Option(help="something is claimed (default)")] = False
    no_claim: Annotated[bool, Option(help="nothing is claimed")] = False
    source: Annotated[
        list[str],
        Option(help="witness to ask; can be repeated", metavar="NAME[=SUBJECT]", repeatable=True),
    ] = []
    subject: Annotated[str, Option(help="what witnesses are asked about", metavar="S")] = ""
    witness: Annotated[
        str, Option(help="stance of a witness, by your account", choices=tuple(STANCES))
    ] = ""
    forgeable: Annotated[bool, Option(help="--witness could be made up (always assumed)")] = False
    narrated: Annotated[
        str, Option(help="the claimant's account", metavar="TEXT", may_be_empty=True)
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Ask the sources, and decide by those that the claimant could not have written.

    Raises BadInput for a source without a subject, before any source is asked.
    """
    if args.claim and args.no_claim:
        raise BadInput("--claim and --no-claim contradict each other", hint="Give one of them.")
    claim: EffectClaim | None = None
    if not args.no_claim:
        claim = EffectClaim(key=args.subject or "claim", narrated=args.narrated)
    questions = witness.parse_sources(args.source, args.subject)
    for name, subject in questions:
        if not subject:
            raise BadInput(
                f"--source {name!r} has no subject", hint=f"Write --source {name}=SUBJECT."
            )
    facts = []
    if claim and questions:
        facts = sources.gather(context.world, claim, questions, context.warn)
    # The caller's own word counts as the claimant's: it is listed, and decides nothing.
    typed = []
    if args.witness:
        typed = [STANCES[args.witness](TYPED, Accountability.AGENT_AUTHORED)]
    verdict = reward.judge(claim, [*facts, *typed])
    return Reply(
        code=EXITS[verdict.answer],
        text="\n".join([f"{verdict.answer}  {verdict.reason}", *witness.lines(facts)]),
        data={**to_builtins(verdict), "accountability": verdict.accountability or ""},
    )
