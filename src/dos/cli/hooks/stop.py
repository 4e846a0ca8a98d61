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

from dos.claims import hook_dialects as dialects
from dos.claims import stop
from dos.claims.io import stop as evidence
from dos.cli import hook_event
from dos.errors import BadInput, DosError
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verify import shipped

EXITS = {"reported": 0, "contract_error": 2}
DEFAULT = "claude-code"


class Args(Struct, kw_only=True):
    transcript: Annotated[
        str, Option(help="a conversation to read instead of the event's", metavar="PATH")
    ] = ""
    plan: Annotated[
        str, Option(help="check this unit, whatever is said: its plan", metavar="PLAN")
    ] = ""
    phase: Annotated[
        str, Option(help="check this unit, whatever is said: its name", metavar="PHASE")
    ] = ""
    last_turns: Annotated[
        int, Option(help="how many messages are read, from the end", metavar="N")
    ] = 1
    strict: Annotated[bool, Option(help="prose refuses too")] = False
    force: Annotated[bool, Option(help="refuse again one that was refused already")] = False
    dialect: Annotated[
        str, Option(help=f"whose hook it is: {', '.join(dialects.REFUSALS)}", metavar="NAME")
    ] = DEFAULT
    debug: Annotated[bool, Option(help="say on stderr why nothing was checked")] = False


def run(args: Args, context: Context) -> Reply:
    refusal = _usable(args)
    told = dialects.StopEvent()
    try:
        told = dialects.parse(
            hook_event.read_event(may_be_missing=bool(args.transcript or args.plan))
        )
        if not told.is_stop or (told.already_continued and not args.force):
            why = "it was refused once already" if told.is_stop else "nobody wants to stop"
            return _allowed(context, True, f"not checked: {why}", quiet=not args.debug)
        verdict = stop.judge(_seen(args, told, context), strict=args.strict)
    except (DosError, OSError) as error:
        if hook_event.stdin_is_terminal():
            raise
        hook_event.record_failure(
            "stop", str(error), session=told.session, start=_place(told, context)
        )
        return _allowed(context, None, f"the claims were not checked: {error}")
    text = json.encode(refusal(verdict.reason)).decode() if verdict.refused else ""
    complaint = "\n".join(f"warning: {each}" for each in verdict.warnings)
    return Reply(text=text, data=verdict.to_dict() if context.as_json else None, stderr=complaint)


def _usable(args: Args) -> Callable[[str], dict[str, str]]:
    """What was typed is checked first: bytes in the wrong dialect would be passed over in silence."""
    hook_event.check_dialect(args.dialect)
    if bool(args.plan) != bool(args.phase):
        raise BadInput(
            "a unit is a plan and a phase", hint="Give both --plan and --phase, or neither."
        )
    if args.last_turns < 1:
        raise BadInput(
            f"--last-turns {args.last_turns} is no message at all", hint="Give 1 or more."
        )
    return dialects.REFUSALS[args.dialect]


def _allowed(context: Context, ok: bool | None, why: str, *, quiet: bool = False) -> Reply:
    data: dict[str, Any] = {"ok": ok, "reason": why, "results": []}
    return Reply(data=data if context.as_json else None, stderr="" if quiet else f"warning: {why}")


def _seen(args: Args, told: dialects.StopEvent, context: Context) -> stop.Evidence:
    ask = evidence.StopRequest(
        event=told,
        transcript=args.transcript,
        plan=args.plan,
        phase=args.phase,
        last_turns=args.last_turns,
    )

    def verify(units: Sequence[tuple[str, str]]) -> Sequence[shipped.Verdict]:
        from dos.verify.io import verifier as oracle  # most stops claim nothing
        from dos.world import World

        with World(_place(told, context), lenient=True) as world:
            return oracle.verify(world, units)

    return evidence.gather(ask, verify)


def _place(told: dialects.StopEvent, context: Context) -> Path:
    """What --workspace names; where it names nothing but `here`, what the event does: some hooks run elsewhere."""
    is_named = context.start_directory != Path.cwd()
    if told.cwd and not is_named and os.path.isdir(told.cwd):  # noqa: PTH112
        return Path(told.cwd)
    return context.start_directory
