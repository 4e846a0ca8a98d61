"""Which unit may be taken, which goes first, whether a packet is empty, whether a lane is worth it:
as typed."""

import json
from datetime import UTC, datetime

import pytest
from commanding import git

from dos import workspace as places
from dos.journal.events.fleet import FleetStarted, RunBegun, RunStopped, UnitClaimed, UnitLanded
from dos.times import format_local_time, utc_datetime
from dos.world import open_journal

PLAN = """# Auth

## AUTH1: sign in

## AUTH2: sign out
"""
LIVE = {"phase": "A1", "live": True}
STALE = {"phase": "A2", "drop_reason": "shipped", "ship_via": "direct", "plan_doc_stamped": False}
CLAIMED = {"phase": "A3", "drop_reason": "soft_claimed"}
AGAIN = "; dispatching it again cannot change that"


@pytest.fixture
def plan(workspace):
    (workspace / "docs" / "auth-plan.md").write_text(PLAN)


@pytest.fixture
def record(workspace):
    def write(*facts):
        with open_journal(places.find(workspace), "") as journal:
            for fact in facts:
                journal.record("run/RID-1", fact)

    return write


# Gate


@pytest.mark.parametrize(
    ("picks", "token", "code"),
    [([LIVE], "LIVE", 0), ([], "DRAIN", 3), ([STALE], "STALE-STAMP", 4), ([CLAIMED], "BLOCKED", 5)],
)
def test_a_gate_answers_by_its_exit_code(dos, picks, token, code, tmp_path):
    path = tmp_path / ".dispositions-t1.json"
    path.write_text(
        json.dumps({"schema": "oc3-dispositions-v1", "tag": "t1", "dispositions": picks})
    )
    typed, read = dos("gate", "--picks-json", json.dumps(picks)), dos("gate", str(path))
    assert (typed.code, read.code) == (code, code)
    assert typed.out == read.out and typed.out.startswith(f"{token}  ")
    shown = dos("gate", str(path), "--json", "--explain").json
    assert shown.keys() == {"verdict", "reason", "evidence", "interpretation"}
    assert all(
        pick.keys() == {"series", "phase", "live", "drop_reason"} for pick in shown["evidence"]
    )
    assert dos("gate", str(path), "--explain").out.splitlines()[-1].startswith("next: ")


@pytest.mark.parametrize(
    ("race", "code"), [('{"schema": "next-up-race-v1"}', 6), ("{", 2), ('{"schema": "x"}', 2)]
)
def test_a_race_file_beside_the_packet_is_a_race_even_without_the_packet(dos, tmp_path, race, code):
    (tmp_path / ".race-t1.json").write_text(race)
    assert dos("gate", str(tmp_path / ".dispositions-t1.json")).code == code
    assert dos("gate", str(tmp_path / "dispositions-t1.json")).code == 2


@pytest.mark.parametrize(
    "words",
    [
        [], ["x.json", "--picks-json", "[]"], ["--picks-json", "{}"], ["--picks-json", "nope"],
        ["--picks-json", "[{}]"], ["--picks-json", '[{"phase": "A", "live": "yes"}]'],
        ["missing.json"], ["."], ["dos.toml"], ["a\0b"], ["--picks-json", "[" * 5000],
    ],
)  # fmt: skip
def test_a_packet_that_cannot_be_read_is_an_error_and_never_a_drain(dos, words):
    answer = dos("gate", *words)
    assert answer.code == 2 and answer.err.startswith("error: ") and answer.out == ""


# Pickable


@pytest.mark.parametrize(
    ("state", "code", "text"),
    [
        ("{}", 0, "OFFERABLE  U can be picked"),
        ('{"plan_class": "draft"}', 10, "HELD(DRAFT_CLASS)  its plan is a draft" + AGAIN),
        (
            '{"operator_gated": true}',
            11,
            "HELD(OPERATOR_GATED)  a person decides" + AGAIN,
        ),
        ('{"soak_open": true}', 12, "HELD(SOAK_OPEN)  its soak period has not ended" + AGAIN),
        (
            '{"dependency_unmet": true}',
            13,
            "HELD(DEPENDENCY_UNMET)  a dependency has not shipped" + AGAIN,
        ),
        ('{"in_flight": true}', 20, "HELD(IN_FLIGHT)  "),
        ('{"soft_claimed_elsewhere": true}', 21, "HELD(SOFT_CLAIMED_ELSEWHERE)  "),
        ('{"stale_claim": true}', 22, "HELD(STALE_CLAIM)  "),
        ('{"cooldown_until_ms": 2000}', 23, "HELD(COOLDOWN)  "),
        ('{"unparseable": true}', 24, "HELD(UNPARSEABLE)  "),
        ('{"shipped": true, "in_flight": true}', 25, "HELD(SHIPPED)  "),
    ],
)
def test_a_unit_is_offerable_or_held_for_one_reason(dos, state, code, text):
    answer = dos("pickable", "U", "--state", state, "--now-ms", "1000")
    assert answer.code == code and answer.out.startswith(text)
    shown = dos("pickable", "U", "--state", state, "--now-ms", "1000", "--json").json
    assert shown.keys() == {"held", "reason", "evidence", "redispatch_invariant", "unit"}
    assert dos("pickable", "--state", state, "--now-ms", "1000").code == code


@pytest.mark.parametrize(
    "words",
    [
        [], ["U", "--state", "[]"], ["U", "--state", "nope"], ["U", "--state", "null"],
        ["U", "--state", ""], ["U", "--state", "{}", "--now-ms", "-1"],
        ["U", "--state", "{}", "--now-ms", "1e3"], ["U", "--state", "{}", "--now-ms", "9" * 15],
        ["NOSUCH"],
    ],
)  # fmt: skip
def test_a_question_about_no_unit_is_an_error(dos, plan, words):
    answer = dos("pickable", *words)
    assert answer.code == 2 and answer.err.startswith("error: ")


def test_a_unit_is_known_by_its_id_or_its_whole_name(dos, plan):
    for word in ("AUTH1", "AUTH/AUTH1"):
        assert dos("pickable", word, "--json").json["unit"] == "AUTH/AUTH1"


def test_an_id_in_two_plans_is_ambiguous(dos, plan, workspace):
    (workspace / "docs" / "other-plan.md").write_text(PLAN)
    answer = dos("pickable", "AUTH1")
    assert answer.code == 2 and "AUTH/AUTH1, OTHER/AUTH1" in answer.err
    assert dos("attempt", "AUTH1", "--outcome", "error").code == 2
    assert dos("pickable", "OTHER/AUTH1").code == 0


def landing(workspace):
    sha = git("rev-parse", "HEAD", cwd=workspace).strip()
    return UnitLanded(
        run_id="RID-1", lane="docs", unit="AUTH/AUTH1", branch="main", base="a", commit=sha
    )


def test_what_has_landed_is_held(dos, plan, record, workspace):
    record(landing(workspace))
    answer = dos("pickable", "AUTH1")
    assert answer.code == 25 and landing(workspace).commit[:9] in answer.out
    assert dos("pickable", "AUTH2").code == 0


def test_what_landed_and_is_gone_waits_for_a_person(dos, plan, record, workspace):
    record(
        UnitLanded(
            run_id="RID-1", lane="docs", unit="AUTH/AUTH1", branch="main", base="a", commit="c0ffee"
        )
    )
    answer = dos("pickable", "AUTH1")
    assert answer.code == 11 and "c0ffee is not on the target branch any more" in answer.out
    assert "held" in dos("status").out


def test_what_a_live_run_is_at_is_held_and_what_a_dead_one_was_at_is_not(dos, plan, record):
    run_id = dos("run-id", "mint", "w").json["run_id"]
    record(UnitClaimed(run_id=run_id, lane="docs", unit="AUTH/AUTH1", iteration=1))
    assert dos("pickable", "AUTH1").code == 0
    dos("lease-lane", "acquire", "--lane", "docs", "--owner", "A", "--run-id", run_id)
    answer = dos("pickable", "AUTH1")
    assert answer.code == 20 and run_id in answer.out
    dos("lease-lane", "release", "--lane", "docs", "--owner", "A")
    assert dos("pickable", "AUTH1").code == 0


def test_a_unit_at_which_runs_died_waits_for_a_person(dos, plan, record):
    again = UnitClaimed(run_id="RID-1", lane="docs", unit="AUTH/AUTH1", iteration=1, repeated=True)
    record(again, again)
    answer = dos("pickable", "AUTH1")
    assert answer.code == 11 and "died at it" in answer.out


SOAKED_MS = 1_769_904_000_000  # the end of 2026-01-31 in UTC
SOAKED = format_local_time(utc_datetime(SOAKED_MS), utc_datetime(SOAKED_MS - 1))


@pytest.mark.parametrize(
    ("field", "code", "said"),
    [
        ("class: draft", 10, "draft"),
        ("class: active", 0, ""),
        ("gated: which vendor", 11, "which vendor"),
        ("soak until: 2026-01-31", 12, f"it ends at {SOAKED}"),
        ("soak until: later", 12, "its end 'later' is not a date"),
        ("depends: AUTH1", 13, "AUTH/AUTH1"),
        ("depends: NOSUCH9", 13, "NOSUCH9"),
        ("lane: nosuch", 24, "nosuch"),
        ("class: odd", 24, "odd"),
        ("lane: docs", 0, ""),
    ],
)
def test_what_the_plan_says_of_a_unit_holds_it(dos, plan, workspace, field, code, said):
    (workspace / "docs" / "auth-plan.md").write_text(f"{PLAN}\n- {field}\n")
    answer = dos("pickable", "AUTH2", "--now-ms", str(SOAKED_MS - 1))
    assert answer.code == code and said in answer.out
    assert dos("pickable", "AUTH1").code == 0


def test_a_soak_ends_and_a_dependency_lands(dos, plan, record, workspace):
    (workspace / "docs" / "auth-plan.md").write_text(
        f"{PLAN}\n- depends: AUTH1\n- soak until: 2026-01-31\n"
    )
    assert dos("pickable", "AUTH2", "--now-ms", str(SOAKED_MS - 1)).code == 12
    assert dos("pickable", "AUTH2", "--now-ms", str(SOAKED_MS)).code == 13
    record(landing(workspace))
    assert dos("pickable", "AUTH2", "--now-ms", str(SOAKED_MS)).code == 0


def test_a_unit_that_may_stand_in_a_plan_that_cannot_be_read_is_not_just_unknown(
    dos, plan, workspace
):
    (workspace / "docs" / "other-plan.md").write_bytes(b"\0")
    answer = dos("pickable", "NOSUCH")
    assert answer.code == 2 and "other-plan.md" in answer.err


def test_the_board_says_of_each_unit_what_holds_it(dos, workspace):
    (workspace / "docs" / "auth-plan.md").write_text(
        "## AUTH1: a\n- lane: nobody\n## AUTH2: b\n- gated: ask\n## AUTH3: c\n"
        "- depends: AUTH2\n## AUTH4: d\n"
    )
    rows = dos("status", "--json").json["units"]
    assert [row["held"] for row in rows] == [
        "UNPARSEABLE",
        "OPERATOR_GATED",
        "DEPENDENCY_UNMET",
        "",
    ]
    assert [row["state"] for row in rows] == ["held", "held", "held", "open"]
    for row in rows:
        assert (dos("pickable", row["unit"], "--json").json["reason"] or "") == row["held"]


# Attempts


def test_a_gate_where_every_unit_rests_has_nothing_to_dispatch(dos, plan):
    for unit in ("AUTH1", "AUTH2"):
        dos("attempt", unit, "--outcome", "drained")
    written = dos("packet", "--write", "--json")
    assert (written.code, written.json["picks"]) == (3, [])
    assert dos("gate", written.json["paths"]["dispositions"]).code == 3


def test_an_attempt_makes_a_unit_rest_and_go_last(dos, plan, state):
    assert dos("cooldown", "AUTH1").code == dos("pick-priority", "AUTH1").code == 0
    assert not state.exists()
    noted = dos("attempt", "AUTH1", "--outcome", "drained", "--lane", "backend", "--json")
    assert noted.code == 0 and noted.json["unit_id"] == "AUTH/AUTH1" and noted.json["lane"] == "api"
    for word in ("AUTH1", "AUTH/AUTH1"):
        rests = dos("cooldown", word, "--json")
        assert (
            rests.code == 3
            and rests.json["state"] == "RECENTLY_ATTEMPTED"
            and rests.json["count"] == 1
        )
        assert dos("pick-priority", word).code == 3
    held = dos("pickable", "AUTH1")
    until_at = utc_datetime(rests.json["until_ms"])
    until = format_local_time(until_at, datetime.now(UTC))
    assert held.code == 23 and held.out.startswith(
        f"HELD(COOLDOWN)  on cooldown until {until} after an attempt\n"
    )
    assert (
        f"waiting: on cooldown until {until}: 1 attempt" in held.out
        and "dos up --retry AUTH/AUTH1" in held.out
    )
    packet = dos("packet", "--write", "--json").json
    assert [pick["phase_id"] for pick in packet["picks"]] == ["AUTH2"] and packet["left"] == 0
    assert packet["dispositions"][0]["drop_reason"] == "cooldown"
    assert [(row["state"], row["held"]) for row in dos("status", "--json").json["units"]] == [
        ("held", "COOLDOWN"),
        ("open", ""),
    ]
    assert f"on cooldown until {until}: 1 attempt" in dos("status").out
    assert dos("pickable", "AUTH1", "--now-ms", str(rests.json["until_ms"])).code == 0
    assert dos("cooldown", "AUTH1", "--now-ms", str(rests.json["until_ms"])).code == 0
    assert dos("cooldown", "AUTH2").code == dos("pick-priority", "AUTH2").code == 0
    dos("attempt", "AUTH1", "--outcome", "shipped")
    assert dos("cooldown", "AUTH1", "--json").json["count"] == 2
    assert dos("cooldown", "AUTH1").code == 0


@pytest.mark.parametrize(("hours", "rests"), [("0.5", 30), ("0", 0), ("12", 720)])
def test_the_window_is_what_the_workspace_says(dos, workspace, hours, rests):
    with (workspace / "dos.toml").open("a") as file:
        file.write(f"\n[cooldown]\nwindow_hours = {hours}\n")
    row = json.dumps([{"unit_id": "U", "outcome": "drained", "attempted_at_ms": 1000}])
    until = dos("cooldown", "U", "--attempts", row, "--now-ms", "2000", "--json").json["until_ms"]
    assert until == (1000 + rests * 60_000 if rests else 0)


ROW = {"op": "ATTEMPT", "unit_id": "U", "outcome": "drained", "attempted_at_ms": 1000}


@pytest.mark.parametrize(
    ("rows", "now_ms", "until_ms"),
    [
        ([ROW], 2000, 21_601_000),
        ([ROW | {"outcome": "error"}], 1_801_000, 0),
        ([ROW | {"outcome": "shipped"}], 2000, 0),
        ([ROW | {"outcome": "error"}, ROW], 2000, 21_601_000),
        ([ROW | {"outcome": "weird"}], 2000, 21_601_000),
        ([ROW | {"schema": {"family": "lane-journal", "version": 2}}], 2000, 0),
        ([5, None, "x", {}, ROW | {"unit_id": "V"}], 2000, 0),
        ([{**ROW, "attempted_at_ms": None, "ts": "1970-01-01T00:00:01Z"}], 2000, 21_601_000),
    ],
)
def test_attempts_that_a_caller_wrote_down_count_instead(dos, rows, now_ms, until_ms):
    answer = dos("cooldown", "U", "--attempts", json.dumps(rows), "--now-ms", str(now_ms), "--json")
    assert answer.json.keys() == {"state", "unit_id", "last_ts", "count", "until_ms", "reason"}
    assert answer.json["until_ms"] == until_ms and answer.code == (3 if until_ms else 0)


@pytest.mark.parametrize(
    ("rows", "code", "key"),
    [
        ([], 0, [0, 0]),
        ([ROW, ROW | {"attempted_at_ms": 500}], 3, [1, 1000]),
        ([ROW | {"attempted_at_ms": "garbled"}], 3, [1, 0]),
        ([ROW | {"unit_id": "V"}], 0, [0, 0]),
    ],
)
def test_the_key_to_sort_by(dos, rows, code, key):
    answer = dos("pick-priority", "U", "--attempts", json.dumps(rows), "--json")
    assert answer.code == code and answer.json["sort_key"] == key


@pytest.mark.parametrize("attempts", ["", "{}", "nope", "5", "[" * 5000])
@pytest.mark.parametrize("verb", ["cooldown", "pick-priority"])
def test_attempts_that_are_no_list_are_an_error(dos, verb, attempts):
    answer = dos(verb, "U", "--attempts", attempts)
    assert answer.code == 2 and "--attempts" in answer.err


@pytest.mark.parametrize("words", [["--outcome", "won"], [], ["--outcome", ""]])
def test_an_attempt_has_one_of_five_outcomes(dos, state, words):
    assert dos("attempt", "U", *words).code == 2
    assert not state.exists()


# Health


def stopped(reason, run_id="RID-1", lane="api"):
    return RunStopped(run_id=run_id, lane=lane, stop_reason=reason, needs="x", reason="because")


def test_a_lane_that_never_ran_is_worth_it(dos, state):
    answer = dos("health", "--lane", "backend")
    assert answer.code == 0 and answer.json["action"] == "proceed" and answer.out.startswith("{\n")
    assert not state.exists()


def test_a_stop_that_wants_mending_routes_to_that_until_a_person_starts_the_fleet_again(
    dos, record
):
    record(
        RunBegun(run_id="RID-1", lane="api", host="h", start_sha="a"),
        stopped("consecutive-dirty-zero"),
    )
    answer = dos("health", "--lane", "api")
    assert answer.code == 3 and answer.json["cause_key"] == "post_stop_respawn_no_operator_action"
    assert "RID-1: consecutive-dirty-zero" in answer.json["evidence"][0]
    assert dos("health", "--lane", "docs").code == 0
    record(FleetStarted(host="h", pid=1, target=1))
    assert dos("health", "--lane", "api").code == 0


@pytest.mark.parametrize(
    ("reason", "times", "code"),
    [
        ("blocked", 2, 0), ("blocked", 3, 3), ("drain", 3, 4), ("replan-stalled", 3, 3),
        ("launch-failed", 3, 3), ("rate-limited", 5, 0), ("complete", 5, 0),
        ("iteration-cap", 5, 0), ("lane-held", 5, 0), ("unheard-of", 3, 3),
    ],
)  # fmt: skip
def test_runs_that_stop_again_and_again_for_the_same_speak_against_a_launch(
    dos, record, reason, times, code
):
    for number in range(times):
        run_id = f"RID-{number}"
        record(
            RunBegun(run_id=run_id, lane="api", host="h", start_sha="a"), stopped(reason, run_id)
        )
    answer = dos("health", "--lane", "api")
    assert answer.code == code and answer.json["runs_considered"] == times
    assert answer.json["blocker_runs"] in (0, times)


def test_a_run_that_landed_something_speaks_for_it(dos, record):
    landed = UnitLanded(run_id="RID-9", lane="api", unit="U", branch="main", base="a", commit="c")
    for number in range(3):
        record(stopped("blocked", f"RID-{number}"))
    assert dos("health", "--lane", "api").code == 3
    record(landed, stopped("blocked", "RID-9"))
    assert dos("health", "--lane", "api").code == 0


def test_a_live_lane_with_the_same_paths_is_in_the_way(dos):
    dos("lease-lane", "acquire", "--lane", "docs", "--owner", "A", "--loop-ts", "T1")
    assert dos("health", "--lane", "api").code == 0
    answer = dos("health", "--lane", "api", "--tree", "api/**,docs/x/**")
    assert answer.code == 6 and answer.json["overlap_lane"] == "docs"
    assert dos("health", "--lane", "api", "--tree", "docs/**", "--own-lease-ts", "T1").code == 0
    assert dos("health", "--lane", "api", "--tree", "docs/**", "--leases-json", "[]").code == 0
    assert dos("health", "--lane", "mine", "--tree", "lib/**").code == 0


def test_the_log_of_a_released_host_is_read_instead(dos, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("".join(f"abc123{n} dispatch: api BLOCKED claim {n}\n" for n in range(3)))
    answer = dos("health", "--lane", "api", "--git-log-file", str(log))
    assert answer.code == 3 and answer.json["blocker_runs"] == 3
    assert dos("health", "--lane", "docs", "--git-log-file", str(log)).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["--lane", "nosuch"], ["--lane", ""], ["--lane", "api", "--leases-json", "nope"],
        ["--lane", "api", "--leases-json", "{}"], ["--lane", "api", "--window", "0"],
        ["--lane", "api", "--window", "-3"], ["--lane", "api", "--git-log-file", "missing.txt"],
        ["--lane", "api", "--git-log-file", "."], ["--lane", "api", "--tree", "/etc/**"], [],
    ],
)  # fmt: skip
def test_a_launch_is_not_judged_on_what_cannot_be_read(dos, words):
    answer = dos("health", *words)
    assert answer.code == 2 and answer.err.startswith("error: ") and answer.out == ""
