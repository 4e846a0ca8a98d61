"""Counts what hooks kept from happening: what they refused, deferred and warned of."""

from collections import Counter
from collections.abc import Iterable

from msgspec import UNSET, Struct, UnsetType

from dos.journal.events.doors import HookAnswered
from dos.journal.events.envelope import Event
from dos.journal.events.reader import select
from dos.outward.verdicts import rung
from dos.times import utc_stamp

UNCLASSIFIED = "UNCLASSIFIED"
MOST_EXAMPLES = 3
LONGEST_REASON = 300
BLOCK = "BLOCK"
WARN = "WARN"
DEFER = "DEFER"


class Example(Struct, frozen=True, kw_only=True):
    """One answer of a hook, as an example of its class."""

    target: str  # the files it was about, or the lane
    tool: str
    ts: str
    reason: str


class Helped(Struct, frozen=True, kw_only=True):
    """The counts, with the keys that dos-kernel gave them."""

    total: int
    enforced: int
    withheld: int  # calls that did not happen
    blocked: int
    warned: int
    deferred: int
    by_rung: dict[str, int]
    by_reason: dict[str, int]
    by_tool: dict[str, int]
    since: str
    latest: str
    examples: dict[str, list[Example]] | UnsetType = UNSET
    glossary: dict[str, str] | UnsetType = UNSET


def fold_helped(
    events: Iterable[Event],
    *,
    session: str = "",
    since_ms: int = 0,
    glossary: dict[str, str] | None = None,
) -> Helped:
    """Return what hooks answered, of one session or of all.

    With a `glossary`, which says what each class of reasons means, the answer has examples.
    """
    rungs: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    examples: dict[str, list[Example]] = {}
    first = latest = ""
    for event, fact in select(events, HookAnswered):
        if event.at_ms < since_ms or (session and fact.session != session):
            continue
        reason = fact.reason_class or UNCLASSIFIED
        rungs[rung(fact)] += 1
        reasons[reason] += 1
        tools[fact.tool or fact.moment] += 1
        latest = utc_stamp(event.at_ms)
        first = first or latest
        _add_example(examples.setdefault(reason, []), fact, latest)
    if glossary is not None:
        glossary = {name: glossary.get(name, "") for name in reasons}
    return Helped(
        total=rungs.total(),
        enforced=rungs.total(),
        withheld=rungs[BLOCK] + rungs[DEFER],
        blocked=rungs[BLOCK],
        warned=rungs[WARN],
        deferred=rungs[DEFER],
        by_rung=dict(rungs.most_common()),
        by_reason=dict(reasons.most_common()),
        by_tool=dict(tools.most_common()),
        since=utc_stamp(since_ms) if since_ms else first,
        latest=latest,
        examples=UNSET if glossary is None else examples,
        glossary=UNSET if glossary is None else glossary,
    )


def _add_example(examples: list[Example], fact: HookAnswered, ts: str) -> None:
    """Keep an example that differs from those of its class."""
    target = ", ".join(fact.paths) or fact.lane
    if len(examples) == MOST_EXAMPLES:
        return
    if any(example.target == target and example.tool == fact.tool for example in examples):
        return
    reason = fact.reason[:LONGEST_REASON]
    examples.append(Example(target=target, tool=fact.tool or fact.moment, ts=ts, reason=reason))
