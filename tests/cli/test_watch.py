"""Runs that have stopped moving, and what is written down about them."""

import time

import pytest
from commanding import git

from dos.journal import streams
from dos.journal.backends.open import open_store
from dos.journal.events.fleet import RunStopped

MINUTE = 60_000


def now_ms(minutes: float = 0) -> int:
    return time.time_ns() // 1_000_000 + round(minutes * MINUTE)


@pytest.fixture
def watch(dos):
    def ask(*words: str, minutes: float = 0):
        return dos("watch", *words, "--now-ms", str(now_ms(minutes)), "--json")

    return ask


@pytest.fixture
def run_id(dos):
    run = dos("run-id", "mint", "x").json["run_id"]
    taken = dos(
        "lease-lane",
        "acquire",
        "--lane",
        "api",
        "--owner",
        "A",
        "--run-id",
        run,
        "--loop-ts",
        "t1",
    )
    assert taken.code == 0
    return run


def halts(dos, run_id):
    lines = dos("journal", "tail", "0", "--stream", f"run/{run_id}").lines
    return [line for line in lines if line["kind"] == "halt_proposed"]


def test_a_run_that_moves_is_left_alone(dos, watch, run_id):
    answer = watch("--discover").json
    assert answer == {
        "watched": 1, "verdicts": {run_id: "ADVANCING"}, "proposed_halts": [],
        "advancing": [run_id], "spinning": [], "stalled_within_budget": [], "unknown": [],
        "skipped": [],
    }  # fmt: skip
    assert halts(dos, run_id) == []


def test_a_halt_is_written_once_for_each_time_a_run_stops_moving(dos, watch, run_id, workspace):
    answer = watch("--discover", "--command", "kill it", minutes=40).json
    assert (answer["verdicts"], answer["proposed_halts"]) == ({run_id: "STALLED"}, [run_id])
    [halt] = halts(dos, run_id)
    body = halt["body"]
    assert (body["run_id"], body["lane"], body["handle"]) == (run_id, "api", run_id)
    assert (body["owner"], body["command"]) == ("watchdog", "kill it")
    assert watch("--discover", minutes=41).json["proposed_halts"] == []
    assert watch("--track", run_id, minutes=69).json["proposed_halts"] == [], "whoever watches"
    assert watch("--discover", minutes=71).json["proposed_halts"] == [run_id]
    assert len(halts(dos, run_id)) == 2
    # It moves, and then stops moving once more: that is a new time.
    (workspace / "api" / "b.txt").write_text("b\n")
    git("add", "api", cwd=workspace)
    git("commit", "--quiet", "--message", "Work", cwd=workspace)
    assert watch("--discover", minutes=5).json["advancing"] == [run_id]
    assert watch("--discover", minutes=72).json["proposed_halts"] == [run_id]


def test_how_soon_it_is_proposed_again_can_be_said(dos, watch, run_id):
    assert watch("--discover", minutes=40).json["proposed_halts"] == [run_id]
    words = ("--discover", "--repropose-ms", "60000")
    assert watch(*words, minutes=40.5).json["proposed_halts"] == []
    assert watch(*words, minutes=42).json["proposed_halts"] == [run_id]


def test_a_stalled_run_within_its_budget_is_left_alone(watch, run_id):
    answer = watch("--discover", "--budget-ms", str(60 * MINUTE), minutes=45).json
    assert (answer["stalled_within_budget"], answer["proposed_halts"]) == ([run_id], [])
    assert watch("--discover", "--budget-ms", str(30 * MINUTE), minutes=45).json[
        "proposed_halts"
    ] == [run_id]


def test_a_young_run_that_never_gave_a_sign_of_life_is_left_alone(dos, watch, workspace, state):
    run = dos("run-id", "mint", "x").json["run_id"]
    assert watch("--track", run).json["advancing"] == [run]
    assert not state.exists(), "to look writes nothing"
    assert watch("--track", run, minutes=31).json["proposed_halts"] == [run]


def test_a_run_that_ended_has_nothing_to_be_stopped(dos, watch, run_id, state):
    stopped = RunStopped(
        run_id=run_id, lane="api", stop_reason="drain", needs="nobody", reason="no unit is left"
    )
    with open_store("", state_directory=state, workspace_id="") as journal:
        journal.record(streams.run(run_id), stopped)
    assert watch("--track", run_id, minutes=45).json["proposed_halts"] == [run_id], (
        "it still holds its lane"
    )
    dos("lease-lane", "release", "--lane", "api", "--owner", "A")
    answer = watch("--track", run_id, minutes=90).json
    assert (answer["verdicts"], answer["proposed_halts"]) == ({run_id: "STALLED"}, [])


def test_what_follows_a_run_tells_more_of_it(dos, watch, workspace):
    run = dos("run-id", "mint", "x").json["run_id"]
    stamp = "2026-01-01T10:20:30Z"
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--loop-ts", stamp)
    answer = watch("--track", f"{run}::api:{stamp}:job 7", minutes=40)
    assert answer.json["proposed_halts"] == [run]
    [halt] = halts(dos, run)
    assert (halt["body"]["handle"], halt["body"]["lane"], halt["body"]["loop_ts"]) == (
        "job 7",
        "api",
        stamp,
    )


def test_commits_since_a_named_one_are_progress(dos, watch, workspace):
    run = dos("run-id", "mint", "x").json["run_id"]
    start = git("rev-parse", "HEAD", cwd=workspace).strip()
    assert watch("--track", f"{run}:{start}:docs", minutes=25).json["advancing"] == [run]
    assert watch("--track", f"{run}:{start}:docs", minutes=45).json["verdicts"] == {run: "STALLED"}
    (workspace / "docs" / "b.txt").write_text("b\n")
    git("add", "docs", cwd=workspace)
    git("commit", "--quiet", "--message", "Work", cwd=workspace)
    assert watch("--track", f"{run}:{start}:api", minutes=29).json["advancing"] == [run], (
        "too early to accuse"
    )
    found_docs = watch("--track", f"{run}:{start}:docs", minutes=29.9).json
    assert found_docs["advancing"] == [run]


def test_a_lease_without_a_run_and_a_name_that_is_no_run_are_skipped(dos, watch, workspace):
    dos("lease-lane", "acquire", "--lane", "docs", "--owner", "A")
    answer = watch("--discover", "--track", "not-a-run")
    assert (answer.code, answer.json["watched"], answer.json["skipped"]) == (
        0,
        0,
        ["not-a-run", "docs"],
    )


def test_a_run_is_watched_once(watch, run_id):
    assert watch("--discover", "--track", run_id, "--track", run_id).json["watched"] == 1


@pytest.mark.parametrize(
    "words",
    [
        (), ("--track", ""), ("--track", " :sha"), ("--discover", "--budget-ms", "-1"),
        ("--discover", "--repropose-ms", "-1"), ("--discover", "--interval", "-1"),
        ("--discover", "--max-ticks", "0"), ("--discover", "--now-ms", "-1"),
        ("--discover", "--budget-ms", "99999999999999999999"),
        ("--track", "RID-0MC0FFEE00000AB:nosuch"), ("--track", "RID-0MC0FFEE00000AB:--all"),
    ],
)  # fmt: skip
def test_what_cannot_be_watched_is_an_error(dos, workspace, state, words):
    answer = dos("watch", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ") and "Traceback" not in answer.err
    assert not state.exists()


def test_watching_goes_on_for_so_many_looks(dos, run_id):
    answer = dos("watch", "--discover", "--watch", "--interval", "0", "--max-ticks", "2", "--json")
    assert (answer.code, [line["watched"] for line in answer.lines]) == (0, [1, 1])
    text = dos("watch", "--discover", "--now-ms", str(now_ms(40)))
    assert text.out.startswith("WATCH: 1 watched, 1 to be stopped\n") and "stop it: " in text.out


def test_git_that_cannot_be_read_stops_nobody(dos, watch, run_id, workspace):
    (workspace / ".git" / "objects").rename(workspace / ".git" / "moved")
    answer = watch("--discover", minutes=40).json
    assert (answer["unknown"], answer["proposed_halts"]) == ([run_id], [])
