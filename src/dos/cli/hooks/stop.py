"""Refuse an agent's stop while its claims are not in git.

For the stop hook of an agent program: reads the program's event from stdin. Each unit that the
agent calls done is looked up in git; if one is not there, the stop is refused with what is missing.
Claims in prose only cause a warning, unless --strict. Nothing is printed where the agent may stop,
or where dos itself fails; the failure is reported on stderr. The exit code is 0 in every case but
one: 2 if a person runs it on a terminal, where there is no event to read.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, json

from dos.claims import stop
from dos.claims.hook_dialects import REFUSALS, StopEvent, parse
from dos.claims.io.stop import StopRequest, gather
from dos.cli import hook_event
from dos.errors import BadInput, DosError
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verify import shipped

EXITS = {"reported": 0, "contract_error": 2}
DEFAULT = "claude-code"


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
    dialect: Annotated[
        str, Option(help=f"agent program: {', '.join(REFUSALS)}", metavar="NAME")
    ] = DEFAULT
    debug: Annotated[bool, Option(help="report on stderr why nothing was checked")] = False


def run(args: Args, context: Context) -> Reply:
    """Answer the event on stdin: print a refusal in the program's format, or nothing.

    Where dos itself fails the agent may stop, and the failure is recorded: a hook that refused then
    could keep an agent running for ever.
    """
    format_refusal = _checked_dialect(args)
    event = StopEvent()
    try:
        optional = bool(args.transcript or args.plan)
        event = parse(hook_event.read_event(may_be_missing=optional))
        skipped = _why_not_checked(args, event)
        if skipped:
            return _allowed(context, True, f"not checked: {skipped}", quiet=not args.debug)
        verdict = stop.judge(_evidence(args, event, context), strict=args.strict)
    except (DosError, OSError) as error:
        if hook_event.stdin_is_terminal():
            raise
        hook_event.record_failure(
            "stop", str(error), session=event.session, start=_start_directory(event, context)
        )
        return _allowed(context, None, f"the claims were not checked: {error}")
    text = ""
    if verdict.refused:
        text = json.encode(format_refusal(verdict.reason)).decode()
    data = verdict.to_dict() if context.as_json else None
    warnings = [f"warning: {warning}" for warning in verdict.warnings]
    return Reply(text=text, data=data, stderr="\n".join(warnings))


def _why_not_checked(args: Args, event: StopEvent) -> str:
    """Return why the event is let through unchecked; "" if it has to be checked."""
    if not event.is_stop:
        return "the event is not a stop"
    if event.already_continued and not args.force:
        return "this stop was refused once already"
    return ""


def _checked_dialect(args: Args) -> Callable[[str], dict[str, str]]:
    """Return the function that formats a refusal for the agent program.

    Options are checked first: an agent program ignores a refusal in a format that it does not know.
    """
    hook_event.check_dialect(args.dialect)
    if bool(args.plan) != bool(args.phase):
        raise BadInput(
            "a unit is a plan and a phase", hint="Give both --plan and --phase, or neither."
        )
    if args.last_turns < 1:
        raise BadInput(f"--last-turns {args.last_turns} reads no message", hint="Give 1 or more.")
    return REFUSALS[args.dialect]


def _allowed(context: Context, ok: bool | None, why: str, *, quiet: bool = False) -> Reply:
    """Let the agent stop; `ok` is None where the claims could not be checked."""
    data: dict[str, Any] | None = None
    if context.as_json:
        data = {"ok": ok, "reason": why, "results": []}
    warning = "" if quiet else f"warning: {why}"
    return Reply(data=data, stderr=warning)


def _evidence(args: Args, event: StopEvent, context: Context) -> stop.Evidence:
    """Gather the claims of the conversation and what git shows of them."""
    request = StopRequest(
        event=event,
        transcript=args.transcript,
        plan=args.plan,
        phase=args.phase,
        last_turns=args.last_turns,
    )

    def verify(units: Sequence[tuple[str, str]]) -> Sequence[shipped.Verdict]:
        """Verify these units in the workspace of the event."""
        from dos.verify.io import verifier  # imported here: most stops claim nothing
        from dos.world import World

        with World(_start_directory(event, context), lenient=True) as world:
            return verifier.verify(world, units)

    return gather(request, verify)


def _start_directory(event: StopEvent, context: Context) -> Path:
    """Return the directory of --workspace, else the event's: some programs run hooks elsewhere."""
    is_named = context.start_directory != Path.cwd()
    if event.cwd and not is_named and os.path.isdir(event.cwd):  # noqa: PTH112
        return Path(event.cwd)
    return context.start_directory
