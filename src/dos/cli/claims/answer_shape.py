"""Check whether a text is shaped like an answer.

Leaked reasoning, a refusal, a bare tool call and a traceback are not. Whether the answer is right
is not checked.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.claims import answer_shape
from dos.claims.answer_shape import Policy
from dos.cli import streams as given_text
from dos.cli.loop.numbers import values_checked as sensible
from dos.errors import BadInput
from dos.text import quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"ANSWER_SHAPED": 0, "NON_ANSWER": 3, "INDETERMINATE": 4, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    text: Annotated[
        str | None, Option(help="the text; - reads the input", metavar="TEXT", may_be_empty=True)
    ] = None
    file: Annotated[
        str, Option(help="a file with it, which wins; - reads the input", metavar="FILE")
    ] = ""
    min_chars: Annotated[int, Option(help="shorter is no answer", metavar="N")] = 1
    non_answer: Annotated[str, Option(help="more patterns of what is none", metavar="RE,RE")] = ""
    markers: Annotated[str, Option(help="patterns of which an answer has one", metavar="RE,RE")] = (
        ""
    )


def run(args: Args, context: Context) -> Reply:
    if not args.file and args.text is None:
        raise BadInput("there is no text", hint="For example: dos answer-shape --file answer.md")
    text = (
        given_text.read_text(args.file or "-", "--file")
        if args.file or args.text == "-"
        else args.text or ""
    )
    non_answers, markers = _patterns(args.non_answer), _patterns(args.markers)
    with sensible("answer-shape"):
        policy = Policy(min_chars=args.min_chars, non_answers=non_answers, markers=markers)
    verdict = answer_shape.judge(text, policy)
    skipped = answer_shape.invalid_patterns((*non_answers, *markers))
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data={
            **to_builtins(verdict),
            "is_shippable": verdict.is_shippable,
            "is_disqualified": verdict.is_disqualified,
        },
        stderr="\n".join(
            f"warning: {quote(pattern)} is not a pattern, and is passed over" for pattern in skipped
        ),
    )


def _patterns(text: str) -> tuple[str, ...]:
    return tuple(each for part in text.split(",") if (each := part.strip()))
