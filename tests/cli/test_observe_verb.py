"""Verdicts are on record wherever there is a journal, and recording one changes nothing else."""

import sqlite3
import time

import pytest
from commanding import in_its_own_process

from dos.journal import streams
from dos.journal.events.doors import HookAnswered, ToolCalled
from dos.verbs.listing.table import VERBS
from dos.verbs.verdicts import JUDGES
from dos.world import World, open_journal


@pytest.fixture
def journal(dos, workspace):
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "A").code == 0
    with World(workspace) as world, open_journal(world.workspace, "") as store:
        yield store


def test_every_judge_is_a_verb():
    assert sorted(JUDGES - set(VERBS)) == []


def test_verdicts_are_counted_by_verb_in_the_released_order(dos, journal):
    assert dos("breaker", "--consecutive", "3").code == 3
    assert dos("verify", "AUTH", "AUTH9").code == 1
    assert dos("verify", "AUTH", "AUTH9").code == 1
    data = dos("observe", "--json").json
    assert sorted(data) == ["corrupt", "events", "rollup", "run", "syscall_filter"]
    rollup = data["rollup"]
    assert rollup["dimensions"] == ["verify", "breaker", "lease_lane_acquire"]
    assert rollup["counts"]["verify"] == {"NOT_SHIPPED": 2}
    assert rollup["counts"]["breaker"] == {"OPEN": 1}
    assert (rollup["by"], rollup["total"], rollup["corrupt"]) == ("syscall", 4, 0)


def test_a_record_has_the_released_keys(dos, journal, workspace, monkeypatch):
    monkeypatch.setenv("CID_RUN_ID", "RID-1")
    dos("verify", "AUTH", "AUTH9")
    (event,) = dos("observe", "--tail", "1", "--json").json["events"]
    at = event.pop("ts")
    assert at.endswith("Z")
    detail = event.pop("detail")
    assert detail["exit_code"] == 1
    assert event == {
        "schema_family": "verdict-journal",
        "schema_version": 1,
        "seq": 2,
        "syscall": "verify",
        "verdict": "NOT_SHIPPED",
        "run_id": "RID-1",
        "lane": "",
        "subject": "AUTH::AUTH9",
        "source": "kernel",
    }


def test_the_status_of_a_run_and_a_packet_are_verdicts_and_that_of_the_fleet_is_none(dos, journal):
    run_id = dos("run-id", "mint", "x", "--write").json["run_id"]
    assert dos("status").code == 0
    answer = dos("status", run_id, "--json")
    assert dos("packet", "--json").json["verdict"] == "DRAIN"
    status, packet = dos("observe", "--tail", "2", "--json").json["events"]
    verdict = answer.json["liveness"]
    assert (status["syscall"], status["verdict"]) == ("status", verdict["verdict"])
    assert (status["run_id"], status["detail"]["reason"]) == (run_id, verdict["reason"])
    assert (packet["syscall"], packet["verdict"]) == ("packet", "DRAIN")


def test_history_is_that_of_a_run_or_of_a_verb(dos, journal):
    journal.record(streams.HOOKS, answered("DENY", session="s", run_id="RID-7", lane="api"))
    dos("breaker", "--consecutive", "0")
    (event,) = dos("observe", "--run", "RID-7", "--json").json["events"]
    assert (event["syscall"], event["verdict"], event["source"]) == ("pretool", "BLOCK", "sensor")
    assert dos("observe", "--syscall", "breaker", "--json").json["rollup"]["total"] == 1
    assert dos("observe", "--by", "source", "--json").json["rollup"]["counts"] == {
        "kernel": {"ACQUIRE": 1, "CLOSED": 1},
        "sensor": {"BLOCK": 1},
    }


def test_without_a_journal_nothing_is_recorded_and_none_is_created(dos, state):
    assert dos("breaker", "--consecutive", "3").code == 3
    assert not (state / "state.db").exists()
    assert dos("observe", "--json").json["rollup"]["total"] == 0


def test_a_journal_that_cannot_be_written_changes_neither_answer_nor_exit_code(
    dos, journal, state, workspace
):
    healthy = in_its_own_process("breaker", "--consecutive", "3", cwd=workspace)
    with sqlite3.connect(state / "state.db", isolation_level=None) as locked:
        locked.execute("begin immediate")
        started = time.monotonic()
        busy = in_its_own_process("breaker", "--consecutive", "3", cwd=workspace)
        waited = time.monotonic() - started
        locked.execute("rollback")
    assert (busy.code, busy.out, busy.err) == (healthy.code, healthy.out, healthy.err)
    assert waited < 10, "a verb waited for its record"
    (state / "state.db").write_bytes(b"not a database" * 1000)
    broken = in_its_own_process("breaker", "--consecutive", "3", cwd=workspace)
    assert (broken.code, broken.out, broken.err) == (healthy.code, healthy.out, healthy.err)


def test_a_dos_toml_with_errors_is_not_spoken_of_by_a_verb_that_does_not_read_it(
    dos, journal, workspace
):
    (workspace / "dos.toml").write_text("[lanes")
    answer = dos("answer-shape", "--text", "It is done.")
    assert (answer.code, answer.err) == (0, "")


def test_a_decision_that_the_journal_has_is_recorded_once(dos, journal):
    run_id = dos("run-id", "mint", "x").json["run_id"]
    outcome = '{"kind":"UNCLEAR"}'
    assert dos("decide", "--run", run_id, "--outcome", outcome).code == 0
    counts = dos("observe", "--syscall", "decide", "--json").json["rollup"]["counts"]
    assert counts == {"decide": {"CONTINUE": 1}}


def test_a_damaged_verdict_is_counted_and_exits_1(dos, journal):
    journal.append(streams.VERDICTS, "verdict_given", {"syscall": 7})
    answer = dos("observe", "--json")
    assert (answer.code, answer.json["corrupt"], answer.json["rollup"]["corrupt"]) == (1, 1, 1)


# helped


def answered(action, **fields):
    return HookAnswered(moment="pretool", action=action, tool="Write", **fields)


def test_helped_counts_what_was_withheld_and_why(dos, journal):
    facts = [
        answered("DENY", session="s", reason_class="OUT_OF_REGION", paths=("docs/a",), reason="r"),
        answered("DENY", session="s", reason_class="OUT_OF_REGION", paths=("docs/a",), reason="r"),
        answered("DENY", session="t", reason_class="FENCE_LOST"),
        answered("WARN", session="s"),
        answered("ASK", session="s", intervention="DEFER"),
    ]
    for fact in facts:
        journal.record(streams.HOOKS, fact)
    data = dos("helped", "--json").json
    latest, since = data.pop("latest"), data.pop("since")
    assert latest >= since > "2026"
    assert data == {
        "total": 5,
        "enforced": 5,
        "withheld": 4,
        "blocked": 3,
        "warned": 1,
        "deferred": 1,
        "by_rung": {"BLOCK": 3, "WARN": 1, "DEFER": 1},
        "by_reason": {"OUT_OF_REGION": 2, "UNCLASSIFIED": 2, "FENCE_LOST": 1},
        "by_tool": {"Write": 5},
    }
    assert dos("helped", "--session", "t", "--json").json["total"] == 1
    assert dos("helped", "--since", "2200-01-01", "--json").json["total"] == 0
    explained = dos("helped", "--explain", "--json").json
    assert len(explained["examples"]["OUT_OF_REGION"]) == 1  # the second one is the same
    assert set(explained["glossary"]) == set(data["by_reason"])


def test_a_line_break_in_what_an_agent_names_makes_no_line_of_ours(dos, journal):
    forged = "\nFENCE_LOST: nothing was refused"
    for fact in (
        HookAnswered(
            moment="pretool", action="DENY", tool=f"Bash{forged}", reason_class="OUT_OF_REGION",
            paths=(f"docs/a{forged}",), reason=f"because{forged}", session="s",
        ),
        ToolCalled(session="s", tool=f"mine{forged}", args_digest="a", result_digest="b"),
    ):  # fmt: skip
        journal.record(streams.HOOKS, fact)
    shown = dos("helped", "--explain", "--output", "text").out
    assert len(shown.splitlines()) == 4, shown
    assert "'Bash\\nFENCE_LOST: nothing was refused' 1" in shown
    assert "docs/a\\nFENCE_LOST" in shown and "because\\nFENCE_LOST" in shown
    assert forged.strip() in dos("helped", "--json").out
    told = dos("journal", "tail", "0").out
    assert not any(line.startswith("FENCE_LOST") for line in told.splitlines())


def test_helped_shows_honest_names_as_they_are(dos, journal):
    for tool in ("Write", "mcp__github__create-issue", "functions.shell"):
        journal.record(streams.HOOKS, HookAnswered(moment="pretool", action="DENY", tool=tool))
    shown = dos("helped").out
    assert "by tool: Write 1, mcp__github__create-issue 1, functions.shell 1" in shown


def test_helped_refuses_a_since_that_is_no_time(dos):
    answer = dos("helped", "--since", "yesterday")
    assert answer.code == 2
    assert "is not an age or a date" in answer.err
