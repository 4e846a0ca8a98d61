"""Pruning removes what is superseded and nothing else: no state, no version and no fence may show
that it happened."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lease_histories import (
    DAY_MS,
    HOUR_MS,
    FakeClock,
    granted,
    many_steps,
    memory_store,
    play,
    request,
    steps,
)

from dos.errors import BadInput
from dos.fleet.state.fleet import FleetState
from dos.journal import fold, streams
from dos.journal import prune as retention
from dos.journal.check import check
from dos.journal.events.doors import ToolCalled, VerdictGiven
from dos.journal.events.fleet import SpawnIntended
from dos.journal.events.lanes import LeaseGranted, LeaseRefused, LeaseReleased, LeaseRenewed
from dos.journal.events.runs import CommandChecked
from dos.journal.lease_state import Leases
from dos.journal.prune import Records, prune, superseded
from dos.journal.store import Store
from dos.lease import Lease

STATES = (Leases, FleetState)


def kinds(store: Store) -> list[str]:
    return [event.kind for event in store.events() if event.stream != streams.PRUNINGS]


def folded(store: Store) -> list[fold.State]:
    return [fold.fold(kind(), store.events()) for kind in STATES]


# The law


@settings(deadline=None, max_examples=150)
@given(
    history=many_steps,
    later=steps,
    snapshot_at=st.integers(0, 60),
    idle_ms=st.sampled_from((0, HOUR_MS, 2 * DAY_MS, 9 * DAY_MS)),
    older_than_ms=st.sampled_from((0, DAY_MS, 5 * DAY_MS)),
    batch=st.sampled_from((1, 2, 5000)),
)
def test_pruning_changes_no_fold_and_everything_goes_on(
    history, later, snapshot_at, idle_ms, older_than_ms, batch
):
    clock = FakeClock()
    store = memory_store(clock)
    play(store, clock, history)
    start = list(store.events())[:snapshot_at]
    for kind in STATES:
        if start:
            fold.save_snapshot(store, fold.fold(kind(), start), start[-1].pos)
    clock.advance(idle_ms)
    before, last, heads = folded(store), store.last(), _heads(store)
    young = [event for event in store.events() if event.at_ms > clock.wall_ms() - DAY_MS]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(retention, "BATCH", batch)
        pruned = prune(store, older_than_ms=older_than_ms, now_ms=clock.wall_ms())

    assert folded(store) == before
    assert [fold.current(store, kind)[0] for kind in STATES] == before
    assert _heads(store).items() >= heads.items()
    assert [event for event in store.events() if event in young] == young
    assert check(store).problems == []
    assert prune(store, older_than_ms=older_than_ms, now_ms=clock.wall_ms()).removed == 0
    assert pruned.kept + pruned.removed == pruned.examined

    for lane in ("api", "docs", "worker"):
        event = store.append(streams.lease(lane), "anything", {})
        assert event.ver == heads.get(streams.lease(lane), 0) + 1
        assert event.pos > last
    play(store, clock, later)
    assert check(store).problems == []


@pytest.mark.soak
@settings(deadline=None, max_examples=150)
@given(
    history=many_steps,
    stop_after=st.integers(1, 10),
    idle_ms=st.sampled_from((0, 2 * DAY_MS, 9 * DAY_MS)),
)
def test_a_pruning_that_is_cut_off_anywhere_changes_no_fold(history, stop_after, idle_ms):
    clock = FakeClock()
    store = memory_store(clock)
    play(store, clock, history)
    clock.advance(idle_ms)
    before = folded(store)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(retention, "BATCH", 1)
        patched.setattr(retention, "_remove", _failing_after(stop_after))
        try:
            prune(store, older_than_ms=0, now_ms=clock.wall_ms())
        except KeyboardInterrupt:
            pass
    assert folded(store) == before
    assert check(store).problems == []
    prune(store, older_than_ms=0, now_ms=clock.wall_ms())
    assert folded(store) == before
    assert check(store).problems == []


def _failing_after(calls):
    remove, left = retention._remove, [calls]

    def removing(*given):
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        remove(*given)

    return removing


# What goes and what stays


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(clock) -> Store:
    return memory_store(clock)


def pruned_kinds(store, clock, *, idle_ms=2 * DAY_MS, **options):
    clock.advance(idle_ms)
    prune(store, **{"older_than_ms": 0, "now_ms": clock.wall_ms()} | options)
    return kinds(store)


def test_a_lease_that_has_ended_goes_as_a_whole(store, clock):
    lease = granted(store, request())
    store.renew([lease.fence])
    store.release(lease.fence)
    granted(store, request(holder="B"))
    assert pruned_kinds(store, clock) == [LeaseGranted.kind]


def test_the_last_lease_of_a_stream_stays_because_the_next_version_follows_it(store, clock):
    lease = granted(store, request())
    store.renew([lease.fence])
    store.release(lease.fence)
    assert pruned_kinds(store, clock) == [LeaseGranted.kind, LeaseReleased.kind]


def test_of_a_live_lease_only_the_newest_renewal_stays(store, clock):
    lease = granted(store, request())
    for _ in range(4):
        clock.advance(30_000)
        store.renew([lease.fence])
    store.append(streams.lease("api"), "anything", {})
    newest = store.leases()[0].version
    assert pruned_kinds(store, clock) == [LeaseGranted.kind, LeaseRenewed.kind, "anything"]
    assert newest in [event.ver for event in store.load(streams.lease("api"))]


def test_of_an_adopted_lease_the_new_holder_stays(store, clock):
    first = granted(store, request(holder="A"))
    second = store.adopt(first.fence, request(holder="B"), version=first.version)
    third = store.adopt(second.fence, request(holder="C"), version=second.version)
    assert pruned_kinds(store, clock) == ["lease_adopted"]
    assert fold.current(store, Leases)[0].live == {third.fence: third}


def test_the_lease_of_a_run_stays_and_its_renewals_go(store, clock):
    store.record("spawn/api", SpawnIntended(lane="api", run_id="r1", host="h1"))
    lease = granted(store, request(run_id="r1"))
    store.renew([lease.fence])
    store.release(lease.fence)
    granted(store, request(holder="B"))
    assert pruned_kinds(store, clock) == [
        "spawn_intended",
        "lease_granted",
        "lease_released",
        "lease_granted",
    ]


def test_refusals_go(store, clock):
    for _ in range(3):
        store.record(
            streams.lease("api"),
            LeaseRefused(lane="api", holder="A", reason_class="LANE_HELD", reason="held"),
        )
    assert len(pruned_kinds(store, clock)) == 1


def test_other_kinds_stay(store, clock):
    for number in range(5):
        store.append("run/1", "step", {"number": number})
    assert pruned_kinds(store, clock, idle_ms=900 * DAY_MS) == ["step"] * 5


@pytest.mark.parametrize(("idle_ms", "left"), [(DAY_MS - 1, 3), (DAY_MS, 1)])
def test_nothing_younger_than_a_day_goes_whatever_was_asked(store, clock, idle_ms, left):
    first = granted(store, request())
    store.release(first.fence)
    granted(store, request(holder="B"))
    assert len(pruned_kinds(store, clock, idle_ms=idle_ms, older_than_ms=0)) == left


@pytest.mark.parametrize(("idle_days", "left"), [(6, 2), (7, 1)])
def test_what_carries_a_key_stays_for_a_week_of_retries(store, clock, idle_days, left):
    fact = LeaseRefused(lane="api", holder="A", reason_class="LANE_HELD", reason="held")
    first = store.record(streams.lease("api"), fact, key="try-1")
    store.record(streams.lease("api"), fact)
    assert len(pruned_kinds(store, clock, idle_ms=idle_days * DAY_MS)) == left
    if left == 2:
        assert store.record(streams.lease("api"), fact, key="try-1") == first


def test_what_was_written_under_a_fence_stays_because_the_fence_guards_its_stream(store, clock):
    lease = granted(store, request())
    fact = LeaseRefused(lane="docs", holder="A", reason_class="LANE_HELD", reason="held")
    store.record("notes", fact, fence=lease.fence)
    store.record("notes", fact)
    assert pruned_kinds(store, clock).count(LeaseRefused.kind) == 2


def test_a_stamp_from_the_future_does_not_stop_pruning_for_ever(store, clock):
    clock.wall_error_ms = 900 * DAY_MS
    store.append("run/1", "step", {})
    clock.wall_error_ms = 0
    lease = granted(store, request())
    store.release(lease.fence)
    granted(store, request(holder="B"))
    assert pruned_kinds(store, clock) == ["step", LeaseGranted.kind]


def test_a_grant_from_the_future_keeps_its_ending(store, clock):
    clock.wall_error_ms = 900 * DAY_MS
    lease = granted(store, request())
    clock.wall_error_ms = 0
    store.release(lease.fence)
    taken = granted(store, request(holder="B"))
    assert pruned_kinds(store, clock) == [LeaseGranted.kind, LeaseReleased.kind, LeaseGranted.kind]
    assert fold.current(store, Leases)[0].live == {taken.fence: taken}


def test_a_crowded_journal_is_pruned_down_to_a_day(store, clock):
    for holder in "ABC":
        store.release(granted(store, request(holder=holder)).fence)
    month = {"older_than_ms": 30 * DAY_MS}
    assert len(pruned_kinds(store, clock, **month, max_entries=6)) == 6
    assert len(pruned_kinds(store, clock, **month, max_entries=5)) == 2


def test_a_negative_age_is_refused(store, clock):
    with pytest.raises(BadInput, match="negative"):
        prune(store, older_than_ms=-1, now_ms=clock.wall_ms())


def test_the_rule_can_be_asked_without_a_store(store, clock):
    first = granted(store, request())
    store.release(first.fence)
    granted(store, request(holder="B"))
    found = superseded(list(store.events()), older_than_ms=0, now_ms=clock.wall_ms() + 2 * DAY_MS)
    assert [event.kind for event in found] == [LeaseGranted.kind, LeaseReleased.kind]


def test_a_lease_is_still_its_holders_after_pruning(store, clock):
    lease = granted(store, request())
    for _ in range(3):
        store.renew([lease.fence])
    clock.advance(2 * DAY_MS)
    prune(store, older_than_ms=0, now_ms=clock.wall_ms())
    assert [kept.fence for kept in store.renew([lease.fence]).kept] == [lease.fence]
    assert isinstance(store.leases()[0], Lease)


def _heads(store: Store) -> dict[str, int]:
    return {event.stream: event.ver for event in store.events()}


# Results of checks


def checked(tree: str, moment: str) -> CommandChecked:
    return CommandChecked(
        host="here", command="make test", tree=tree, commit="c" * 40, setup="", environment="",
        sandbox="none", passed=True, detail="", exit_code=0, output_digest=moment, started=moment,
        ended=moment,
    )  # fmt: skip


def test_old_results_of_checks_go_and_recent_ones_stay():
    clock = FakeClock()
    store = memory_store(clock)
    for tree in ("old", "checked again"):
        store.record(streams.check(tree), checked(tree, "first"), key=f"{tree} first")
    clock.advance(10 * DAY_MS)
    for tree in ("checked again", "recent"):
        store.record(streams.check(tree), checked(tree, "second"), key=f"{tree} second")
    found = prune(store, older_than_ms=DAY_MS, now_ms=clock.wall_ms())
    assert found.removed == 2
    left = [event.stream for event in store.events() if event.kind == CommandChecked.kind]
    assert left == [streams.check("checked again"), streams.check("recent")]
    assert check(store).problems == []
    # The same tree may be checked again.
    event = store.record(streams.check("old"), checked("old", "third"), key="third")
    assert event.ver == 1 and check(store).problems == []


def test_a_result_stays_while_its_writer_may_try_again():
    clock = FakeClock()
    store = memory_store(clock)
    store.record(streams.check("tree"), checked("tree", "first"), key="first")
    clock.advance(3 * DAY_MS)
    assert prune(store, older_than_ms=DAY_MS, now_ms=clock.wall_ms()).removed == 0


def test_of_verdicts_and_hook_events_the_newest_stay(store, clock):
    for number in range(6):
        store.record(streams.VERDICTS, VerdictGiven(syscall="verify", verdict=str(number)))
        store.record("session/s", ToolCalled(session="s", tool="Bash", args_digest=str(number)))
    records = Records(verdicts=2, hook_events=3)
    kept = Counter(pruned_kinds(store, clock, records=records))
    assert kept == {"verdict_given": 2, "tool_called": 3}


def test_verdicts_and_hook_events_of_today_stay_and_without_a_limit_all_of_them(store, clock):
    for number in range(6):
        store.record(streams.VERDICTS, VerdictGiven(syscall="verify", verdict=str(number)))
    none = Records(verdicts=0, hook_events=0)
    assert len(pruned_kinds(store, clock, idle_ms=DAY_MS // 2, records=none)) == 6
    assert len(pruned_kinds(store, clock, records=Records())) == 6
    assert Counter(pruned_kinds(store, clock, records=none))["verdict_given"] == 1
