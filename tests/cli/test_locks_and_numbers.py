"""The archive lock, numbers that are given out once, and run identities."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from commanding import command, in_its_own_process
from patience import PATIENCE

from dos import run_ids
from dos.journal.backends.open import open_store


def test_the_archive_lock_says_what_released_versions_said(dos, workspace):
    assert dos("lease", "status").out == "free\n"
    assert dos("lease", "acquire", "X").out == "acquired X\n"
    assert dos("lease", "acquire", "X").out.startswith("re-entrant X prev-acquired-at=20")
    assert dos("lease", "status").out.startswith("held X age=")
    busy = dos("lease", "acquire", "Y", "--retries", "0")
    assert busy.code == 1 and busy.out == "" and busy.err.startswith("busy X age=")
    left = dos("lease", "release", "Y")
    assert left.code == 0 and left.out == "" and "X" in left.err
    assert dos("lease", "status").out.startswith("held X")
    assert dos("lease", "release", "Y", "--force").out == "force-released (was: X)\n"
    assert dos("lease", "release", "Y").out == "released (no-lock)\n"
    assert dos("lease", "acquire", "Y").out == "acquired Y\n"
    assert dos("lease", "release", "Y").out == "released Y\n"
    assert dos("lease", "status").out == "free\n"


def test_a_lock_whose_time_is_over_is_taken_and_that_is_said(dos, workspace):
    dos("lease", "acquire", "X", "--ttl-seconds", "0.001")
    taken = dos("lease", "acquire", "Y", "--retries", "100", "--retry-interval", "0.1")
    assert taken.code == 0 and taken.out == "stole-stale X age=0s\n"
    assert dos("lease", "acquire", "X", "--retries", "0").code == 1


def test_the_status_can_be_asked_by_another_age(dos, workspace):
    dos("lease", "acquire", "X")
    assert dos("lease", "status", "--ttl-seconds", "0").out.startswith("stale X")


def test_a_lock_that_is_released_is_had_by_who_waits(dos, workspace):
    dos("lease", "acquire", "X")
    waiting = subprocess.Popen(
        command("lease", "acquire", "Y", "--retries", "60"), stdout=subprocess.PIPE, text=True
    )
    dos("lease", "release", "X")
    assert waiting.communicate(timeout=PATIENCE)[0] == "acquired Y\n"


def test_the_archive_lock_stands_in_no_lanes_way(dos, workspace):
    dos("lease", "acquire", "X")
    assert dos("lease-lane", "acquire", "--lane", "global", "--owner", "A").code == 0
    assert [lease["lane"] for lease in dos("lease-lane", "live").json] == ["global"]


@pytest.mark.parametrize(
    "words", [("--ttl-seconds", "0"), ("--retries", "-1"), ("--retry-interval", "-1")]
)
def test_times_that_mean_nothing_are_errors(dos, workspace, words):
    assert dos("lease", "acquire", "X", *words).code == 2


def test_numbers_start_where_they_are_told_and_go_up(dos, workspace):
    assert dos("id-alloc", "peek", "ticket").json == {"id": None, "scope": "ticket"}
    assert [dos("id-alloc", "allocate", "ticket", "--start", "7").json["id"] for _ in range(3)] == [
        7,
        8,
        9,
    ]
    assert dos("id-alloc", "peek", "ticket").json == {"id": 9, "scope": "ticket"}
    assert dos("id-alloc", "allocate", "other").json == {"id": 1, "scope": "other"}


def test_a_scope_is_its_exact_name(dos, workspace):
    scopes = ["a", "A", "a/b", "..", "ü", "x" * 200]
    assert [dos("id-alloc", "allocate", scope).json for scope in scopes] == [
        {"id": 1, "scope": scope} for scope in scopes
    ]


@pytest.mark.parametrize("start", ["-1", "9007199254740993", "x"])
def test_a_start_that_no_reader_can_count_from_is_an_error(dos, workspace, start):
    assert dos("id-alloc", "allocate", "s", f"--start={start}").code == 2


def test_no_number_is_given_out_twice_to_processes_that_ask_at_once(workspace):
    def ask(_: int) -> int:
        return in_its_own_process("id-alloc", "allocate", "s", cwd=workspace).json["id"]

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, range(12))) == list(range(1, 13))


def test_a_number_that_is_not_one_is_an_error_and_no_new_beginning(dos, workspace):
    with open_store("", state_directory=workspace / ".git" / "dos", workspace_id="") as store:
        store.append("ids/s", "fleet_stopped", {"host": "h", "reason": "r"})
    assert dos("id-alloc", "allocate", "s").code == 2
    assert dos("id-alloc", "peek", "s").code == 2


def test_a_run_is_its_own_root_and_writes_nothing(dos, workspace, state):
    run = dos("run-id", "mint", "dispatch").json
    assert run_ids.validated_run_id(run["run_id"]) == run["root_id"]
    assert run["process_id"] == "PROC-dispatch" and run["parent_id"] is None
    assert run_ids.started_ms(run["run_id"]) == run["ts_ms"]
    assert not state.exists()


def test_a_child_inherits_the_root_of_a_parent_that_was_written_down(dos, workspace):
    top = dos("run-id", "mint", "top", "--write").json["run_id"]
    middle = dos("run-id", "mint", "middle", "--parent", top, "--write").json
    assert (middle["parent_id"], middle["root_id"]) == (top, top)
    last = dos("run-id", "mint", "last", "--parent", middle["run_id"]).json
    assert (last["parent_id"], last["root_id"]) == (middle["run_id"], top)


def test_a_parent_that_nobody_wrote_down_is_the_root_unless_one_is_named(dos, workspace):
    parent, root = (dos("run-id", "mint", "p").json["run_id"] for _ in range(2))
    assert dos("run-id", "mint", "c", "--parent", parent).json["root_id"] == parent
    assert dos("run-id", "mint", "c", "--parent", parent, "--root", root).json["root_id"] == root


@pytest.mark.parametrize(
    "words",
    [("",), ("p", "--parent", "../x"), ("p", "--root", "RID-x"), ("p", "--parent", ""), ()],
    ids=str,
)
def test_identities_that_are_none_are_errors(dos, workspace, words):
    assert dos("run-id", "mint", *words).code == 2
