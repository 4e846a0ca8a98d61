"""What every store promises about leases: memory, SQLite and PostgreSQL answer alike.

After each test the lease table is compared with what the events say.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from store_kinds import Memory, Sqlite, admit, asking, grant, locking, reading, refuse, written

from dos.errors import Conflict, Fenced, Internal
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events.lanes import LeaseExpired
from dos.journal.store import Store
from dos.lease import Lease, Refusal, RefusalReason
from dos.regions import Mode, region


def lease_or_refusal(store: Store, asked) -> RefusalReason | None:
    answer = store.acquire(asked, admit)
    return answer.reason if isinstance(answer, Refusal) else None


# Who may be beside whom


@pytest.mark.parametrize(
    ("held", "asked", "answer"),
    [
        (asking("api"), asking("api", "B"), RefusalReason.LANE_HELD),
        (asking("api"), asking("API", "B"), RefusalReason.LANE_HELD),
        (asking("api"), asking("api", "B", globs=["elsewhere/**"]), RefusalReason.LANE_HELD),
        (asking("api"), asking("docs", "B"), None),
        (
            asking("a", globs=["src/**"]),
            asking("b", "B", globs=["src/api/**"]),
            RefusalReason.REGION_OVERLAP,
        ),
        (
            asking("a", globs=["src/api/**"]),
            asking("b", "B", globs=["src/**"]),
            RefusalReason.REGION_OVERLAP,
        ),
        (asking("a", globs=["src/api/**"]), asking("b", "B", globs=["src/apis/**"]), None),
        (
            asking("a", globs=["src/API/**"]),
            asking("b", "B", globs=["SRC/api/x"]),
            RefusalReason.REGION_OVERLAP,
        ),
        (
            asking("a", globs=["docs/**", "x"]),
            asking("b", "B", globs=["y", "docs/a"]),
            RefusalReason.REGION_OVERLAP,
        ),
        (
            asking("a", globs=["src/é/**"]),
            asking("b", "B", globs=["src/e/**", "src/ê/**", "src/🦊/**"]),
            None,
        ),
        (asking("a"), asking("b", "B", globs=["**/*"]), RefusalReason.REGION_OVERLAP),
        (asking("a"), asking("b", "B", globs=[]), RefusalReason.REGION_UNKNOWN),
        (asking("a"), asking("b", "B", exclusive=True), RefusalReason.LANE_EXCLUSIVE),
        (asking("a", exclusive=True), asking("b", "B"), RefusalReason.LANE_EXCLUSIVE),
        (asking("a", exclusive=True), reading("b", "B"), RefusalReason.LANE_EXCLUSIVE),
        (reading("api"), reading("api", "B"), None),
        (reading("a", globs=["src/**"]), reading("b", "B", globs=["src/api/**"]), None),
        (reading("api"), asking("api", "B"), RefusalReason.LANE_HELD),
        (
            reading("a", globs=["src/**"]),
            asking("b", "B", globs=["src/api/**"]),
            RefusalReason.REGION_OVERLAP,
        ),
        (
            asking("a", globs=["src/**"]),
            reading("b", "B", globs=["src/api/**"]),
            RefusalReason.REGION_OVERLAP,
        ),
        (locking("archive"), locking("archive", "B"), RefusalReason.LANE_HELD),
        (locking("archive"), locking("other", "B"), None),
        (locking("api"), asking("api", "B"), None),
        (locking("archive"), asking("api", "B", exclusive=True), None),
        (asking("api", exclusive=True), locking("api", "B"), None),
    ],
)
def test_a_second_lease_is_granted_or_refused(store, held, asked, answer):
    first = grant(store, held)
    before = written(store)
    assert lease_or_refusal(store, asked) == answer
    if answer:
        assert written(store) == before, "a refusal writes nothing"
        store.release(first.fence)
        assert lease_or_refusal(store, asked) == (
            answer if answer is RefusalReason.REGION_UNKNOWN else None
        )


def test_a_class_may_hold_as_many_lanes_as_its_budget(store):
    budgets = {"cluster": 2}
    first = grant(store, asking("a"), budgets)
    grant(store, asking("b"), budgets)
    assert refuse(store, asking("c"), budgets).reason is RefusalReason.CLASS_BUDGET_EXHAUSTED
    grant(store, asking("d", kind="other"), budgets)
    store.release(first.fence)
    grant(store, asking("c"), budgets)


def test_a_lapsed_lease_that_could_come_back_counts_in_the_budget_or_is_ended(kind, store):
    budgets = {"cluster": 2}
    grant(store, asking("a"), budgets)
    lapsed = grant(store, asking("b", ttl_ms=kind.brief_ms), budgets)
    kind.pass_time(lapsed)
    grant(store, asking("c"), budgets)
    assert store.renew([lapsed.fence]).lost == [lapsed.fence]
    assert len(store.leases()) == 2


def test_a_grant_says_what_was_asked_and_its_fence_is_its_position(store):
    store.append("a", "k", {})
    request = asking(
        "API",
        "B",
        globs=["src/Api/**"],
        run_id="r1",
        pid=7,
        pid_started=1.5,
        start_sha="abc",
        loop_ts="t",
    )
    lease = store.acquire(request, admit, requested_lane="any")
    assert isinstance(lease, Lease)
    event = store.load(streams.lease("API"))[-1]
    assert (lease.fence, lease.version, lease.granted_ms) == (event.pos, event.ver, event.at_ms)
    assert (lease.lane, lease.holder, lease.region) == ("API", "B", region(["src/Api/**"]))
    assert event.body["requested_lane"] == "any"
    assert store.leases() == [lease]


def test_fences_only_grow(store):
    fences = []
    for lane in ("a", "b", "a", "c", "b"):
        lease = grant(store, asking(lane))
        store.append("between", "k", {})
        store.release(lease.fence)
        fences.append(lease.fence)
    assert fences == sorted(set(fences))


def test_locks_are_listed_apart_from_lanes(store):
    lane, lock = grant(store, asking()), grant(store, locking())
    assert (store.leases(), store.leases(locks=True)) == ([lane], [lock])


def test_of_many_who_ask_for_one_lane_one_gets_it(kind):
    def attempt(name: int) -> bool:
        with kind.open(f"{name}") as own:
            return isinstance(own.acquire(asking(holder=f"{name}"), admit), Lease)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


# Writing under one


def test_a_holder_writes_under_its_fence(store):
    lease = grant(store, asking())
    event = store.append("run", "k", {}, fence=lease.fence)
    assert event.fence == lease.fence == store.load("run")[0].fence


def adopted(store: Store, lease: Lease) -> None:
    store.adopt(lease.fence, asking(lease.lane, "new", ttl_ms=lease.ttl_ms), version=lease.version)


ENDINGS: dict[str, Callable[[Store, Lease], object]] = {
    "released": lambda store, lease: store.release(lease.fence),
    "revoked": lambda store, lease: store.revoke(
        lease.fence, version=lease.version, reason="stalled"
    ),
    "adopted": adopted,
    "expired": lambda store, lease: grant(store, asking(lease.lane, "B")),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_write_under_a_lease_that_is_gone_is_fenced_and_writes_nothing(kind, store, ending):
    lease = grant(store, asking(ttl_ms=kind.brief_ms))
    if ending == "expired":
        kind.pass_time(lease)
    ENDINGS[ending](store, lease)
    before = written(store)
    with pytest.raises(Fenced, match=f"fence {lease.fence} is gone"):
        store.append("run", "k", {}, fence=lease.fence)
    with pytest.raises(Fenced):
        store.append_all(
            [
                Entry(stream="a", kind="k", body={}),
                Entry(stream="b", kind="k", body={}, fence=lease.fence),
            ]
        )
    with pytest.raises(Fenced):
        store.release(lease.fence)
    assert store.renew([lease.fence]).lost == [lease.fence]
    assert written(store) == before


@pytest.mark.parametrize("fence", [0, 1, 10**15])
def test_a_write_under_a_fence_that_was_never_granted_is_fenced(store, fence):
    store.append("a", "k", {})
    with pytest.raises(Fenced):
        store.append("a", "k", {}, fence=fence)


def test_a_fence_older_than_the_newest_on_the_stream_is_fenced(store):
    older, newer = grant(store, asking("a")), grant(store, asking("b"))
    store.append("shared", "k", {}, fence=older.fence)
    store.append("shared", "k", {}, fence=newer.fence)
    with pytest.raises(Fenced, match="newer fence"):
        store.append("shared", "k", {}, fence=older.fence)
    with pytest.raises(Fenced, match="newer fence"):
        store.append_all(
            [Entry(stream="x", kind="k", body={}, fence=lease.fence) for lease in (newer, older)]
        )
    store.append("other", "k", {}, fence=older.fence)
    assert store.load("x") == []


def test_a_repeated_key_is_answered_also_after_the_lease_is_gone(store):
    lease = grant(store, asking())
    event = store.append("run", "k", {}, key="step", fence=lease.fence)
    store.release(lease.fence)
    assert store.append("run", "k", {}, key="step", fence=lease.fence) == event


def test_a_write_under_a_lapsed_lease_that_nobody_took_is_accepted(kind, store):
    lease = grant(store, asking(ttl_ms=kind.brief_ms))
    kind.pass_time(lease)
    assert store.append("run", "k", {}, fence=lease.fence).fence == lease.fence


# Time


def test_a_lapsed_lease_stays_listed_and_says_that_it_lapsed(kind, store):
    lease = grant(store, asking(ttl_ms=kind.brief_ms))
    other = grant(store, asking("docs"))
    assert not store.lapsed(lease)
    kind.pass_time(lease)
    assert store.lapsed(lease)
    assert store.leases() == [lease, other]
    assert store.leases(lapsed=False) == [other]


def test_a_lapsed_lease_that_nobody_took_is_renewed(kind, store):
    lease = grant(store, asking(ttl_ms=kind.brief_ms))
    kind.pass_time(lease)
    renewal = store.renew([lease.fence])
    assert renewal.lost == []
    [kept] = renewal.kept
    assert (kept.fence, kept.version) == (lease.fence, lease.version + 1)
    assert kept.expires_ms > lease.expires_ms
    assert store.leases() == [kept]


def test_a_lapsed_lease_is_taken_over_under_a_greater_fence_and_lost_to_its_holder(kind, store):
    lease = grant(store, asking(ttl_ms=kind.brief_ms))
    assert refuse(store, asking(holder="B")).blocked_by == lease.fence
    kind.pass_time(lease)
    taken = grant(store, asking(holder="B"))
    assert taken.fence > lease.fence
    renewal = store.renew([lease.fence, taken.fence])
    assert (renewal.lost, [kept.fence for kept in renewal.kept]) == ([lease.fence], [taken.fence])
    assert [event.kind for event in store.load(streams.lease("api"))] == [
        "lease_granted", "lease_expired", "lease_granted", "lease_renewed",
    ]  # fmt: skip


def test_taking_a_lane_ends_only_the_lapsed_leases_in_its_way(kind, store):
    brief = {"ttl_ms": kind.brief_ms}
    inside, beside = grant(store, asking("src/api", **brief)), grant(store, asking("docs", **brief))
    lock, above = grant(store, locking(**brief)), grant(store, asking("src/web", **brief))
    kind.pass_time(above)
    taken = grant(store, asking("src"))
    assert [lease.fence for lease in store.leases()] == [beside.fence, taken.fence]
    assert [lease.fence for lease in store.leases(locks=True)] == [lock.fence]
    ended = {event.body["lease"] for event in store.events() if event.kind == LeaseExpired.kind}
    assert ended == {inside.fence, above.fence}
    assert store.renew([beside.fence]).kept


def test_renewing_keeps_a_lease_alive(kind, store):
    lease = grant(store, asking(ttl_ms=kind.brief_ms))
    [kept] = store.renew([lease.fence]).kept
    assert kept.expires_ms >= lease.expires_ms
    assert kept.version == lease.version + 1 == store.load(streams.lease("api"))[-1].ver


def test_many_leases_are_renewed_in_one_transaction(store):
    fences = [grant(store, asking(f"lane-{number}")).fence for number in range(5)]
    store.release(fences[2])
    renewal = store.renew([*fences, 10**9])
    assert [lease.fence for lease in renewal.kept] == [fences[0], fences[1], fences[3], fences[4]]
    assert renewal.lost == [fences[2], 10**9]
    assert store.renew([]).kept == []


def test_a_renewal_soon_after_another_writes_nothing(store):
    lease = grant(store, asking())
    before = store.last()
    assert store.renew([lease.fence], coalesce_ms=300_000).kept == [lease]
    assert store.last() == before
    assert store.renew([lease.fence, 10**9], coalesce_ms=300_000).lost == [10**9]


def test_a_lapsed_lease_is_never_taken_for_fresh(kind, store):
    lease = grant(store, asking(ttl_ms=kind.brief_ms))
    kind.pass_time(lease)
    [kept] = store.renew([lease.fence], coalesce_ms=10 * kind.brief_ms).kept
    assert kept.version > lease.version


@pytest.mark.parametrize("make", [Memory, None], ids=["memory", "sqlite"])
def test_a_restart_of_the_machine_voids_every_lease(make, tmp_path):
    kind = make() if make else Sqlite(tmp_path)
    with kind.open() as store:
        lease = grant(store, asking())
        kind.clock.started = "another start"
        assert store.lapsed(lease)
        assert store.renew([lease.fence]).lost == [lease.fence]
        assert store.renew([lease.fence], coalesce_ms=10**9).lost == [lease.fence]
        with pytest.raises(Fenced):
            store.append("run", "k", {}, fence=lease.fence)
        assert grant(store, asking(holder="B")).fence > lease.fence


# Taken from outside


def test_a_revocation_is_refused_when_the_holder_has_beaten_since(store):
    lease = grant(store, asking())
    store.renew([lease.fence])
    with pytest.raises(Conflict, match="its holder is alive"):
        store.revoke(lease.fence, version=lease.version, reason="stalled")
    with pytest.raises(Conflict, match="its holder is alive"):
        store.adopt(lease.fence, asking(holder="B"), version=lease.version)
    [kept] = store.leases()
    store.revoke(kept.fence, version=kept.version, reason="stalled")
    with pytest.raises(Conflict, match="no lease with fence"):
        store.revoke(kept.fence, version=kept.version, reason="stalled")
    assert store.load(streams.lease("api"))[-1].body == {"lease": lease.fence, "reason": "stalled"}


def test_an_adopted_lease_has_a_new_fence_and_locks_the_old_holder_out(store):
    old = grant(store, asking(globs=["src/**", "docs/**"]))
    new = store.adopt(
        old.fence, asking(holder="B", globs=["src/**", "docs/**"]), version=old.version
    )
    assert new.fence > old.fence and new.holder == "B"
    assert store.leases() == [new]
    assert store.append("run", "k", {}, fence=new.fence)
    assert refuse(store, asking("other", globs=["docs/x"])).blocked_by == new.fence


@pytest.mark.parametrize(
    "changes",
    [
        {"lane": "docs"},
        {"region": region(["elsewhere/**"])},
        {"mode": Mode.SHARED},
        {"exclusive": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_lease_cannot_be_adopted_for_something_else(store, changes):
    lease = grant(store, asking())
    with pytest.raises(Internal, match="adopt"):
        store.adopt(lease.fence, asking(**{"holder": "B", **changes}), version=lease.version)
    assert store.leases() == [lease]


def test_a_failing_rule_changes_nothing_and_the_store_goes_on(store):
    def broken(asked, live):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.acquire(asking(), broken)
    calls = iter([None])
    with pytest.raises(StopIteration):
        store.acquire(asking(), lambda asked, live: next(calls))
    assert written(store) == []
    grant(store, asking())
