"""The answers of a hook in the words of each agent program; None where it understands none."""

from collections.abc import Callable
from typing import Any

from dos.agenthooks.events import Action, HookVerdict, Moment

Object = dict[str, Any]
_DECISIONS = {Action.DENY: "deny", Action.ASK: "ask", Action.ALLOW: "allow"}
_EVENT_NAMES = {
    Moment.PRETOOL: "PreToolUse",
    Moment.POSTTOOL: "PostToolUse",
    Moment.SESSION: "SessionStart",
}
_STOPS = (Moment.STOP, Moment.MARKER)


def _claude(moment: Moment, verdict: HookVerdict) -> Object | None:
    """Claude Code, and programs that took over its form."""
    if moment in _STOPS:
        return _refuse_stop(verdict, "block")
    output: Object = {"hookEventName": _EVENT_NAMES[moment]}
    if moment is Moment.PRETOOL and verdict.action in _DECISIONS:
        output["permissionDecision"] = _DECISIONS[verdict.action]
        output["permissionDecisionReason"] = verdict.reason
        if verdict.context:
            output["additionalContext"] = verdict.context
    else:
        output["additionalContext"] = _told(verdict)
    return {"hookSpecificOutput": output}


def _codex(moment: Moment, verdict: HookVerdict) -> Object | None:
    """Codex: its schemas are closed, and it can neither ask nor be told to allow."""
    if moment is Moment.PRETOOL:
        if verdict.action is Action.ALLOW:
            return None
        if verdict.action is Action.ASK:
            return _claude(moment, as_denial(verdict))
    return _claude(moment, verdict)


def _gemini(moment: Moment, verdict: HookVerdict) -> Object | None:
    """Gemini CLI."""
    if moment in _STOPS:
        return _refuse_stop(verdict, "block")
    if moment is Moment.PRETOOL and verdict.action in _DECISIONS:
        return {"decision": _DECISIONS[verdict.action], "reason": _told(verdict)}
    return {"hookSpecificOutput": {"additionalContext": _told(verdict)}}


def _opencode(moment: Moment, verdict: HookVerdict) -> Object | None:
    """The plugin of dos in opencode: it can throw, so to ask is to deny."""
    if moment is Moment.PRETOOL and verdict.action is Action.ASK:
        return _claude(moment, as_denial(verdict))
    return _claude(moment, verdict)


def _cursor(moment: Moment, verdict: HookVerdict) -> Object | None:
    """Cursor."""
    if moment in _STOPS:
        if verdict.action is not Action.DENY:
            return None
        return {"followup_message": verdict.reason}
    if moment is not Moment.PRETOOL:
        return {"additional_context": _told(verdict)}
    permission = _DECISIONS.get(verdict.action, "allow")
    answer = {"permission": permission, "agent_message": _told(verdict)}
    if verdict.action is Action.ASK:
        answer["user_message"] = verdict.reason
    return answer


def _antigravity(moment: Moment, verdict: HookVerdict) -> Object | None:
    """Antigravity: an object without a decision is a denial, so a warning cannot be given."""
    if moment in _STOPS:
        return _refuse_stop(verdict, "continue")
    if moment is Moment.PRETOOL and verdict.action in _DECISIONS:
        return {"decision": _DECISIONS[verdict.action], "reason": _told(verdict)}
    return None


def _hermes(moment: Moment, verdict: HookVerdict) -> Object | None:
    """Hermes: it can block, and tell the agent nothing else."""
    if verdict.action in (Action.DENY, Action.ASK):
        return {"decision": "block", "reason": _told(verdict)}
    if moment in _STOPS:
        return None
    return {}


def _refuse_stop(verdict: HookVerdict, decision: str) -> Object | None:
    """Tell the agent to continue; a warning at this moment has nobody to read it."""
    if verdict.action is not Action.DENY:
        return None
    return {"decision": decision, "reason": verdict.reason}


def as_denial(verdict: HookVerdict) -> HookVerdict:
    """Deny what a person would have to allow, where the program cannot ask one."""
    return HookVerdict(action=Action.DENY, reason=verdict.reason, context=verdict.context)


def _told(verdict: HookVerdict) -> str:
    """The reason and the context as one text."""
    return " ".join(part for part in (verdict.reason, verdict.context) if part)


RENDERERS: dict[str, Callable[[Moment, HookVerdict], Object | None]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "cursor": _cursor,
    "antigravity": _antigravity,
    "hermes": _hermes,
    "opencode": _opencode,
}
