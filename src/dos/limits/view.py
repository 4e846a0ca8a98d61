"""The providers' limits: what each says, until when, which lanes wait for it, and when it is probed next."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from dos.agents import logins
from dos.agents.adapter import PERSONAL, Ending
from dos.limits import quota
from dos.limits.policy import Quota
from dos.limits.quota import Limit
from dos.times import format_local_time, utc_datetime


class LimitRow(Struct, frozen=True, kw_only=True):
    key: str  # what `dos limits lift` takes
    vendor: str
    account: str
    model: str
    ending: str
    what: str
    since: datetime
    until: datetime | None  # by the provider's word
    believed: bool  # False: it is further away than any limit lasts
    next_probe: datetime | None  # None: when a person says so
    found: str  # the words it was told by
    waits: list[str]  # lanes
    in_use: bool  # by an agent that dos.toml names
    clears_with: str  # what to type


def key_text(limit: Limit) -> str:
    """As it can be typed: vendor, account and model, without what is empty at the end."""
    return limit.key.path.rstrip("/") or "-"


def limit_row(limit: Limit, policy: Quota, *, waits: Sequence[str], in_use: bool) -> LimitRow:
    told, opens = quota.reported_end_ms(limit), quota.opens_ms(limit, policy)
    login = logins.login_command(limit.key.vendor) if limit.ending == Ending.AUTH else ""
    return LimitRow(
        key=key_text(limit),
        vendor=limit.key.vendor,
        account=limit.key.account,
        model=limit.key.model,
        ending=limit.ending,
        what=quota.describe(limit),
        since=utc_datetime(limit.hit_ms),
        until=None if told is None or limit.ending in PERSONAL else utc_datetime(told),
        believed=not quota.is_doubted(limit),
        next_probe=None if opens is None else utc_datetime(opens),
        found=limit.found,
        waits=list(waits),
        in_use=in_use,
        clears_with=login or f"dos limits lift {key_text(limit)}",
    )


def rows(
    limits: Sequence[Limit],
    policy: Quota,
    *,
    waits: Mapping[str, Sequence[str]],
    used: Sequence[Limit],
) -> list[LimitRow]:
    """`waits` are the lanes that wait for a limit, by the name of its key."""
    names = {limit.key.path for limit in used}
    return [
        limit_row(
            limit, policy, waits=waits.get(limit.key.path, ()), in_use=limit.key.path in names
        )
        for limit in limits
    ]


def render(shown: Sequence[LimitRow], now: datetime) -> str:
    if not shown:
        return "No provider is limited."
    return "\n".join(line for each in shown for line in _lines(each, now))


def _lines(each: LimitRow, now: datetime) -> list[str]:
    until = f", until {format_local_time(each.until, now)}" if each.until else ""
    doubt = "" if each.believed else " by its own word, which is longer than any limit lasts"
    lines = [f"{each.key}: {each.what}{until}{doubt}"]
    probe = (
        f"next probe {format_local_time(each.next_probe, now)}"
        if each.next_probe
        else "not probed until the next `dos up`"
    )
    lines.append(f"  since {format_local_time(each.since, now)}; {probe}")
    if each.found:
        lines.append(f"  it said: {each.found}")
    lines.append(
        f"  waiting: {', '.join(each.waits) or 'no lane'}{'' if each.in_use else ' (no lane uses it)'}"
    )
    lines.append(f"  to clear it: {each.clears_with}")
    return lines
