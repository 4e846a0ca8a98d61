"""Of all processes that want to go on with one run, exactly one does."""

import subprocess

import pytest
from commanding import command, in_process
from msgspec import json
from patience import PATIENCE

CONTENDERS = 8


def race(workspace, *words):
    """All at once, each in a process of its own; exit code, stdout and stderr of each."""
    started = [
        subprocess.Popen(
            command(*words),
            cwd=workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(CONTENDERS)
    ]
    said = [each.communicate(timeout=PATIENCE) for each in started]
    return [(each.returncode, *spoken) for each, spoken in zip(started, said, strict=True)]


@pytest.fixture
def left_behind(dos, workspace) -> str:
    return dos("run", "begin", "--goal", "g", "--step", "s1", "--step", "s2").out.strip()


@pytest.mark.soak
def test_one_of_many_is_told_to_start_a_successor(workspace, left_behind):
    answers = race(workspace, "resume", "--run-id", left_behind, "--json")
    found = [json.decode(out) for code, out, _ in answers if code == 0]
    assert len(found) == CONTENDERS, answers
    assert sum(answer["proposed_now"] for answer in found) == 1
    assert sum(answer["already_proposed"] for answer in found) == CONTENDERS - 1


def test_one_of_many_goes_on_with_the_run(workspace, left_behind):
    answers = race(workspace, "run", "begin", "--resumes", left_behind, "--json")
    winners = [json.decode(out)["run_id"] for code, out, _ in answers if code == 0]
    assert len(winners) == 1, answers
    losers = [error for code, _, error in answers if code == 1]
    assert len(losers) == CONTENDERS - 1
    assert all(winners[0] in error for error in losers)
    # And nobody else has left a trace: neither a second successor nor a run that was only half
    # begun.
    resumed = in_process("journal", "export", "--stream", f"run/{left_behind}").lines
    assert [
        line["body"]["successor"] for line in resumed if line["kind"] == "run_resumed"
    ] == winners
    assert in_process("trace", left_behind, "--json").json["spine"]["descendants"] == winners


@pytest.mark.soak
def test_steps_that_are_verified_at_once_are_all_kept(workspace, dos):
    steps = [f"s{number}" for number in range(CONTENDERS)]
    run_id = dos(
        "run", "begin", "--goal", "g", *(word for step in steps for word in ("--step", step))
    ).out.strip()
    (workspace / "api" / "b.txt").write_text("b\n")
    subprocess.run(["git", "add", "--all"], cwd=workspace, check=True)
    who = ["-c", "user.name=T", "-c", "user.email=t@example.com"]
    subprocess.run(
        ["git", *who, "commit", "--quiet", "--message", "All"], cwd=workspace, check=True
    )
    started = [
        subprocess.Popen(command("run", "verify", run_id, step, "--sha", "HEAD"), cwd=workspace)
        for step in steps
    ]
    assert [each.wait(timeout=PATIENCE) for each in started] == [0] * CONTENDERS
    assert dos("complete", "--run-id", run_id).code == 0
