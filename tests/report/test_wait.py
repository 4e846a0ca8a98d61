"""Waiting for news: nothing is missed, nothing is told twice, and nobody waits for ever."""

import threading
import time

import pytest
from commanding import in_process

from dos.journal import streams
from dos.journal.backends.open import open_store
from dos.journal.events.fleet import UnitLanded
from dos.journal.events.limits import Choice, DecisionRaised
from dos.lease import Lease, Request
from dos.regions import region
from dos.report.io.wait import PAGE, wait_for_news
from dos.report.news import Until, Verdict


@pytest.fixture
def store(tmp_path):
    with open_store("", state_directory=tmp_path, workspace_id="") as store:
        yield store


def land(store, unit="DEMO/A1"):
    fact = UnitLanded(run_id="R", lane="one", unit=unit, branch="main", base="0", commit="1")
    return store.record(streams.unit(unit), fact)


def ask(store, name="q1"):
    fact = DecisionRaised(id=name, about="x", question="What now?", choices=[Choice(name="retry")])
    return store.record(streams.decision(name), fact)


def lease(store, lane="one"):
    request = Request(
        lane=lane, holder="w", host="h", ttl_ms=600_000, region=region([f"{lane}/**"])
    )
    granted = store.acquire(request, lambda _request, _held: None)
    assert isinstance(granted, Lease)
    return granted


def test_what_happened_after_the_position_is_told_at_once(store):
    first = land(store)
    second = land(store, "DEMO/A2")
    waited = wait_for_news(store, Until.LANDED, after=first.pos)
    assert waited.verdict is Verdict.LANDED
    assert [entry.unit for entry in waited.landed] == ["DEMO/A2"]
    assert waited.position == second.pos


def test_without_a_position_only_what_happens_from_now_on_counts(store):
    land(store)
    assert wait_for_news(store, Until.LANDED, seconds=0.1).verdict is Verdict.TIMEOUT


def test_a_wait_ends_with_an_event_that_another_thread_commits(store, tmp_path):
    def later():
        time.sleep(0.2)
        with open_store("", state_directory=tmp_path, workspace_id="") as other:
            ask(other)

    thread = threading.Thread(target=later)
    thread.start()
    waited = wait_for_news(store, Until.ANY, seconds=50)
    thread.join()
    assert (waited.verdict, waited.reason) == (Verdict.QUESTION, "What now?")
    assert waited.questions[0].choices == ("retry",)
    assert waited.waited_seconds < 40


def test_other_news_does_not_end_the_wait(store):
    start = store.last()
    land(store)
    waited = wait_for_news(store, Until.QUESTION, after=start, seconds=0.1)
    assert waited.verdict is Verdict.TIMEOUT


def test_idle_is_that_no_lane_is_leased(store):
    held = lease(store)
    assert wait_for_news(store, Until.IDLE, seconds=0.1).verdict is Verdict.TIMEOUT
    store.release(held.fence)
    assert wait_for_news(store, Until.IDLE, seconds=5).verdict is Verdict.IDLE


def test_a_fleet_that_was_idle_before_is_no_news_for_any(store):
    assert wait_for_news(store, Until.ANY, seconds=0.1).verdict is Verdict.TIMEOUT
    start = store.last()
    store.release(lease(store).fence)
    assert wait_for_news(store, Until.ANY, after=start, seconds=5).verdict is Verdict.IDLE


def test_a_chain_of_waits_tells_everything_once(store):
    """Whatever the size of the pages."""
    wanted = [land(store, f"DEMO/U{number}").pos for number in range(PAGE + 20)]
    told = []
    position = 0
    while (waited := wait_for_news(store, Until.ANY, after=position, seconds=0)).landed:
        told += [entry.position for entry in waited.landed]
        position = waited.position
    assert told == wanted


def test_the_verb_answers_with_the_position_of_the_next_wait(repository):
    from dos.world import World, open_journal

    with World(repository.root) as world, open_journal(world.workspace, "") as journal:
        event = land(journal)
    answer = in_process("wait", "--after", "0", "--json", "--workspace", str(repository.root))
    assert answer.code == 0
    assert answer.json["verdict"] == "LANDED"
    assert answer.json["position"] == event.pos
    late = in_process("wait", "--seconds", "0", "--workspace", str(repository.root))
    assert late.code == 1
    assert in_process("wait", "--seconds", "51").code == 2
