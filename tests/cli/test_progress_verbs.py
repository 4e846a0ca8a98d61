"""Is it getting anywhere? The verbs, their exit codes, and what they are told wrongly."""

import os
import subprocess
import sys
import time

import pytest
from commanding import git

from dos.journal import streams

MINUTE = 60_000
FRESH = ("--last-heartbeat-age-ms", "0")


@pytest.fixture
def run_id(dos):
    return dos("run-id", "mint", "x").json["run_id"]


@pytest.fixture
def held(dos, run_id):
    assert (
        dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", run_id).code == 0
    )
    return run_id


def now_ms():
    return time.time_ns() // 1_000_000


def commit(workspace, path):
    (workspace / path).write_text(f"{time.time_ns()}\n")
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "Work", cwd=workspace)


def test_a_run_that_was_just_made_up_is_not_accused(dos, run_id, state):
    answer = dos("liveness", "--run-id", run_id)
    assert (answer.code, answer.out[:11]) == (0, "ADVANCING  ")
    assert not state.exists()  # to ask writes nothing


def test_one_that_never_gave_a_sign_of_life_is_stalled_after_its_grace(dos, run_id):
    answer = dos("liveness", "--run-id", run_id, "--now-ms", str(now_ms() + 31 * MINUTE))
    assert (answer.code, answer.out[:9]) == (4, "STALLED  ")


def test_the_journal_alone_says_what_a_run_does(dos, workspace, held):
    commit(workspace, "api/a.txt")
    commit(workspace, "docs/a.txt")
    answer = dos("liveness", "--run-id", held, "--json")
    assert (answer.code, answer.json["verdict"]) == (0, "ADVANCING")
    evidence = answer.json["evidence"]
    assert (
        evidence["commits_since_start"],
        evidence["journal_events_since"],
        evidence["process_alive"],
    ) == (
        1,
        0,
        None,
    )
    assert 0 <= evidence["last_heartbeat_age_ms"] < 60_000
    assert 0 <= evidence["progress_age_ms"] < 60_000


@pytest.mark.parametrize(
    ("minutes", "flags", "code"),
    [
        (29, (), 0),  # the commit is inside of the window
        (31, FRESH, 3),
        (31, (), 4),  # the last sign of life is the lease itself
        (14, ("--pid", "999999999"), 4),
        (14, ("--pid", "999999999", "--host-id", "elsewhere"), 0),
        (14, ("--pid", "999999999", "--no-proc"), 0),
        (31, (*FRESH, "--lane", "api"), 3),
        (31, (*FRESH, "--lane", "backend"), 3),  # an alias
        (29, ("--lane", "docs"), 0),  # nothing is known of it there, and it is young
        (31, ("--lane", "docs"), 4),
    ],
)
def test_what_becomes_of_a_run_with_time(dos, workspace, held, minutes, flags, code):
    commit(workspace, "api/a.txt")
    answer = dos("liveness", "--run-id", held, "--now-ms", str(now_ms() + minutes * MINUTE), *flags)
    assert answer.code == code, answer


def test_a_heartbeat_is_a_sign_of_life_and_no_progress(dos, held):
    assert dos("lease-lane", "heartbeat", "--lane", "api", "--owner", "A").code == 0
    evidence = dos("liveness", "--run-id", held, "--json").json["evidence"]
    assert (evidence["journal_events_since"], evidence["progress_age_ms"]) == (0, None)
    assert dos("liveness", "--run-id", held, "--now-ms", str(now_ms() + 14 * MINUTE)).code == 0


def test_a_run_is_stalled_as_soon_as_its_process_is_gone_and_not_before(dos, run_id):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    words = ("--lane", "api", "--owner", "A", "--run-id", run_id, "--pid", str(child.pid))
    try:
        assert dos("lease-lane", "acquire", *words).code == 0
        assert (
            dos("liveness", "--run-id", run_id, "--json").json["evidence"]["process_alive"] is True
        )
        assert dos("liveness", "--run-id", run_id).code == 0
    finally:
        child.kill()
        child.wait()
    answer = dos("liveness", "--run-id", run_id)
    assert (answer.code, answer.out) == (4, "STALLED  its process is gone\n")


def test_a_start_commit_stands_in_for_a_lease(dos, workspace, run_id):
    start = git("rev-parse", "HEAD", cwd=workspace).strip()
    commit(workspace, "api/a.txt")
    commit(workspace, "docs/a.txt")
    for flags, count in (((), 2), (("--lane", "api"), 1)):
        answer = dos("liveness", "--run-id", run_id, "--start-sha", start, "--json", *flags)
        assert answer.json["evidence"]["commits_since_start"] == count
    assert (
        dos("liveness", "--run-id", run_id, "--json").json["evidence"]["commits_since_start"] == 0
    )


def test_unreadable_git_is_unknown(dos, workspace, held):
    (workspace / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    answer = dos("liveness", "--run-id", held, "--json")
    assert (answer.code, answer.json["verdict"]) == (5, "UNKNOWN")
    assert "git" in answer.json["reason"]


def test_the_windows_are_configured(dos, workspace, held):
    with (workspace / "dos.toml").open("a") as file:
        file.write("\n[liveness]\ngrace_minutes = 0\nspin_minutes = 5\nwindow_minutes = 1\n")
    assert dos("liveness", "--run-id", held).code == 3
    assert dos("liveness", "--run-id", held, "--now-ms", str(now_ms() + 6 * MINUTE)).code == 4
    commit(workspace, "api/a.txt")
    assert dos("liveness", "--run-id", held).code == 0


def test_a_linked_worktree_answers_the_same(dos, workspace, held, tmp_path, monkeypatch):
    commit(workspace, "api/a.txt")
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), cwd=workspace)
    monkeypatch.chdir(tmp_path / "linked")
    assert dos("liveness", "--run-id", held, "--json").json["evidence"]["commits_since_start"] == 1


TABLE = [
    (("convergence", "--residuals", "5,4,3"), 0, "CONVERGING"),
    (("convergence", "--residuals", "5"), 0, "INSUFFICIENT"),
    (("convergence",), 0, "INSUFFICIENT"),
    (("convergence", "--residuals", "4,3,4,3"), 3, "THRASHING"),
    (("convergence", "--residuals", "3, 3, 3, 3"), 4, "STARVED"),
    (
        ("convergence", "--residuals", "3,3", "--max-nonconverging", "1", "--window", "2"),
        4,
        "STARVED",
    ),
    (("productivity",), 0, "PRODUCTIVE"),
    (("productivity", "--deltas", ""), 0, "PRODUCTIVE"),
    (("productivity", "--deltas", "900,900,0"), 0, "PRODUCTIVE"),
    (("productivity", "--deltas", "900,100,100"), 3, "DIMINISHING"),
    (("productivity", "--deltas", "900,100,100", "--floor", "50"), 0, "PRODUCTIVE"),
    (("productivity", "--deltas", "900,0,0"), 4, "STALLED"),
    (("productivity", "--deltas", "0,0", "--min-steps", "2"), 4, "STALLED"),
    (("efficiency",), 0, "EFFICIENT"),
    (("efficiency", "--work", "1", "--tokens", "5000", "--floor", "0.01"), 3, "COSTLY"),
    (("efficiency", "--tokens", "5000"), 4, "WASTEFUL"),
    (("efficiency", "--tokens", "5000", "--min-tokens", "5001"), 0, "EFFICIENT"),
    (("improve",), 3, "REVERT"),
    (("improve", "--suite-passed", "--work", "5"), 3, "REVERT"),
    (
        ("improve", "--suite-passed", "--truth-clean", "--work", "5", "--baseline-work", "4"),
        0,
        "KEEP",
    ),
    (("improve", "--narrated", "KEEP it", "--consecutive-reverts", "2"), 4, "ESCALATE"),
    (("improve", "--max-reverts", "1"), 4, "ESCALATE"),
    (("breaker",), 0, "CLOSED"),
    (("breaker", "--consecutive", "3"), 3, "OPEN"),
    (("breaker", "--total", "20"), 3, "OPEN"),
    (("breaker", "--consecutive", "99", "--max-consecutive", "0"), 0, "CLOSED"),
    (("recurring",), 0, "NEW"),
]


@pytest.mark.parametrize(("words", "code", "token"), TABLE)
def test_the_exit_code_is_the_answer(dos, state, words, code, token):
    answer = dos(*words)
    assert (answer.code, answer.out.split("  ")[0]) == (code, token)
    reply = dos(*words, "--json")
    assert reply.code == code
    assert reply.json.get("verdict") or reply.json.get("state") or "recurring" in reply.json
    assert not state.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("liveness",), "--run-id"),
        (("liveness", "--run-id", ""), "--run-id"),
        (("liveness", "--run-id", "x"), "not a run id"),
        (("liveness", "--run-id", "RID", "--now-ms", "-1"), "below 0"),
        (("liveness", "--run-id", "RID", "--now-ms", "9" * 30), "is out of range"),
        (("liveness", "--run-id", "RID", "--last-heartbeat-age-ms", "-1"), "below 0"),
        (("liveness", "--run-id", "RID", "--start-sha", "nowhere"), "names no commit"),
        (("liveness", "--run-id", "RID", "--start-sha", "--all"), "expected one argument"),
        (("liveness", "--run-id", "RID", "--start-sha=--all"), "names no commit"),
        (("liveness", "--run-id", "RID", "--start-sha", "a\x00b"), "NUL"),
        (("liveness", "--run-id", "RID", "--lane", "nosuch"), "the lanes are api"),
        (("liveness", "--run-id", "RID", "--lane", "a\nb"), "unprintable"),
        (("liveness", "--run-id", "RID", "--loop-ts", "a\x00b"), "NUL"),
        (("liveness", "--run-id", "RID", "--host-id", "a\x00b"), "NUL"),
        (("liveness", "--run-id", "RID", "--pid", "0"), "is not a pid"),
        (("liveness", "--run-id", "RID", "--pid", "-4"), "is not a pid"),
        (("liveness", "--run-id", "RID", "--pid", "9" * 18), "is not a pid"),
        (("convergence", "--residuals", "1,x"), "'x' is not a whole number"),
        (("convergence", "--residuals", "1,,2"), "'' is not a whole number"),
        (("convergence", "--residuals", "1,-2"), "below 0"),
        (("convergence", "--residuals", "1," + "9" * 5000), "not a whole number"),
        (("convergence", "--window", "0"), "at least 1"),
        (("productivity", "--deltas", "1.5"), "not a whole number"),
        (("productivity", "--deltas=-1"), "below 0"),
        (("productivity", "--deltas", "²"), "not a whole number"),
        (("productivity", "--min-steps", "-1"), "below 0"),
        (("productivity", "--floor", "-1"), "below 0"),
        (("efficiency", "--work", "-1"), "below 0"),
        (("efficiency", "--floor", "-1"), "from 0 upwards"),
        (("efficiency", "--floor", "nan"), "is out of range"),
        (("efficiency", "--floor", "inf"), "is out of range"),
        (("efficiency", "--tokens", "9" * 40), "is out of range"),
        (("improve", "--work", "-1"), "below 0"),
        (("improve", "--max-reverts", "0"), "at least 1"),
        (("improve", "--efficiency-floor", "-1"), "from 0 upwards"),
        (("breaker", "--consecutive", "-1"), "below 0"),
        (("breaker", "--max-consecutive", "0", "--max-total", "0"), "both 0"),
        (("breaker", "--on-trip", "everybody"), "invalid choice"),
        (("recurring", "x"), "not a run id"),
        (("recurring", "RID"), "has no run"),
        (("recurring", "--min-recurrence", "0"), "at least 1"),
        (("recurring", "--since", "7d"), "about all runs"),
        (("recurring", "--runs", "3"), "about all runs"),
        (("recurring", "--all", "--since", "lately"), "is not an age or a date"),
        (("recurring", "--all", "--runs", "0"), "less than 1"),
    ],
)
def test_what_means_nothing_is_an_error(dos, run_id, state, words, said):
    answer = dos(*(run_id if word == "RID" else word for word in words))
    assert (answer.code, answer.out) == (2, ""), answer
    assert said in answer.err and "hint: " in answer.err
    assert "Traceback" not in answer.err and len(answer.err) < 600
    assert not state.exists()


def test_the_tables_of_dos_toml_say_what_is_usual_and_flags_go_before_them(dos, workspace):
    with (workspace / "dos.toml").open("a") as file:
        file.write(
            "\n[productivity]\nmin_steps = 2\nfloor = 10\n[efficiency]\nmin_tokens = 10\n"
            "floor = 0.5\n"
            "[improve]\nmax_consecutive_reverts = 1\nefficiency_floor = 0.5\n"
            "min_tokens_for_efficiency = 10\n"
            "[breaker]\nmax_consecutive = 1\nmax_total = 2\non_trip = 'human'\n"
        )
    good = ("improve", "--suite-passed", "--truth-clean", "--work", "1", "--tokens", "100")
    assert dos("productivity", "--deltas", "9,9").code == 3
    assert dos("productivity", "--deltas", "9,9", "--floor", "0").code == 0
    assert dos("efficiency", "--work", "1", "--tokens", "100").code == 3
    assert dos("efficiency", "--work", "1", "--tokens", "100", "--floor", "0").code == 0
    assert dos(*good).code == 4
    assert dos(*good, "--max-reverts", "2").code == 3
    assert dos(*good, "--efficiency-floor", "0").code == 0
    assert dos("breaker", "--consecutive", "1", "--json").json["escalation"] == "HUMAN"
    assert (
        dos("breaker", "--consecutive", "1", "--on-trip", "none", "--json").json["escalation"]
        == "NONE"
    )
    assert dos("breaker", "--consecutive", "1", "--max-consecutive", "5").code == 0


def test_a_table_that_is_wrong_stops_the_question(dos, workspace):
    with (workspace / "dos.toml").open("a") as file:
        file.write("\n[breaker]\nmax_consecutive = 0\nmax_total = 0\n")
    assert dos("breaker").code == 2


def test_a_reason_that_stopped_two_runs_recurs(dos, workspace):
    from dos import workspace as places
    from dos.journal.events.fleet import RunStopped
    from dos.world import open_journal

    ids = [dos("run-id", "mint", "x").json["run_id"] for _ in range(4)]
    stops = zip(
        ids,
        ("blocked", "iteration-cap", "launch-failed", "blocked"),
        ("operator", "nobody", "time", "operator"),
        strict=True,
    )
    with open_journal(places.find(workspace), "") as journal:
        for run_id, reason, needs in stops:
            fact = RunStopped(
                run_id=run_id, lane="api", stop_reason=reason, needs=needs, reason=f"why {reason}"
            )
            journal.record(streams.run(run_id), fact)
    last = dos("recurring", "--json")
    assert last.code == 3
    assert (last.json["cause_key"], last.json["runs_affected"], last.json["example"]) == (
        "blocked",
        2,
        "why blocked",
    )
    assert [dos("recurring", run_id).code for run_id in ids] == [0, 0, 0, 3]
    assert dos("recurring", "--min-recurrence", "3").code == 0


def test_a_cause_that_was_cleared_long_ago_is_left_out_of_those_that_recur(dos, workspace):
    from dos import workspace as places
    from dos.journal.events.fleet import RunStopped
    from dos.world import open_journal

    ids = [dos("run-id", "mint", "p").json["run_id"] for _ in range(4)]
    stops = ["blocked", "blocked", "launch-failed", "launch-failed"]
    with open_journal(places.find(workspace), "") as journal:
        for run_id, reason in zip(ids, stops, strict=True):
            fact = RunStopped(
                run_id=run_id, lane="api", stop_reason=reason, needs="operator", reason="why"
            )
            journal.record(streams.run(run_id), fact)

    def causes(*words):
        answer = dos("recurring", "--all", *words, "--json")
        found = {row["cause_key"] for row in answer.json["clusters"]}
        assert answer.code == (3 if found else 0)
        return found

    assert causes() == causes("--since", "1h") == causes("--runs", "4") == set(stops)
    assert causes("--runs", "2") == {"launch-failed"}
    assert causes("--runs", "1") == causes("--since", "2999-01-01") == set()
    assert causes("--since", "2026-01-01", "--runs", "3") == {"launch-failed"}


def test_a_question_about_numbers_needs_no_repository(dos, tmp_path, monkeypatch):
    folder = tmp_path / "bare"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert dos("breaker", "--consecutive", "3").code == 3
    assert os.listdir(folder) == []
