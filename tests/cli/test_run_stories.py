"""`dos why`, `dos replay` and `dos timeline`: what a run was decided on, and whether it would be
decided so again."""

from datetime import UTC, datetime

import pytest
from commanding import in_process
from fleet_scenes import journal, stopped, work

from dos.journal import streams
from dos.journal.events.fleet import UnitTaken, WorkerReaped
from dos.journal.events.lanes import LeaseRevoked
from dos.journal.events.limits import PauseRequested
from dos.report import explain, explain_text

RUN = "RID-0123456789ABCDE"
OTHER = "RID-1123456789ABCDE"
EMPTY_SHIP = '{"kind":"SHIPPED","packet_judge":"SHIPPED-DIRTY","ship_count":0}'
SPENT = (
    '{"liveness":{"verdict":"ADVANCING","reason":"r","evidence":{"run_started_ms":0,"now_ms":2400000,'
    '"commits_since_start":1,"journal_events_since":0,"last_heartbeat_age_ms":1000,"process_alive":true,'
    '"tokens_spent_since":null,"progress_age_ms":1500000}}}'
)


@pytest.fixture
def decided(workspace):
    """Three ships that landed nothing, the second one after an overload."""
    for outcome in (EMPTY_SHIP, '{"kind":"OVERLOADED"}', EMPTY_SHIP, EMPTY_SHIP):
        in_process(
            "decide",
            "--run",
            RUN,
            "--lane",
            "api",
            "--unit",
            "P/1",
            "--evidence",
            SPENT,
            "--outcome",
            outcome,
        )
    return workspace


def test_why_tells_the_rule_that_decided_and_how_many_did_not_apply(decided):
    answer = in_process("why", RUN)
    assert answer.code == 0
    assert "iteration 2, attempt 2  P/1" in answer.out
    assert "counters nothing landed 1 time in a row" in answer.out
    rule = "agent finished (11 earlier rules did not apply); the iteration limit was checked last"
    assert f"  by rule  {rule}\n" in answer.out
    assert "stopped: no work delivered (nothing landed 3 of 3 times in a row)" in answer.out
    assert "needs you" in answer.out
    assert "decided  continue dispatch: nothing landed, 1 of 3 allowed in a row\n" in answer.out
    assert "shipped" not in answer.out and "packet" not in answer.out, "nothing did ship"


def test_why_says_whose_the_iterations_are_that_a_continued_lane_does_not_show(decided, state):
    with journal(state) as store:
        whole = explain.explain_run(RUN, store.load(streams.run(RUN)))
    later = explain.only_iteration(whole, 2)
    now = datetime.now(UTC)
    note = "Iterations before 2 were of the run on this lane that it continues"
    assert note in explain_text.render(later, now)
    assert note not in explain_text.render(whole, now)
    assert note not in in_process("why", RUN, "--iteration", "2").out


def test_why_as_json_has_the_evidence_and_the_policy_in_force(decided):
    answer = in_process("why", RUN, "--json").json
    assert [step["attempt"] for step in answer["steps"]] == [1, 1, 2, 1]
    assert answer["steps"][0]["evidence"]["liveness"]["evidence"]["progress_age_ms"] == 1_500_000
    assert answer["steps"][0]["limits"]["max_dirty_zero"] == 3
    assert answer["stop"]["stop_reason"] == "consecutive-dirty-zero"


def test_why_shows_one_iteration_when_asked(decided):
    assert len(in_process("why", RUN, "--iteration", "2", "--json").json["steps"]) == 2


def test_why_tells_that_the_worker_of_a_run_died_and_which_run_continued_its_unit(workspace, state):
    with journal(state) as store:
        taken = work(store, run_id=RUN)
        assert "No decision yet on P/U1, taken" in in_process("why", RUN).out
        store.record(
            streams.lease("api"), LeaseRevoked(lease=taken.fence, reason="its process is gone")
        )
        died = {"lane": "api", "run_id": RUN, "lease": taken.fence, "reason": "its process is gone"}
        store.record(streams.spawn("api"), WorkerReaped(**died))
        told = in_process("why", RUN)
        assert "The worker died while P/U1 was in work: its process is gone (found at" in told.out
        assert told.out.rstrip().endswith("; no run has taken it since")
        assert "No decision yet" not in told.out
        assert in_process("why", RUN, "--json").json["at_work"] == ""
        other = UnitTaken(run_id=OTHER, lane="api", unit="P/U1")
        store.record(streams.unit("P/U1"), other)
    assert f"; run {OTHER} continued it" in in_process("why", RUN).out
    assert OTHER not in in_process("timeline", RUN).out


def test_why_tells_how_a_run_stopped_that_lost_its_lease_and_lived(workspace, state):
    with journal(state) as store:
        taken = work(store, run_id=RUN)
        store.record(streams.lease("api"), LeaseRevoked(lease=taken.fence, reason="by a person"))
        assert "The run lost its lease while P/U1 was in work: by a person" in (
            in_process("why", RUN).out
        )
        store.record(streams.run(RUN), stopped(RUN, reason="lease-lost"))
    answer = in_process("why", RUN)
    assert "stopped: lease lost" in answer.out
    assert "The run lost its lease" not in answer.out


def test_why_of_a_lane_says_what_the_lane_waits_for_now(workspace, state):
    (workspace / "docs" / "p-plan.md").write_text("# P\n\n## P U1: one\n- lane: api\n")
    with journal(state) as store:
        taken = work(store, run_id=RUN)
        store.record(streams.run(RUN), stopped(RUN))
        store.release(taken.fence)
        store.record(streams.FLEET, PauseRequested(lane="api", by="ann", reason="disk full"))
    assert "Now lane api waits: paused: by ann: disk full" in in_process("why", "api").out
    assert "Now lane" not in in_process("why", RUN).out


@pytest.mark.parametrize("name", ["api", "P/U1", "U1"])
def test_a_run_is_found_by_its_lane_and_by_its_unit(workspace, state, name):
    with journal(state) as store:
        work(store, run_id=RUN)
    in_process("run", "begin", "later", "--lane", "docs")
    assert in_process("why", name, "--json").json["run_id"] == RUN


def test_a_name_that_nothing_ran_under_is_told_what_could_be_meant(decided):
    answer = in_process("why", "docs")
    assert answer.code == 2
    assert "is not a run id, a lane with a run, or a unit that was attempted" in answer.err


def test_the_newest_run_is_meant_when_none_is_named(decided):
    assert in_process("why", "--json").json["run_id"] == RUN


@pytest.mark.parametrize("verb", ["why", "replay", "timeline"])
def test_a_run_that_nobody_knows_is_not_found(workspace, verb):
    answer = in_process(verb, RUN)
    assert answer.code == 1
    assert in_process(verb).code == 1
    assert in_process(verb, "../x").code == 2


def test_a_replay_under_the_same_policy_has_no_difference(decided):
    answer = in_process("replay", RUN)
    assert (answer.code, "4 decisions, no difference" in answer.out) == (0, True)


@pytest.mark.parametrize(
    ("toml", "iteration", "replayed"),
    [
        ("[loop]\nmax_dirty_zero = 2\n", 2, "consecutive-dirty-zero"),
        ("[loop]\nmax_dirty_zero = 5\n", 3, None),
        ("[loop]\nmax_overloaded = 1\n", 2, "consecutive-overloaded"),
        ("[workers]\nmax_iterations = 1\n", 1, "iteration-cap"),
        # What was progress in a window of thirty minutes is none in one of ten.
        ("[liveness]\nwindow_minutes = 10\n", 1, "spinning"),
    ],
)
def test_a_replay_under_another_policy_names_the_first_difference(
    decided, tmp_path, toml, iteration, replayed
):
    (tmp_path / "other.toml").write_text(toml)
    answer = in_process("replay", RUN, "--policy", str(tmp_path / "other.toml"), "--json")
    assert answer.code == 3
    first = answer.json["difference"]
    assert (first["iteration"], first["replayed"]["stop_reason"]) == (iteration, replayed)


def test_a_policy_that_changes_nothing_for_the_run_has_no_difference(decided, tmp_path):
    (tmp_path / "other.toml").write_text("[loop]\nmax_race = 9\nmax_unclear = 1\n")
    assert in_process("replay", RUN, "--policy", str(tmp_path / "other.toml")).code == 0


def test_a_policy_file_that_is_none_is_an_error(decided, tmp_path):
    assert in_process("replay", RUN, "--policy", "nowhere.toml").code == 2
    (tmp_path / "broken.toml").write_text("[loop]\nmax_unclaer = 1\n")
    broken = in_process("replay", RUN, "--policy", str(tmp_path / "broken.toml"))
    assert broken.code == 2
    assert "max_unclear" in broken.err


def test_a_timeline_has_what_happened_in_order(decided):
    told = in_process("timeline", RUN, "--json").json["moments"]
    assert [moment["kind"] for moment in told] == ["iteration_committed"] * 4 + ["run_stopped"]
    assert [moment["pos"] for moment in told] == sorted(moment["pos"] for moment in told)
    assert "iteration 3: agent finished; stop, nothing landed" in in_process("timeline", RUN).out


def test_a_run_is_asked_how_it_gets_on_without_typing_a_number(decided):
    breaker = in_process("breaker", "--run", RUN, "--json")
    assert (breaker.code, breaker.json["tripped_on"]) == (3, "consecutive")
    assert in_process("convergence", "--run", RUN).code == 0
    assert in_process("breaker", "--run", "RID-0000000000000ZZ").code == 1
    assert in_process("breaker", "--run", RUN, "--total", "3").code == 2
    assert in_process("convergence", "--run", RUN, "--residuals", "3,2").code == 2
