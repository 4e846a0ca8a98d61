"""Check by independent sources that a claimed effect happened.

Each --source is asked about its subject, or about KEY where it has none. What a source can prove
depends on who wrote it: what the claimant could have written itself is listed and has no effect.
Narration is shown and has no effect.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.witness import belief
from dos.witness.belief import Answer, EffectClaim
from dos.witness.fact import EvidenceFacts
from dos.witness.io import sources as witnesses

EXITS = {"CONFIRMED": 0, "REFUTED": 1, "UNWITNESSED": 3, "NO_CLAIM": 3, "contract_error": 2}
NEXT = {
    Answer.CONFIRMED: "It can be built on, as far as its witness looks.",
    Answer.REFUTED: "Do not build on it: somebody who can know says otherwise.",
    Answer.UNWITNESSED: "Nobody who can know was reached; it is neither true nor false yet.",
}


class Args(Struct, kw_only=True):
    key: Annotated[
        str, Option(help="the effect that is claimed", positional=True, may_be_empty=True)
    ]
    source: Annotated[
        list[str], Option(help="a witness; repeat it", metavar="NAME[=SUBJECT]", repeatable=True)
    ] = []
    subject: Annotated[
        str, Option(help="what witnesses are asked about, if not KEY", metavar="S")
    ] = ""
    narrated: Annotated[
        str, Option(help="what the claimant says", metavar="TEXT", may_be_empty=True)
    ] = ""


def run(args: Args, context: Context) -> Reply:
    if not args.source:
        names = ", ".join(witnesses.source_names(context.warn))
        raise BadInput(
            "no witness is named, so nobody can be asked",
            hint=f"Add --source with one of: {names}.",
        )
    claim = EffectClaim(key=args.key, subject=args.subject, narrated=args.narrated)
    facts = witnesses.gather(context.world, claim, wanted(args.source, args.subject), context.warn)
    verdict = belief.judge(claim, facts)
    return Reply(
        code=EXITS[verdict.answer],
        text="\n".join([f"{verdict.answer}  {verdict.reason}", *lines(facts)]),
        data={**to_builtins(verdict), "evidence": to_builtins(facts)},
        next_action=NEXT.get(verdict.answer, ""),
    )


def wanted(sources: Sequence[str], subject: str) -> list[tuple[str, str]]:
    """Whom to ask, and about what."""
    parts = (source.partition("=") for source in sources)
    return [(name.strip(), own or subject) for name, _, own in parts]


def lines(facts: Sequence[EvidenceFacts]) -> list[str]:
    """What each says; of one alone the reason says it already."""
    if len(facts) == 1:
        return []
    return [
        f"  {fact.stance:<9}  {fact.source_name} ({fact.accountability})  {' '.join(fact.detail.split())}"
        for fact in facts
    ]
