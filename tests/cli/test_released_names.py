"""Names and shapes that callers of dos-kernel rely on: keys that are strings, `top --json`, `python
-m dos.cli`."""

import subprocess
import sys

import pytest
from commanding import git, in_process

from dos.cli.verify import verify
from dos.loop.tokens import words
from dos.machine.process import dos_arguments as words_of
from dos.verify.candidate import Contradiction, Tier
from dos.verify.shipped import Answer, Source, Verdict


def test_the_module_by_its_released_name_is_the_command(workspace):
    done = subprocess.run(
        [sys.executable, "-m", "dos.cli", "version"], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, in_process("version").out)
    assert words_of(["/usr/bin/python3", "-m", "dos.cli", "worker", "--lane", "x"]) == [
        "worker",
        "--lane",
        "x",
    ]


def test_what_is_nothing_is_an_empty_string_as_released(workspace):
    assert in_process("reconcile", "A", "--oracle-shipped", "--json").json["flag"] == ""
    assert (
        in_process("reconcile", "A", "--claimed-done", "--no-oracle-shipped", "--json").json["flag"]
        != ""
    )
    assert in_process("reward", "--no-claim", "--json").json["accountability"] == ""
    assert in_process("answer-shape", "--text", "The answer is 42.", "--json").json["matched"] == ""
    minted = in_process("run-id", "mint", "p", "--write", "--json").json["run_id"]
    spine = in_process("trace", minted, "--json").json["spine"]
    assert (spine["parent_id"], spine["root_id"], spine["process_id"]) == ("", minted, "PROC-p")
    nobody = in_process("trace", "RID-0123456789ABCDE", "--json").json["spine"]
    assert {nobody[key] for key in ("parent_id", "root_id", "process_id")} == {""}


def test_top_has_the_released_keys_beside_ours(workspace):
    in_process("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--loop-ts", "T1")
    answer = in_process("top", "--json").json
    assert {"workspace", "now", "initialized", "lanes", "verdicts", "activity"} <= set(answer)
    assert {"rows", "totals", "supervisors", "landings", "decisions", "limits"} <= set(answer)
    assert (answer["workspace"], answer["initialized"]) == (str(workspace), True)
    lanes = {lane["lane"]: lane for lane in answer["lanes"]}
    assert list(lanes) == [row["lane"] for row in answer["rows"]]
    held, free = lanes["api"], lanes["docs"]
    assert set(held) == {
        "lane", "chip", "loop_ts", "holder", "heartbeat_age_ms", "liveness_reason", "is_exclusive",
    }  # fmt: skip
    assert (held["holder"], held["loop_ts"], held["chip"]) == ("A", "T1", "🟢 ADVANCING")
    assert isinstance(held["heartbeat_age_ms"], int)
    assert (free["chip"], free["holder"], free["heartbeat_age_ms"]) == ("⚪ FREE", "", None)
    assert [lane for lane, row in lanes.items() if row["is_exclusive"]] == ["global"]
    assert answer["activity"] == [
        {"sha": git("log", "-1", "--format=%h", cwd=workspace).strip(), "subject": "Begin"}
    ]
    assert answer["verdicts"] == []


@pytest.mark.parametrize("source", Source)
def test_json_says_by_its_token_how_a_unit_is_known_to_have_shipped_and_the_text_in_words(source):
    verdict = Verdict(
        answer=Answer.SHIPPED, plan="AUTH", phase="AUTH1", ref="HEAD", tier=Tier.LIVE,
        reason="12 of 12 lines stand", source=source, sha="7fe0962",
        contradictions=(Contradiction.CONFIG_DIRTY,), limits=("shallow",),
    )  # fmt: skip
    text = verify.line(verdict, {"7fe0962": "7fe0962"})
    notes = "[the history is cut off, dos.toml on disk has other rules; the committed one was used]"
    assert (
        text
        == f"SHIPPED AUTH/AUTH1 7fe0962  {words(source)}; T4 live: 12 of 12 lines stand {notes}"
    )
    data = verify.data(verdict, {"7fe0962": "7fe0962"})
    assert (data["source"], data["limits"], data["contradictions"]) == (
        source,
        ["shallow"],
        ["config_dirty"],
    )


def test_of_a_unit_that_nothing_shows_the_text_names_no_source(workspace):
    answer = in_process("verify", "AUTH", "AUTH9")
    reason = "no commit of HEAD names it as done, and no plan there declares it"
    assert answer.out == f"NOT SHIPPED AUTH/AUTH9  {reason}\n"
    assert in_process("verify", "AUTH", "AUTH9", "--json").json["source"] == "none"


def test_an_id_without_its_plan_is_answered_with_the_unit_that_it_may_mean(workspace):
    (workspace / "docs").mkdir(exist_ok=True)
    (workspace / "docs" / "auth-plan.md").write_text("# Auth\n\n## AUTH AUTH9: login\n")
    answer = in_process("verify", "auth9")
    assert answer.code == 2
    assert "'auth9'; did you mean AUTH/AUTH9?" in answer.err


def test_a_unit_that_a_committed_plan_declares_is_not_said_to_be_undeclared(workspace):
    (workspace / "docs").mkdir(exist_ok=True)
    (workspace / "docs" / "auth-plan.md").write_text("# Auth\n\n## AUTH9: login\n")
    git("add", "docs", cwd=workspace)
    git("commit", "-qm", "Plan", cwd=workspace)
    answer = in_process("verify", "AUTH", "AUTH9")
    assert answer.out == "NOT SHIPPED AUTH/AUTH9  no commit of HEAD names it as done\n"
