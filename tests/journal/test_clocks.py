"""Wall clocks that are wrong, machines that sleep and machines that restart: what they do to
leases, and what not."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lease_histories import FakeClock
from patience import PATIENCE
from store_kinds import Kind, Sqlite, asking, grant, refuse

from dos.errors import Fenced
from dos.journal.backends.open import open_store
from dos.journal.check import check
from dos.journal.events import lanes
from dos.journal.store import Store

SKEWED = Path(__file__).with_name("skewed.py")
HOUR_SECONDS = 3600
BRIEF_MS = 600


@contextmanager
def contender(
    kind: Kind, skew_seconds: int, mode: str, rule: str = "own"
) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, str(SKEWED), str(skew_seconds), rule, *kind.arguments(), mode]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def asked(process: subprocess.Popen[str]) -> str:
    """Its answer to a line."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def opened(kind: Kind) -> Store:
    """On the machine's own clock, as the processes have it."""
    url, directory, workspace = kind.arguments()
    return open_store(url, state_directory=Path(directory), workspace_id=workspace, actor="test")


def kinds(store: Store) -> set[str]:
    return {event.kind for event in store.events()}


def contended(kind: Kind, rule: str, seconds: float) -> list[list[int]]:
    """Count the grants, refusals and thefts of a clock an hour ahead and of one an hour behind."""
    opened(kind).close()
    mode = f"contend {seconds}"
    with (
        contender(kind, HOUR_SECONDS, mode, rule) as ahead,
        contender(kind, -HOUR_SECONDS, mode, rule) as behind,
    ):
        contenders = (ahead, behind)
        for process in contenders:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in contenders:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return [
            [int(word) for word in process.communicate(timeout=PATIENCE)[0].split()]
            for process in contenders
        ]


@pytest.mark.soak
def test_two_wrong_wall_clocks_race_for_a_lane_and_nobody_is_robbed(kept: Kind) -> None:
    counts = contended(kept, "own", 2)
    assert all(granted > 5 and refused > 0 and lost == 0 for granted, refused, lost in counts), (
        counts
    )
    with opened(kept) as store:
        assert lanes.LeaseExpired.kind not in kinds(store)
        assert check(store).problems == []


@pytest.mark.soak
def test_a_store_whose_leases_follow_the_wall_clock_is_caught(tmp_path: Path) -> None:
    kind = Sqlite(tmp_path)
    counts = contended(kind, "wall", 1)
    with opened(kind) as store:
        robbed = sum(lost for _, _, lost in counts)
        assert robbed > 0 and lanes.LeaseExpired.kind in kinds(store)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "skew", [HOUR_SECONDS, -HOUR_SECONDS], ids=["holder ahead", "holder behind"]
)
def test_a_dead_holder_keeps_its_lane_for_its_time_and_no_longer(kept: Kind, skew: int) -> None:
    with contender(kept, skew, f"hold {BRIEF_MS}") as holder:
        before = time.monotonic()
        said, fence = asked(holder).split()
        holder.kill()
        assert said == "granted"
        with contender(kept, -skew, "take") as taker:
            assert taker.stdout is not None
            said, newer = taker.stdout.readline().split()
            assert time.monotonic() - before >= BRIEF_MS / 1000
    assert said == "granted" and int(newer) > int(fence)


# A process that stands still while time goes on, as on a machine that sleeps


@contextmanager
def sleeper(kind: Kind, store: Store) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A holder that is stopped, and the fence of its lease, which has run out."""
    with contender(kind, 0, f"hold {BRIEF_MS}") as holder:
        fence = int(asked(holder).split()[1])
        holder.send_signal(signal.SIGSTOP)
        lease = next(lease for lease in store.leases() if lease.fence == fence)
        while not store.lapsed(lease):
            time.sleep(0.01)
        yield holder, fence


def test_a_holder_that_slept_past_its_lease_goes_on_if_nobody_took_it(kept: Kind) -> None:
    with opened(kept) as store, sleeper(kept, store) as (holder, fence):
        holder.send_signal(signal.SIGCONT)
        assert asked(holder) == "kept"
        assert [lease.fence for lease in store.leases()] == [fence] and check(store).problems == []


def test_a_holder_that_slept_while_another_took_its_lane_is_locked_out_for_good(kept: Kind) -> None:
    with opened(kept) as store, sleeper(kept, store) as (holder, fence):
        taken = grant(store, asking())
        holder.send_signal(signal.SIGCONT)
        assert [asked(holder), asked(holder)] == ["lost", "lost"]
        store.release(taken.fence)
        assert asked(holder) == "lost", "also when the lane is free again"
        assert taken.fence > fence and check(store).problems == []


# The same to the millisecond, and a machine that restarts


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def embedded(tmp_path: Path, clock: FakeClock) -> Iterator[Store]:
    with Sqlite(tmp_path, clock).open() as store:
        yield store
        assert check(store).problems == []


@pytest.mark.parametrize(
    ("slept_ms", "lapsed"), [(999, False), (1000, True), (30 * 24 * HOUR_SECONDS * 1000, True)]
)
def test_a_lease_can_be_taken_from_its_last_millisecond_on(
    embedded: Store, clock: FakeClock, slept_ms: int, lapsed: bool
) -> None:
    lease = grant(embedded, asking(ttl_ms=1000))
    clock.advance(slept_ms)
    if not lapsed:
        assert refuse(embedded, asking(holder="B")).blocked_by == lease.fence
        return
    assert grant(embedded, asking(holder="B")).fence > lease.fence
    assert embedded.renew([lease.fence]).lost == [lease.fence]
    for refused in (
        lambda: embedded.release(lease.fence),
        lambda: embedded.append("w", "k", {}, fence=lease.fence),
    ):
        with pytest.raises(Fenced):
            refused()


@pytest.mark.parametrize("slept_ms", [1000, 30 * 24 * HOUR_SECONDS * 1000])
def test_a_lease_that_ran_out_and_was_not_taken_is_renewed_for_its_whole_time(
    embedded: Store, clock: FakeClock, slept_ms: int
) -> None:
    lease = grant(embedded, asking(ttl_ms=1000))
    clock.advance(slept_ms)
    (kept,) = embedded.renew([lease.fence]).kept
    assert (kept.fence, kept.expires_ms - clock.lease_ms()) == (lease.fence, 1000)
    assert embedded.append("work/api", "written", {}, fence=lease.fence).fence == lease.fence
    clock.advance(999)
    assert refuse(embedded, asking(holder="B")).blocked_by == lease.fence


@pytest.mark.parametrize(
    "step_ms", [-10 * 365 * 24 * HOUR_SECONDS * 1000, 10 * 365 * 24 * HOUR_SECONDS * 1000]
)
def test_a_step_of_the_wall_clock_moves_no_lease(
    embedded: Store, clock: FakeClock, step_ms: int
) -> None:
    lease = grant(embedded, asking(ttl_ms=1000))
    clock.wall_error_ms = step_ms
    assert refuse(embedded, asking(holder="B")).blocked_by == lease.fence
    clock.advance(1000)
    assert grant(embedded, asking(holder="B")).fence > lease.fence


def test_a_restart_voids_a_lease_whatever_the_new_clock_says(
    embedded: Store, clock: FakeClock
) -> None:
    """The clock of a machine that has just started is far behind the end of a lease from before."""
    clock.advance(30 * 24 * HOUR_SECONDS * 1000)
    lease = grant(embedded, asking())
    clock.started, clock.now_ms = "boot-2", 1_700_000_000_000
    assert clock.lease_ms() < lease.expires_ms - lease.ttl_ms
    assert embedded.lapsed(lease) and embedded.leases(lapsed=False) == []
    assert embedded.renew([lease.fence]).lost == [lease.fence]
    with pytest.raises(Fenced):
        embedded.append("work/api", "written", {}, fence=lease.fence)
    newer = grant(embedded, asking(holder="B"))
    assert newer.fence > lease.fence and newer.boot == "boot-2"
    assert lanes.LeaseExpired.kind in kinds(embedded), "what was voided is written down"
