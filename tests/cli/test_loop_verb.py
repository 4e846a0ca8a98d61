"""The plan for the fleet, as it is typed and read; and the same from evidence that is given."""

import os
import signal
import subprocess
import sys
import time
from io import BytesIO
from types import SimpleNamespace

import pytest
from commanding import command, git
from msgspec import json
from patience import PATIENCE

MINUTE = 60_000


def now_ms(minutes: int = 0) -> int:
    return time.time_ns() // 1_000_000 + minutes * MINUTE


@pytest.fixture
def held(dos):
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "A").code == 0


def test_a_plan_is_told_in_lines_and_leaves_no_trace(dos, workspace, state):
    answer = dos("loop", "--target", "2")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "SUPERVISE FILLING: alive 0/2, admissible 3",
        "2 workers missing, 2 to be started",
        "spawn api  — run: /dos-dispatch-loop --lane api",
        "spawn docs  — run: /dos-dispatch-loop --lane docs",
    ]
    assert not state.exists()


def test_the_target_comes_from_the_configuration(dos, workspace):
    assert dos("loop", "--json").json["target"] == 1
    with (workspace / "dos.toml").open("a") as file:
        file.write('[supervise]\ntarget = 3\nworker_launch_template = "run {lane} {x}"\n')
    assert "run api {x}" in dos("loop").out
    assert len(dos("loop", "--json").json["spawn"]) == 3
    assert dos("loop", "--target", "0", "--json").json["verdict"] == "AT_TARGET"


def test_the_json_has_every_key_of_the_plan(dos, workspace, held):
    answer = dos("loop", "--target", "2", "--json").json
    assert answer.keys() == {
        "verdict", "reason", "alive", "admissible", "target", "spawn", "reap", "flag",
        "proposed_halt", "hold", "blocked", "evidence",
    }  # fmt: skip
    assert (answer["alive"], [row["lane"] for row in answer["spawn"]]) == (1, ["docs"])
    assert [(lane["lane"], lane["liveness"]) for lane in answer["evidence"]["lanes"]] == [
        ("api", "ADVANCING"), ("docs", None), ("worker", None), ("global", None),
    ]  # fmt: skip


def test_the_same_moment_gives_the_same_bytes(dos, workspace, held):
    for minutes in (0, 40, 100):
        moment = str(now_ms(minutes))
        assert (
            len({dos("loop", "--target", "3", "--json", "--now-ms", moment).out for _ in range(3)})
            == 1
        )


def test_a_worker_is_flagged_then_reaped_as_time_goes_by(dos, workspace, held):
    with (workspace / "dos.toml").open("a") as file:
        file.write("[supervise]\nspin_halt_after_minutes = 30\n")
    later = dos("loop", "--target", "2", "--now-ms", str(now_ms(40))).out
    assert "flag api (spinning for 40 min" in later
    assert "propose-halt api" in later and "enact with: dos halt --handle A --lane api" in later
    after = dos("loop", "--target", "1", "--now-ms", str(now_ms(60))).out
    assert "reap api (stalled: its lease is over)" in after and "spawn api" in after


def test_a_commit_in_the_region_is_progress(dos, workspace, held):
    (workspace / "api" / "b.txt").write_text("b\n")
    git("add", "api", cwd=workspace)
    git("commit", "--quiet", "--message", "Work", cwd=workspace)
    answer = dos("loop", "--now-ms", str(now_ms(25)), "--json").json
    assert answer["evidence"]["lanes"][0]["liveness"] == "ADVANCING"


def test_a_launch_that_was_written_down_is_not_made_again(dos, workspace):
    dos("lease-lane", "spawn", "--lane", "api")
    answer = dos("loop", "--target", "2", "--json").json
    assert (answer["alive"], [row["lane"] for row in answer["spawn"]]) == (1, ["docs"])
    later = dos("loop", "--target", "2", "--json", "--now-ms", str(now_ms(3))).json
    assert (later["alive"], len(later["spawn"])) == (0, 2)


def test_a_live_exclusive_lane_leaves_no_room(dos, workspace):
    dos("lease-lane", "acquire", "--lane", "global", "--owner", "A")
    answer = dos("loop", "--target", "3", "--json").json
    assert (answer["verdict"], answer["spawn"], len(answer["blocked"])) == ("FILLING", [], 3)


def test_a_budget_spreads_workers_before_it_repeats(dos, workspace):
    answer = dos("loop", "--target", "5", "--max-concurrency", "5", "--json").json
    assert [row["lane"] for row in answer["spawn"]] == ["api", "docs", "worker", "auto", "api"]


def test_a_lane_with_an_odd_name_is_one_word_of_the_command(dos, workspace):
    (workspace / "dos.toml").write_text(
        '[lanes]\nconcurrent = ["a b; c"]\n[lanes.trees]\n"a b; c" = ["x/**"]\n'
    )
    assert "--lane 'a b; c'" in dos("loop").out


def test_a_journal_that_cannot_be_read_starts_nobody(dos, workspace, state, held):
    for name in os.listdir(state):
        (state / name).write_bytes(b"no database" * 1000)
    answer = dos("loop", "--target", "3", "--json")
    assert (answer.code, answer.json["spawn"], answer.json["reap"]) == (0, [], [])
    assert {lane["liveness"] for lane in answer.json["evidence"]["lanes"]} == {"UNKNOWN"}
    assert len(answer.json["hold"]) == 4 and "damaged" in answer.json["hold"][0]["reason"]


@pytest.mark.parametrize(
    "words",
    [
        "--target -1", "--target 1000001", "--target x", "--target nan", "--target 1.5",
        "--max-concurrency 0", "--max-concurrency -3", "--interval -1", "--interval nan",
        "--interval inf", "--interval 1e12", "--max-ticks 0", "--now-ms -1",
        "--now-ms 253402300800000", "--now-ms 99999999999999999999",
    ],
)  # fmt: skip
def test_numbers_that_mean_nothing_are_an_error(dos, workspace, state, words):
    answer = dos("loop", *words.split())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ") and "hint: " in answer.err
    assert not state.exists()


def test_a_configuration_with_errors_is_no_ground_for_a_plan(dos, workspace):
    (workspace / "dos.toml").write_text("[supervise]\ntarget = -1\n")
    assert dos("loop").code == 2
    assert dos("loop", "--lenient").code == 2


def test_watching_tells_a_plan_a_line_and_ends_after_so_many(dos, workspace):
    answer = dos("loop", "--watch", "--interval", "0.01", "--max-ticks", "3", "--json")
    assert answer.code == 0
    assert [line["verdict"] for line in answer.lines] == ["FILLING"] * 3


def test_watching_sees_what_is_new_and_time_goes_on_as_told(dos, workspace, held):
    words = ("--watch", "--interval", "0", "--max-ticks", "2", "--now-ms", str(now_ms()))
    assert [line["alive"] for line in dos("loop", *words, "--json").lines] == [1, 1]
    far = dos(
        "loop",
        "--watch",
        "--interval",
        "0.001",
        "--max-ticks",
        "2",
        "--now-ms",
        str(now_ms()),
        "--json",
    )
    assert len(set(far.out.splitlines())) == 1


def test_every_tick_is_told_line_by_line(dos, workspace):
    output = dos("loop", "--watch", "--interval", "0.01", "--max-ticks", "2", "--target", "2").out
    assert output.count("SUPERVISE FILLING") == 2
    assert "\\n" not in output and "spawn api" in output.splitlines()[2]


def test_an_interrupt_ends_watching_without_a_word(workspace):
    process = subprocess.Popen(
        command("loop", "--watch", "--interval", "60", "--target", "0"),
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline().startswith(b"SUPERVISE")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, b"")


# The same from given evidence


@pytest.fixture
def batch(dos, monkeypatch):
    def ask(*lines: str):
        monkeypatch.setattr(
            sys, "stdin", SimpleNamespace(buffer=BytesIO("\n".join(lines).encode()))
        )
        return dos("supervise", "--batch")

    return ask


def tick(*lanes: dict, target: int = 1, **policy) -> str:
    line = {"evidence": {"target": target, "lanes": list(lanes)}} | (
        {"policy": policy} if policy else {}
    )
    return json.encode(line).decode()


def test_every_line_is_answered_in_its_place(batch, workspace, state):
    answer = batch(
        tick({"lane": "a", "tree": ["a/**"]}, target=1),
        tick({"lane": "a", "tree": ["a/**"], "liveness": "STALLED"}, target=1, reap_stalled=False),
        tick({"lane": "auto", "repeatable": True}, target=3, max_concurrency=3),
    )
    assert answer.code == 0
    assert [line["verdict"] for line in answer.lines] == ["FILLING"] * 3
    assert [len(line["spawn"]) for line in answer.lines] == [1, 0, 3]
    assert not state.exists()


def test_absent_fields_have_their_defaults(batch):
    assert batch('{"evidence": {}}').lines[0]["verdict"] == "TARGET_UNREACHABLE"


def test_an_answer_can_be_asked_again(batch):
    first = batch(
        tick({"lane": "a", "tree": ["a/**"], "liveness": "UNKNOWN", "why": "x"}, target=2)
    ).lines[0]
    again = batch(json.encode({"evidence": first["evidence"]}).decode()).lines[0]
    assert again == first


@pytest.mark.parametrize(
    "line",
    [
        "junk", "[]", "{}", '{"evidence": {"target": -1}}', '{"evidence": {"target": true}}',
        '{"evidence": {"target": 1.5}}', '{"evidence": {"lanes": [{"lane": ""}]}}',
        '{"evidence": {"lanes": [{"lane": "a", "liveness": "FINE"}]}}',
        '{"evidence": {"lanes": [{"lane": "a", "livenes": "STALLED"}]}}',
        '{"evidence": {"lanes": [{"lane": "a", "is_exclusive": true, "repeatable": true}]}}',
        '{"evidence": {}, "policy": {"max_concurrency": 0}}',
        '{"evidence": {}, "policy": {"reap_stalled": 1}}',
        '{"evidence": {}, "policy": {"nosuch": 1}}',
        '{"evidence": {}, "policy": {"worker_launch_template": "x"}}',
        '{"evidence": {}, "policy": {"spin_halt_after_ms": 1, "spin_halt_after_minutes": 1}}',
        '{"evidence": {}} {}',
    ],
)  # fmt: skip
def test_a_bad_line_is_answered_by_an_error_and_the_others_all_the_same(batch, line):
    answer = batch(tick(target=0), line, "", tick(target=0))
    assert answer.code == 2
    first, second, third = answer.lines
    assert (first["verdict"], third["verdict"]) == ("AT_TARGET", "AT_TARGET")
    assert second.keys() == {"error", "line"} and second["line"] == 2


def test_minutes_are_another_unit_for_the_time_until_a_halt(batch):
    spinner = {"lane": "a", "tree": ["a"], "liveness": "SPINNING", "spinning_age_ms": 90_000}
    answer = batch(
        tick(spinner, spin_halt_after_minutes=1.5), tick(spinner, spin_halt_after_minutes=1.6)
    )
    assert [len(line["proposed_halt"]) for line in answer.lines] == [1, 0]


def test_evidence_has_to_come_from_somewhere(dos, workspace):
    answer = dos("supervise")
    assert answer.code == 2 and "--batch" in answer.err
