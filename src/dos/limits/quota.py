"""Has the provider room for another agent, who asks it first after a limit, and who takes over meanwhile?"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from zlib import crc32

from msgspec import Struct

from dos.agents import logins
from dos.agents.adapter import LIMITS, PERSONAL, AgentOutcome, Ending, Scope
from dos.agents.logins import Credentials
from dos.limits.policy import Quota
from dos.reasons.table import Needs
from dos.times import Backoff, utc_stamp

# That the program came as far as any of these shows that its provider answered.
ANSWERED = frozenset(
    {Ending.OK, Ending.CONTEXT, Ending.TURN_CAP, Ending.BUDGET_CAP, Ending.PERMISSION}
)

_HOUR_MS = 3_600_000
# No window of a provider is longer: a reset that is further away is a misprint, or a lie of the agent's.
LONGEST_WAIT_MS = 24 * _HOUR_MS
LONGEST_WEEKLY_WAIT_MS = 8 * 24 * _HOUR_MS
DOUBTED_PROBE_MS = _HOUR_MS  # how often a limit is probed whose end nobody believes


class Key(Struct, frozen=True, kw_only=True):
    """What a limit is a limit of; without a model, of all the account's."""

    vendor: str
    account: str = ""
    model: str = ""

    @property
    def path(self) -> str:
        """One word that no other key has, such as `claude/work`."""
        parts = [self.vendor, self.account, *([self.model] if self.model else [])]
        return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)

    @classmethod
    def from_path(cls, path: str) -> "Key | None":
        """The key that has this path; None: none has."""
        parts = [part.replace("%2F", "/").replace("%25", "%") for part in path.split("/")]
        if len(parts) == 2:
            key = cls(vendor=parts[0], account=parts[1])
        elif len(parts) == 3:
            key = cls(vendor=parts[0], account=parts[1], model=parts[2])
        else:
            return None
        return key if key.path == path else None

    def __str__(self) -> str:
        return " ".join(part for part in (self.vendor, self.account, self.model) if part)


class ProbeInProgress(Struct, frozen=True, kw_only=True):
    """The one that went first."""

    run_id: str
    lane: str
    at_ms: int
    over: bool = False  # its run ended without saying whether the provider answered


class Limit(Struct, frozen=True, kw_only=True):
    """What is known of one key, what lasts longest first; `ending` is empty when the limit was lifted."""

    key: Key
    ending: str = ""
    hit_ms: int = 0
    resets_at_ms: int | None = None
    retry_after_seconds: float | None = None
    times: int = 0  # in a row: hit, waited for, hit again
    found: str = ""
    window: str = ""  # the provider's name for it, where it has several
    agent: str = ""  # who ran into it
    login: Credentials = Credentials()  # of that agent, as they looked then
    probe: ProbeInProgress | None = None
    started_ms: int = 0  # when a person started the fleet after the hit: what waits for a person is probed once then
    lifted_ms: int = 0
    at_once: bool = False  # a person lifted it: nobody waits for a turn
    lifts: int = 0
    version: int = 0  # of the stream: a probe is written on top of it, so that only one wins


class Open(Struct, frozen=True, kw_only=True):
    """Start."""


class Probe(Struct, frozen=True, kw_only=True):
    """Start, if writing that you go first succeeds on this version of the stream; look again if it does not."""

    key: Key
    version: int


class Gated(Struct, frozen=True, kw_only=True):
    """Start nothing. Without a time nothing but a person's word opens it."""

    key: Key
    until_ms: int | None
    why: str
    needs: Needs


Availability = Open | Probe | Gated


class AgentCandidate(Struct, frozen=True, kw_only=True):
    """An agent that could be started, and whose limits it shares."""

    name: str
    vendor: str
    account: str = ""
    model: str = ""
    max_usd: float | None = None  # what one start may cost, where its program keeps to that


class AgentChoice(Struct, frozen=True, kw_only=True):
    agent: AgentCandidate | None  # None: nobody may start
    availability: Availability  # of that agent; without one, the gate that opens first


def availability(
    limits: Mapping[str, Limit],
    *,
    vendor: str,
    account: str,
    model: str,
    lane: str,
    now_ms: int,
    policy: Quota,
) -> Availability:
    """The account's limit covers all its models. A gate outranks leave to go first."""
    paths = [key.path for key in _keys(vendor, account, model)]
    found = [
        _limit_availability(limits[path], lane, now_ms, policy) for path in paths if path in limits
    ]
    if gates := [each for each in found if isinstance(each, Gated)]:
        return max(gates, key=_opens_ms)
    return next((each for each in found if isinstance(each, Probe)), Open())


def choose(
    limits: Mapping[str, Limit],
    agents: Sequence[AgentCandidate],
    *,
    lane: str,
    now_ms: int,
    policy: Quota,
) -> AgentChoice:
    """The first in the list that is not gated.

    Going first is not put off in favour of a later agent that is open: then nobody would ever find out that the
    first one is back.
    """
    gates: list[Gated] = []
    for agent in agents if policy.failover else agents[:1]:
        found = availability(
            limits,
            vendor=agent.vendor,
            account=agent.account,
            model=agent.model,
            lane=lane,
            now_ms=now_ms,
            policy=policy,
        )
        if not isinstance(found, Gated):
            return AgentChoice(agent=agent, availability=found)
        gates.append(found)
    return AgentChoice(agent=None, availability=min(gates, key=_opens_ms))


def reported_end_ms(limit: Limit) -> int | None:
    """Until when it lasts, as far as anybody told."""
    told = [limit.resets_at_ms] if limit.resets_at_ms is not None else []
    if limit.retry_after_seconds is not None:
        told.append(limit.hit_ms + int(limit.retry_after_seconds * 1000))
    # A time that was over when it was told is no time: the program repeats an old message.
    return max((each for each in told if each > limit.hit_ms), default=None)


def believed_end_ms(limit: Limit) -> int | None:
    """The time that was told, unless it is further away than any window of a provider lasts."""
    told = reported_end_ms(limit)
    return None if told is None or told - limit.hit_ms > _longest_ms(limit) else told


def is_doubted(limit: Limit) -> bool:
    """A person has to say what to make of it: it claims to last longer than any window does."""
    if not limit.ending or limit.ending in PERSONAL:
        return False
    return reported_end_ms(limit) is not None and believed_end_ms(limit) is None


def _longest_ms(limit: Limit) -> int:
    """Claude Code calls its weekly windows `seven_day`; Codex and all messages for people say `weekly`."""
    named = f"{limit.window} {limit.found}".lower()
    is_weekly = "week" in named or "seven_day" in named
    return LONGEST_WEEKLY_WAIT_MS if is_weekly else LONGEST_WAIT_MS


def opens_ms(limit: Limit, policy: Quota) -> int | None:
    """When somebody may ask the provider again; None: when a person says so.

    A person who starts the fleet may have put right what only a person can: one agent then sees whether it is so.
    """
    if limit.ending in PERSONAL:
        return limit.started_ms if limit.started_ms > limit.hit_ms else None
    if is_doubted(limit):
        return limit.hit_ms + DOUBTED_PROBE_MS
    if (believed := believed_end_ms(limit)) is not None:
        return believed
    seconds = Backoff(policy.backoff_seconds).delay(max(limit.times, 1))
    return limit.hit_ms + int(seconds * 1000)


def limits_met_by(limits: Mapping[str, Limit], agents: Sequence[AgentCandidate]) -> list[Limit]:
    """The limits that hold now and that one of these agents would meet."""
    keys = {key.path for agent in agents for key in _keys(agent.vendor, agent.account, agent.model)}
    return [limit for path, limit in limits.items() if limit.ending and path in keys]


def describe(limit: Limit) -> str:
    """What a limit is, in words: `claude is not logged in`, `openai: no credit left`."""
    match limit.ending:
        case Ending.AUTH:
            return logins.not_logged_in(limit.key.vendor, limit.agent)
        case Ending.SPEND_STOP:
            return f"{limit.key} has no credit left"
        case Ending.MODEL_UNAVAILABLE:
            return f"{limit.key} is not available to this account"
        case Ending.USAGE_WINDOW:
            return f"{limit.key} has reached its usage limit"
        case Ending.OVERLOADED:
            return f"{limit.key} is overloaded"
    return f"{limit.key} fails for the moment"


def wakes_ms(limit: Limit, lane: str, policy: Quota) -> int:
    """After a lift the lanes come one after the other, each at a moment of its own; who went first is there already."""
    if limit.at_once or (limit.probe and limit.probe.lane == lane):
        return limit.lifted_ms
    spread_ms = int(policy.jitter_seconds * 1000)
    return limit.lifted_ms + crc32(f"{lane}\0{limit.key.path}".encode()) % (spread_ms + 1)


class LimitReport(Struct, frozen=True, kw_only=True):
    """What an agent's end says about its provider."""

    key: Key
    ending: Ending
    resets_at_ms: int | None = None
    retry_after_seconds: float | None = None
    window: str = ""
    found: str = ""


def limit_report(
    outcome: AgentOutcome, *, vendor: str, account: str, model: str
) -> LimitReport | None:
    """The limit that an agent ran into, under the model that was asked for; None: it ran into none."""
    if outcome.ending not in LIMITS:
        return None
    of_model = outcome.ending is Ending.MODEL_UNAVAILABLE or outcome.scope is Scope.MODEL
    return LimitReport(
        key=Key(vendor=vendor, account=account, model=model if of_model else ""),
        ending=outcome.ending,
        resets_at_ms=_milliseconds(outcome.resets_at),
        retry_after_seconds=outcome.retry_after_seconds,
        window=outcome.window,
        found=outcome.found.raw or outcome.found.field,
    )


def _limit_availability(limit: Limit, lane: str, now_ms: int, policy: Quota) -> Availability:
    if not limit.ending:
        wakes = wakes_ms(limit, lane, policy)
        if limit.lifts and now_ms < wakes:
            return _gate(
                limit, wakes, f"{limit.key} has room again; the lanes come one after the other"
            )
        return Open()
    opens = opens_ms(limit, policy)
    if opens is None:
        return _gate(limit, None, describe(limit))
    if now_ms < opens:
        return _gate(limit, opens, _until(limit, opens))
    if (going := limit.probe) and not going.over:
        astray = going.at_ms + int(policy.probe_seconds * 1000)
        if now_ms < astray:
            return _gate(
                limit,
                astray,
                f"{limit.key}: {going.lane} goes first and sees whether there is room",
            )
    return Probe(key=limit.key, version=limit.version)


def _until(limit: Limit, opens: int) -> str:
    if is_doubted(limit):
        told = utc_stamp(reported_end_ms(limit) or 0)
        return (
            f"{describe(limit)}, until {told} by its own word; it is probed at {utc_stamp(opens)}"
        )
    return f"{describe(limit)} until {utc_stamp(opens)}"


def _keys(vendor: str, account: str, model: str) -> list[Key]:
    whole = Key(vendor=vendor, account=account)
    return [whole, Key(vendor=vendor, account=account, model=model)] if model else [whole]


def _gate(limit: Limit, until_ms: int | None, why: str) -> Gated:
    return Gated(
        key=limit.key,
        until_ms=until_ms,
        why=why,
        needs=Needs.OPERATOR if until_ms is None else Needs.TIME,
    )


def _opens_ms(gate: Gated) -> float:
    return float("inf") if gate.until_ms is None else gate.until_ms


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
