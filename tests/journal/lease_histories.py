"""Random histories of leases, made by a real store under a clock that only the test moves."""

from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from dos.errors import Fenced
from dos.journal import streams
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.fleet import SpawnIntended
from dos.journal.events.lanes import LeaseRefused
from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Lease, Refusal, Request
from dos.regions import Mode, region

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
START_MS = 1_700_000_000_000
LANES = ("api", "docs", "worker")


class FakeClock:
    def __init__(self, now_ms: int = START_MS) -> None:
        self.now_ms = now_ms
        self.wall_error_ms = 0
        self.started = "boot-1"

    def wall_ms(self) -> int:
        return self.now_ms + self.wall_error_ms

    def lease_ms(self) -> int:
        return self.now_ms - START_MS + 1_000_000

    def boot(self) -> str:
        return self.started

    def advance(self, milliseconds: int) -> None:
        self.now_ms += milliseconds


def memory_store(clock: FakeClock | None = None) -> Store:
    return Store(MemoryBackend(clock=clock or FakeClock()), actor="test")


def request(lane: str = "api", holder: str = "A", **changes: Any) -> Request:
    given: dict[str, Any] = {
        "host": "h1",
        "ttl_ms": 120_000,
        "region": region([f"{lane}/**"]),
        "loop_ts": f"t-{holder}",
    }
    return Request(lane=lane, holder=holder, **given | changes)


def lock(name: str = "archive", holder: str = "A") -> Request:
    return request(name, holder, region=region([]), is_lock=True)


def admit(asked: Request, live: Any) -> Refusal | None:
    return admission.judge(asked, live)


def granted(store: Store, asked: Request) -> Lease:
    lease = store.acquire(asked, admit)
    assert isinstance(lease, Lease), lease
    return lease


class Step(Struct, frozen=True):
    """One thing that happens: what, to which lane or lease, and how long after the one before."""

    what: str
    place: int
    wait_ms: int
    wall_error_ms: int = 0


WHATS = (
    "acquire", "acquire", "acquire with a run", "share", "lock", "renew", "renew", "release",
    "revoke", "adopt", "adopt with a run", "refuse", "reboot", "other", "keyed refusal",
)  # fmt: skip

_step = st.builds(
    Step,
    st.sampled_from(WHATS),
    st.integers(0, 5),
    st.sampled_from((0, 1000, 60_000, 150_000, HOUR_MS, 13 * HOUR_MS, 3 * DAY_MS)),
    st.sampled_from((0, 0, 0, 0, -2 * DAY_MS, 40 * DAY_MS)),
)
steps = st.lists(_step, max_size=40)
many_steps = st.lists(_step, min_size=10, max_size=40)


def play(store: Store, clock: FakeClock, history: list[Step]) -> None:
    for number, step in enumerate(history):
        clock.advance(step.wait_ms)
        clock.wall_error_ms = step.wall_error_ms
        _take(store, clock, step, number)
    clock.wall_error_ms = 0


def _take(store: Store, clock: FakeClock, step: Step, number: int) -> None:
    lane = LANES[step.place % len(LANES)]
    leases = store.leases() + store.leases(locks=True)
    lease = leases[step.place % len(leases)] if leases else None
    with_run = f"run-{number}" if step.what.endswith("with a run") else ""
    match step.what, lease:
        case (("acquire" | "acquire with a run"), _):
            if with_run:
                store.record(
                    streams.spawn(lane), SpawnIntended(lane=lane, run_id=with_run, host="h1")
                )
            store.acquire(request(lane, f"H{number}", run_id=with_run), admit)
        case "share", _:
            store.acquire(request(lane, f"H{number}", mode=Mode.SHARED), admit)
        case "lock", _:
            store.acquire(lock("archive", f"H{number}"), admit)
        case "reboot", _:
            clock.started = f"boot-{number}"
        case (("refuse" | "keyed refusal"), _):
            fact = LeaseRefused(
                lane=lane, holder=f"H{number}", reason_class="LANE_HELD", reason="held"
            )
            store.record(
                streams.lease(lane),
                fact,
                key=f"try-{number}" if step.what.startswith("keyed") else None,
            )
        case "renew", Lease():
            store.renew([lease.fence])
        case "release", Lease():
            try:
                store.release(lease.fence, "done")
            except Fenced:
                assert lease.boot != clock.boot()
        case "revoke", Lease():
            store.revoke(lease.fence, version=lease.version, reason="stalled")
        case (("adopt" | "adopt with a run"), Lease()):
            lease_request = request(
                lease.lane,
                f"H{number}",
                region=lease.region,
                mode=lease.mode,
                is_lock=lease.is_lock,
            )
            if with_run:
                lease_request = request(
                    lease.lane, f"H{number}", region=lease.region, mode=lease.mode, run_id=with_run
                )
            if not (with_run and lease.is_lock):
                store.adopt(lease.fence, lease_request, version=lease.version)
        case "other", _:
            try:
                store.append(
                    streams.run(lane),
                    "of_tomorrow",
                    {"number": number},
                    fence=lease.fence if lease else None,
                )
            except Fenced:
                assert (lease and lease.boot != clock.boot()) or _written_under_newer(
                    store, lane, lease
                )


def _written_under_newer(store: Store, lane: str, lease: Lease | None) -> bool:
    return any(
        event.fence and lease and event.fence > lease.fence
        for event in store.load(streams.run(lane))
    )
