"""Taking, keeping and giving back lanes from the command line."""

import fcntl
import os
import subprocess
import sys
import threading

import pytest
from commanding import command
from msgspec import json
from patience import PATIENCE

from dos.verbs.context import Context


def records(dos, op):
    return [
        line
        for line in dos("journal", "export", "--shape", "lane-journal").lines
        if line["op"] == op
    ]


def seq(dos):
    return int(dos("journal", "seq").out)


@pytest.fixture
def held(dos):
    """Lane api is A's."""
    return dos("lease-lane", "acquire", "--lane", "api", "--kind", "cluster", "--owner", "A").json


@pytest.fixture
def child():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


def test_a_free_lane_is_granted_and_journaled(dos, workspace):
    answer = dos("lease-lane", "acquire", "--lane", "api", "--kind", "cluster", "--owner", "A")
    assert answer.code == 0
    granted = answer.json
    assert (
        granted["outcome"] == "acquire"
        and granted["lane"] == "api"
        and granted["tree"] == ["api/**"]
    )
    assert granted["journaled"] is True and granted["owner"] == "A" and granted["fence"] == 1
    assert granted["expires_in_seconds"] == 50 * 60
    [lease] = dos("lease-lane", "live").json
    assert lease["holder"] == "A" and lease["fence"] == 1 and lease["lapsed"] is False
    assert 0 < lease["expires_in_seconds"] <= 50 * 60


def test_live_has_the_released_keys_and_ours(dos, held):
    [lease] = dos("lease-lane", "live").json
    released = {
        "lane",
        "lane_kind",
        "tree",
        "loop_ts",
        "holder",
        "host_id",
        "pid",
        "acquired_at",
        "heartbeat_at",
    }
    assert released | {"ttl_minutes", "fence", "expires_in_seconds", "lapsed"} <= lease.keys()
    assert lease["pid"] is None, "the command's own pid is dead before anybody reads it"


@pytest.mark.parametrize("kind", ["keyword", "cluster", ""])
def test_a_held_lane_is_refused_and_one_refusal_is_recorded(dos, held, kind):
    answer = dos("lease-lane", "acquire", "--lane", "api", "--kind", kind, "--owner", "B")
    assert answer.code == 1
    assert (
        answer.json["outcome"] == "refuse"
        and answer.json["lane"] == ""
        and answer.json["journaled"] is False
    )
    assert answer.json["reason_class"] == "LANE_HELD"
    [refusal] = records(dos, "REFUSE")
    assert (
        refusal["lane"] == "api"
        and refusal["holder"] == "B"
        and refusal["reason_class"] == "LANE_HELD"
    )


def test_a_refusal_says_that_it_was_written_down_and_that_no_lease_was(dos, held, workspace):
    answer = dos("lease-lane", "acquire", "--lane", "api", "--owner", "B").json
    assert (answer["journaled"], answer["refusal_journaled"]) == (False, True)
    assert (
        "refusal_journaled"
        not in dos("lease-lane", "acquire", "--lane", "docs", "--owner", "B").json
    )


@pytest.mark.parametrize(
    "words",
    [
        ("lease-lane", "acquire", "--owner", "B", "--lane", "api"),
        ("lease-lane", "acquire", "--owner", "B", "--lane", "global"),
        ("lease-lane", "wait", "--lane", "api", "--timeout", "0"),
        ("arbitrate", "--lane", "api", "--exact"),
    ],
    ids=" ".join,
)
def test_where_a_dead_process_is_in_the_way_reaping_is_advised(dos, child, words):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--pid", str(child.pid))
    alive = dos(*words)
    assert alive.code == 1 and "reap" not in alive.err and "hint" not in alive.json
    child.kill()
    child.wait()
    dead = dos(*words, "--explain")
    assert dead.code == 1 and "`dos lease-lane reap`" in dead.err and "'A'" in dead.err
    assert (
        "`dos lease-lane reap`" in dead.json["hint"]
        and "`dos lease-lane reap`" in dead.json["interpretation"]
    )
    dos("lease-lane", "reap")
    assert dos(*words).code == 0


def test_polling_a_held_lane_does_not_grow_the_journal(dos, held):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "B")
    before = seq(dos)
    for _ in range(5):
        assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "B").code == 1
    assert seq(dos) == before
    dos(
        "lease-lane", "acquire", "--lane", "docs", "--owner", "C"
    )  # another lease is no other obstacle
    before = seq(dos)
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "B").code == 1
    assert seq(dos) == before


def test_another_obstacle_is_another_refusal(dos, held):
    for _ in range(2):
        dos("lease-lane", "acquire", "--lane", "api", "--owner", "B")
    dos("lease-lane", "release", "--lane", "api", "--owner", "A")
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "C")
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "B")
    assert [record["holder"] for record in records(dos, "REFUSE")] == ["B", "B"]


def test_any_takes_another_lane_and_says_so(dos, held):
    answer = dos("lease-lane", "acquire", "--lane", "api", "--owner", "B", "--any")
    assert answer.code == 0
    assert (answer.json["lane"], answer.json["requested_lane"], answer.json["substituted"]) == (
        "docs",
        "api",
        True,
    )
    assert {lease["lane"] for lease in dos("lease-lane", "live").json} == {"api", "docs"}


def test_a_request_without_a_lane_takes_the_first_that_is_free(dos, held):
    assert dos("lease-lane", "acquire", "--owner", "B").json["lane"] == "docs"


def test_an_alias_leads_to_its_lane(dos, workspace):
    assert dos("lease-lane", "acquire", "--lane", "Backend", "--owner", "A").json["lane"] == "api"
    assert dos("lease-lane", "heartbeat", "--lane", "backend", "--owner", "A").code == 0
    assert dos("lease-lane", "release", "--lane", "API", "--owner", "A").code == 0


def test_an_exclusive_lane_is_journaled_as_exclusive_and_blocks_everything(dos, workspace):
    assert (
        dos("lease-lane", "acquire", "--lane", "global", "--owner", "G").json["lane_kind"]
        == "global"
    )
    assert dos("lease-lane", "live").json[0]["exclusive"] is True
    answer = dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    assert answer.code == 1 and answer.json["reason_class"] == "LANE_EXCLUSIVE"


def test_an_exclusive_lane_is_refused_beside_any_other(dos, held):
    answer = dos("lease-lane", "acquire", "--lane", "global", "--owner", "G")
    assert (answer.code, answer.json["lane"], answer.json["journaled"]) == (1, "", False)


def test_a_lane_of_the_callers_own_needs_a_tree_and_may_not_overlap(dos, held):
    words = ("lease-lane", "acquire", "--lane", "hot", "--kind", "keyword", "--owner", "B")
    assert dos(*words).code == 2
    assert dos(*words, "--tree", "api/x.py").code == 1
    assert dos(*words, "--tree", "lib/**", "etc/**").code == 0
    assert (
        dos(
            "lease-lane",
            "acquire",
            "--lane",
            "hot",
            "--kind",
            "keyword",
            "--owner",
            "C",
            "--tree",
            "q/**",
        ).code
        == 1
    )


def test_readers_share_a_lane_and_a_writer_waits_for_them(dos, workspace):
    share = ("lease-lane", "acquire", "--lane", "api", "--mode", "shared", "--owner")
    assert [dos(*share, owner).code for owner in "AB"] == [0, 0]
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "W").code == 1
    assert {lease["mode"] for lease in dos("lease-lane", "live").json} == {"SHARED"}


def test_class_budgets_hold_for_leases_too(dos, workspace, held):
    config = workspace / "dos.toml"
    config.write_text(
        config.read_text() + '\n[[concurrency_class]]\nname = "cluster"\nmax_concurrent = 1\n'
    )
    answer = dos("lease-lane", "acquire", "--lane", "docs", "--owner", "B")
    assert answer.code == 1 and answer.json["reason_class"] == "CLASS_BUDGET_EXHAUSTED"


def test_protected_paths_are_nobodys(dos, workspace):
    config = workspace / "dos.toml"
    config.write_text(config.read_text() + '\n[protect]\nglobs = ["api/secret/**"]\n')
    answer = dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--any")
    assert answer.code == 1 and answer.json["reason_class"] == "SELF_MODIFY"


def test_leases_of_another_place_count_beside_the_journals(dos, workspace):
    elsewhere = '[{"lane": "api", "tree": ["api/**"]}]'
    words = ("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    assert dos(*words, "--leases", elsewhere).code == 1
    assert dos(*words, "--leases", "[]").code == 0


def test_a_run_id_is_stored_and_defaults_to_the_launchers(dos, workspace, monkeypatch):
    run_id = dos("run-id", "mint", "dispatch").json["run_id"]
    granted = dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", run_id).json
    assert granted["run_id"] == run_id
    monkeypatch.setenv("DISPATCH_RUN_ID", "RID-000000001000002")
    assert (
        dos("lease-lane", "acquire", "--lane", "docs", "--owner", "B").json["run_id"]
        == "RID-000000001000002"
    )
    monkeypatch.setenv("CID_RUN_ID", "RID-000000001000003")
    assert (
        dos("lease-lane", "acquire", "--lane", "worker", "--owner", "C").json["run_id"]
        == "RID-000000001000003"
    )
    assert [lease["run_id"][-1] for lease in dos("lease-lane", "live").json][1:] == ["2", "3"]
    monkeypatch.setenv("CID_RUN_ID", "../../escape")
    answer = dos("lease-lane", "acquire", "--owner", "D")
    assert answer.code == 2 and "CID_RUN_ID" in answer.err


def test_the_host_can_be_named(dos, workspace, monkeypatch):
    monkeypatch.setenv("DISPATCH_HOST_ID", "build-7")
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    assert dos("lease-lane", "live").json[0]["host_id"] == "build-7"


def test_a_beat_of_the_owner_counts(dos, held):
    before = seq(dos)
    answer = dos("lease-lane", "heartbeat", "--lane", "api", "--owner", "A")
    assert (answer.code, answer.json) == (0, {"beat": True, "lane": "api", "owner": "A"})
    assert seq(dos) == before + 1
    assert len(records(dos, "HEARTBEAT")) == 1


@pytest.mark.parametrize("verb", ["heartbeat", "release"])
@pytest.mark.parametrize(
    "who",
    [
        ("--lane", "api", "--owner", "B"),
        ("--lane", "api", "--owner", "a"),
        ("--lane", "docs", "--owner", "A"),
        ("--lane", "api", "--owner", "A", "--loop-ts", "another"),
        ("--lane", "api", "--owner", "A", "--fence", "99"),
        ("--fence", "99"),
    ],
    ids=" ".join,
)
def test_only_the_exact_holder_can_renew_or_release(dos, held, verb, who):
    before = seq(dos)
    answer = dos("lease-lane", verb, *who)
    assert answer.code == 1
    assert answer.json["beat" if verb == "heartbeat" else "released"] is False
    assert seq(dos) == before
    assert len(dos("lease-lane", "live").json) == 1


@pytest.mark.parametrize("verb", ["heartbeat", "release"])
@pytest.mark.parametrize(
    "who",
    [(), ("--lane", "api"), ("--owner", "A"), ("--lane", "api", "--owner", "")],
    ids=lambda who: " ".join(who),
)
def test_who_does_not_say_who_they_are_is_nobody(dos, held, verb, who):
    assert dos("lease-lane", verb, *who).code == 2
    assert len(dos("lease-lane", "live").json) == 1


def test_the_loop_stamp_and_the_fence_find_a_lease(dos, workspace):
    fence = dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--loop-ts", "t1").json[
        "fence"
    ]
    assert (
        dos("lease-lane", "heartbeat", "--lane", "api", "--owner", "A", "--loop-ts", "t1").code == 0
    )
    assert dos("lease-lane", "heartbeat", "--fence", str(fence)).json == {
        "beat": True,
        "lane": "api",
        "owner": "A",
    }
    assert dos("lease-lane", "release", "--fence", str(fence)).code == 0


def test_a_beat_soon_after_another_writes_nothing(dos, held):
    before = seq(dos)
    assert (
        dos(
            "lease-lane", "heartbeat", "--lane", "api", "--owner", "A", "--coalesce-within-s", "60"
        ).code
        == 0
    )
    assert seq(dos) == before


def test_coalescing_never_lets_a_lease_run_out(dos, workspace):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--ttl-minutes", "0.0001")
    dos("lease-lane", "wait", "--lane", "api")
    before = seq(dos)
    assert (
        dos(
            "lease-lane",
            "heartbeat",
            "--lane",
            "api",
            "--owner",
            "A",
            "--coalesce-within-s",
            "3600",
        ).code
        == 0
    )
    assert seq(dos) == before + 1


def test_a_lease_is_released_once_and_does_not_come_back(dos, held):
    assert dos("lease-lane", "release", "--lane", "api", "--owner", "A").json == {
        "released": True, "lane": "api", "owner": "A"
    }  # fmt: skip
    assert dos("lease-lane", "release", "--lane", "api", "--owner", "A").code == 1
    assert dos("lease-lane", "heartbeat", "--lane", "api", "--owner", "A").code == 1
    assert dos("lease-lane", "live").json == []


def test_a_spawn_grants_nothing(dos, workspace):
    answer = dos("lease-lane", "spawn", "--lane", "api", "--owner", "A", "--loop-ts", "t1")
    assert (answer.code, answer.json) == (
        0,
        {"recorded": True, "lane": "api", "loop_ts": "t1", "holder": "A"},
    )
    assert dos("lease-lane", "live").json == []
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--loop-ts", "t1")
    assert len(dos("lease-lane", "live").json) == 1
    [event] = dos("journal", "tail", "--stream", "spawn/api").lines
    assert event["kind"] == "spawn_intended" and event["body"]["holder"] == "A"


def test_a_spawn_without_an_owner_names_the_host(dos, workspace, monkeypatch):
    monkeypatch.setenv("DISPATCH_HOST_ID", "build-7")
    assert dos("lease-lane", "spawn", "--lane", "api").json["holder"] == f"build-7:{os.getppid()}"


@pytest.mark.parametrize(
    "words",
    [
        ("--owner", "A", "--leases", "x"),
        ("--owner", "A", "--leases", "{}"),
        ("--owner", "A", "--leases", ""),
        ("--owner", "A", "--leases", "[7]"),
        (),
        ("--owner", ""),
        ("--owner", "A", "--lane", "nosuch"),
        ("--owner", "A", "--lane", "nosuch", "--any"),
        ("--owner", "A", "--retries", "-1"),
        ("--owner", "A", "--retry-interval", "nan"),
        ("--owner", "A", "--retry-interval", "4e18"),
        ("--owner", "A", "--ttl-minutes", "0"),
        ("--owner", "A", "--ttl-minutes", "1e12"),
        ("--owner", "A", "--pid", "0"),
        ("--owner", "A", "--pid", "99999999999999"),
        ("--owner", "A", "--mode", "greedy"),
        ("--owner", "A", "--run-id", "../../x"),
        ("--owner", "A", "--lane", "hot", "--kind", "keyword", "--tree", "../out/**"),
    ],
    ids=" ".join,
)
def test_bad_input_is_an_error_that_changes_nothing(dos, workspace, words):
    answer = dos("lease-lane", "acquire", *words)
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert seq(dos) == 0


@pytest.fixture
def impatient(monkeypatch):
    """Nobody waits half a minute for a lock in a test."""
    monkeypatch.setattr(Context, "busy_seconds", 0.05)


@pytest.fixture
def locked(dos, held, state, impatient):
    """Another writer is inside, and stays there."""
    gate = os.open(state / "state.db-gate", os.O_RDWR)
    fcntl.flock(gate, fcntl.LOCK_EX)
    yield gate
    os.close(gate)


@pytest.mark.parametrize(
    "words",
    [
        ("acquire", "--lane", "docs", "--owner", "B", "--retries", "1", "--retry-interval", "0.01"),
        ("heartbeat", "--lane", "api", "--owner", "A"),
        ("release", "--lane", "api", "--owner", "A"),
        ("adopt", "--lane", "api", "--owner", "B"),
        ("spawn", "--lane", "api"),
    ],
    ids=lambda words: words[0],
)
def test_a_journal_that_stays_locked_is_said_in_json_with_its_own_code(dos, locked, words):
    answer = dos("lease-lane", *words)
    assert answer.code == 4
    assert json.decode(answer.err)["outcome"] == "lock-busy"
    assert answer.out == ""


def test_a_refusal_needs_no_lock(dos, locked):
    answer = dos("lease-lane", "acquire", "--lane", "api", "--owner", "B")
    assert answer.code == 1 and "could not be recorded" in answer.err
    assert answer.json["refusal_journaled"] is False


def test_a_lock_that_is_let_go_in_time_is_waited_for(dos, locked):
    timer = threading.Timer(0.2, fcntl.flock, (locked, fcntl.LOCK_UN))
    timer.start()
    assert (
        dos("lease-lane", "acquire", "--lane", "docs", "--owner", "B", "--retries", "100").code == 0
    )
    timer.join()


def test_adopting_gives_a_new_fence_and_locks_the_old_owner_out(dos, held, child):
    answer = dos("lease-lane", "adopt", "--lane", "api", "--owner", "N", "--pid", str(child.pid))
    assert answer.code == 0
    assert answer.json["previous_fence"] == held["fence"] < answer.json["fence"]
    assert dos("lease-lane", "heartbeat", "--lane", "api", "--owner", "A").code == 1
    [lease] = dos("lease-lane", "live").json
    assert (lease["holder"], lease["pid"], lease["tree"]) == ("N", child.pid, ["api/**"])


def test_there_is_nothing_to_adopt_on_a_free_lane(dos, held):
    answer = dos("lease-lane", "adopt", "--lane", "docs", "--owner", "N")
    assert (answer.code, answer.json["adopted"]) == (1, False)


def test_a_lease_whose_process_is_gone_is_reaped(dos, workspace, child):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--pid", str(child.pid))
    dos("lease-lane", "acquire", "--lane", "docs", "--owner", "B")
    assert dos("lease-lane", "reap").json["reaped"] == []
    child.kill()
    child.wait()
    before = seq(dos)
    would = dos("lease-lane", "reap", "--dry-run").json
    assert [row["lane"] for row in would["reaped"]] == ["api"] and seq(dos) == before
    assert dos("lease-lane", "reap", "--lane", "docs").json["reaped"] == []
    answer = dos("lease-lane", "reap").json
    assert [(row["lane"], row["owner"]) for row in answer["reaped"]] == [("api", "A")]
    assert str(child.pid) in answer["reaped"][0]["why"]
    assert [lease["lane"] for lease in dos("lease-lane", "live").json] == ["docs"]


def test_another_hosts_process_is_never_called_dead(dos, workspace, child, monkeypatch):
    with monkeypatch.context() as there:
        there.setenv("DISPATCH_HOST_ID", "elsewhere")
        dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--pid", str(child.pid))
    child.kill()
    child.wait()
    assert dos("lease-lane", "reap").json["reaped"] == []


def test_a_lapsed_lease_is_reaped_and_stands_in_nobodys_way_before(dos, workspace):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--ttl-minutes", "0.0001")
    assert dos("lease-lane", "wait", "--lane", "api", "--timeout", "20").json["free"] is True
    assert dos("lease-lane", "live").json[0]["lapsed"] is True
    assert dos("lease-lane", "live").json[0]["expires_in_seconds"] == 0
    [row] = dos("lease-lane", "reap").json["reaped"]
    assert "expired" in row["why"]
    assert dos("lease-lane", "live").json == []


def test_after_a_restart_of_the_machine_every_lease_is_void(dos, held, monkeypatch):
    monkeypatch.setattr("dos.times._boot_id", lambda: "another start")
    assert dos("lease-lane", "heartbeat", "--lane", "api", "--owner", "A").code == 1
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "B").code == 0


def test_reaping_says_that_the_machine_restarted(dos, held, monkeypatch):
    monkeypatch.setattr("dos.times._boot_id", lambda: "another start")
    assert "restarted" in dos("lease-lane", "reap").json["reaped"][0]["why"]


def test_waiting_ends_when_the_lane_is_released(dos, held):
    words = command("lease-lane", "release", "--lane", "api", "--owner", "A")
    release = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    answer = dos("lease-lane", "wait", "--lane", "api", "--timeout", "60")
    assert release.wait(PATIENCE) == 0
    assert (answer.code, answer.json["free"]) == (0, True)


def test_who_only_waited_is_not_told_that_anything_was_granted(dos, workspace):
    reason = dos("lease-lane", "wait", "--lane", "api").json["reason"]
    assert "grant" not in reason and "is free" in reason and "no lease was taken" in reason


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--lane", "api", "--timeout", "0"), 1),
        (("--lane", "api", "--timeout", "0.05"), 1),
        (("--lane", "global", "--timeout", "0"), 1),
        (("--lane", "docs", "--timeout", "0"), 0),
        (("--lane", "nosuch"), 2),
        (("--lane", "api", "--timeout", "-1"), 2),
    ],
)
def test_waiting_gives_up_in_time(dos, held, words, code):
    assert dos("lease-lane", "wait", *words).code == code


def test_waiting_for_what_time_cannot_change_ends_at_once(dos, workspace):
    config = workspace / "dos.toml"
    config.write_text(config.read_text() + '\n[protect]\nglobs = ["api/**"]\n')
    answer = dos("lease-lane", "wait", "--lane", "api")
    assert answer.code == 1 and "SELF_MODIFY" in answer.json["reason"]


@pytest.mark.parametrize(
    "words",
    [
        ("acquire", "--owner", "A"),
        ("adopt", "--lane", "api", "--owner", "A"),
        ("spawn", "--lane", "api"),
        ("wait", "--lane", "api"),
        ("reap",),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("flags", [(), ("--lenient",)], ids=["strict", "lenient"])
def test_nobody_is_admitted_by_a_configuration_that_has_errors(dos, workspace, words, flags):
    (workspace / "dos.toml").write_text("[lanes]\nconcurent = ['api']\n")
    answer = dos("lease-lane", *words, *flags)
    assert answer.code == 2 and answer.err.startswith("error: ") and "dos.toml:2" in answer.err
