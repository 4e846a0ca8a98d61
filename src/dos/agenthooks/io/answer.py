"""Answer one hook of an agent program: for the command, the server and the workers of a fleet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from dos.agenthooks import dialects
from dos.agenthooks.events import Action, HookEvent, HookVerdict, Moment
from dos.agenthooks.io.hook_call import (
    Caller,
    HookCall,
    HookOptions,
    OpenStore,
    OpenWorld,
    open_own_store,
)
from dos.agenthooks.marker import HELD
from dos.errors import BadInput, DosError
from dos.lease import KEY_VARIABLE
from dos.text import replace_undecodable
from dos.world import World

__all__ = [
    "Caller",
    "HookCall",
    "HookOptions",
    "HookReply",
    "answer_hook",
    "deny_unjudged",
    "open_lenient",
]


class HookReply(Struct, frozen=True, kw_only=True):
    """What the hook prints. `data` is the verdict for people who ask for JSON."""

    stdout: str = ""
    stderr: str = ""
    data: dict[str, Any] | None = None
    note: str = ""  # why nothing was judged, for those who wire the hook


def open_lenient(start: Path) -> World:
    """Open the workspace of a folder, whatever is wrong with its dos.toml."""
    return World(start, lenient=True)


def answer_hook(
    moment: str,
    dialect: str,
    event: Mapping[str, Any],
    *,
    caller: Caller,
    open_world: OpenWorld = open_lenient,
    open_store: OpenStore = open_own_store,
    options: HookOptions = HookOptions(),
) -> HookReply:
    """Return what a hook prints for an event that an agent program sent.

    `open_world` opens the workspace of a folder leniently, and `open_store` its journal for
    writing. Nothing is raised for what goes wrong:
    the agent of a person continues, the failure is a line on stderr and one event of its
    conversation. An agent of the fleet (it carries the key of a lease) is denied the call, unless
    the call only reads: for it no answer must not be a yes.
    """
    parsed = HookEvent()
    try:
        parsed = dialects.parse(dialect, check_moment(moment), event)
        with HookCall(parsed, caller, options, open_world, open_store) as call:
            reply = _answer(Moment(moment), call)
    except (DosError, OSError, ValueError) as error:
        reply = _fault(moment, error, parsed, caller, options)
    # A warning may quote a name in the event that no stream takes as it is.
    return structs.replace(reply, stderr=replace_undecodable(reply.stderr))


def check_moment(name: str) -> Moment:
    """Return the moment of a name. Raises BadInput for an unknown one."""
    try:
        return Moment(name)
    except ValueError:
        raise BadInput(
            f"dos hook has no moment {name[:80]!r}", hint=f"The moments are {', '.join(Moment)}."
        ) from None


def _answer(moment: Moment, call: HookCall) -> HookReply:
    """Answer the event of one moment; each moment imports only what it needs."""
    match moment:
        case Moment.STOP:
            return _answer_stop(call)
        case Moment.MARKER:
            return _answer_marker(call)
        case Moment.PRETOOL:
            from dos.agenthooks.io import pretool

            verdict = pretool.answer(call)
        case Moment.POSTTOOL:
            from dos.agenthooks.io import posttool

            verdict = posttool.answer(call)
        case Moment.SESSION:
            from dos.agenthooks.io import session

            verdict = session.answer(call)
    return HookReply(stdout=_render(moment, call, verdict), data=_as_data(verdict))


def _answer_stop(call: HookCall) -> HookReply:
    """Check the claims of an agent that is about to stop."""
    from dos.agenthooks.io import stop

    skipped = stop.why_not_checked(call)
    if skipped:
        reason = f"not checked: {skipped}"
        return HookReply(data={"ok": True, "reason": reason, "results": []}, note=reason)
    verdict = stop.judge(call)
    warnings = "\n".join(f"warning: {warning}" for warning in verdict.warnings)
    printed = _render(Moment.STOP, call, stop.as_hook_verdict(call, verdict))
    return HookReply(stdout=printed, stderr=warnings, data=verdict.to_dict())


def _answer_marker(call: HookCall) -> HookReply:
    """Hold the turn of a waiting agent open, or let it stop."""
    from dos.agenthooks.io import marker

    if call.options.reset:
        marker.reset(call)
        return HookReply()
    verdict = marker.judge(call)
    held = HookVerdict()
    if verdict.hold:
        held = HookVerdict(action=Action.DENY, reason=f"{HELD} ({verdict.reason})")
    return HookReply(stdout=_render(Moment.MARKER, call, held), data=verdict.to_dict())


def _render(moment: Moment, call: HookCall, verdict: HookVerdict) -> str:
    """The verdict in the dialect of the program."""
    event = call.event
    return dialects.render(event.host, moment, verdict, name=event.name).decode()


def _as_data(verdict: HookVerdict) -> dict[str, Any]:
    """The verdict for `--json`."""
    return {"action": verdict.action, "reason": verdict.reason, "context": verdict.context}


def _fault(
    moment: str, error: Exception, event: HookEvent, caller: Caller, options: HookOptions
) -> HookReply:
    """Report a failure, and deny what an agent of the fleet may not do unjudged."""
    from dos.agenthooks.io.faults import record_fault
    from dos.agenthooks.io.hook_call import own_directory, set_up_directory

    problem = " ".join(str(error).split())
    start = options.start or set_up_directory(event, caller.environment, own_directory())
    record_fault(moment, problem, session=options.session or event.session, start=start)
    warning = f"warning: dos hook {moment}: {problem}"
    if moment == Moment.STOP:
        reason = f"the claims were not checked: {problem}"
        data: dict[str, Any] = {"ok": None, "reason": reason, "results": []}
        return HookReply(stderr=f"warning: {reason}", data=data)
    if moment != Moment.PRETOOL or not caller.environment.get(KEY_VARIABLE):
        return HookReply(stderr=warning)
    return HookReply(stdout=deny_unjudged(event, problem), stderr=warning)


def deny_unjudged(event: HookEvent, problem: str) -> str:
    """Deny a call of an agent of the fleet that nobody could judge, unless it only reads."""
    from dos.agenthooks.verdicts import verdict_of
    from dos.permission.refusals import answer_unjudged

    if event.moment != Moment.PRETOOL or not event.tool:
        return ""
    verdict = verdict_of(answer_unjudged(event.call(), problem))
    return dialects.render(event.host, Moment.PRETOOL, verdict).decode()
