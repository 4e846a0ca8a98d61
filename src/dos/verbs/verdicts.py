"""Records the verdict of a verb that judges, so that `dos observe` and `dos export` have it.

Nothing depends on such a record. It is written after the answer is printed, into a journal that
exists, and whatever goes wrong with it changes neither the answer nor the exit code.
"""

import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from dos import run_ids
from dos.errors import DosError
from dos.verbs.context import Context, Reply, actor
from dos.verbs.listing.verb import Verb

if TYPE_CHECKING:  # imported at use: most calls record nothing
    from dos.journal.events.doors import VerdictGiven

# The verbs whose exit code is a verdict. Hooks and workers record theirs as events of their own.
JUDGES = frozenset(
    (
        "account",
        "answer-shape",
        "arbitrate",
        "arg-provenance",
        "attest",
        "breaker",
        "commit-audit",
        "complete",
        "convergence",
        "cooldown",
        "coverage",
        "decide",
        "efficiency",
        "enumerate",
        "gate",
        "health",
        "hook-exit",
        "improve",
        "judge",
        "liveness",
        "memory recall",
        "packet",
        "pick-priority",
        "pickable",
        "productivity",
        "reconcile",
        "recurring",
        "resume",
        "reward",
        "rewind",
        "scope-gate",
        "scout",
        "status",
        "test-witness",
        "test-witness run",
        "verify",
        "verify-receipt",
        "verify-result",
        "witness",
    )
)
BUSY_SECONDS = 0.1  # a verb does not wait for a record
LONGEST = 300
# Where replies have their token, and what else of them is kept.
_TOKENS = ("verdict", "state", "outcome", "action", "answer", "stance", "activity")
_DETAILS = ("reason", "source", "rung", "confidence")


def record_verdict(
    verb: Verb, exits: dict[str, int], arguments: Struct, reply: Reply, context: Context
) -> None:
    """Record the verdict that a verb replied with, where the workspace has a journal.

    What a run of `dos decide` decided is in the journal already. `dos status` judges a run; without
    one it only shows the fleet.
    """
    is_printed = reply.data is None and not reply.text  # by the verb itself: lines, no verdict
    if verb.name not in JUDGES or is_printed:
        return
    if verb.name == "decide" and getattr(arguments, "run", None):
        return
    if verb.name == "status" and getattr(arguments, "run_id", None) is None:
        return
    try:
        _record(verdict_of(verb, exits, arguments, reply), context)
    except (DosError, OSError, ValueError):
        return


def verdict_of(
    verb: Verb, exits: dict[str, int], arguments: Struct, reply: Reply
) -> "VerdictGiven":
    """Return the record of a reply."""
    from dos.journal.events.doors import VerdictGiven

    data = to_builtins(reply.data)
    fields = data if isinstance(data, dict) else {}
    if isinstance(fields.get("liveness"), dict):  # the verdict on a run's status
        fields = fields["liveness"] | fields
    run_id = _text(fields.get("run_id")) or _text(getattr(arguments, "run_id", None))
    if not run_id:
        run_id = run_ids.named_in(os.environ)
    detail: dict[str, Any] = {"exit_code": reply.code}
    for name in _DETAILS:
        if _text(fields.get(name)):
            detail[name] = _text(fields[name])[:LONGEST]
    if isinstance(data, list):
        detail["count"] = len(data)
    return VerdictGiven(
        syscall=verb.name.replace("-", "_").replace(" ", "_"),
        verdict=_token(exits, reply.code, fields),
        subject=_subject(fields, arguments)[:LONGEST],
        run_id=run_id[:LONGEST],
        lane=(_text(fields.get("lane")) or _text(getattr(arguments, "lane", None)))[:LONGEST],
        detail=detail,
    )


def _record(fact: "VerdictGiven", context: Context) -> None:
    """Append to the journal of the call's workspace, if there is one on this machine.

    A server is not asked: a verb that needs no journal would wait for one that is away. Nothing is
    printed about a dos.toml with errors: the verb has done so where it read it.
    """
    from dos.journal import streams
    from dos.journal.backends.open import embedded_path
    from dos.world import open_journal

    world = context.__dict__.get("world") or context.lenient_world
    world.use_store_of_broken_config()
    workspace = world.workspace
    url = world.config.store.url
    path = embedded_path(url, workspace.state)
    if path is None or not path.exists():
        return
    with open_journal(workspace, url, actor=actor(), busy_seconds=BUSY_SECONDS) as journal:
        journal.record(streams.VERDICTS, fact)


def _token(exits: dict[str, int], code: int, fields: dict[str, Any]) -> str:
    """Return the token of an exit code; where several share it, the one that the reply names."""
    tokens = [token for token, number in exits.items() if number == code]
    for name in _TOKENS:
        if fields.get(name) in tokens:
            return _upper(fields[name])
    return _upper(tokens[0]) if tokens else str(code)


def _upper(token: str) -> str:
    return token.upper().replace("-", "_")


def _subject(fields: dict[str, Any], arguments: Struct) -> str:
    """Return what was judged: PLAN::UNIT, or the words of the command line that name it."""
    plan = _text(fields.get("plan"))
    phase = _text(fields.get("phase"))
    if plan and phase:
        return f"{plan}::{phase}"
    for name in ("unit", "unit_id", "subject", "claim"):
        if _text(fields.get(name)):
            return _text(fields[name])
    for name in ("units", "unit", "ref", "claim", "name"):
        value = getattr(arguments, name, None)
        if isinstance(value, list | tuple):
            value = " ".join(map(str, value))
        if _text(value):
            return _text(value)
    return ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
