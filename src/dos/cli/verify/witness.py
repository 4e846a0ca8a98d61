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
from dos.witness.io import sources

EXITS = {"CONFIRMED": 0, "REFUTED": 1, "UNWITNESSED": 3, "NO_CLAIM": 3, "contract_error": 2}
NEXT = {
    Answer.CONFIRMED: "You can build on it, as far as the witness looked.",
    Answer.REFUTED: "Do not build on it: a witness contradicts the claim.",
    Answer.UNWITNESSED: "No witness could be reached: the claim is neither proven nor refuted.",
}


class Args(Struct, kw_only=True):
    """The claimed effect, and the witnesses to ask."""

    key: Annotated[str, Option(help="claimed effect", positional=True, may_be_empty=True)]
    source: Annotated[
        list[str],
        Option(help="witness to ask; can be repeated", metavar="NAME[=SUBJECT]", repeatable=True),
    ] = []
    subject: Annotated[
        str, Option(help="what witnesses are asked about (default: KEY)", metavar="S")
    ] = ""
    narrated: Annotated[
        str, Option(help="the claimant's account", metavar="TEXT", may_be_empty=True)
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Ask every source and decide; one accountable refutation outweighs all confirmations.

    Raises BadInput if no source is named or one is not known. A source that cannot be reached
    gives no signal, which is neither a yes nor a no.
    """
    if not args.source:
        names = ", ".join(sources.source_names(context.warn))
        raise BadInput(
            "--source is missing: there is no witness to ask",
            hint=f"Add --source with one of: {names}.",
        )
    claim = EffectClaim(key=args.key, subject=args.subject, narrated=args.narrated)
    questions = parse_sources(args.source, args.subject)
    facts = sources.gather(context.world, claim, questions, context.warn)
    verdict = belief.judge(claim, facts)
    return Reply(
        code=EXITS[verdict.answer],
        text="\n".join([f"{verdict.answer}  {verdict.reason}", *lines(facts)]),
        data={**to_builtins(verdict), "evidence": to_builtins(facts)},
        next_action=NEXT.get(verdict.answer, ""),
    )


def parse_sources(options: Sequence[str], subject: str) -> list[tuple[str, str]]:
    """Parse NAME[=SUBJECT] options into names and subjects; `subject` is the default.

    Only the first `=` separates: a subject may be a command with more of them.
    """
    questions = []
    for option in options:
        name, _, own_subject = option.partition("=")
        questions.append((name.strip(), own_subject or subject))
    return questions


def lines(facts: Sequence[EvidenceFacts]) -> list[str]:
    """Return a line for each witness; none for a single one, which the reason already quotes."""
    if len(facts) == 1:
        return []
    rows = []
    for fact in facts:
        detail = " ".join(fact.detail.split())
        rows.append(f"  {fact.stance:<9}  {fact.source_name} ({fact.accountability})  {detail}")
    return rows
