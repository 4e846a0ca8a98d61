"""`dos status` as text: who works, who waits, who died, and what a person has to do."""

import os

import pytest
from fleet_scenes import RUN, hold, journal, work

from dos.journal import streams
from dos.journal.events import fleet as events
from dos.journal.events import limits
from dos.lease import Lease, Request
from dos.machine import process
from dos.regions import region

NO_SUCH_PROCESS = 2**22 + 1
PLAN = "# P\n\n## P U1: one\n- lane: api\n\n## P U2: two\n- lane: api\n"
WHO = {"run_id": RUN, "lane": "api"}


@pytest.fixture
def store(workspace, state):
    (workspace / "docs" / "p-plan.md").write_text(PLAN)
    with journal(state) as store:
        yield store


def unit_line(shown: str, unit: str) -> str:
    [line] = [line for line in shown.splitlines() if f" {unit} " in line and "h:" not in line]
    return line


def park(store, why="quota", until_ms=None):
    fact = limits.RunParked(**WHO, why=why, detail="acme is limited", until_ms=until_ms)
    store.record(streams.run(RUN), fact)


def begin(store):
    hold(store, "api", RUN)
    store.record(streams.run(RUN), events.RunBegun(**WHO, host="h", start_sha=""))


def test_a_worker_that_waits_for_a_limit_does_not_work(dos, store):
    begin(store)
    assert "1 working, 0 of 2 units landed" in dos("status").out
    park(store)
    shown = dos("status").out
    assert "0 working, 1 waiting, 0 of 2 units landed" in shown
    assert "provider limit: acme is limited" in shown.partition("waiting:\n")[2].splitlines()[0]
    assert "provider limit: acme is limited" in unit_line(shown, "P/U1")
    assert "at work" not in shown and "busy" not in shown


def test_a_worker_that_waits_with_its_unit_keeps_the_lane_busy(dos, store):
    work(store)
    park(store)
    shown = dos("status").out
    assert "0 working, 1 waiting" in shown
    assert "lane busy: its worker works on P/U1" in unit_line(shown, "P/U2")


@pytest.mark.parametrize(("lane", "command"), [("api", "dos resume api"), ("", "dos resume")])
def test_a_pause_is_shown_while_its_worker_works_and_while_it_waits(dos, store, lane, command):
    work(store)
    store.record(streams.FLEET, limits.PauseRequested(lane=lane, by="ann", reason="disk full"))
    what = "lane api" if lane else "the fleet"
    line = f"{what} is paused (by ann: disk full); `{command}` ends the pause\n"
    shown = dos("status").out
    assert line in shown and "1 working" in shown and "(pauses after this unit)" in shown
    park(store, "pause")
    shown = dos("status").out
    assert line in shown and "0 working, 1 waiting" in shown
    assert f"paused: by ann: disk full; {command}\n" in shown


def test_a_parked_lane_that_is_paused_too_is_paused_on_every_surface(dos, store):
    begin(store)
    park(store, until_ms=store.now_ms() + 600_000)
    store.record(streams.FLEET, limits.PauseRequested(lane="api", by="ann"))
    text = "paused: by ann; dos resume api; 1 more reason: provider limit until"
    assert text in unit_line(dos("status").out, "P/U1")
    [api] = [row for row in dos("top", "--json").json["rows"] if row["lane"] == "api"]
    assert (api["state"], api["waits_for"]) == ("paused", "by ann")


def die(store) -> Lease:
    """A worker claims a unit, and its process is gone."""
    me = process.identify(os.getpid())
    request = Request(
        lane="api", holder="h:1", host=process.host(), system=process.system(), ttl_ms=600_000,
        region=region(["api/**"]), run_id=RUN, pid=NO_SUCH_PROCESS,
        pid_started=me.started,
    )  # fmt: skip
    store.record(streams.spawn("api"), events.SpawnIntended(lane="api", run_id=RUN, host="h"))
    lease = store.acquire(request, lambda *_: None)
    assert isinstance(lease, Lease)
    store.record(streams.run(RUN), events.RunBegun(**WHO, host="h", start_sha=""))
    store.record(streams.run(RUN), events.UnitClaimed(**WHO, unit="P/U1", iteration=1))
    return lease


def test_no_surface_says_that_a_dead_worker_works(dos, store):
    lease = die(store)
    shown = dos("status").out
    assert "0 working, 1 exited" in shown
    assert unit_line(shown, "P/U1").startswith("  exited ")
    assert [row["state"] for row in dos("status", "--json").json["units"]] == ["open", "open"]
    assert "0 in progress" in dos("plan").out
    top = dos("top", "--once").out
    assert "1 dead" in top and "silent" not in top
    assert dos("top", "--json").json["rows"][0]["state"] == "silent"
    store.revoke(lease.fence, version=lease.version, reason="its process is gone")
    shown = dos("status").out
    assert "0 working, 0 of 2" in shown and "  open " in unit_line(shown, "P/U1")
    assert "1 worker died without recording a stop; `dos logs api`" in shown


def test_a_stop_needs_a_person_only_while_a_decision_is_open(dos, store):
    begin(store)
    fact = events.RunStopped(**WHO, stop_reason="thrashing", needs="operator", reason="so")
    store.record(streams.run(RUN), fact)
    [lease] = store.leases()
    store.release(lease.fence)
    assert "so; needs you" in dos("status").out
    [asked] = [row for row in dos("decisions", "--json").json if row["choices"]]
    assert dos("decide-for", asked["id"], "leave").code == 0
    assert not dos("decisions", "--json").json
    assert "needs you" not in dos("status").out


def test_without_a_workspace_the_screens_say_how_to_make_one(dos, tmp_path, monkeypatch):
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    missing = f"no dos.toml in {empty}; `dos init` creates one\n"
    assert dos("status").out == missing
    assert dos("report").out == missing
    assert dos("top", "--once").out.startswith(missing)


def test_without_dos_toml_the_units_are_shown_too(dos, store, workspace):
    (workspace / "dos.toml").unlink()
    shown = dos("status").out
    assert shown.startswith(f"no dos.toml in {workspace}; `dos init` creates one\n")
    assert "0 of 2 units landed" in shown
