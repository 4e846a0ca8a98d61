"""The doctor finds what would go wrong, says one command for each, and never breaks itself."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import troubles
from commanding import git
from patience import PATIENCE
from troubles import REAL_PATH, configured, finding, kinds, on_path, written

from dos import world
from dos.config.schema import Config
from dos.doctor import examine, facts
from dos.doctor.subjects import agents
from dos.errors import StoreUnreachable
from dos.machine import commands, process
from dos.world import World

healthy = troubles.healthy
KEYS = {
    "dos_version", "workspace", "git", "home", "projects_indexed", "admission_predicates", "paths",
    "lanes", "stamp", "enumerate", "cooldown", "lifecycle", "supervise", "verifiability",
    "workspace_facts", "runtime_hooks", "env", "overlap_policy", "exit_codes", "findings",
    "aliases", "class_budgets", "journal", "config",
}  # fmt: skip


def test_a_healthy_workspace_passes_the_gate(healthy, dos):
    answer = dos("doctor", "--check", "--json")
    assert {found["severity"] for found in answer.json["findings"]} <= {"info"}
    assert answer.code == 0


def test_the_document_has_every_key_that_scripts_read(healthy, dos):
    answer = dos("doctor", "--json").json
    assert answer.keys() >= KEYS
    assert answer["lanes"] == {
        "concurrent": ["api", "docs", "worker"],
        "exclusive": ["global"],
        "autopick": ["api", "docs", "worker"],
        "trees": {
            "api": ["api/**"],
            "docs": ["docs/**"],
            "worker": ["worker/**"],
            "global": ["**/*"],
        },
    }
    assert answer["aliases"] == {"backend": "api"}
    assert answer["paths"].keys() >= {
        "root",
        "execution_state",
        "plans_glob",
        "next_packets",
        "runs",
        "style",
    }
    assert answer["cooldown"] == {"window_ms": 21_600_000, "error_window_ms": 1_800_000}
    assert answer["lifecycle"]["transitions"] == [
        {"from": "active", "to": "done", "trigger": "all_phases_shipped", "auto": True}
    ]
    assert answer["supervise"].keys() == {
        "target", "count_spinning_as_alive", "reap_stalled", "spin_halt_after_ms",
        "worker_launch_template", "max_concurrency",
    }  # fmt: skip
    assert answer["verifiability"] == {
        "commits_read": 2,
        "ship_shaped": 1,
        "recognized": 1,
        "grammar": "grep",
    }
    assert answer["overlap_policy"].keys() == {"active", "available", "ratio_max", "floor"}
    assert answer["exit_codes"]["doctor"] == {
        "reported": 0,
        "findings": 1,
        "contract_error": 2,
        "not_permitted": 77,
    }
    assert answer["journal"].keys() >= {
        "url",
        "path",
        "events",
        "schema",
        "size_bytes",
        "reachable",
    }
    assert answer["config"] == {"path": str(healthy / "dos.toml"), "exists": True, "problems": []}
    assert len(answer["env"]["digest"]) == 12


def test_the_hooks_that_guard_the_lanes_are_named(healthy, dos):
    assert "none; `dos hooks git install`" in dos("doctor").out
    dos("hooks", "git", "install")
    assert (
        "git hooks" in dos("doctor").out and dos("doctor", "--json").json["git_hooks"] == "in place"
    )


def test_looking_leaves_no_trace(healthy, dos):
    dos("doctor")
    assert not (healthy / ".git" / "dos").exists()
    assert git("status", "--porcelain", cwd=healthy) == ""


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("change", "kind", "severity"),
    [
        (troubles.without_git, "GIT_MISSING", "error"),
        (troubles.with_old_git, "GIT_TOO_OLD", "error"),
        (troubles.without_git_directory, "NOT_A_REPOSITORY", "error"),
        (troubles.without_commit, "NO_COMMIT", "error"),
        (troubles.of_another_user, "GIT_REFUSES", "error"),
        (troubles.without_identity, "GIT_IDENTITY_MISSING", "warn"),
        (troubles.detached, "NO_TARGET_BRANCH", "error"),
        (configured("workers.target_branch", '"release"'), "TARGET_BRANCH_MISSING", "error"),
        (configured("workers.agent", '"nobody"'), "AGENT_UNKNOWN", "error"),
        (configured("workers.agent", '""'), "AGENT_UNSET", "error"),
        (configured("workers.command", '["no-such-program"]'), "AGENT_MISSING", "error"),
        (configured("workers.command", '["./agent.sh"]'), "AGENT_MISSING", "error"),
        (troubles.with_uncommitted_agent, "AGENT_MISSING", "error"),
        (troubles.with_unscripted_agent, "AGENT_MISSING", "error"),
        (configured("workers.command", "[]"), "CONFIG_INVALID", "error"),
        (configured("supervise.targe", "1"), "CONFIG_INVALID", "error"),
        (configured("overlap.policy", '"mine"'), "CONFIG_INVALID", "error"),
        (configured("overlap.ratio_max", "0.9"), "OVERLAP_RATIO_CAPPED", "info"),
        (configured("notify.notifier", '"slak"'), "NOTIFIER_UNUSABLE", "warn"),
        (configured("notify.notifier", '"ntfy"'), "NOTIFIER_UNUSABLE", "warn"),
        (configured("verify.non_git_oracle", '"ci-status"'), "CONFIG_INVALID", "error"),
        (configured("worker", '["nowhere/**"]'), "LANE_COVERS_NOTHING", "warn"),
        (configured("worker", '["docs/deep/**"]'), "LANE_REGION_SHADOWED", "warn"),
        (configured("worker", "[]"), "LANE_WITHOUT_TREE", "error"),
        (
            configured("exclusive", '["global", "api"]'),
            "LANE_BOTH_CONCURRENT_AND_EXCLUSIVE",
            "error",
        ),
        (configured("autopick", '["elsewhere"]'), "AUTOPICK_LANE_UNDECLARED", "warn"),
        (configured("backend", '"elsewhere"'), "ALIAS_TARGET_UNDECLARED", "warn"),
        (configured("paths.lane_journal", '"x.jsonl"'), "LAYOUT_UNUSED", "info"),
        (configured("cooldown.window_hours", "1\nwindow_ms = 1"), "CONFIG_WITHOUT_EFFECT", "info"),
        (configured("paths.plans_glob", '"none/**/*.md"'), "NO_PLANS", "warn"),
        (configured("paths.plans_glob", '"/etc/*.md"'), "PLANS_GLOB_INVALID", "error"),
        (written("docs/first-plan.md", "# nothing\n"), "PLANS_WITHOUT_UNITS", "warn"),
        (
            written("docs/first-plan.md", "## A1: x\n\n- lane: elsewhere\n"),
            "UNIT_LANE_UNKNOWN",
            "warn",
        ),
        (
            written("docs/first-plan.md", "## A1: x\n\n- agent: codx\n"),
            "UNIT_AGENT_UNKNOWN",
            "warn",
        ),
        (written("docs/first-plan.md", "## A1: x\n\n- agent: codex\n"), "AGENT_MISSING", "error"),
        (troubles.with_agent_on_lane("api", "codx"), "AGENT_UNKNOWN", "error"),
        (troubles.with_agent_on_lane("api", "codex"), "AGENT_MISSING", "error"),
        (troubles.with_agent_on_lane("apy", "codex"), "CONFIG_INVALID", "error"),
        (written("docs/first-plan.md", "## A1: x\n## A1: y\n"), "UNIT_DUPLICATE", "warn"),
        (written("docs/more-plan.md", "## FIRST FIRST1: y\n"), "UNIT_DUPLICATE", "warn"),
        (written("docs/more-plan.md", "## FIRST1: y\n"), "UNIT_ID_SHARED", "info"),
        (
            written("docs/first-plan.md", "## A1: x\n- depends: A2\n"),
            "UNIT_DEPENDENCY_UNKNOWN",
            "warn",
        ),
        (
            written("docs/first-plan.md", "## A1: x\n- depends: A1\n"),
            "UNIT_DEPENDENCY_CYCLE",
            "warn",
        ),
        (
            written("docs/first-plan.md", "## A1: x\n- class: purple\n"),
            "UNIT_CLASS_UNKNOWN",
            "warn",
        ),
        (
            written("docs/first-plan.md", "## A1: x\n- soak until: soon\n"),
            "UNIT_SOAK_UNREADABLE",
            "warn",
        ),
        (written("docs/first-plan.md", "## A1: x\n## A2-A3: y\n"), "UNIT_RANGE", "warn"),
        (written("docs/first-plan.md", "## A1: x\n~~~\n"), "PLAN_NOT_CLOSED", "warn"),
        (written("docs/first-plan.md", "\0"), "PLAN_UNREADABLE", "warn"),
        (configured("plans.source", '"beads"'), "PLANS_SOURCE_FAILED", "error"),
        (written("dos.state.yaml", "x" * 200_001), "STATE_FILE_LARGE", "warn"),
        (written("dos.toml", "[lanes"), "CONFIG_INVALID", "error"),
        (troubles.with_stale_worktree, "WORKTREE_STALE", "warn"),
        (troubles.with_orphan_worktree, "WORKTREE_ORPHANED", "warn"),
        (troubles.with_undeclared_worktree, "WORKTREE_WITHOUT_LANE", "info"),
        (troubles.with_retired_lane, "RETIRED_LANE", "info"),
        (troubles.with_partial_clone, "PARTIAL_CLONE", "info"),
        (troubles.with_incomplete_clone, "PARTIAL_CLONE_MISSING", "warn"),
        (troubles.with_salvage, "WORK_SALVAGED", "info"),
        (troubles.with_damaged_journal, "STORE_DAMAGED", "error"),
        (troubles.with_damaged_event, "STORE_DAMAGED", "error"),
        (troubles.with_state_that_is_a_file, "STATE_BLOCKED", "error"),
        (troubles.with_state_that_leads_nowhere, "STATE_BLOCKED", "error"),
        (troubles.with_journal_that_leads_nowhere, "STATE_BLOCKED", "error"),
        (troubles.with_directory_instead_of("state.db"), "STATE_BLOCKED", "error"),
        (troubles.with_directory_instead_of("state.db-gate"), "STATE_BLOCKED", "error"),
        (troubles.with_directory_instead_of("state.db-wal"), "STATE_BLOCKED", "error"),
        (troubles.with_empty_head, "GIT_REFUSES", "error"),
        (troubles.with_lost_commit, "GIT_REFUSES", "error"),
        (troubles.with_newer_journal, "STORE_TOO_NEW", "error"),
        (troubles.read_only, "STORE_READ_ONLY", "error"),
        (troubles.on_a_network, "STORE_ON_NETWORK", "error"),
        (troubles.on_a_full_disk, "DISK_LOW", "error"),
        (troubles.with_event_from_the_future, "CLOCK_BEHIND", "warn"),
    ],
    ids=lambda value: getattr(value, "__name__", None) if callable(value) else None,
)
def test_a_trouble_is_found_with_one_command_that_clears_it(
    change, kind, severity, healthy, dos, monkeypatch, tmp_path
):
    change(healthy, monkeypatch, tmp_path)
    answer = dos("doctor", "--check", "--json")
    row = finding(answer, kind)
    assert row["severity"] == severity
    assert row["what"] and row["fix"] and "\n" not in row["fix"]
    is_uncommitted = "PLANS_UNCOMMITTED" in kinds(
        answer
    )  # what a trouble changes in a plan or in dos.toml is
    assert answer.code == int(is_uncommitted or severity != "info")
    assert answer.json.keys() >= KEYS
    assert row["what"] in dos("doctor").out


@pytest.mark.parametrize(
    "text",
    [
        "[lanes",
        "\x00",
        "lanes = 3",
        "[store]\nurl = 7",
        '[lanes]\nconcurrent = ["a", "A"]',
        "= =",
        "[a.b.c]\n",
        "x",
    ],
)
def test_a_file_that_cannot_be_used_is_a_finding_and_not_the_end(text, healthy, dos):
    (healthy / "dos.toml").write_text(text)
    answer = dos("doctor", "--check", "--json")
    assert answer.code == 1
    assert finding(answer, "CONFIG_INVALID")["fix"].startswith("${EDITOR:-vi}")
    assert answer.json["config"]["problems"]
    assert not answer.err


def test_the_line_of_a_broken_file_is_in_the_command(healthy, dos):
    (healthy / "dos.toml").write_text("[supervise]\ntarget = 1\n\n[lanes\n")
    assert " +4 " in finding(dos("doctor", "--json"), "CONFIG_INVALID")["fix"]


@pytest.mark.parametrize(
    "kind", ["LANE_BOTH_CONCURRENT_AND_EXCLUSIVE", "AUTOPICK_LANE_UNDECLARED", "NO_PLANS"]
)
def test_typing_the_command_clears_the_finding(kind, healthy, dos, monkeypatch, tmp_path):
    configured("exclusive", '["global", "api"]')(healthy, monkeypatch, tmp_path)
    configured("autopick", '["api", "elsewhere"]')(healthy, monkeypatch, tmp_path)
    (healthy / "docs" / "first-plan.md").unlink()
    fix = finding(dos("doctor", "--json"), kind)["fix"]
    home = f"{Path(sys.executable).parent}:{REAL_PATH}"
    subprocess.run(
        ["/bin/sh", "-c", fix], cwd=healthy, check=True, env={"PATH": home}, capture_output=True
    )
    assert kind not in kinds(dos("doctor", "--json"))


def test_a_subject_that_cannot_be_read_does_not_hide_the_others(healthy, dos, monkeypatch):
    def broken(world):
        raise OSError(5, "Input/output error", "/somewhere")

    monkeypatch.setitem(examine.SUBJECTS, "plans", broken)
    configured("workers.agent", '"nobody"')(healthy, monkeypatch, None)
    answer = dos("doctor", "--json")
    assert finding(answer, "PLANS_UNREAD")["fix"] == "ls -ld /somewhere"
    assert "AGENT_UNKNOWN" in kinds(answer)


def test_a_journal_that_cannot_be_read_leaves_the_rest_readable(
    healthy, dos, monkeypatch, tmp_path
):
    troubles.with_damaged_journal(healthy, monkeypatch, tmp_path)
    answer = dos("doctor", "--json")
    assert [found["kind"] for found in answer.json["findings"]].count(
        "STORE_DAMAGED"
    ) == 1  # by all who met it
    assert not any(kind.endswith("_UNREAD") for kind in kinds(answer))
    assert answer.json["journal"]["reachable"] is False
    assert answer.json["journal"]["events"] is None


def test_a_server_that_does_not_answer_is_asked_once(healthy, dos, monkeypatch, tmp_path):
    configured("store.url", '"postgresql://nobody@127.0.0.1:1/none"')(
        healthy, monkeypatch, tmp_path
    )
    asked = []

    def refused(*place, **how):
        asked.append(place)
        raise StoreUnreachable("nobody is there")

    monkeypatch.setattr(world, "open_journal", refused)
    assert finding(dos("doctor", "--json"), "STORE_UNREACHABLE")["what"] == "nobody is there"
    assert len(asked) == 1


def test_a_directory_that_is_not_there_is_a_contract_error(dos, tmp_path):
    assert dos("doctor", "--workspace", str(tmp_path / "nowhere")).code == 2


def test_a_dry_run_of_nothing_is_refused(dos):
    answer = dos("doctor", "--dry-run")
    assert answer.code == 2 and "--fix" in answer.err


def program(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_agent_programs_are_listed_with_their_versions(healthy, dos, monkeypatch, tmp_path):
    folder = on_path(monkeypatch, tmp_path, "git", "sh")
    program(folder, "claude", "echo '2.1.197 (Claude Code)'")
    program(folder, "codex", "exit 3")
    answer = dos("doctor", "--json")
    assert answer.json["agents"] == {"claude": "2.1.197", "codex": None}
    assert "AGENT_VERSION_UNREAD" not in kinds(answer), "nobody starts it here"
    configured("workers.agent", '"codex"')(healthy, monkeypatch, tmp_path)
    assert "codex" in finding(dos("doctor", "--json"), "AGENT_VERSION_UNREAD")["what"]


def test_a_program_that_hangs_is_given_up_on_with_all_it_started(tmp_path):
    hanging = program(tmp_path, "hangs", 'sleep 300 & echo $! > "$0.child"; sleep 300')
    program_versions = commands.program_versions({"hangs": str(hanging)}, timeout_seconds=2)
    assert "2 s" in program_versions["hangs"].why
    child = int((tmp_path / "hangs.child").read_text())
    deadline = (
        time.monotonic() + PATIENCE
    )  # the system takes its time between the signal and the end
    while process.identify(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.identify(child) is None


def test_versions_are_asked_once_for_the_report_and_the_findings(healthy, monkeypatch):
    asked = []
    monkeypatch.setattr(commands, "program_versions", lambda found: asked.append(found) or {})
    with World(healthy) as opened:
        facts.gather(opened)
        agents.examine(opened)
    assert len(asked) == 1


def test_the_facts_of_a_broken_file_are_those_of_the_defaults(healthy):
    (healthy / "dos.toml").write_text("[lanes")
    with World(healthy, lenient=True) as opened:
        assert facts.gather(opened).problems
        assert opened.config == Config()


@pytest.mark.parametrize(
    "change",
    [
        troubles.with_empty_head,
        troubles.with_broken_git_config,
        troubles.with_lost_commit,
        troubles.without_git,
        configured("workers.target_branch", '"a..b"'),
    ],
)
def test_nothing_is_called_uncommitted_where_nothing_can_be_committed(
    healthy, dos, monkeypatch, tmp_path, change
):
    change(healthy, monkeypatch, tmp_path)
    found = kinds(dos("doctor", "--json"))
    assert not found & {"PLANS_UNCOMMITTED", "COMMITTED_UNREAD"}


def test_a_version_is_added_to_the_package_and_never_to_the_installation_of_npm(
    healthy, dos, monkeypatch, tmp_path
):
    troubles.with_agent_of_the_future(healthy, monkeypatch, tmp_path)
    assert "@" not in finding(dos("doctor", "--json"), "AGENT_VERSION_UNTESTED")["fix"]
    npm = Path(os.environ["PATH"]) / "npm"
    npm.write_text("#!/bin/sh\n")
    npm.chmod(0o755)
    fix = finding(dos("doctor", "--json"), "AGENT_VERSION_UNTESTED")["fix"]
    assert fix.startswith("npm install --global @openai/codex@0.")


def test_a_command_that_only_shows_something_is_not_called_a_fix(
    healthy, dos, monkeypatch, tmp_path
):
    troubles.with_salvage(healthy, monkeypatch, tmp_path)
    troubles.with_lease_of_a_dead_process(healthy, monkeypatch, tmp_path)
    text = dos("doctor").out
    assert "    check: dos salvage list\n" in text
    assert "    fix: dos doctor --fix\n" in text


def test_a_notifier_that_can_send_is_nothing_to_report(healthy, dos, monkeypatch):
    text = (healthy / "dos.toml").read_text()
    monkeypatch.delenv("DOS_WEBHOOK_URL", raising=False)
    for settings, wrong in (
        ('notifier = "null"', False),
        ('notifier = "webhook"\nurl = "https://example.org/hook"', False),
        ('notifier = "webhook"\nurl = "ftp://example.org"', True),
        ('notifier = "ntfy"\nchannel = "mine"', False),
        ('notifier = "command"\ncommand = ["true"]', False),
        ('notifier = "command"', True),
    ):
        (healthy / "dos.toml").write_text(f"{text}\n[notify]\n{settings}\n")
        assert ("NOTIFIER_UNUSABLE" in kinds(dos("doctor", "--json"))) == wrong, settings
