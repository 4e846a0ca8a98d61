"""Refuse an agent's stop while its claims are not in git.

For the stop hook of an agent program: reads the program's event from stdin. Each unit that the
agent calls done is looked up in git; if one is not there, the stop is refused with what is missing.
Claims in prose only cause a warning, unless --strict. Nothing is printed where the agent may stop,
or where dos itself fails; the failure is reported on stderr. The exit code is 0 in every case but
one: 2 if a person runs it on a terminal, where there is no event to read.
"""

from typing import Annotated

from msgspec import Struct

from dos.agenthooks import dialects
from dos.cli import hook_event
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """What to read and check, and whose hook it is."""

    transcript: Annotated[
        str, Option(help="conversation to read instead of the event's", metavar="PATH")
    ] = ""
    plan: Annotated[str, Option(help="always check this unit: its plan", metavar="PLAN")] = ""
    phase: Annotated[str, Option(help="always check this unit: its name", metavar="PHASE")] = ""
    last_turns: Annotated[
        int, Option(help="how many messages to read, from the end", metavar="N")
    ] = 1
    strict: Annotated[bool, Option(help="refuse for claims in prose, too")] = False
    force: Annotated[bool, Option(help="refuse a stop that was refused before, too")] = False
    dialect: Annotated[str, Option(help=hook_event.DIALECT_HELP, metavar="NAME")] = dialects.DEFAULT
    debug: Annotated[bool, Option(help="report on stderr why nothing was checked")] = False


def run(args: Args, context: Context) -> Reply:
    """Answer the event on stdin: print a refusal in the program's format, or nothing.

    Where dos itself fails the agent may stop, and the failure is recorded: a hook that refused then
    could keep an agent running for ever.
    """
    from dos.agenthooks.io.answer import HookOptions

    if bool(args.plan) != bool(args.phase):
        raise BadInput(
            "a unit is a plan and a phase", hint="Give both --plan and --phase, or neither."
        )
    if args.last_turns < 1:
        raise BadInput(f"--last-turns {args.last_turns} reads no message", hint="Give 1 or more.")
    options = HookOptions(
        transcript=args.transcript,
        plan=args.plan,
        phase=args.phase,
        last_turns=args.last_turns,
        strict=args.strict,
        force=args.force,
    )
    return hook_event.answer(
        "stop",
        args.dialect,
        context,
        options,
        may_be_missing=bool(args.transcript or args.plan),
        debug=args.debug,
    )
