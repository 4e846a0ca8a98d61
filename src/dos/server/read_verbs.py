"""The verbs that the server runs, with the arguments that are served: they read and never act.

An argument that writes a file, follows a log or edits a document is not in the list, so a new one
of a verb is not served before somebody has thought about it.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from dos.errors import BadInput
from dos.text import join_some, nearest_names, quote, suggest


class ReadVerb(Struct, frozen=True, kw_only=True):
    """A verb that only reads, and how it may be asked."""

    arguments: tuple[str, ...] = ()
    starts_programs: bool = False  # other than git: the socket does not serve it


READ_VERBS: dict[str, ReadVerb] = {
    "status": ReadVerb(
        arguments=("run_id", "start_sha", "lane", "loop_ts", "now_ms", "stopped", "live")
    ),
    "top": ReadVerb(),
    "wait": ReadVerb(arguments=("until", "after", "seconds")),
    "report": ReadVerb(arguments=("since",)),
    "loop": ReadVerb(arguments=("target", "max_concurrency", "now_ms")),
    "decisions": ReadVerb(arguments=("all",)),
    "decisions show": ReadVerb(arguments=("decision",)),
    "limits": ReadVerb(arguments=("all",)),
    "costs": ReadVerb(arguments=("by", "since")),
    "verify": ReadVerb(arguments=("units", "all", "ref", "require", "no_ci")),
    "commit-audit": ReadVerb(arguments=("ref", "docs_ok")),
    "receipts": ReadVerb(),
    "receipt": ReadVerb(arguments=("plan", "unit")),
    "account": ReadVerb(arguments=("now_ms",)),
    "plan": ReadVerb(arguments=("pairs",)),
    "packet": ReadVerb(arguments=("scope", "limit")),
    "pickable": ReadVerb(arguments=("unit",)),
    "cooldown": ReadVerb(arguments=("unit",)),
    "why": ReadVerb(arguments=("run", "iteration")),
    "timeline": ReadVerb(arguments=("run",)),
    "trace": ReadVerb(arguments=("run_id",)),
    "salvage list": ReadVerb(arguments=("lane", "limit")),
    "salvage show": ReadVerb(arguments=("ref", "patch")),
    "recurring": ReadVerb(arguments=("run_id", "all", "since", "runs", "min_recurrence")),
    "lease-lane live": ReadVerb(),
    "lease status": ReadVerb(),
    "helped": ReadVerb(arguments=("session", "since")),
    "observe": ReadVerb(arguments=("run", "syscall", "by", "tail")),
    "journal check": ReadVerb(),
    "journal seq": ReadVerb(),
    "doctor": ReadVerb(starts_programs=True),
    "lint": ReadVerb(arguments=("strict",)),
    "config show": ReadVerb(arguments=("key", "origin")),
    "config get": ReadVerb(arguments=("key",)),
    "config path": ReadVerb(),
    "man": ReadVerb(arguments=("section", "entry")),
    "exit-codes": ReadVerb(arguments=("verb",)),
    "version": ReadVerb(),
}
LANE = "lane"  # the socket's word for `whoami`: who asks is known there by the kernel
HOOK = "hook"


def socket_asks() -> list[str]:
    """Return what a socket answers."""
    verbs = [name for name, verb in READ_VERBS.items() if not verb.starts_programs]
    return [HOOK, LANE, *verbs]


def check(name: str, arguments: Mapping[str, Any]) -> None:
    """Raise BadInput for a verb that is not served, or an argument of it that is not."""
    verb = READ_VERBS.get(name)
    if verb is None:
        near = nearest_names(name, list(READ_VERBS), 1)
        suggestion = f"; {suggest(near[0])}" if near else ""
        raise BadInput(
            f"the server does not run {quote(name)}{suggestion}",
            hint="It runs verbs that only read. Verbs that act run on the command line.",
        )
    for argument in arguments:
        if argument not in verb.arguments:
            raise BadInput(
                f"the server does not take {quote(argument)} for `{name}`",
                hint=f"It takes {join_some(list(verb.arguments)) or 'no argument'}.",
            )
