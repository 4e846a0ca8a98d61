"""Check whether a text is shaped like an answer.

Leaked reasoning, a refusal, a bare tool call and a traceback are not. Whether the answer is right
is not checked.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.claims import answer_shape
from dos.claims.answer_shape import Policy
from dos.cli.loop.numbers import values_checked
from dos.cli.streams import read_text
from dos.errors import BadInput
from dos.text import quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"ANSWER_SHAPED": 0, "NON_ANSWER": 3, "INDETERMINATE": 4, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    """The text, and what makes it an answer."""

    text: Annotated[
        str | None, Option(help="text to check; - reads stdin", metavar="TEXT", may_be_empty=True)
    ] = None
    file: Annotated[
        str, Option(help="file to check instead of --text; - reads stdin", metavar="FILE")
    ] = ""
    min_chars: Annotated[int, Option(help="shortest length of an answer", metavar="N")] = 1
    non_answer: Annotated[str, Option(help="more patterns that no answer has", metavar="RE,RE")] = (
        ""
    )
    markers: Annotated[
        str, Option(help="patterns, one of which an answer has", metavar="RE,RE")
    ] = ""


def run(args: Args, _context: Context) -> Reply:
    """Judge the text by its shape alone.

    A pattern that is not valid is skipped with a warning: one typing error must not turn every text
    into an answer or into none.
    """
    text = _text(args)
    non_answers = _patterns(args.non_answer)
    markers = _patterns(args.markers)
    with values_checked("answer-shape"):
        policy = Policy(min_chars=args.min_chars, non_answers=non_answers, markers=markers)
    verdict = answer_shape.judge(text, policy)
    warnings = [
        f"warning: {quote(pattern)} is not a valid pattern and is ignored"
        for pattern in answer_shape.invalid_patterns((*non_answers, *markers))
    ]
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data={
            **to_builtins(verdict),
            "is_shippable": verdict.is_shippable,
            "is_disqualified": verdict.is_disqualified,
        },
        stderr="\n".join(warnings),
    )


def _text(args: Args) -> str:
    """Return the text of --text or --file, where `-` is stdin. Raises BadInput for neither."""
    if args.file:
        return read_text(args.file, "--file")
    if args.text is None:
        raise BadInput(
            "--text or --file is missing", hint="For example: dos answer-shape --file answer.md"
        )
    if args.text == "-":
        return read_text("-", "--text")
    return args.text


def _patterns(text: str) -> tuple[str, ...]:
    """Return the patterns that an option lists, separated by commas."""
    patterns = [part.strip() for part in text.split(",")]
    return tuple(filter(None, patterns))
