"""The last result of each trial, as events of the journal: `dos observe` shows them too."""

from typing import Any

from msgspec import Struct

from dos.journal import streams
from dos.journal.backends.open import embedded_path
from dos.journal.events.doors import VerdictGiven
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.times import utc_stamp
from dos.world import World

HOOKS = "hooks"
AGENTS = "agents"


class LastResult(Struct, frozen=True, kw_only=True):
    """What a trial showed, of which version, and when."""

    result: str
    version: str
    reason: str
    at: str  # RFC 3339
    answers: dict[str, str] = {}  # of a conformance test, by question


def keeps_records(world: World) -> bool:
    """Whether a repository uses dos: nothing is written into one that does not."""
    if world.loaded_config.path is not None:
        return True
    path = embedded_path(world.config.store.url, world.workspace.state)
    return path is None or path.exists()


def record(
    journal: Store,
    subject: str,
    name: str,
    *,
    result: str,
    version: str,
    reason: str,
    answers: dict[str, str] | None = None,
) -> None:
    """Record a result; `subject` is HOOKS or AGENTS, `name` the program's."""
    detail: dict[str, Any] = {"version": version, "reason": reason}
    if answers:
        detail["answers"] = answers
    fact = VerdictGiven(syscall=f"{subject}_test", verdict=result, subject=name, detail=detail)
    journal.record(streams.trial(f"{subject}/{name}"), fact)


def last(journal: Store, subject: str, name: str) -> LastResult | None:
    """Return the newest result of a program; None where it was never tested here."""
    newest = journal.newest(streams.trial(f"{subject}/{name}"), 1)
    for event, fact in select(newest, VerdictGiven):
        answers = fact.detail.get("answers")
        if not isinstance(answers, dict):
            answers = {}
        return LastResult(
            result=fact.verdict,
            version=str(fact.detail.get("version", "")),
            reason=str(fact.detail.get("reason", "")),
            at=utc_stamp(event.at_ms),
            answers={str(key): str(value) for key, value in answers.items()},
        )
    return None
