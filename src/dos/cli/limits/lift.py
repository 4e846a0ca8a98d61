"""End a provider's limit now and wake the waiting workers.

The limit is removed, whatever end the provider announced, and an open question about it is closed.
If the provider still refuses, the next agent records a new limit.
"""

from typing import Annotated

from msgspec import Struct

from dos.errors import BadInput, Conflict
from dos.journal import fold
from dos.journal.store import Store
from dos.limits.quota import Limit
from dos.limits.state import quota
from dos.limits.state.quota import ProviderLimits
from dos.limits.view import key_text
from dos.questions.state import Decisions, open_about_limit, settle_entry
from dos.text import join_some, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

EXITS = {"lifted": 0, "no-limit": 1, "contract_error": 2, "lock-busy": 4}
ATTEMPTS = 10  # while other processes write to the same limit


class Args(Struct, kw_only=True):
    """The limit to end."""

    key: Annotated[
        str,
        Option(
            positional=True,
            help="limit as `dos limits` prints it (default: the only one)",
            metavar="KEY",
        ),
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """End the limit that was named, or the only one; exit code 1 where there is none."""
    limits = _active_limits(context.journal_world.journal)
    if not limits and not args.key:
        return Reply(
            code=1, text="No provider is limited; nothing was changed.", data={"lifted": None}
        )
    limit = _named_limit(args.key, limits)
    closed = _lift(context.journal, limit)
    name = key_text(limit)
    if closed is None:
        return Reply(
            code=1,
            text=f"{name} is no longer limited; nothing was changed.",
            data={"lifted": None},
        )
    text = f"Lifted the limit of {name}. Waiting workers start now"
    if closed:
        text += f"; answered: {', '.join(closed)}"
    return Reply(text=f"{text}.", data={"lifted": name, "answered": closed})


def _active_limits(journal: Store) -> list[Limit]:
    """Return the limits that are recorded and not lifted, also of agents that are not in use."""
    found, _ = fold.current(journal, ProviderLimits)
    return found.not_lifted


def _named_limit(key: str, limits: list[Limit]) -> Limit:
    """Return the limit of that key, or the only one; raises BadInput if none or several match."""
    matches = [limit for limit in limits if not key or key in (key_text(limit), str(limit.key))]
    if len(matches) == 1:
        return matches[0]
    names = join_some([key_text(limit) for limit in limits])
    if key:
        hint = f"The limits are: {names}." if limits else "No provider is limited."
        raise BadInput(f"there is no limit {quote(key)}", hint=hint)
    raise BadInput(
        f"{len(limits)} providers are limited: {names}",
        hint=f"Name one: dos limits lift {key_text(matches[0])}",
    )


def _lift(journal: Store, limit: Limit) -> list[str] | None:
    """End the limit and close its questions; None if it had been lifted already.

    Returns the ids of the closed questions. All is written in one transaction, or retried if
    another process wrote to the limit meanwhile.
    """
    for _ in range(ATTEMPTS):
        state, _ = fold.current(journal, ProviderLimits)
        current = state.limits.get(limit.key.path)
        if current is None or not current.ending:
            return None
        decisions, _ = fold.current(journal, Decisions)
        questions = open_about_limit(decisions, limit.key)
        lifting = quota.lift_entry(current, reason=f"lifted by {actor() or 'a person'}")
        entries = [lifting]
        closed = []
        for question in questions:
            entries.append(settle_entry(question, by=actor()))
            closed.append(question.raised.id)
        try:
            journal.append_all(entries)
        except Conflict:
            continue
        return closed
    raise Conflict(
        f"the limit of {key_text(limit)} changed during all {ATTEMPTS} attempts to lift it",
        hint="Try again.",
    )
