"""What the doctor and the linter tell people to type is typed here, as it is printed."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import troubles
from commanding import git
from patience import PATIENCE
from troubles import REAL_PATH, configured, finding, kinds, with_config_that_is, written

from dos import baseline, doctor, workspace
from dos.config.lint import Kind
from dos.lease import Request
from dos.machine import process
from dos.regions import region
from dos.units.unit import ProblemKind
from dos.workspace import find
from dos.world import open_journal

healthy = troubles.healthy
PRETENDED = ("npm", "apt-get", "sudo", "timedatectl", "chronyc")


@pytest.fixture
def typed(healthy, monkeypatch, tmp_path):
    """A shell of a person's: `dos` is on the path, the editor changes nothing, and nothing is
    really installed."""
    programs = tmp_path / "typed"
    programs.mkdir()
    script(programs / "dos", f'exec {sys.executable} -m dos "$@"')
    for name in PRETENDED:
        script(programs / name, "exit 0")
    monkeypatch.setenv(
        "PATH", f"{programs}:{os.path.dirname(shutil.which('git', path=REAL_PATH))}:/usr/bin:/bin"
    )
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("HOME", str(tmp_path))  # where git and others keep what they are told
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    def type_it(line, cwd=healthy):
        return subprocess.run(
            ["sh", "-c", line], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE
        )

    return type_it


def script(path, line):
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path


def utf16(path, text):
    path.write_bytes(text.encode("utf-16"))


CLEARED = [
    (troubles.without_git_directory, "NOT_A_REPOSITORY"),
    (troubles.of_another_user, "GIT_REFUSES"),
    (troubles.with_empty_head, "GIT_REFUSES"),
    (troubles.without_identity, "GIT_IDENTITY_MISSING"),
    (troubles.detached, "NO_TARGET_BRANCH"),
    (troubles.detached_without_branch, "NO_TARGET_BRANCH"),
    (configured("workers.target_branch", '"release"'), "TARGET_BRANCH_MISSING"),
    (configured("workers.target_branch", '"main/under"'), "TARGET_BRANCH_MISSING"),
    (configured("workers.target_branch", '"a..b"'), "TARGET_BRANCH_MISSING"),
    (configured("workers.target_branch", '"-x"'), "TARGET_BRANCH_MISSING"),
    (configured("overlap.ratio_max", "0.9"), "OVERLAP_RATIO_CAPPED"),
    (configured("worker", '["nowhere/**"]'), "LANE_COVERS_NOTHING"),
    (configured("worker", "[]"), "LANE_WITHOUT_TREE"),
    (configured("exclusive", '["global", "api", "docs"]'), "LANE_BOTH_CONCURRENT_AND_EXCLUSIVE"),
    (configured("autopick", '["api", "else where", "-x"]'), "AUTOPICK_LANE_UNDECLARED"),
    (configured("backend", '"elsewhere"'), "ALIAS_TARGET_UNDECLARED"),
    (configured("paths.lane_journal", '"x.jsonl"'), "LAYOUT_UNUSED"),
    (configured("cooldown.window_hours", "1\nwindow_ms = 1"), "CONFIG_WITHOUT_EFFECT"),
    (written("docs/first-plan.md", troubles.PLAN + "\nMore.\n"), "PLANS_UNCOMMITTED"),
    (configured("paths.plans_glob", '"none/**/*.md"'), "NO_PLANS"),
    (configured("paths.plans_glob", '"/etc/*.md"'), "PLANS_GLOB_INVALID"),
    (configured("plans.source", '"beads"'), "PLANS_SOURCE_FAILED"),
    (with_config_that_is(lambda path, text: path.mkdir()), "CONFIG_INVALID"),
    (with_config_that_is(lambda path, text: path.symlink_to("nowhere")), "CONFIG_INVALID"),
    (with_config_that_is(lambda path, text: os.mkfifo(path)), "CONFIG_INVALID"),
    (with_config_that_is(utf16), "CONFIG_INVALID"),
    (with_config_that_is(lambda path, text: None), "CONFIG_MISSING"),
    (troubles.with_state_that_is_a_file, "STATE_BLOCKED"),
    (troubles.with_state_that_leads_nowhere, "STATE_BLOCKED"),
    (troubles.with_journal_that_leads_nowhere, "STATE_BLOCKED"),
    (troubles.with_directory_instead_of("state.db"), "STATE_BLOCKED"),
    (troubles.with_directory_instead_of("state.db-gate"), "STATE_BLOCKED"),
    (troubles.with_directory_instead_of("state.db-wal"), "STATE_BLOCKED"),
    (troubles.with_directory_instead_of("state.db-shm"), "STATE_BLOCKED"),
    (written(".git/dos/worktrees", "in the way"), "STATE_BLOCKED"),
    (troubles.with_damaged_journal, "STORE_DAMAGED"),
    (troubles.with_damaged_event, "STORE_DAMAGED"),
    (troubles.with_journal_of_another_program, "STORE_UNREACHABLE"),
    (troubles.with_lease_of_a_dead_process, "LEASE_HOLDER_GONE"),
    (troubles.with_lapsed_lease, "LEASE_LAPSED"),
    (troubles.with_lapsed_lock, "LEASE_LAPSED"),
    (troubles.with_stale_worktree, "WORKTREE_STALE"),
    (troubles.with_orphan_worktree, "WORKTREE_ORPHANED"),
    (troubles.with_filled_orphan_worktree, "WORKTREE_ORPHANED"),
    (troubles.with_moved_worktree, "WORKTREE_ORPHANED"),
    (troubles.with_hooks_of_which_one_is_missing, "HOOKS_DRIFTED"),
    (troubles.with_undeclared_worktree, "WORKTREE_WITHOUT_LANE"),
    (troubles.with_dirty_undeclared_worktree, "WORKTREE_WITHOUT_LANE"),
    (troubles.with_retired_lane, "RETIRED_LANE"),
    (troubles.with_incomplete_clone, "PARTIAL_CLONE_MISSING"),
    (configured("workers.baseline", '"off"\ntest = "true"'), "BASELINE_UNCHECKED"),
    (configured("sandbox.level", '"off"'), "SANDBOX_OFF"),
    (configured("sandbox.program", '["no-such-program"]'), "SANDBOX_PROGRAM_MISSING"),
    (configured("sandbox.writable", '["~/.cache/no such folder"]'), "SANDBOX_PATH_MISSING"),
    (configured("sandbox.writable", '["/"]'), "SANDBOX_PATH_WIDE"),
    (configured("notify.notifier", '"nul"'), "NOTIFIER_UNUSABLE"),
    (troubles.with_a_sandbox_that_cannot_be, "SANDBOX_UNAVAILABLE"),
    (troubles.with_open_sockets, "SANDBOX_SOCKETS"),
    (troubles.with_test_that_needs_a_variable, "VARIABLE_WITHHELD"),
    (troubles.with_database, "DATABASE_WITHHELD"),
]

LEFT_TO_A_PERSON = [
    (troubles.without_git, "GIT_MISSING"),
    (troubles.with_old_git, "GIT_TOO_OLD"),
    (troubles.with_broken_git_config, "GIT_REFUSES"),
    (troubles.with_lost_commit, "GIT_REFUSES"),
    (configured("workers.agent", '"nobody"'), "AGENT_UNKNOWN"),
    (configured("workers.agent", '""'), "AGENT_UNSET"),
    (configured("workers.command", '["no-such-program"]'), "AGENT_MISSING"),
    (troubles.with_uncommitted_agent, "AGENT_MISSING"),
    (configured("supervise.targe", "1"), "CONFIG_INVALID"),
    (written("dos.toml", "[lanes"), "CONFIG_INVALID"),
    (written("dos.toml", "[lanes"), "STORE_UNCERTAIN"),
    (configured("worker", '["docs/deep/**"]'), "LANE_REGION_SHADOWED"),
    (configured("worker", '["docs/**"]'), "CONCURRENT_LANES_OVERLAP"),
    (written("docs/first-plan.md", "# nothing\n"), "PLANS_WITHOUT_UNITS"),
    (written("docs/first-plan.md", "## A1: x\n\n- lane: elsewhere\n"), "UNIT_LANE_UNKNOWN"),
    (written("docs/first-plan.md", "## A1: x\n\n- agent: codx\n"), "UNIT_AGENT_UNKNOWN"),
    (written("docs/first-plan.md", "## A1: x\n\n## A1: y\n"), "UNIT_DUPLICATE"),
    (written("docs/first-plan.md", "## A1: x\n\n## B1 y\n\n- lane: api\n"), "UNIT_UNMARKED"),
    (written("docs/first-plan.md", "## A1: x\n- depends: A2\n"), "UNIT_DEPENDENCY_UNKNOWN"),
    (written("docs/first-plan.md", "## A1: x\n- depends: A1\n"), "UNIT_DEPENDENCY_CYCLE"),
    (written("docs/first-plan.md", "## A1: x\n- class: purple\n"), "UNIT_CLASS_UNKNOWN"),
    (written("docs/first-plan.md", "## A1: x\n- soak until: soon\n"), "UNIT_SOAK_UNREADABLE"),
    (written("docs/first-plan.md", "## A1: x\n- gate: legal\n"), "UNIT_KEY_MISTYPED"),
    (
        written("docs/first-plan.md", "## A1: x\n- lane: api\n- paths: docs/a\n"),
        "UNIT_PATHS_OUTSIDE_LANE",
    ),
    (
        written("docs/first-plan.md", "## A1: x\n- acceptance: `no-such`\n"),
        "UNIT_ACCEPTANCE_PROGRAM_MISSING",
    ),
    (written("docs/first-plan.md", "## A1: x\n## A2-A3: y\n"), "UNIT_RANGE"),
    (written("docs/first-plan.md", "## A1: x\n~~~\n"), "PLAN_NOT_CLOSED"),
    (written("docs/more-plan.md", "## FIRST1: y\n"), "UNIT_ID_SHARED"),
    (configured("stamp.subject_dirs", '["src"]'), "STAMP_RECOGNISES_NOTHING"),
    (written("dos.state.yaml", "x" * 200_001), "STATE_FILE_LARGE"),
    (troubles.with_reference_to_no_lane, "REASON_SEE_ALSO_DANGLES"),
    (troubles.with_trigger_that_nobody_knows, "TRIGGER_UNKNOWN"),
    (troubles.with_unit_for_no_lane, "UNIT_WITHOUT_LANE"),
    (troubles.with_silent_agent, "AGENT_VERSION_UNREAD"),
    (troubles.with_agent_of_the_future, "AGENT_VERSION_UNTESTED"),
    (troubles.with_old_node, "AGENT_NODE_OLD"),
    (troubles.with_large_journal, "JOURNAL_LARGE"),
    (troubles.on_a_network, "STORE_ON_NETWORK"),
    (troubles.with_salvage, "WORK_SALVAGED"),
    (troubles.with_partial_clone, "PARTIAL_CLONE"),
    (troubles.read_only, "STORE_READ_ONLY"),
    (troubles.on_a_full_disk, "DISK_LOW"),
    (troubles.with_event_from_the_future, "CLOCK_BEHIND"),
    (lambda place, monkeypatch, tmp_path: None, "SQLITE_OLD"),
    (configured("workers.test", '"exit 3"'), "BASELINE_RED"),
    (troubles.with_blind_test, "BASELINE_BLIND"),
    (troubles.with_acceptance_that_cannot_run, "ACCEPTANCE_CANNOT_RUN"),
    (configured("sandbox.level", '"auto"\nreads = "all"'), "SANDBOX_GAP"),
    (troubles.with_untrusted_hooks, "HOOKS_UNTRUSTED"),
    (configured("notify.notifier", '"webhook"'), "NOTIFIER_UNUSABLE"),
    (written(".claude/settings.json", "{ // mine\n}"), "HOOKS_UNREADABLE"),
    (written(".codex/config.toml", "[hooks\n"), "HOOKS_UNREADABLE"),
    (troubles.with_acceptance_that_passes_already, "ACCEPTANCE_ALREADY_PASSES"),
]


def asking(kind):
    """Some are found only by those who ask for what takes long."""
    return [
        "doctor",
        "--json",
        *(["--deep"] if kind.startswith(("BASELINE_", "ACCEPTANCE_")) else []),
    ]


def named(value):
    return getattr(value, "__name__", "").strip("<>") if callable(value) else str(value)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("change", "kind"), CLEARED, ids=named)
def test_what_is_printed_clears_the_finding(
    change, kind, healthy, typed, dos, monkeypatch, tmp_path
):
    path = os.environ["PATH"]
    change(healthy, monkeypatch, tmp_path)
    monkeypatch.setenv("PATH", path)
    # One after the other as they stand there: none undoes another, and each is typed only once.
    lines = [found["fix"] for found in dos(*asking(kind)).json["findings"] if found["kind"] == kind]
    assert lines
    for line in lines:
        done = typed(line)
        assert done.returncode == 0, (line, done.stderr)
    assert kind not in kinds(dos(*asking(kind))), lines


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("change", "kind"), LEFT_TO_A_PERSON, ids=named)
def test_what_a_person_has_to_decide_about_can_at_least_be_looked_at(
    change, kind, healthy, typed, dos, monkeypatch, tmp_path
):
    if kind == "SQLITE_OLD" and "SQLITE_OLD" not in kinds(dos("doctor", "--json")):
        pytest.skip("the SQLite of this Python is new")
    path = os.environ["PATH"]
    change(healthy, monkeypatch, tmp_path)
    line = finding(dos(*asking(kind)), kind)["fix"]
    monkeypatch.setenv("PATH", path)
    done = typed(line)
    assert done.returncode == 0, (line, done.stderr)


# Not to be had here, or had with real processes and servers in tests of their own.
ELSEWHERE = {
    "PACKAGES_CLASH", "PLAN_UNREADABLE",
    "NO_COMMIT", "CLOCK_UNSET", "DISK_FILES_LOW", "PROCESS_STOPPED", "PROCESS_ORPHANED",
    "STORE_BUSY", "STORE_TOO_NEW", "STORE_DURABILITY", "STORE_SESSIONS",
    "LFS_POINTERS", "LFS_MISSING", "SERVER_SILENT",
    "POLICY_UNREAD",  # every setting has a reader
}  # fmt: skip


def test_the_command_of_every_kind_of_finding_is_typed_somewhere():
    told = {kind.value for kind in Kind} | {kind.value for kind in ProblemKind}
    folders = (Path(package.__file__).parent for package in (doctor, baseline))
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(args=[ast.Constant(value=str(kind)), _, _, _]) if (
                    kind.isupper()
                ):  # kind, what, why, fix
                    told.add(kind)
    assert told == {kind for _, kind in [*CLEARED, *LEFT_TO_A_PERSON]} | ELSEWHERE


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        row
        for row in [*CLEARED, *LEFT_TO_A_PERSON]
        if row[1].startswith(("LANE_", "AUTO", "ALIAS", "CONFIG_I", "CONC"))
        # Only doctor looks at the files of a lane.
        and row[1] != "LANE_COVERS_NOTHING"
    ],
    ids=named,
)
def test_the_linter_prints_the_same_commands(
    change, kind, healthy, typed, dos, monkeypatch, tmp_path
):
    change(healthy, monkeypatch, tmp_path)
    lines = {found["kind"]: found["fix"] for found in dos("doctor", "--json").json["findings"]}
    findings = dos("lint", "--json").json["findings"]
    assert kind in [row["kind"] for row in findings]
    for row in findings:
        assert row["kind"] in lines
        assert f"fix: {row['fix']}" in dos("lint").out
        assert typed(row["fix"]).returncode == 0


def test_typing_what_comes_first_leads_from_nothing_to_a_fleet_that_can_start(
    typed, dos, monkeypatch, tmp_path
):
    folder = tmp_path / "new"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").touch()
    git("config", "--global", "user.useConfigOnly", "true", cwd=folder)
    script(
        tmp_path / "typed" / "npm",
        f"for name in claude node; do file={tmp_path}/typed/$name;"
        " printf '#!/bin/sh\\necho 24.2.3' > $file; chmod +x $file; done",
    )
    monkeypatch.chdir(folder)
    steps = []
    while first := next(iter(dos("doctor", "--json").json["findings"]), None):
        if first["severity"] == "info":
            break
        done = typed(first["fix"], cwd=folder)
        assert done.returncode == 0, (first, done.stderr)
        steps.append(first["kind"])
        assert len(steps) < 20, (steps, first)
    assert steps[:3] == ["NOT_A_REPOSITORY", "GIT_IDENTITY_MISSING", "NO_COMMIT"]
    assert dos("doctor", "--check").code == 0
    assert "claude_code" in dos("config", "get", "workers.agent").out


def test_from_another_directory_the_command_leads_to_the_workspace_first(
    healthy, typed, dos, monkeypatch, tmp_path
):
    configured("overlap.ratio_max", "0.9")(healthy, monkeypatch, tmp_path)
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    fix = finding(dos("doctor", "--workspace", str(healthy), "--json"), "OVERLAP_RATIO_CAPPED")[
        "fix"
    ]
    assert typed(fix, cwd=elsewhere).returncode == 0
    assert "OVERLAP_RATIO_CAPPED" not in kinds(dos("doctor", "--workspace", str(healthy), "--json"))


def test_a_journal_that_is_begun_anew_keeps_the_old_one_and_lets_workers_land(
    healthy, typed, dos, monkeypatch, tmp_path
):
    troubles.with_damaged_event(healthy, monkeypatch, tmp_path)
    damaged = (healthy / ".git" / "dos" / "state.db").read_bytes()
    assert typed(finding(dos("doctor", "--json"), "STORE_DAMAGED")["fix"]).returncode == 0
    assert (healthy / ".git" / "dos" / "damaged-1" / "state.db").read_bytes() == damaged
    assert (
        git("for-each-ref", "refs/dos/fence", cwd=healthy) == ""
    )  # git would refuse the first fences of a new journal
    with open_journal(workspace.find(healthy), "") as journal:
        assert journal.append("s", "k", {}).pos == 1


def test_the_doctor_and_the_reaper_call_the_same_lanes_abandoned(
    healthy, dos, monkeypatch, tmp_path
):
    troubles.with_lapsed_lease(healthy, monkeypatch, tmp_path)
    troubles.with_lapsed_lock(healthy, monkeypatch, tmp_path)
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    with open_journal(workspace.find(healthy), "") as journal:
        for lane, pid, ttl_ms in (
            ("docs", dead.pid, 1),
            ("worker", dead.pid, 600_000),
            ("global", None, 600_000),
        ):
            lease_request = Request(
                lane=lane, holder=lane, host=process.host(), ttl_ms=ttl_ms,
                region=region([f"{lane}/**"]), pid=pid, pid_started=1.0, system=process.system(),
            )  # fmt: skip
            journal.acquire(lease_request, lambda request, live: None)
    found = {
        each["what"]
        for each in dos("doctor", "--json").json["findings"]
        if each["kind"].startswith("LEASE_")
    }
    reaped = {row["lane"] for row in dos("lease-lane", "reap", "--dry-run").json["reaped"]}
    assert reaped == {
        lane
        for lane in ("api", "docs", "worker", "global")
        if any(f"lane {lane!r}" in it for it in found)
    }
    assert reaped == {"api", "docs", "worker"} and any("lock 'archive'" in it for it in found)


def test_no_command_holds_a_placeholder_or_a_hidden_password(healthy, dos, monkeypatch, tmp_path):
    for change in (
        configured("workers.agent", '""'),
        configured("worker", '["nowhere/**"]'),
        configured("store.url", '"postgresql://me:secret@127.0.0.1:1/db"'),
    ):
        change(healthy, monkeypatch, tmp_path)
    answer = dos("doctor", "--json")
    for row in answer.json["findings"]:
        assert not any(
            word in row["fix"] for word in ("***", "PATH/", "NAME", "USER@", "BRANCH", "secret")
        )
    line = next(
        n
        for n, text in enumerate((healthy / "dos.toml").read_text().splitlines(), 1)
        if "secret" in text
    )
    assert f" +{line} " in finding(answer, "STORE_UNREACHABLE")["fix"]


@pytest.mark.soak
def test_a_server_is_asked_without_showing_the_password(healthy, typed, dos, postgres):
    if not shutil.which("psql"):
        pytest.skip("psql is not on the path")
    url = postgres.createdb("asked")
    typed(f"psql {url} -c 'ALTER DATABASE asked SET synchronous_commit = off'")
    with (healthy / "dos.toml").open("a") as file:
        file.write(f'\n[store]\nurl = "{url.replace("postgres@", "postgres:sEcReT@")}"\n')
    try:
        answer = dos("doctor", "--json")
        assert "sEcReT" not in answer.out
        assert typed(finding(answer, "STORE_DURABILITY")["fix"]).returncode == 0
        assert "STORE_DURABILITY" not in kinds(dos("doctor", "--json"))
    finally:
        typed(
            f"psql {url} -c 'ALTER ROLE CURRENT_USER RESET synchronous_commit'"
        )  # other tests share the server


def without_privilege():
    """What makes of root somebody to whom the rights of files apply."""
    if os.getuid() != 0:
        return []
    if not shutil.which("setpriv", path=REAL_PATH):
        pytest.skip("root reads everything, and there is no setpriv to take that away")
    lost = "-dac_override,-dac_read_search"
    return [shutil.which("setpriv", path=REAL_PATH), f"--bounding-set={lost}", f"--inh-caps={lost}"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "mode", "kind"),
    [
        ("dos.toml", 0, "CONFIG_INVALID"),
        ("docs", 0, "PLANS_UNREAD"),
        ("docs/first-plan.md", 0, "PLAN_UNREADABLE"),
        (".git/dos", 0, "STORE_READ_ONLY"),
        (".git/dos", 0o500, "STORE_READ_ONLY"),
        (".git/dos/state.db", 0, "STORE_READ_ONLY"),
        (".git/dos/state.db", 0o400, "STORE_READ_ONLY"),
        (".git/dos/state.db-gate", 0o400, "STORE_READ_ONLY"),
        ("(worktrees)", 0, "WORKTREES_UNREAD"),
    ],
)
def test_what_may_not_be_read_or_written_is_found_and_given_back(name, mode, kind, healthy, typed):
    with open_journal(workspace.find(healthy), "") as journal:
        journal.append("s", "k", {})
    find(healthy).worktrees.mkdir(parents=True)
    ordinary = without_privilege()
    (find(healthy).worktrees if name == "(worktrees)" else healthy / name).chmod(mode)

    def findings():
        asked = [*ordinary, sys.executable, "-m", "dos", "doctor", "--json"]
        done = subprocess.run(
            asked, cwd=healthy, capture_output=True, text=True, timeout=PATIENCE, check=True
        )
        return {found["kind"]: found["fix"] for found in json.loads(done.stdout)["findings"]}

    done = subprocess.run([*ordinary, "sh", "-c", findings()[kind]], cwd=healthy, timeout=PATIENCE)
    assert done.returncode == 0
    assert kind not in findings()
