"""One run, seen whole: its trace and how it stands."""

import pytest
from commanding import git
from run_histories import RUN, Repository

OTHER = "RID-000000001000002"
EVIDENCE = {
    "run_started_ms", "now_ms", "commits_since_start", "journal_events_since",
    "last_heartbeat_age_ms", "tokens_spent_since", "process_alive",
}  # fmt: skip
HOUR_MS = 3_600_000


@pytest.fixture
def repository(workspace) -> Repository:
    return Repository(workspace, {})


def begin(dos, *words):
    return dos(
        "run", "begin", "--run-id", RUN, "--goal", "g", "--step", "s1", "--step", "s2", *words
    )


def keys(value):
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys(inner)}
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


# The trace


def test_a_run_that_nobody_wrote_down_is_not_found(dos, state):
    answer = dos("trace", RUN, "--json")
    assert (answer.code, answer.json["found"]) == (1, False)
    assert not state.exists()
    assert dos("trace", "").code == dos("trace").code == 2


def test_a_trace_has_the_keys_that_callers_know(dos, repository):
    begin(dos)
    answer = dos("trace", RUN, "--json").json
    assert answer.keys() == {"run_id", "found", "spine", "intent", "decisions", "wal", "git"}
    assert answer["spine"].keys() == {
        "run_json", "parent_id", "root_id", "process_id", "ancestors", "descendants",
    }  # fmt: skip
    assert answer["intent"].keys() == {
        "has_intent", "goal", "plan", "phase", "start_sha", "steps", "residual",
        "corrupt_ledger_lines", "unreadable_newer",
    }  # fmt: skip
    assert answer["wal"] == {"lease_events": [], "unattributed_acquires": 0}
    assert answer["git"] == {"commits": []}


def test_steps_stand_in_the_order_they_were_declared_in(dos, repository):
    begin(dos)
    repository.commit("one", "api/1")
    dos("run", "claim", RUN, "s2")
    dos("run", "verify", RUN, "s1", "--sha", "HEAD")
    answer = dos("trace", RUN, "--json").json
    assert [(row["step_id"], row["state"]) for row in answer["intent"]["steps"]] == [
        ("s1", "VERIFIED"),
        ("s2", "CLAIMED"),
    ]
    assert answer["intent"]["residual"] == ["s2"]
    assert [commit["subject"] for commit in answer["git"]["commits"]] == ["one"]
    text = dos("trace", RUN).out
    assert "VERIFIED  s1" in text and "one" in text


def test_a_verified_step_that_was_taken_back_is_shown_as_claimed(dos, repository):
    begin(dos)
    repository.commit("one", "api/1")
    dos("run", "verify", RUN, "s1", "--sha", "HEAD")
    repository.revert("one")
    assert dos("trace", RUN, "--json").json["intent"]["steps"][0]["state"] == "CLAIMED"


def test_lease_events_belong_to_a_run_by_its_id_or_by_its_lease_and_never_by_time(dos, repository):
    begin(dos)
    dos("lease-lane", "acquire", "--lane", "docs", "--owner", "nobody")
    dos("lease-lane", "acquire", "--lane", "worker", "--owner", "B", "--run-id", OTHER)
    dos("lease-lane", "spawn", "--lane", "api", "--run-id", RUN)
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", RUN)
    dos("lease-lane", "acquire", "--lane", "docs", "--owner", "A", "--run-id", RUN)
    dos("lease-lane", "heartbeat", "--lane", "api", "--owner", "A")
    dos("lease-lane", "heartbeat", "--lane", "worker", "--owner", "B")
    dos("lease-lane", "adopt", "--lane", "api", "--owner", "C")
    dos("lease-lane", "release", "--lane", "api", "--owner", "C")
    dos("halt", "--handle", "x", "--run-id", RUN)
    wal = dos("trace", RUN, "--json").json["wal"]
    rows = [(row["op"], row["lane"], row["attributed_by"]) for row in wal["lease_events"]]
    assert rows[0] == ("SPAWN", "api", "run_id") and rows[1] == ("ACQUIRE", "api", "run_id")
    assert ("REFUSE", "docs", "run_id") in rows and ("HEARTBEAT", "api", "lease") in rows
    assert ("ADOPT", "api", "run_id") in rows and ("RELEASE", "api", "lease") in rows
    assert rows[-1] == ("HALT", "", "run_id")
    assert {lane for _, lane, _ in rows} == {"api", "docs", ""}
    assert wal["unattributed_acquires"] == 1


def test_a_run_is_found_by_its_leases_alone(dos, repository):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", RUN)
    assert dos("trace", RUN).code == 0


def test_families_are_followed_up_and_down(dos, repository):
    top = dos("run-id", "mint", "top", "--write").json["run_id"]
    middle = dos("run-id", "mint", "middle", "--parent", top, "--write").json["run_id"]
    low = [
        dos("run-id", "mint", "low", "--parent", middle, "--write").json["run_id"] for _ in range(2)
    ]
    spine = dos("trace", middle, "--json").json["spine"]
    assert (spine["ancestors"], spine["descendants"], spine["root_id"]) == ([top], sorted(low), top)
    assert dos("trace", low[0], "--json").json["spine"]["ancestors"] == [middle, top]
    assert dos("trace", top, "--json").json["spine"]["descendants"] == sorted([middle, *low])


def test_a_subject_in_another_encoding_is_shown_somehow(dos, repository):
    begin(dos)
    (repository.place / "message").write_bytes(b"caf\xe9\n")
    git(
        "-c",
        "i18n.commitEncoding=utf-8",
        "commit",
        "--quiet",
        "--allow-empty",
        "--file",
        "message",
        cwd=repository.place,
    )
    assert len(dos("trace", RUN, "--json").json["git"]["commits"]) == 1


# How it stands


def test_without_a_run_the_fleet_is_shown(dos, workspace):
    assert dos("status", "--json").json.keys() == {
        "workers", "units", "stopped", "salvaged", "supervisors", "warnings"
    }  # fmt: skip


def test_the_status_has_exactly_the_keys_that_callers_know(dos, repository):
    begin(dos)
    dos("run", "claim", RUN, "s1")
    answer = dos("status", RUN, "--stopped", "--json").json
    assert answer.keys() == {"schema", "run_id", "liveness", "progress", "region", "resume"}
    assert (answer["schema"], answer["run_id"]) == (1, RUN)
    assert answer["liveness"].keys() == {"verdict", "reason", "evidence"}
    assert answer["liveness"]["evidence"].keys() >= EVIDENCE
    assert answer["progress"] == {"verified_count": 0, "declared_count": 2, "verified_steps": []}
    assert "claimed" not in keys(answer)


def test_progress_is_what_git_bears_out(dos, repository):
    begin(dos)
    repository.commit("one", "api/1")
    dos("run", "verify", RUN, "s2", "--sha", "HEAD")
    dos("run", "verify", RUN, "s1", "--sha", "HEAD")
    progress = dos("status", RUN, "--json").json["progress"]
    assert progress == {"verified_count": 2, "declared_count": 2, "verified_steps": ["s1", "s2"]}


def test_its_lease_is_found_by_the_run(dos, repository):
    begin(dos)
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", RUN)
    answer = dos("status", RUN, "--json").json
    assert answer["region"] == ["api/**"]
    assert answer["liveness"]["evidence"]["last_heartbeat_age_ms"] is not None


@pytest.mark.parametrize(
    ("words", "resumes"),
    [((), False), (("--stopped",), True), (("--live",), False), (("--stopped", "--live"), False)],
    ids=str,
)
def test_where_it_goes_on_is_said_only_of_a_run_that_stopped(dos, repository, words, resumes):
    # A run that began this moment: what its made-up id says of its age would be another story.
    run_id = dos("run", "begin", "--goal", "g", "--step", "s1").out.strip()
    answer = dos("status", run_id, *words, "--json").json
    assert (answer["resume"] is not None) == resumes
    assert not resumes or answer["resume"]["verdict"] == "RESUMABLE"


def test_a_suspended_run_has_stopped_unless_somebody_says_otherwise(dos, repository):
    run_id = dos("run", "begin", "--goal", "g").out.strip()
    dos("run", "suspend", run_id)
    assert dos("status", run_id, "--json").json["resume"]["residual"] == ["g"]
    assert dos("status", run_id, "--live", "--json").json["resume"] is None


@pytest.mark.parametrize(
    ("hours", "beat", "verdict", "code"),
    [(0.1, None, "ADVANCING", 0), (2, 1_000, "SPINNING", 3), (2, None, "STALLED", 4)],
)
def test_the_exit_code_says_whether_it_moves(dos, repository, hours, beat, verdict, code):
    run_id = dos("run", "begin", "--goal", "g").out.strip()
    now = dos("status", run_id, "--json").json["liveness"]["evidence"]["run_started_ms"] + int(
        hours * HOUR_MS
    )
    words = ("--last-heartbeat-age-ms", str(beat)) if beat is not None else ()
    answer = dos("status", run_id, "--now-ms", str(now), *words, "--json")
    assert (answer.code, answer.json["liveness"]["verdict"]) == (code, verdict)
    assert (answer.json["resume"] is not None) == (verdict == "STALLED")


@pytest.mark.parametrize(
    "words",
    [("",), ("RID-x",), ("--stopped",), ("--now-ms", "0"), (RUN, "--now-ms", "-1")],
    ids=str,
)
def test_a_status_of_nothing_is_an_error(dos, workspace, words):
    assert dos("status", *words).code == 2


def test_reading_writes_nothing(dos, repository, state):
    for words in (
        ("status", RUN),
        ("trace", RUN),
        ("complete", "--run-id", RUN),
        ("rewind", "--run-id", RUN),
    ):
        dos(*words)
    assert not state.exists()


def test_a_trace_tells_what_was_decided(dos, workspace):
    dos("decide", "--run", RUN, "--unit", "P/1", "--outcome", '{"kind":"UNCLEAR"}')
    (decision,) = dos("trace", RUN, "--json").json["decisions"]
    assert (decision["iteration"], decision["unit"], decision["outcome"], decision["action"]) == (
        1,
        "P/1",
        "UNCLEAR",
        "continue",
    )
    assert "no clear result; continue" in dos("trace", RUN).out


def test_the_commits_of_a_run_are_those_that_touch_its_lane(dos, workspace):
    dos("run", "begin", "--run-id", RUN, "--goal", "g", "--step", "s1", "--lane", "api")
    for place in ("api", "docs"):
        (workspace / place / "new.txt").write_text("x")
        git("add", "--all", cwd=workspace)
        git("commit", "--quiet", "--message", f"Change {place}", cwd=workspace)
    assert [commit["subject"] for commit in dos("trace", RUN, "--json").json["git"]["commits"]] == [
        "Change api"
    ]


def test_a_run_of_which_nothing_is_written_is_said_to_be_unknown(dos, workspace):
    assert "nothing is recorded of" in dos("status", RUN).err
