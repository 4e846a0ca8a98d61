"""Check that the identifiers in a tool call were read before.

An identifier in a call that changes something has to appear earlier, in a tool's result or in the
task: whole, or in every part that carries data. Otherwise the agent may have made it up.
"""

from typing import Annotated, Any

from msgspec import DecodeError, Struct, json, to_builtins

from dos.claims import provenance
from dos.claims.provenance import Evidence
from dos.cli.streams import read_text
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"believe": 0, "unsupported": 3, "contract_error": 2}
LOOK_IT_UP = "Read it with a tool first, and call again with the returned value."
EXAMPLE = """For example: --args '{"user_id": "usr_42"}'"""


class Args(Struct, kw_only=True):
    """The call, and what the agent had read before it."""

    tool: Annotated[str, Option(help="tool that is called", metavar="NAME")]
    args: Annotated[str, Option(help="its arguments, as a JSON object", metavar="JSON")]
    prior: Annotated[
        list[str],
        Option(
            help="earlier tool result; can be repeated",
            metavar="TEXT",
            repeatable=True,
            may_be_empty=True,
        ),
    ] = []
    prior_file: Annotated[
        str, Option(help="file of earlier results; - reads stdin", metavar="FILE")
    ] = ""
    task_text: Annotated[
        str, Option(help="task that the agent was given", metavar="TEXT", may_be_empty=True)
    ] = ""
    new_key: Annotated[
        list[str],
        Option(help="argument that names something new", metavar="ARG", repeatable=True),
    ] = []
    read: Annotated[bool, Option(help="the call only reads, whatever its name")] = False


def run(args: Args, _context: Context) -> Reply:
    """Judge the arguments of one tool call by what the agent could read before it.

    Exits with 3 and says what to do when an identifier appears nowhere earlier.
    """
    prior = list(args.prior)
    if args.prior_file:
        prior.append(read_text(args.prior_file, "--prior-file"))
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
    if verdict.believe:
        return Reply(text=f"BELIEVE  {verdict.reason}", data=to_builtins(verdict))
    return Reply(
        code=EXITS["unsupported"],
        text=f"UNSUPPORTED  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=LOOK_IT_UP,
    )


def _arguments(text: str) -> dict[str, Any]:
    """Decode the arguments of the call. Raises BadInput unless they are a JSON object."""
    try:
        arguments = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(f"--args is not JSON: {error}", hint=EXAMPLE) from error
    if not isinstance(arguments, dict):
        raise BadInput("--args is not a JSON object", hint=EXAMPLE)
    return arguments
