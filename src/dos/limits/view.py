"""Show the limits of providers: what each is, until when, who waits, and when it is probed next.

`dos limits` shows these rows; `clears_with` is the command that ends a limit early.
"""

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
    """One limit as `dos limits --json` prints it."""

    key: str  # the argument of `dos limits lift`
    vendor: str
    account: str
    model: str
    ending: str
    what: str
    since: datetime
    until: datetime | None  # as the provider reported it
    believed: bool  # False: `until` is further away than any limit lasts
    next_probe: datetime | None  # None: when a person lifts it
    found: str  # the message that reported it
    waits: list[str]  # the lanes that wait for it
    in_use: bool  # whether an agent of dos.toml meets it
    clears_with: str  # the command to type


def key_text(limit: Limit) -> str:
    """The key as people type it: vendor, account and model, without empty parts at the end."""
    return limit.key.path.rstrip("/") or "-"


def limit_row(limit: Limit, policy: Quota, *, waits: Sequence[str], in_use: bool) -> LimitRow:
    """One limit for people, with the lanes that wait for it."""
    until = None
    end_ms = quota.reported_end_ms(limit)
    if end_ms is not None and limit.ending not in PERSONAL:
        until = utc_datetime(end_ms)
    next_probe = None
    opens_ms = quota.opens_ms(limit, policy)
    if opens_ms is not None:
        next_probe = utc_datetime(opens_ms)
    clears_with = f"dos limits lift {key_text(limit)}"
    if limit.ending == Ending.AUTH:
        clears_with = logins.login_command(limit.key.vendor) or clears_with
    return LimitRow(
        key=key_text(limit),
        vendor=limit.key.vendor,
        account=limit.key.account,
        model=limit.key.model,
        ending=limit.ending,
        what=quota.describe(limit),
        since=utc_datetime(limit.hit_ms),
        until=until,
        believed=not quota.is_doubted(limit),
        next_probe=next_probe,
        found=limit.found,
        waits=list(waits),
        in_use=in_use,
        clears_with=clears_with,
    )


def rows(
    limits: Sequence[Limit],
    policy: Quota,
    *,
    waits: Mapping[str, Sequence[str]],
    used: Sequence[Limit],
) -> list[LimitRow]:
    """The rows of several limits. `waits` are the waiting lanes by the path of a limit's key."""
    paths_in_use = {limit.key.path for limit in used}
    found = []
    for limit in limits:
        path = limit.key.path
        lanes = waits.get(path, ())
        found.append(limit_row(limit, policy, waits=lanes, in_use=path in paths_in_use))
    return found


def probing_lanes(limits: Sequence[Limit], policy: Quota, *, now_ms: int) -> dict[str, str]:
    """The lanes whose runs probe a limit now, by the key of its row."""
    lanes = {}
    for limit in limits:
        probe = quota.running_probe(limit, now_ms, policy)
        if probe:
            lanes[key_text(limit)] = probe.lane
    return lanes


def render(limit_rows: Sequence[LimitRow], now: datetime, probing: Mapping[str, str]) -> str:
    """The limits as text, a few lines each. `probing` are the `probing_lanes`."""
    if not limit_rows:
        return "No provider is limited."
    lines = []
    for row in limit_rows:
        lines += _lines(row, now, probing.get(row.key, ""))
    return "\n".join(lines)


def _lines(row: LimitRow, now: datetime, probing_lane: str) -> list[str]:
    """One limit as a headline and indented details."""
    headline = f"{row.key}: {row.what}"
    if row.until and row.until <= now:
        headline += f"; its end was reported for {format_local_time(row.until, now)}"
    elif row.until:
        headline += f", until {format_local_time(row.until, now)}"
    if not row.believed:
        headline += " as it reports, which is longer than any limit lasts"
    probe = _describe_probe(row, now, probing_lane)
    lines = [headline, f"  since {format_local_time(row.since, now)}; {probe}"]
    if row.found:
        lines.append(f"  the agent's message: {row.found}")
    if row.waits:
        lines.append(f"  waiting: {', '.join(row.waits)}")
    elif row.in_use:
        lines.append("  no lane waits for it")
    else:
        lines.append("  no lane uses it")
    lines.append(f"  to clear it: {row.clears_with}")
    return lines


def _describe_probe(row: LimitRow, now: datetime, probing_lane: str) -> str:
    """Who tests now whether the limit has ended, or when that is tested next."""
    if probing_lane:
        return f"lane {probing_lane} tests now whether it has ended"
    if row.next_probe is None:
        return "not tested until the next `dos up`"
    if row.next_probe <= now:
        return "the next agent that starts tests whether it has ended"
    return f"tested again at {format_local_time(row.next_probe, now)}"
