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
from dos.limits.state.quota import Quota
from dos.limits.view import key_of
from dos.questions import state as decisions
from dos.questions.state import Decisions
from dos.text import join_some, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

EXITS = {"lifted": 0, "no-limit": 1, "contract_error": 2, "lock-busy": 4}
ATTEMPTS = 10  # at a limit that others write about at the same time


class Args(Struct, kw_only=True):
    key: Annotated[
        str,
        Option(
            positional=True,
            help="which one, as `dos limits` prints it (default: the only one)",
            metavar="KEY",
        ),
    ] = ""


def run(args: Args, context: Context) -> Reply:
    holding = _holding(context.journal_world.journal)
    if not holding and not args.key:
        return Reply(
            code=1, text="No provider is limited; nothing was changed.", data={"lifted": None}
        )
    limit = _meant(args.key, holding)
    closed = _lift(context.journal, limit)
    name = key_of(limit)
    if closed is None:
        return Reply(
            code=1,
            text=f"{name} is not limited any more; nothing was changed.",
            data={"lifted": None},
        )
    answered = f"; answered: {', '.join(closed)}" if closed else ""
    return Reply(
        text=f"Lifted the limit of {name}. Workers that wait for it start now{answered}.",
        data={"lifted": name, "answered": closed},
    )


def _holding(journal: Store) -> list[Limit]:
    found, _ = fold.current(journal, Quota)
    return [each for each in found.limits.values() if each.ending]


def _meant(key: str, holding: list[Limit]) -> Limit:
    meant = [each for each in holding if not key or key in (key_of(each), str(each.key))]
    if len(meant) == 1:
        return meant[0]
    names = join_some([key_of(each) for each in holding])
    if key:
        hint = f"The limits are: {names}." if holding else "No provider is limited."
        raise BadInput(f"there is no limit {quote(key)}", hint=hint)
    raise BadInput(
        f"{len(holding)} providers are limited: {names}",
        hint=f"Name one: dos limits lift {key_of(meant[0])}",
    )


def _lift(journal: Store, limit: Limit) -> list[str] | None:
    """The questions that were closed with it; None when somebody else had lifted it."""
    for _ in range(ATTEMPTS):
        state, _ = fold.current(journal, Quota)
        now = state.limits.get(limit.key.path)
        if now is None or not now.ending:
            return None
        waiting, _ = fold.current(journal, Decisions)
        asked = decisions.open_about_limit(waiting, limit.key)
        closing = [decisions.settle_entry(each, by=actor()) for each in asked]
        try:
            journal.append_all(
                [quota.lifting(now, reason=f"lifted by {actor() or 'a person'}"), *closing]
            )
        except Conflict:
            continue
        return [each.raised.id for each in asked]
    raise Conflict(
        f"the limit of {key_of(limit)} changed {ATTEMPTS} times while it was lifted",
        hint="Try again.",
    )
