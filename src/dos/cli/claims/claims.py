"""List the units that an agent's text claims to be done.

The strongest claims come first: a `marker` is a line written to be checked, `heuristic` is prose.
The answer also says whether the text ends by announcing work that is not done. Nothing is verified:
see `dos verify`.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.claims import dangling, declared
from dos.claims.io import transcripts
from dos.cli.streams import read_text
from dos.errors import BadInput
from dos.text import LONGEST_PATH, plural, quote
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"claims": 0, "contract_error": 2, "none": 4}
EXAMPLE = "For example: dos claims --transcript agent.jsonl"


class Args(Struct, kw_only=True):
    """The text: a conversation, a file or the text itself."""

    transcript: Annotated[str, Option(help="conversation as JSON lines", metavar="FILE")] = ""
    file: Annotated[str, Option(help="file of text; - reads stdin", metavar="FILE")] = ""
    text: Annotated[str | None, Option(help="text itself", metavar="TEXT", may_be_empty=True)] = (
        None
    )
    last_turns: Annotated[
        int, Option(help="how many messages to read, from the end", metavar="N")
    ] = 1


def run(args: Args, _context: Context) -> Reply:
    """List the claims of a text, and whether it ends by announcing more work.

    Exits with 4 when the text claims no unit.
    """
    evidence = _evidence(args)
    claims = declared.extract(evidence.text)
    announced = dangling.judge(evidence)
    code = EXITS["none"]
    reason = "no unit is claimed to be done"
    if claims:
        code = EXITS["claims"]
        reason = f"{plural(len(claims), 'unit')} claimed to be done, none verified"
    lines = [reason]
    for claim in claims:
        lines.append(f"  {claim.plan} {claim.phase}  {claim.rung}  {quote(claim.raw)}")
    if announced.answer is dangling.Answer.DANGLING_INTENT:
        lines.append(f"  {announced.answer}  {announced.reason}")
    data = {
        "claims": [claim.to_dict() for claim in claims],
        "dangling": to_builtins(announced),
        "reason": reason,
    }
    return Reply(code=code, text="\n".join(lines), data=data)


def _evidence(args: Args) -> dangling.Evidence:
    """Read the one text that the options name."""
    if sum([bool(args.transcript), bool(args.file), args.text is not None]) != 1:
        raise BadInput("give one of --transcript, --file and --text", hint=EXAMPLE)
    if args.last_turns < 1:
        raise BadInput(f"--last-turns {args.last_turns} reads no message", hint="Give 1 or more.")
    if args.file:
        return dangling.Evidence(text=read_text(args.file, "--file"))
    if args.text is not None:
        return dangling.Evidence(text=args.text)
    messages = transcripts.read(args.transcript, last_turns=args.last_turns)
    if isinstance(messages, Unknown):
        raise BadInput(
            f"--transcript {quote(args.transcript, LONGEST_PATH)}: {messages.why}", hint=EXAMPLE
        )
    return dangling.Evidence(text=messages.text, results_after=messages.results_after)
