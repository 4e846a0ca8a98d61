"""Who may start an agent while a provider has no room, and after it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from told_events import Teller

from dos.agents.adapter import LIMITS, PERSONAL, AgentOutcome, Ending, EndingEvidence, Scope
from dos.errors import Conflict
from dos.journal import fold, streams
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.fleet import AgentEnded, FleetStarted, RunStopped, WorkerReaped
from dos.journal.events.limits import LimitHit, LimitLifted, LimitProbed
from dos.journal.store import Store
from dos.limits import quota
from dos.limits.policy import Quota
from dos.limits.quota import AgentCandidate, Gated, Open, Probe
from dos.limits.state.quota import ProviderLimits, limit_key
from dos.reasons.table import Needs

POLICY = Quota(backoff_seconds=(60.0, 270.0, 1200.0), jitter_seconds=30.0, probe_seconds=900.0)
T = 1_800_000_000_000
WHO = {"vendor": "acme", "account": "work"}
KEY = quota.Key(**WHO)


def hit(ending=Ending.USAGE_WINDOW, *, run="R1", model="", resets=None, after=None):
    resets_at_ms = None if resets is None else T + resets * 1000
    return LimitHit(
        **WHO,
        model=model,
        ending=ending,
        resets_at_ms=resets_at_ms,
        retry_after_seconds=after,
        run_id=run,
        lane="api",
    )


def probed(run="R2", lane="docs"):
    return LimitProbed(**WHO, run_id=run, lane=lane)


def lifted(*, at_once=False):
    return LimitLifted(**WHO, run_id="R2", at_once=at_once)


def weekly(resets, *, window="seven_day"):
    return LimitHit(
        **WHO,
        window=window,
        ending=Ending.USAGE_WINDOW,
        resets_at_ms=T + resets * 1000,
        run_id="R1",
        lane="api",
    )


def started():
    return FleetStarted(host="h", pid=1, target=2)


def ended(run, outcome):
    return AgentEnded(
        run_id=run,
        lane="docs",
        unit="U",
        iteration=1,
        outcome=outcome,
        exit_code=1,
        claim="",
        seconds=1.0,
    )


def folded(*facts):
    """Each fact with the second at which it was written."""
    teller = Teller()
    for second, fact in facts:
        limited = isinstance(fact, LimitHit | LimitProbed | LimitLifted)
        teller.tell(
            streams.limit(limit_key(fact)) if limited else "run/R",
            fact,
            T + int(second * 1000),
        )
    return fold.fold(ProviderLimits(), teller.happened).limits


def ask(limits, second, *, lane="web", model="large", account="work", policy=POLICY):
    now_ms = T + round(second * 1000)
    agent = AgentCandidate(name="agent", vendor="acme", account=account, model=model)
    return quota.availability(limits, agent, lane=lane, now_ms=now_ms, policy=policy)


def shape(room):
    match room:
        case Gated(until_ms=until_ms):
            return "operator" if until_ms is None else (until_ms - T) / 1000
    return type(room).__name__


HIT = (0, hit())
HIT_UNTIL_100 = (0, hit(resets=100))
GONE_FIRST = (101, probed())
HOUR, DAY = 3600, 86_400
NEXT_YEAR = (0, hit(resets=300 * DAY))
AUTH = (0, hit(Ending.AUTH))

ROOMS = [
    ("nobody has hit a limit", [], 0, "Open"),
    ("a window closes until it resets", [HIT_UNTIL_100], 99, 100),
    ("at the reset one goes first", [HIT_UNTIL_100], 100, "Probe"),
    ("the first back-off", [HIT], 59, 60),
    ("after it one goes first", [HIT], 60, "Probe"),
    ("a time to retry counts too", [(0, hit(after=200))], 199, 200),
    ("the later of two times counts", [(0, hit(resets=100, after=200))], 150, 200),
    (
        "a window that resets sooner opens no other",
        [(0, hit(resets=9000)), (5, hit(resets=100))],
        101,
        9000,
    ),
    ("one that resets later keeps it shut", [HIT_UNTIL_100, (5, hit(resets=9000))], 101, 9000),
    ("a time that is known outlasts none", [(0, hit(after=300)), (5, hit())], 200, 300),
    ("a reset that was over when it was told is none", [(50, hit(resets=10))], 51, 110),
    ("while one goes first the others wait", [HIT_UNTIL_100, GONE_FIRST], 102, 1001),
    ("one that does not come back went astray", [HIT_UNTIL_100, GONE_FIRST], 1001, "Probe"),
    (
        "one whose run stopped is not waited for",
        [
            HIT_UNTIL_100,
            GONE_FIRST,
            (102, RunStopped(run_id="R2", lane="docs", stop_reason="", needs="", reason="")),
        ],
        103,
        "Probe",
    ),
    (
        "one whose worker died is not waited for",
        [
            HIT_UNTIL_100,
            GONE_FIRST,
            (102, WorkerReaped(lane="docs", run_id="R2", lease=1, reason="")),
        ],
        103,
        "Probe",
    ),
    (
        "a crash says nothing of the provider, and the next one goes",
        [HIT_UNTIL_100, GONE_FIRST, (102, ended("R2", Ending.CRASH))],
        103,
        "Probe",
    ),
    (
        "an end that tells something is waited for",
        [HIT_UNTIL_100, GONE_FIRST, (102, ended("R2", Ending.OK))],
        103,
        1001,
    ),
    (
        "one that ran into something else did not find out",
        [HIT_UNTIL_100, GONE_FIRST, (102, hit(run="R2", model="small", resets=500))],
        103,
        "Probe",
    ),
    ("no again: the second back-off", [HIT, (60, probed()), (61, hit(run="R2"))], 62, 331),
    (
        "many that were at work tell of one hit",
        [HIT, (1, hit(run="R3")), (2, hit(run="R4"))],
        3,
        62,
    ),
    ("a straggler does not hide the time of reset", [HIT_UNTIL_100, (1, hit(run="R3"))], 2, 100),
    (
        "a straggler does not make it a matter of time",
        [(0, hit(Ending.AUTH)), (1, hit(run="R3"))],
        9999,
        "operator",
    ),
    ("no credit is a person's matter", [(0, hit(Ending.SPEND_STOP))], 10**6, "operator"),
    ("so is a login", [(0, hit(Ending.AUTH, resets=5))], 10**6, "operator"),
    ("overloaded is waited for as well", [(0, hit(Ending.OVERLOADED))], 10, 60),
    ("a moment's failure too", [(0, hit(Ending.TRANSIENT, after=5))], 4, 5),
    (
        "after a lift, and the jitter, all may go",
        [HIT, (60, probed()), (70, lifted())],
        101,
        "Open",
    ),
    ("a reset within a day is believed", [(0, hit(resets=DAY))], 5, DAY),
    ("one in 300 days is not: it is probed within the hour", [NEXT_YEAR], 5, HOUR),
    ("then one goes first", [NEXT_YEAR], HOUR, "Probe"),
    (
        "and every hour from then on",
        [NEXT_YEAR, (HOUR, probed()), (HOUR + 1, hit(run="R2", resets=300 * DAY))],
        HOUR + 2,
        2 * HOUR + 1,
    ),
    ("so is one of 300 days that is told as a wait", [(0, hit(after=300 * DAY))], 5, HOUR),
    ("the reset of a weekly window is believed for 8 days", [(0, weekly(7 * DAY))], 5, 7 * DAY),
    ("and not for 9", [(0, weekly(9 * DAY))], 5, HOUR),
    ("another window is not weekly", [(0, weekly(7 * DAY, window="five_hour"))], 5, HOUR),
    (
        "a reset that nobody believes outlasts none",
        [NEXT_YEAR, (1, hit(run="R3", resets=100))],
        5,
        100,
    ),
    (
        "after a lift by a person nobody waits for a turn",
        [HIT, (70, lifted(at_once=True))],
        70,
        "Open",
    ),
    (
        "when the fleet is started one sees whether somebody logged in",
        [AUTH, (50, started())],
        51,
        "Probe",
    ),
    ("and the others wait for it", [AUTH, (50, started()), (51, probed())], 52, 951),
    (
        "no again: a person has to log in",
        [AUTH, (50, started()), (51, probed()), (52, hit(Ending.AUTH, run="R2"))],
        53,
        "operator",
    ),
    ("a limit of the model gates the model", [(0, hit(model="large", resets=100))], 5, 100),
    ("and no other", [(0, hit(model="small", resets=100))], 5, "Open"),
    ("a gate outranks leave to go first", [HIT, (0, hit(model="large", resets=500))], 61, 500),
]


@pytest.mark.parametrize(
    ("facts", "second", "expected"), [row[1:] for row in ROOMS], ids=[row[0] for row in ROOMS]
)
def test_room(facts, second, expected):
    assert shape(ask(folded(*facts), second)) == expected


def test_the_limit_of_one_account_is_not_that_of_another():
    limits = folded((0, hit(Ending.AUTH)))
    assert isinstance(ask(limits, 1, account="home"), Open)
    gate = ask(limits, 1)
    assert (gate.needs, gate.until_ms) == (Needs.OPERATOR, None)


def test_the_wait_for_a_probe_ends_with_its_result_and_not_at_a_time():
    gate = ask(folded(HIT, (60, probed(lane="docs"))), 61)
    assert (gate.is_probed, gate.why) == (
        True,
        "lane docs tests whether acme work accepts requests again",
    )
    assert not ask(folded(HIT), 5).is_probed


def test_who_went_first_is_not_made_to_wait_after_the_lift():
    limits = folded((0, hit()), (60, probed(lane="docs")), (70, lifted()))
    assert isinstance(ask(limits, 70, lane="docs"), Open)


@given(
    st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=30, unique=True),
    st.integers(0, 600),
)
def test_the_rest_wake_within_the_jitter_and_each_always_at_the_same_moment(lanes, jitter):
    policy = Quota(jitter_seconds=jitter)
    limit = folded((0, hit()), (60, probed(lane="\0first")), (70, lifted()))[KEY.path]
    for lane in lanes:
        wakes = quota.wakes_ms(limit, lane, policy)
        assert 0 <= wakes - limit.lifted_ms <= jitter * 1000
        assert wakes == quota.wakes_ms(limit, lane, policy)
        assert isinstance(
            ask({limit.key.path: limit}, (wakes - T) / 1000, lane=lane, policy=policy), Open
        )


def test_lanes_do_not_all_wake_at_once():
    limit = folded((0, hit()), (60, probed(lane="other")), (70, lifted()))[KEY.path]
    assert len({quota.wakes_ms(limit, f"lane-{number}", POLICY) for number in range(20)}) > 15


AGENTS = [
    AgentCandidate(name="first", vendor="acme", account="work"),
    AgentCandidate(name="second", vendor="other"),
]


@pytest.mark.parametrize(
    ("facts", "second", "failover", "chosen", "room"),
    [
        ([], 0, True, "first", "Open"),
        ([HIT], 10, True, "second", "Open"),
        ([HIT], 10, False, None, 60),
        # If an agent that is open were taken before, nobody would ever ask the first one again.
        ([HIT], 60, True, "first", "Probe"),
        ([HIT, (60, probed())], 61, True, "second", "Open"),
        (
            [
                HIT,
                (
                    0,
                    LimitHit(
                        vendor="other", account="", ending="usage_window", resets_at_ms=T + 5000
                    ),
                ),
            ],
            1,
            True,
            None,
            5,
        ),
        (
            [(0, hit(Ending.AUTH)), (0, LimitHit(vendor="other", account="", ending="overloaded"))],
            1,
            True,
            None,
            60,
        ),
        (
            [(0, hit(Ending.AUTH)), (0, LimitHit(vendor="other", account="", ending="auth"))],
            1,
            True,
            None,
            "operator",
        ),
    ],
)
def test_the_next_agent_takes_over(facts, second, failover, chosen, room):
    policy = Quota(failover=failover)
    choice = quota.choose(
        folded(*facts), AGENTS, lane="web", now_ms=T + second * 1000, policy=policy
    )
    assert (choice.agent.name if choice.agent else None, shape(choice.availability)) == (
        chosen,
        room,
    )


@pytest.mark.parametrize("ending", Ending)
def test_a_limit_is_written_for_the_ends_that_are_limits_and_for_no_other(ending):
    report = quota.limit_report(AgentOutcome(ending=ending), **WHO, model="large")
    assert (report is not None) == (ending in LIMITS)


@pytest.mark.parametrize(
    ("ending", "scope", "model"),
    [
        (Ending.USAGE_WINDOW, Scope.ACCOUNT, ""),
        (Ending.USAGE_WINDOW, Scope.MODEL, "large"),
        (Ending.MODEL_UNAVAILABLE, Scope.ACCOUNT, "large"),
        (Ending.AUTH, Scope.ACCOUNT, ""),
    ],
)
def test_a_limit_covers_what_it_was_told_to_cover(ending, scope, model):
    resets = datetime.fromtimestamp(T / 1000, UTC) + timedelta(seconds=7)
    agent_outcome = AgentOutcome(
        ending=ending,
        scope=scope,
        resets_at=resets,
        found=EndingEvidence(raw="no more"),
        model="large-20260101",
    )
    report = quota.limit_report(agent_outcome, **WHO, model="large")
    assert (report.key.model, report.resets_at_ms, report.found) == (model, T + 7000, "no more")
    assert report.key.path == ("acme/work/large" if model else "acme/work")


def test_names_with_slashes_do_not_run_into_one_another():
    names = [
        ("a/b", "c", ""),
        ("a", "b/c", ""),
        ("a", "b", "c"),
        ("a", "", "b/c"),
        ("a", "b%2Fc", ""),
    ]
    keys = [
        quota.Key(vendor=vendor, account=account, model=model) for vendor, account, model in names
    ]
    assert len({key.path for key in keys}) == len(names)


FACTS = st.one_of(
    st.builds(
        hit,
        st.sampled_from(sorted(LIMITS)),
        run=st.sampled_from(["R1", "R2", "R3"]),
        model=st.sampled_from(["", "large"]),
        resets=st.none() | st.integers(-10, 5000),
        after=st.none() | st.floats(0, 5000),
    ),
    st.builds(
        probed, run=st.sampled_from(["R1", "R2", "R3"]), lane=st.sampled_from(["api", "docs"])
    ),
    st.builds(lifted),
    st.builds(ended, st.sampled_from(["R1", "R2", "R3"]), st.sampled_from(list(Ending))),
)
HISTORIES = st.lists(st.tuples(st.integers(0, 3000), FACTS), max_size=20).map(
    lambda told: sorted(told, key=lambda row: row[0])
)


@given(HISTORIES, st.integers(0, 20))
def test_folding_in_two_parts_is_folding_at_once(history, cut):
    teller = Teller()
    for second, fact in history:
        limited = isinstance(fact, LimitHit | LimitProbed | LimitLifted)
        teller.tell(streams.limit(limit_key(fact)) if limited else "run/R", fact, T + second * 1000)
    first = fold.fold(ProviderLimits(), teller.happened[:cut])
    kept = fold.decode(ProviderLimits, fold.encode(first))
    assert fold.fold(kept, teller.happened[cut:]) == fold.fold(ProviderLimits(), teller.happened)


@given(HISTORIES, st.integers(0, 6000), st.sampled_from(["api", "docs", "web"]))
def test_a_standing_limit_lets_nobody_in_but_the_one_that_goes_first(history, second, lane):
    limits = folded(*history)
    standing = [
        limit for limit in limits.values() if limit.ending and limit.key.model in ("", "large")
    ]
    room = ask(limits, second, lane=lane)
    assert not (standing and isinstance(room, Open))
    if any(limit.ending in PERSONAL for limit in standing):
        assert isinstance(room, Gated)
        assert room.until_ms is None
    if isinstance(room, Gated) and room.until_ms is not None:
        assert room.until_ms > T + second * 1000


@given(st.lists(st.booleans(), min_size=2, max_size=12))
def test_of_many_who_ask_after_the_reset_exactly_one_goes_first(look_again):
    store = Store(MemoryBackend())
    store.record(streams.limit(KEY), hit())
    policy = Quota(backoff_seconds=(0.0,))
    early = fold.current(store, ProviderLimits)[0].limits
    won = 0
    for number, again in enumerate(look_again):
        seen = fold.current(store, ProviderLimits)[0].limits if again else early
        lane, now_ms = f"L{number}", store.now_ms()
        agent = AgentCandidate(name="agent", vendor="acme", account="work")
        room = quota.availability(seen, agent, lane=lane, now_ms=now_ms, policy=policy)
        if isinstance(room, Probe):
            try:
                store.record(
                    streams.limit(room.key),
                    probed(run=f"R{number}", lane=lane),
                    expect=room.version,
                )
            except Conflict:
                continue
            won += 1
    assert won == 1


def test_a_limit_of_a_vendor_that_no_agent_uses_is_nobodys_matter():
    limits = folded((0, hit(Ending.AUTH)), (0, LimitHit(vendor="gone", account="", ending="auth")))
    assert [each.key.vendor for each in quota.limits_met_by(limits, AGENTS)] == ["acme"]


@pytest.mark.parametrize(
    ("vendor", "ending", "said"),
    [
        ("anthropic", Ending.AUTH, "claude is not logged in"),
        ("openai", Ending.AUTH, "codex is not logged in"),
        ("google", Ending.AUTH, "gemini is not logged in"),
        ("opencode", Ending.AUTH, "opencode is not logged in"),
        ("acme", Ending.AUTH, "acme is not logged in"),
        ("openai", Ending.SPEND_STOP, "openai has no credit left"),
    ],
)
def test_what_only_a_person_can_clear_is_named(vendor, ending, said):
    assert quota.describe(quota.Limit(key=quota.Key(vendor=vendor), ending=ending)) == said
