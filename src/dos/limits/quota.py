"""Decide whether a provider's limit lets an agent start, and which agent to start.

After a limit one run probes the provider first; the other lanes wait for its result.
"""

from collections.abc import Mapping, Sequence
from zlib import crc32

from msgspec import Struct

from dos.agents import logins
from dos.agents.adapter import LIMITS, PERSONAL, AgentOutcome, Ending, Scope
from dos.agents.logins import Credentials
from dos.limits.policy import Quota
from dos.reasons.table import Needs
from dos.times import Backoff

# An agent that ended like this has reached its provider.
ANSWERED = frozenset(
    {Ending.OK, Ending.CONTEXT, Ending.TURN_CAP, Ending.BUDGET_CAP, Ending.PERMISSION}
)

_HOUR_MS = 3_600_000
# No provider has a longer window: a reset time further away is a mistake or made up by the agent.
LONGEST_WAIT_MS = 24 * _HOUR_MS
LONGEST_WEEKLY_WAIT_MS = 8 * 24 * _HOUR_MS
DOUBTED_PROBE_MS = _HOUR_MS  # after this a limit is probed whose reset time is not believed


class Key(Struct, frozen=True, kw_only=True):
    """What a limit applies to: an account, or one model of it."""

    vendor: str
    account: str = ""
    model: str = ""

    @property
    def path(self) -> str:
        """One word that no other key has, such as `claude/work`."""
        parts = [self.vendor, self.account]
        if self.model:
            parts.append(self.model)
        return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)

    @classmethod
    def from_path(cls, path: str) -> "Key | None":
        """The key that has this path; None when no key has it."""
        parts = [part.replace("%2F", "/").replace("%25", "%") for part in path.split("/")]
        if len(parts) == 2:
            key = cls(vendor=parts[0], account=parts[1])
        elif len(parts) == 3:
            key = cls(vendor=parts[0], account=parts[1], model=parts[2])
        else:
            return None
        if key.path != path:  # for example with an empty model
            return None
        return key

    def __str__(self) -> str:
        return " ".join(part for part in (self.vendor, self.account, self.model) if part)


class ProbeInProgress(Struct, frozen=True, kw_only=True):
    """The run that probes the provider for all others."""

    run_id: str
    lane: str
    at_ms: int
    over: bool = False  # its run ended without a result


class Limit(Struct, frozen=True, kw_only=True):
    """The state of one key: of several limits the one that lasts longest.

    `ending` is empty after the limit was lifted.
    """

    key: Key
    ending: str = ""
    hit_ms: int = 0
    resets_at_ms: int | None = None
    retry_after_seconds: float | None = None
    times: int = 0  # hits in a row, each after a wait
    found: str = ""
    window: str = ""  # the provider's name for it, where it has several
    agent: str = ""  # the agent that hit it
    login: Credentials = Credentials()  # of that agent, at that time
    probe: ProbeInProgress | None = None
    # When a person started the fleet after the hit: what waits for a person is probed once then.
    started_ms: int = 0
    lifted_ms: int = 0
    at_once: bool = False  # a person lifted it: all lanes may start at once
    lifts: int = 0
    version: int = 0  # of the stream: a probe is written on top of it, so only one run wins


class Open(Struct, frozen=True, kw_only=True):
    """An agent may start."""


class Probe(Struct, frozen=True, kw_only=True):
    """An agent may start if it can record the probe on this version of the stream.

    On a conflict another run probes: decide again.
    """

    key: Key
    version: int


class Gated(Struct, frozen=True, kw_only=True):
    """No agent may start until `until_ms`; None: until a person lifts the limit."""

    key: Key
    until_ms: int | None
    why: str
    needs: Needs
    # A run probes the provider: its result opens the gate, and `until_ms` is only when to give up
    # on that run.
    is_probed: bool = False


Availability = Open | Probe | Gated


class AgentCandidate(Struct, frozen=True, kw_only=True):
    """An agent that could be started, and whose limits it shares."""

    name: str
    vendor: str
    account: str = ""
    model: str = ""
    max_usd: float | None = None  # the cap of one start


class CandidateChoice(Struct, frozen=True, kw_only=True):
    """The agent to start, or the gate that keeps all of them from starting."""

    agent: AgentCandidate | None  # None: none may start
    availability: Availability  # of that agent; without one, the gate that opens first


def availability(
    limits: Mapping[str, Limit],
    agent: AgentCandidate,
    *,
    lane: str,
    now_ms: int,
    policy: Quota,
) -> Availability:
    """Decide whether an agent may start on a lane now.

    The limit of an account covers all its models. A gate outranks a probe.
    """
    answers = []
    for key in _keys(agent):
        if key.path in limits:
            answers.append(_limit_availability(limits[key.path], lane, now_ms, policy))
    gates = [answer for answer in answers if isinstance(answer, Gated)]
    if gates:
        return max(gates, key=_opens_ms)
    for answer in answers:
        if isinstance(answer, Probe):
            return answer
    return Open()


def choose(
    limits: Mapping[str, Limit],
    agents: Sequence[AgentCandidate],
    *,
    lane: str,
    now_ms: int,
    policy: Quota,
) -> CandidateChoice:
    """The first agent that is not gated.

    An agent that may probe is preferred to a later one that is open: otherwise nothing would ever
    show that the first one is available again.
    """
    candidates = agents
    if not policy.failover:
        candidates = agents[:1]
    gates: list[Gated] = []
    for agent in candidates:
        answer = availability(limits, agent, lane=lane, now_ms=now_ms, policy=policy)
        if not isinstance(answer, Gated):
            return CandidateChoice(agent=agent, availability=answer)
        gates.append(answer)
    return CandidateChoice(agent=None, availability=min(gates, key=_opens_ms))


def reported_end_ms(limit: Limit) -> int | None:
    """When the limit ends by the provider's word; None when it named no time."""
    ends = []
    if limit.resets_at_ms is not None:
        ends.append(limit.resets_at_ms)
    if limit.retry_after_seconds is not None:
        ends.append(limit.hit_ms + int(limit.retry_after_seconds * 1000))
    # A time before the hit does not count: the program repeats an old message.
    return max((end for end in ends if end > limit.hit_ms), default=None)


def believed_end_ms(limit: Limit) -> int | None:
    """The reported end, unless it is further away than any window of a provider."""
    end_ms = reported_end_ms(limit)
    if end_ms is None or end_ms - limit.hit_ms > _longest_ms(limit):
        return None
    return end_ms


def is_doubted(limit: Limit) -> bool:
    """Whether the limit claims to last longer than any window: a person has to decide."""
    if not limit.ending or limit.ending in PERSONAL:
        return False
    return reported_end_ms(limit) is not None and believed_end_ms(limit) is None


def _longest_ms(limit: Limit) -> int:
    """The longest plausible wait. Claude Code names weekly windows `seven_day`, others `weekly`."""
    name = f"{limit.window} {limit.found}".lower()
    if "week" in name or "seven_day" in name:
        return LONGEST_WEEKLY_WAIT_MS
    return LONGEST_WAIT_MS


def opens_ms(limit: Limit, policy: Quota) -> int | None:
    """When the provider may be asked again; None: when a person lifts the limit.

    A person who starts the fleet may have fixed what only a person can fix, so one run probes it.
    """
    if limit.ending in PERSONAL:
        if limit.started_ms > limit.hit_ms:
            return limit.started_ms
        return None
    if is_doubted(limit):
        return limit.hit_ms + DOUBTED_PROBE_MS
    end_ms = believed_end_ms(limit)
    if end_ms is not None:
        return end_ms
    seconds = Backoff(policy.backoff_seconds).delay(max(limit.times, 1))
    return limit.hit_ms + int(seconds * 1000)


def running_probe(limit: Limit, now_ms: int, policy: Quota) -> ProbeInProgress | None:
    """The probe of the limit whose result is awaited; None: no run probes it now."""
    probe = limit.probe
    if not limit.ending or probe is None or probe.over:
        return None
    if now_ms >= _probe_lost_ms(probe, policy):
        return None
    return probe


def _probe_lost_ms(probe: ProbeInProgress, policy: Quota) -> int:
    """When a probe without a result is given up, so that another run may probe."""
    return probe.at_ms + int(policy.probe_seconds * 1000)


def limits_met_by(limits: Mapping[str, Limit], agents: Sequence[AgentCandidate]) -> list[Limit]:
    """The limits that hold now and apply to one of these agents."""
    paths: set[str] = set()
    for agent in agents:
        paths.update(key.path for key in _keys(agent))
    return [limit for path, limit in limits.items() if limit.ending and path in paths]


def describe(limit: Limit) -> str:
    """A limit in words, such as `claude is not logged in` or `openai has no credit left`."""
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
    """When a lane may start after the limit was lifted.

    The lanes are spread over `jitter_seconds`, each at its own moment; the lane that probed, and
    every lane after a lift by a person, may start at once.
    """
    if limit.at_once or (limit.probe and limit.probe.lane == lane):
        return limit.lifted_ms
    spread_ms = int(policy.jitter_seconds * 1000)
    return limit.lifted_ms + crc32(f"{lane}\0{limit.key.path}".encode()) % (spread_ms + 1)


class LimitReport(Struct, frozen=True, kw_only=True):
    """What the end of an agent tells about its provider."""

    key: Key
    ending: Ending
    resets_at_ms: int | None = None
    retry_after_seconds: float | None = None
    window: str = ""
    found: str = ""


def limit_report(
    outcome: AgentOutcome, *, vendor: str, account: str, model: str
) -> LimitReport | None:
    """The limit that an agent hit, under the requested model; None: it hit none."""
    if outcome.ending not in LIMITS:
        return None
    key = Key(vendor=vendor, account=account)
    if outcome.ending is Ending.MODEL_UNAVAILABLE or outcome.scope is Scope.MODEL:
        key = Key(vendor=vendor, account=account, model=model)
    resets_at_ms = None
    if outcome.resets_at is not None:
        resets_at_ms = int(outcome.resets_at.timestamp() * 1000)
    return LimitReport(
        key=key,
        ending=outcome.ending,
        resets_at_ms=resets_at_ms,
        retry_after_seconds=outcome.retry_after_seconds,
        window=outcome.window,
        found=outcome.found.raw or outcome.found.field,
    )


def _limit_availability(limit: Limit, lane: str, now_ms: int, policy: Quota) -> Availability:
    """What one limit allows a lane."""
    if not limit.ending:
        wakes = wakes_ms(limit, lane, policy)
        if limit.lifts and now_ms < wakes:
            return _gate(limit, wakes, f"{limit.key} is available again; lanes start one by one")
        return Open()
    opens = opens_ms(limit, policy)
    if opens is None:
        return _gate(limit, None, describe(limit))
    if now_ms < opens:
        return _gate(limit, opens, _describe_wait(limit))
    probe = running_probe(limit, now_ms, policy)
    if probe:
        why = f"lane {probe.lane} tests whether {limit.key} accepts requests again"
        return Gated(
            key=limit.key,
            until_ms=_probe_lost_ms(probe, policy),
            why=why,
            needs=Needs.TIME,
            is_probed=True,
        )
    return Probe(key=limit.key, version=limit.version)


def _describe_wait(limit: Limit) -> str:
    """Why a limit keeps agents from starting; those who show it add until when."""
    if not is_doubted(limit):
        return describe(limit)
    return f"{describe(limit)} and reports an end that is not plausible, so it is probed hourly"


def _keys(agent: AgentCandidate) -> list[Key]:
    """The keys whose limits apply to an agent: its account, and its model."""
    keys = [Key(vendor=agent.vendor, account=agent.account)]
    if agent.model:
        keys.append(Key(vendor=agent.vendor, account=agent.account, model=agent.model))
    return keys


def _gate(limit: Limit, until_ms: int | None, why: str) -> Gated:
    """A gate of this limit; without a time only a person can open it."""
    needs = Needs.TIME
    if until_ms is None:
        needs = Needs.OPERATOR
    return Gated(key=limit.key, until_ms=until_ms, why=why, needs=needs)


def _opens_ms(gate: Gated) -> float:
    """When a gate opens, for comparison: a gate that needs a person opens last."""
    if gate.until_ms is None:
        return float("inf")
    return gate.until_ms
