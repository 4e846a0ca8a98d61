"""Check that the identifiers in a tool call were read before.

An identifier in a call that changes something has to appear earlier, in a tool's result or in the
task: whole, or in every part that carries data. Otherwise the agent may have made it up.
"""

from typing import Annotated, Any

from msgspec import DecodeError, Struct, json, to_builtins

from dos.claims import provenance
from dos.claims.provenance import Evidence
from dos.cli import streams as given_text
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"believe": 0, "unsupported": 3, "contract_error": 2}
LOOK_IT_UP = "Look it up with a tool that reads, and call again with what it returns."
EXAMPLE = """For example: --args '{"user_id": "usr_42"}'"""


class Args(Struct, kw_only=True):
    tool: Annotated[str, Option(help="what is called", metavar="NAME")]
    args: Annotated[str, Option(help="what it is called with, as a JSON object", metavar="JSON")]
    prior: Annotated[
        list[str],
        Option(
            help="what a tool returned before; may be repeated",
            metavar="TEXT",
            repeatable=True,
            may_be_empty=True,
        ),
    ] = []
    prior_file: Annotated[
        str, Option(help="a file of such results; - reads the input", metavar="FILE")
    ] = ""
    task_text: Annotated[
        str, Option(help="what the agent was asked to do", metavar="TEXT", may_be_empty=True)
    ] = ""
    new_key: Annotated[
        list[str],
        Option(help="an argument that names something new", metavar="ARG", repeatable=True),
    ] = []
    read: Annotated[bool, Option(help="the call only reads, whatever it is called")] = False


def run(args: Args, context: Context) -> Reply:
    prior = [
        *args.prior,
        *([given_text.read_text(args.prior_file, "--prior-file")] if args.prior_file else []),
    ]
    verdict = provenance.judge(
        Evidence(
            tool=args.tool,
            arguments=_arguments(args.args),
            results=prior,
            task=args.task_text,
            new_keys=args.new_key,
            reads_only=args.read,
        )
    )
    code, token, advice = (0, "BELIEVE", "") if verdict.believe else (3, "UNSUPPORTED", LOOK_IT_UP)
    return Reply(
        code=code, text=f"{token}  {verdict.reason}", data=to_builtins(verdict), next_action=advice
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(f"--args is not JSON: {error}", hint=EXAMPLE) from error
    if not isinstance(found, dict):
        raise BadInput("--args is JSON, and not an object", hint=EXAMPLE)
    return found
