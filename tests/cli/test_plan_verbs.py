"""The verbs about plans: enumerate, plan, packet with the gate behind it, reconcile."""

import os
import pty
import subprocess
import sys
import time

import pytest
from commanding import git
from msgspec import json
from patience import PATIENCE

from dos.journal import streams
from dos.journal.events.fleet import UnitClaimed, UnitLanded
from dos.lanes import admission
from dos.lease import Request
from dos.regions import region
from dos.workspace import find
from dos.world import open_journal

PLAN = """# Auth

## 1. AUTH AUTH1 — log in ✅
- lane: api
- acceptance: `true`
## 2. AUTH AUTH2 — sessions
- lane: api
- **AUTH2.1 — store**
## 3. AUTH AUTH3 — tokens
- lane: worker
- depends: AUTH2
### DOCS DOCS1: explain
- lane: docs
- gated: the operator picks a tool
"""


@pytest.fixture
def plans(workspace):
    (workspace / "docs" / "auth-plan.md").write_text(PLAN)
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "Plan", cwd=workspace)
    return workspace


def landed(place, *units, claims=()):
    sha = git("rev-parse", "HEAD", cwd=place).strip()
    with open_journal(find(place), "") as journal:
        for unit in units:
            fact = UnitLanded(
                run_id="RID-1", lane="api", unit=unit, branch="main", base="", commit=sha
            )
            journal.record(streams.unit(unit), fact)
        for unit in claims:
            request = Request(
                lane="api",
                holder="h",
                host="h",
                ttl_ms=60_000,
                region=region(["api/**"]),
                run_id="RID-2",
            )
            journal.acquire(request, admission.judge)
            journal.record(
                "run/RID-2", UnitClaimed(run_id="RID-2", lane="api", unit=unit, iteration=1)
            )
    return sha


# enumerate


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("## AB1: a\n", [], 0),
        ("## AB1: a\n", ["--series", "ab"], 0),
        ("## AB1: a\n", ["--shipped", '["AB1"]'], 0),
        ("## AB1: a\n", ["--shipped", '["AB9"]'], 3),
        ("## AB1: a\n```\n", [], 3),
        ("nothing\n", [], 4),
        ("## AB1: a\n", ["--series", "CD"], 4),
        ("## AB1: a\n", ["--shipped", "AB1"], 2),
        ("## AB1: a\n", ["--shipped", '{"AB1": 1}'], 2),
        ("## AB1: a\n", ["--shipped", "[1]"], 2),
        ("## AB1: a\n", ["--series", " "], 2),
        ("## AB1: a\0\n", [], 2),
    ],
)
def test_enumerate_answers_by_its_exit_code(dos, workspace, text, words, code):
    (workspace / "x-plan.md").write_text(text)
    answer = dos("enumerate", "x-plan.md", *words)
    assert answer.code == code, answer
    assert answer.err.startswith("error: ") == (code == 2)


@pytest.mark.parametrize("path", ["nowhere.md", "docs", "x" * 5000, "a\nb", ""])
def test_a_document_that_cannot_be_read_is_an_error(dos, path):
    answer = dos("enumerate", path)
    assert answer.code == 2 and answer.err.startswith("error: ")


def test_enumerate_has_the_keys_that_scripts_read(dos, plans):
    answer = dos("enumerate", "docs/auth-plan.md", "--json").json
    assert answer.keys() == {"series", "units", "remaining", "shipped", "by_unit", "drift"}
    assert answer["units"] == ["AUTH1", "AUTH2", "AUTH2.1", "AUTH3", "DOCS1"]
    assert answer["shipped"] == ["AUTH1"]
    assert answer["by_unit"]["AUTH1"] == {
        "unit": "AUTH1",
        "source": "header",
        "shipped": True,
        "shipped_by": "stamp",
        "evidence": "## 1. AUTH AUTH1 — log in ✅",
    }


def test_enumerate_in_words(dos, plans):
    lines = dos("enumerate", "docs/auth-plan.md", "--series", "AUTH").out.splitlines()
    assert lines[0] == "series=AUTH units=4 shipped=1 remaining=3"
    assert [line.split()[1] for line in lines[1:]] == ["AUTH1", "AUTH2", "AUTH2.1", "AUTH3"]


def test_a_document_is_found_from_any_folder_by_the_name_that_the_board_shows(
    dos, plans, monkeypatch
):
    monkeypatch.chdir(plans / "api")
    assert dos("enumerate", "docs/auth-plan.md").code == 0


def test_the_grammar_of_the_workspace_is_used(dos, plans):
    with (plans / "dos.toml").open("a") as file:
        file.write("\n[enumerate]\nheading_levels = [3]\n")
    assert dos("enumerate", "docs/auth-plan.md", "--json").json["units"] == ["AUTH2.1", "DOCS1"]


def test_every_reader_of_one_document_finds_the_same_units(dos, plans):
    board = [row["phase"] for row in dos("plan", "--json").json["phases"]]
    assert dos("enumerate", "docs/auth-plan.md", "--json").json["units"] == board
    assert [
        row["unit"].rpartition("/")[2] for row in dos("status", "--json").json["units"]
    ] == board


# plan


def test_the_board_sets_claims_beside_the_truth(dos, plans):
    sha = landed(plans, "AUTH/AUTH2", claims=["AUTH/AUTH2.1"])
    answer = dos("plan", "--json").json
    assert answer.keys() >= {
        "workspace",
        "now",
        "plan_source",
        "initialized",
        "phases",
        "activity",
        "summary",
    }
    assert [(row["phase"], row["divergence"], row["is_divergent"]) for row in answer["phases"]] == [
        ("AUTH1", "⚠over-claim", True),
        ("AUTH2", "✓under-claim", True),
        ("AUTH2.1", "·pending", False),
        ("AUTH3", "·pending", False),
        ("DOCS1", "·pending", False),
    ]
    assert answer["summary"] == {
        "phases": 5, "shipped": 1, "divergent": 2, "over_claims": 1, "in_flight": 1, "gated": 1,
    }  # fmt: skip
    row = answer["phases"][1]
    assert row.keys() >= {
        "plan", "phase", "doc_path", "claimed_status", "oracle_shipped", "oracle_source",
        "oracle_sha", "divergence", "is_divergent", "lane", "lane_chip", "decision_ref",
    }  # fmt: skip
    assert (row["oracle_sha"], row["oracle_shipped"], row["lane"], row["lane_chip"]) == (
        sha,
        True,
        "api",
        "🟢 HELD",
    )
    assert (answer["plan_source"], answer["initialized"]) == ("markdown", True)
    assert answer["activity"][0]["subject"] == "Plan"


@pytest.mark.parametrize(
    ("heading", "is_landed", "cell", "words"),
    [
        ("## U1: x ✅", True, "✓shipped", "✓ shipped"),
        ("## U1: x ✅", False, "⚠over-claim", "⚠ ticked, not in git"),
        ("## U1: x", True, "✓under-claim", "✓ in git, not ticked"),
        ("## U1: x", False, "·pending", "· open"),
        ("## U1: x\n- status: purple", True, "✓shipped", "✓ shipped"),
        ("## U1: x\n- status: purple", False, "—", "— no status"),
    ],
)
def test_the_cells_of_the_board(dos, workspace, heading, is_landed, cell, words):
    (workspace / "docs" / "a-plan.md").write_text(f"{heading}\n")
    if is_landed:
        landed(workspace, "A/U1")
    assert dos("plan", "--json").json["phases"][0]["divergence"] == cell
    assert f"\n  {words}  A/U1  " in dos("plan").out


def lost_target(plans):
    """Nobody can say what a branch holds that is not there."""
    with (plans / "dos.toml").open("a") as file:
        file.write('\n[workers]\ntarget_branch = "gone"\n')


def test_a_truth_that_cannot_be_read_is_no_divergence(dos, plans):
    landed(plans, "AUTH/AUTH1")
    lost_target(plans)
    row = dos("plan", "--json").json["phases"][0]
    assert (row["divergence"], row["is_divergent"], row["oracle_shipped"]) == (
        "?unknown",
        False,
        None,
    )


def test_pairs_can_be_asked_for(dos, plans):
    answer = dos("plan", "AUTH", "AUTH1", "OTHER", "--json").json
    assert answer["plan_source"] == "explicit"
    assert [(row["plan"], row["phase"], row["divergence"]) for row in answer["phases"]] == [
        ("AUTH", "AUTH1", "—"),
        ("OTHER", "", "—"),
    ]


def test_the_board_leaves_no_trace(dos, plans):
    (plans / "dos.toml").unlink()
    git("commit", "--quiet", "--all", "--message", "Without a configuration", cwd=plans)
    answer = dos("plan", "--json")
    assert answer.code == 0 and not answer.err and not answer.json["initialized"]
    assert git("status", "--porcelain", cwd=plans) == ""
    assert not (plans / ".git" / "dos").exists()


def test_the_board_says_what_is_wrong_with_the_plans(dos, plans):
    (plans / "docs" / "b-plan.md").write_text("## B1: x\n- depends: NOBODY1\n")
    assert (
        "docs/b-plan.md:1: unit B/B1 depends on 'NOBODY1', which no plan declares"
        in dos("plan").out
    )


@pytest.mark.parametrize(
    "words",
    [
        ["--source", "jira"],
        ["--source", "command"],
        ["--interval", "0.1"],
        ["--interval", "nan"],
        ["a\nb"],
    ],
)
def test_a_board_that_cannot_be_drawn_is_an_error(dos, plans, words):
    answer = dos("plan", *words)
    assert answer.code == 2 and answer.err.startswith("error: ")


def test_on_a_terminal_the_board_is_drawn_again_until_it_is_interrupted(plans):
    master, slave = pty.openpty()
    words = [sys.executable, "-m", "dos", "plan", "--interval", "0.5"]
    with subprocess.Popen(
        words, cwd=plans, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    ) as child:
        os.close(slave)
        seen = b""
        deadline = time.monotonic() + PATIENCE
        while seen.count(b"AUTH/AUTH1") < 2 and time.monotonic() < deadline:
            seen += os.read(master, 65536)
        child.send_signal(2)
        while True:
            try:
                seen += os.read(master, 65536)
            except OSError:  # the other end is closed
                break
        assert child.wait(timeout=PATIENCE) == 0
    os.close(master)
    assert seen.count(b"\x1b[H\x1b[2J") >= 2 and b"Traceback" not in seen


# packet and gate


def test_a_packet_is_written_and_the_gate_reads_it(dos, plans):
    answer = dos("packet", "--write", "--limit", "2")
    assert answer.code == 0
    last = answer.out.splitlines()[-1]
    assert last.startswith("Saved: ") and last.endswith("next-up-" + last.partition("next-up-")[2])
    assert last.endswith("(verdict=LIVE)")
    folder = plans / ".dos" / "verdicts"
    (sidecar,) = folder.glob(".dispositions-*.json")
    assert dos("gate", str(sidecar)).code == 0
    (prompts,) = folder.glob("next-up-*.prompts.json")
    picks = json.decode(prompts.read_bytes())["picks"]
    assert [(pick["n"], pick["phase_id"]) for pick in picks] == [(1, "AUTH2"), (2, "AUTH2.1")]
    assert "Unit: AUTH/AUTH2" in picks[0]["prompt_text"] and picks[0]["reserve_paths"] == ["api/**"]
    (page,) = folder.glob("next-up-*.md")
    assert f"### 1. AUTH AUTH2 — sessions\n\n~~~text\n{picks[0]['prompt_text']}" in page.read_text()
    assert git("status", "--porcelain", cwd=plans) == ""


def test_without_write_a_packet_is_only_shown(dos, plans):
    answer = dos("packet")
    assert (
        answer.code == 0
        and "### 1. AUTH AUTH2 — sessions" in answer.out
        and answer.out.endswith("verdict=LIVE\n")
    )
    assert not (plans / ".dos").exists()


@pytest.mark.parametrize(
    ("scope", "picked"),
    [
        (["api"], ["AUTH2", "AUTH2.1", "AUTH1"]),
        (["backend"], ["AUTH2", "AUTH2.1", "AUTH1"]),
        (["worker"], []),
        (["AUTH"], ["AUTH2", "AUTH2.1", "AUTH3", "AUTH1"]),
        (["auth"], ["AUTH2", "AUTH2.1", "AUTH3", "AUTH1"]),
        (["api", "worker"], ["AUTH2", "AUTH2.1", "AUTH3", "AUTH1"]),
        (["docs"], []),
        (["DOCS"], []),
    ],
)
def test_a_scope_is_a_lane_or_a_plan(dos, plans, scope, picked):
    answer = dos("packet", "--json", *(f"--scope={word}" for word in scope))
    assert [pick["phase_id"] for pick in answer.json["picks"]] == picked


@pytest.mark.parametrize(
    "words", [["--scope", "nope"], ["--scope", ""], ["--limit", "0"], ["--limit", "-3"]]
)
def test_a_packet_of_nothing_that_exists_is_an_error(dos, plans, words):
    answer = dos("packet", "--write", *words)
    assert answer.code == 2 and answer.err.startswith("error: ")
    assert not (plans / ".dos").exists()


@pytest.mark.parametrize(
    ("text", "units", "claims", "code", "token"),
    [
        ("## U1: x\n", [], [], 0, "LIVE"),
        ("nothing\n", [], [], 3, "DRAIN"),
        ("## U1: x ✅\n", ["A/U1"], [], 3, "DRAIN"),
        ("## U1: x\n", ["A/U1"], [], 4, "STALE-STAMP"),
        ("## U1: x\n", [], ["A/U1"], 5, "BLOCKED"),
        ("## U1: x\n- class: draft\n", [], [], 3, "DRAIN"),
        ("## U1: x\n- soak until: 2999-01-01\n", [], [], 3, "DRAIN"),
        ("## U1: x\n- soak until: 2020-01-01\n", [], [], 0, "LIVE"),
        ("## U1: x\n- lane: nobody\n", [], [], 3, "DRAIN"),
    ],
)
def test_the_exit_code_is_the_gates(dos, workspace, text, units, claims, code, token):
    (workspace / "docs" / "a-plan.md").write_text(text)
    landed(workspace, *units, claims=claims)
    for words in ([], ["--write"]):
        answer = dos("packet", "--json", *words)
        assert (answer.code, answer.json["verdict"]) == (code, token)
    assert dos("gate", answer.json["paths"]["dispositions"], "--json").json["verdict"] == token


def test_a_race_beside_the_dispositions_is_the_answer(dos, plans):
    paths = dos("packet", "--write", "--json").json["paths"]
    tag = paths["dispositions"].partition(".dispositions-")[2]
    race = plans / ".dos" / "verdicts" / f".race-{tag}"
    race.write_text('{"schema": "next-up-race-v1"}')
    assert dos("gate", paths["dispositions"]).code == 6


@pytest.mark.soak
def test_packets_of_one_day_are_numbered_and_never_written_over(dos, plans):
    words = [sys.executable, "-m", "dos", "packet", "--write", "--json"]
    children = [subprocess.Popen(words, cwd=plans, stdout=subprocess.PIPE) for _ in range(4)]
    written = [
        json.decode(child.communicate(timeout=PATIENCE)[0])["paths"]["packet"] for child in children
    ]
    assert len(set(written)) == 4
    assert sorted(name.rpartition("-")[2] for name in written) == ["1.md", "2.md", "3.md", "4.md"]
    assert not list((plans / ".dos" / "verdicts").glob(".writing-*"))


def test_a_packet_is_no_plan(dos, plans):
    with (plans / "dos.toml").open("a") as file:
        file.write('\n[paths]\nnext_packets = "out"\nplans_glob = "**/*.md"\n')
    assert dos("packet", "--write").code == 0
    before = dos("plan", "--json").json
    assert (before["summary"]["phases"], before["problems"]) == (5, [])


def test_a_packet_that_cannot_be_written_is_an_error(dos, plans):
    (plans / ".dos").write_text("in the way")
    answer = dos("packet", "--write")
    assert answer.code == 2 and "cannot be written" in answer.err


def test_what_has_landed_and_cannot_be_known_makes_no_packet(dos, plans):
    landed(plans, "AUTH/AUTH1")
    lost_target(plans)
    answer = dos("packet", "--write")
    assert answer.code == 7 and answer.out.startswith("UNKNOWN  ")
    assert not (plans / ".dos").exists()


# reconcile


@pytest.mark.parametrize(
    ("words", "code", "state"),
    [
        (["--oracle-shipped"], 0, "VERIFIED"),
        (["--oracle-shipped", "--claimed-done"], 0, "VERIFIED"),
        (["--no-oracle-shipped", "--claimed-done"], 3, "QUIET_INCOMPLETE"),
        (["--no-oracle-shipped"], 4, "HONEST_OPEN"),
        (["--plan", "AUTH", "--phase", "AUTH2"], 0, "VERIFIED"),
        (["--plan", "AUTH", "--phase", "AUTH3", "--claimed-done"], 3, "QUIET_INCOMPLETE"),
        (["--plan", "AUTH", "--phase", "AUTH3"], 4, "HONEST_OPEN"),
    ],
)
def test_reconcile_answers_by_its_exit_code(dos, plans, words, code, state):
    landed(plans, "AUTH/AUTH2")
    answer = dos("reconcile", "AUTH9", *words, "--json")
    assert (answer.code, answer.json["state"], answer.json["unit"]) == (code, state, "AUTH9")
    assert dos("reconcile", "AUTH9", *words).out.startswith(f"{state}  ")


def test_reconcile_without_a_truth_to_be_read(dos, plans):
    landed(plans, "AUTH/AUTH2")
    lost_target(plans)
    answer = dos(
        "reconcile", "AUTH2", "--claimed-done", "--plan", "AUTH", "--phase", "AUTH2", "--json"
    )
    assert (answer.code, answer.json["keeps_in_residual"]) == (5, True)


@pytest.mark.parametrize(
    "words",
    [
        ["U1"],
        ["U1", "--claimed-done"],
        ["U1", "--plan", "A"],
        ["U1", "--phase", "A"],
        ["U1", "--oracle-shipped", "--no-oracle-shipped"],
        [""],
        ["a\nb", "--oracle-shipped"],
        ["U1", "--plan", "a\x1bb", "--phase", "x"],
    ],
)
def test_reconcile_without_enough_to_go_by_is_an_error(dos, words):
    answer = dos("reconcile", *words)
    assert answer.code == 2 and answer.err.startswith("error: ")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("reconcile", "P/U1", "--claimed-done"), 3),  # looked up under its own name
        (("reconcile", "P/U1"), 4),
        (("reconcile", "U1", "--claimed-done"), 2),
        (("reconcile", "P/U1", "--plan", "P"), 2),
        (("reconcile", "x", "--plan", "P", "--phase", "U1"), 4),
    ],
)
def test_a_unit_with_a_plan_in_its_name_is_looked_up_by_it(dos, words, code):
    answer = dos(*words)
    assert answer.code == code, answer.err
    if code == 2:
        assert "--plan PLAN --phase U1" in answer.err
