"""`dos decide`: from what is given, from the journal, and line by line."""

import json
import subprocess

import pytest
from commanding import command, git, in_its_own_process, in_process
from patience import PATIENCE

from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.world import World

SHIPPED = '{"kind":"SHIPPED"}'
EMPTY_SHIP = '{"kind":"SHIPPED","packet_judge":"SHIPPED-DIRTY","ship_count":0}'
OVERLOADED = '{"kind":"OVERLOADED"}'
RUN = "RID-0123456789ABCDE"


def decide(*words):
    return in_process("decide", *words, "--json")


@pytest.mark.parametrize(
    ("state", "outcome", "code", "action"),
    [
        ("{}", SHIPPED, 0, "continue"),
        ('{"iteration":10}', SHIPPED, 3, "stop"),
        ("{}", OVERLOADED, 4, "retry-same-iter"),
        ("{}", '{"kind":"RATE_LIMITED","resets_at":"2026-01-01T00:00:00Z"}', 5, "wait"),
    ],
)
def test_the_exit_code_is_the_action(state, outcome, code, action):
    answer = decide("--state", state, "--outcome", outcome)
    assert (answer.code, answer.json["action"]) == (code, action)


def test_state_and_outcome_may_be_files(tmp_path):
    (tmp_path / "state.json").write_text('{"consecutive_unclear":2}')
    (tmp_path / "outcome.json").write_text('{"kind":"UNCLEAR"}')
    answer = decide(
        "--state", str(tmp_path / "state.json"), "--outcome", str(tmp_path / "outcome.json")
    )
    assert answer.json["stop_reason"] == "consecutive-unclear"
    assert answer.json["needs"] == "environment"


def test_a_launch_that_may_be_tried_again_says_until_when():
    answer = decide("--outcome", '{"kind":"LAUNCH_FAILED","retry_after_seconds":60}')
    assert answer.code == 5
    assert answer.json["until"].startswith("20")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--outcome is missing"),
        (["--outcome", "{"], "--outcome"),
        (["--outcome", "nowhere.json"], "neither JSON nor a file"),
        (["--outcome", '{"kind":"GATE"}'], "gate verdict"),
        (["--outcome", SHIPPED, "--state", '{"max_unclaer":1}'], "max_unclaer"),
        (["--outcome", SHIPPED, "--state", '{"gate_mode":"wild"}'], "gate_mode"),
        (["--outcome", SHIPPED, "--iteration", "1"], "need --run"),
        (["--outcome", SHIPPED, "--run", "../../etc"], "not a run id"),
        (["--batch", "--outcome", SHIPPED], "--batch"),
    ],
)
def test_what_cannot_be_decided_is_an_error_that_names_it(words, said):
    answer = in_process("decide", *words)
    assert answer.code == 2
    assert said in answer.err
    assert "hint:" in answer.err


def test_a_batch_answers_every_line_in_its_place(workspace):
    lines = [
        {"state": {}, "outcome": {"kind": "SHIPPED"}},
        {"state": {}, "outcome": {"kind": "GATE"}},
        "not an object",
        {"outcome": {"kind": "GATE", "verdict": "DRAIN"}},
    ]
    text = "\n".join(json.dumps(line) for line in lines) + "\n\n"
    done = subprocess.run(
        command("decide", "--batch"),
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=workspace,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 2
    assert [answer.get("action", "error") for answer in answers] == [
        "continue",
        "error",
        "error",
        "continue",
    ]
    assert answers[1]["line"] == 2
    assert answers[3]["next_mode"] == "replan"


def test_a_run_is_decided_step_by_step_from_the_journal(workspace):
    said = [decide("--run", RUN, "--outcome", EMPTY_SHIP).json for _ in range(3)]
    assert [(each["iteration"], each["action"]) for each in said] == [
        (1, "continue"),
        (2, "continue"),
        (3, "stop"),
    ]
    assert said[2]["stop_reason"] == "consecutive-dirty-zero"
    after = in_process("decide", "--run", RUN, "--outcome", SHIPPED)
    assert after.code == 2
    assert "stopped after iteration 3" in after.err


def test_an_iteration_that_is_told_again_gets_the_same_answer_and_writes_nothing(workspace):
    first = decide("--run", RUN, "--iteration", "1", "--outcome", SHIPPED)
    length = in_process("journal", "seq").out
    again = decide("--run", RUN, "--iteration", "1", "--outcome", SHIPPED)
    assert (first.json["repeated"], again.json["repeated"]) == (False, True)
    assert {**first.json, "repeated": 0} == {**again.json, "repeated": 0}
    assert in_process("journal", "seq").out == length


def test_an_iteration_ends_once_and_in_order(workspace):
    decide("--run", RUN, "--outcome", SHIPPED)
    other = in_process("decide", "--run", RUN, "--iteration", "1", "--outcome", EMPTY_SHIP)
    assert other.code == 2
    assert "ends once" in other.err
    far = in_process("decide", "--run", RUN, "--iteration", "7", "--outcome", SHIPPED)
    assert far.code == 2
    assert "is at iteration 2" in far.err


def test_a_retry_is_another_try_of_the_same_iteration(workspace):
    decide("--run", RUN, "--iteration", "1", "--outcome", OVERLOADED)
    second = decide("--run", RUN, "--iteration", "1", "--attempt", "2", "--outcome", OVERLOADED)
    assert (second.json["attempt"], second.json["backoff_seconds"], second.json["repeated"]) == (
        2,
        270,
        False,
    )
    third = decide("--run", RUN, "--outcome", SHIPPED)
    assert (third.json["iteration"], third.json["attempt"], third.json["action"]) == (
        1,
        3,
        "continue",
    )


def test_the_limits_of_the_workspace_are_those_of_the_run(workspace):
    (workspace / "dos.toml").write_text(
        (workspace / "dos.toml").read_text() + "\n[loop]\nmax_dirty_zero = 1\n"
    )
    assert (
        decide("--run", RUN, "--outcome", EMPTY_SHIP).json["stop_reason"]
        == "consecutive-dirty-zero"
    )


def test_evidence_is_decided_on_and_kept_with_the_decision(workspace):
    answer = decide("--run", RUN, "--outcome", SHIPPED, "--evidence", '{"liveness":"SPINNING"}')
    assert answer.json["stop_reason"] == "spinning"
    assert in_process("why", RUN, "--json").json["steps"][0]["evidence"] == {"liveness": "SPINNING"}


def test_of_many_processes_that_tell_one_iteration_one_decides_it(workspace):
    words = command("decide", "--run", RUN, "--iteration", "1", "--outcome", SHIPPED, "--json")
    racers = [subprocess.Popen(words, cwd=workspace, stdout=subprocess.PIPE) for _ in range(6)]
    answers = [json.loads(racer.communicate(timeout=PATIENCE)[0]) for racer in racers]
    assert {answer["iteration"] for answer in answers} == {1}
    steps = in_its_own_process("why", RUN, "--json", cwd=workspace).json["steps"]
    assert [step["iteration"] for step in steps] == [1]


def test_a_fence_that_is_lost_writes_no_decision(workspace, monkeypatch):
    monkeypatch.setenv("DOS_FENCE", "4711")
    answer = in_process("decide", "--run", RUN, "--outcome", SHIPPED)
    assert answer.code != 0
    assert "fence 4711" in answer.err


def test_a_run_that_did_all_that_it_declared_stops_by_gits_word_alone(workspace):
    begun = in_process("run", "begin", "--goal", "one file", "--step", "s1", "--json").json[
        "run_id"
    ]
    assert decide("--run", begun, "--outcome", SHIPPED).json["action"] == "continue"
    (workspace / "api" / "b.txt").write_text("b")
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "Do it", cwd=workspace)
    in_process("run", "claim", begun, "s1", "--sha", "HEAD")
    assert decide("--run", begun, "--outcome", SHIPPED).json["action"] == "continue"
    assert in_process("run", "verify", begun, "s1", "--sha", "HEAD").code == 0
    assert decide("--run", begun, "--outcome", SHIPPED).json["stop_reason"] == "complete"


def test_a_run_that_has_ended_is_not_decided_any_more(workspace):
    begun = in_process("run", "begin", "--goal", "g", "--step", "s1", "--json").json["run_id"]
    in_process("run", "end", begun, "--result", "failed")
    answer = in_process("decide", "--run", begun, "--outcome", SHIPPED)
    assert (answer.code, "has ended" in answer.err) == (2, True)


def test_who_asks_afterwards_finds_the_stop(workspace):
    for _ in range(3):
        decide("--run", RUN, "--lane", "api", "--outcome", EMPTY_SHIP)
    assert "no work delivered: nothing landed 3 of 3 times in a row" in in_process("status").out
    assert in_process("why", RUN, "--json").json["stop"]["stop_reason"] == "consecutive-dirty-zero"


def test_a_launch_told_again_is_the_same_although_time_went_by(workspace):
    failed = '{"kind":"LAUNCH_FAILED","retry_after_seconds":5}'
    first = decide("--run", RUN, "--iteration", "1", "--outcome", failed).json
    again = decide("--run", RUN, "--iteration", "1", "--outcome", failed).json
    assert (first["until"], again["repeated"]) == (again["until"], True)


@pytest.mark.parametrize(
    "outcome", [SHIPPED, '{"kind":"GATE","verdict":"DRAIN"}'], ids=["goes on", "stops"]
)
def test_a_run_without_a_lane_is_nothing_that_a_supervisor_finds(workspace, outcome):
    """It was told at the next start as a lane without a name that is resumed."""
    state = '{"gate_mode":"soft"}'
    assert decide("--run", RUN, "--state", state, "--outcome", outcome, "--unit", "A/1").code in (
        0,
        3,
    )
    with World(workspace) as world:
        fleet, _ = fold.current(world.journal, FleetState)
    assert fleet.runs == {} and fleet.starts == {}
    rows = in_process("top", "--once", "--json").json["rows"]
    assert "" not in [row["lane"] for row in rows]
    assert in_process("why", RUN).code == 0  # the run itself is told


def test_a_run_with_a_lane_is_still_told_of(workspace):
    assert decide("--run", RUN, "--outcome", SHIPPED, "--lane", "api").code == 0
    with World(workspace) as world:
        fleet, _ = fold.current(world.journal, FleetState)
    assert fleet.runs[RUN].lane == "api"
