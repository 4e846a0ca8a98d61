"""List the units that an agent's text claims to be done.

The strongest claims come first: a `marker` is a line written to be checked, `heuristic` is prose.
The answer also says whether the text ends by announcing work that is not done. Nothing is verified:
see `dos verify`.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.claims import dangling, declared
from dos.claims.io import transcripts
from dos.cli import streams as given_text
from dos.errors import BadInput
from dos.text import LONGEST_PATH, plural, quote
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"claims": 0, "contract_error": 2, "none": 4}
EXAMPLE = "For example: dos claims --transcript agent.jsonl"


class Args(Struct, kw_only=True):
    transcript: Annotated[str, Option(help="a conversation, as JSON lines", metavar="FILE")] = ""
    file: Annotated[str, Option(help="a file of text; - reads the input", metavar="FILE")] = ""
    text: Annotated[
        str | None, Option(help="the text itself", metavar="TEXT", may_be_empty=True)
    ] = None
    last_turns: Annotated[
        int, Option(help="how many messages of a conversation, from its end", metavar="N")
    ] = 1


def run(args: Args, context: Context) -> Reply:
    seen = _said(args)
    found = declared.extract(seen.text)
    left = dangling.judge(seen)
    told = f"{plural(len(found), 'unit')} said to be done, and nothing verified"
    reason = told if found else "no unit is said to be done"
    lines = [reason]
    lines += [f"  {claim.plan} {claim.phase}  {claim.rung}  {quote(claim.raw)}" for claim in found]
    lines += (
        [f"  {left.answer}  {left.reason}"]
        if left.answer is dangling.Answer.DANGLING_INTENT
        else []
    )
    return Reply(
        code=0 if found else 4,
        text="\n".join(lines),
        data={
            "claims": [claim.to_dict() for claim in found],
            "dangling": to_builtins(left),
            "reason": reason,
        },
    )


def _said(args: Args) -> dangling.Evidence:
    if sum([bool(args.transcript), bool(args.file), args.text is not None]) != 1:
        raise BadInput("one text is looked at: --transcript, --file or --text", hint=EXAMPLE)
    if args.last_turns < 1:
        raise BadInput(
            f"--last-turns {args.last_turns} is no message at all", hint="Give 1 or more."
        )
    if args.file:
        return dangling.Evidence(text=given_text.read_text(args.file, "--file"))
    if args.text is not None:
        return dangling.Evidence(text=args.text)
    found = transcripts.read(args.transcript, last_turns=args.last_turns)
    if isinstance(found, Unknown):
        raise BadInput(
            f"--transcript {quote(args.transcript, LONGEST_PATH)}: {found.why}", hint=EXAMPLE
        )
    return dangling.Evidence(text=found.text, results_after=found.results_after)
