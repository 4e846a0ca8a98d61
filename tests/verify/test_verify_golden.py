"""Every row of the released table, as the oracle answers it."""

import pytest
from repository import Repository

from dos.verify.shipped import Answer

VERSION = {"VERSION": "2\n"}
TRAILER = "[stamp]\ntrailer_stamp = true\n"
FOLDERS = '[stamp]\nsubject_dirs = ["src", "lib"]\n'
AUDITS = '[stamp]\nprogress_markers = ["audit"]\n'
BUNDLE = '[stamp]\nsummary_bundle_prefixes = ["docs/OPS:"]\n'
PARENT = "[stamp]\nsub_phase_parent_fallback = true\n"
SHIPPED, NOT, UNPROVEN = Answer.SHIPPED, Answer.NOT_SHIPPED, Answer.UNPROVEN

SUBJECTS = [
    ("AUTH1: login form", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("AUTH: AUTH1 login form", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("AUTH AUTH1 login", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("AUTH1 login form", "AUTH", "AUTH1", NOT, ""),
    ("AUTH1", "AUTH", "AUTH1", NOT, ""),
    ("AUTH: 1 login", "AUTH", "1", SHIPPED, "direct"),
    ("AUTH1: login", "AUTH", "1", SHIPPED, "direct"),
    ("AUTH: login (AUTH1)", "AUTH", "AUTH1", NOT, ""),
    ("AUTH10: session store", "AUTH", "AUTH1", NOT, ""),
    ("AUTH: AUTH10 session", "AUTH", "AUTH1", NOT, ""),
    ("AUTH: AUTH1.1 sub", "AUTH", "AUTH1", NOT, ""),
    ("AUTH: AUTH1-port", "AUTH", "AUTH1", NOT, ""),
    ("AUTH: AUTH1, AUTH2", "AUTH", "AUTH2", UNPROVEN, "list"),
    ("AUTH: AUTH1/AUTH2", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("auth: auth1 login", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("src/AUTH: AUTH1 x", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("src/AUTH1: x", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("docs/notes/AUTH1: x", "AUTH", "AUTH1", NOT, ""),
    ("XAUTH: AUTH1 x", "AUTH", "AUTH1", NOT, ""),
    ("fix: AUTH1 bug", "AUTH", "AUTH1", NOT, ""),
    ("feat(AUTH): AUTH1 login", "AUTH", "AUTH1", UNPROVEN, "conventional"),
    ("Merge branch AUTH1", "AUTH", "AUTH1", NOT, ""),
    ('Revert "AUTH1: login"', "AUTH", "AUTH1", NOT, ""),
    ("AUTH: Phase 1 login", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("AUTH1: login", "AUTH", "Phase 1", SHIPPED, "direct"),
    ("OTHER: Phase 1 login", "AUTH", "Phase 1", NOT, ""),
    ("v1.2.3: AUTH1 login + BILL2", "AUTH", "AUTH1", SHIPPED, "release-prefix"),
    ("v1.2: AUTH1 login", "AUTH", "AUTH1", NOT, ""),
    ("v1.2.3: Phase 1 of login", "AUTH", "AUTH1", NOT, ""),
    ("v1.2.3: AUTH Phase 1 done", "AUTH", "AUTH1", SHIPPED, "release-prefix"),
    ("v1.2.3: stuff\n\n- AUTH1 login", "AUTH", "AUTH1", SHIPPED, "body-mention"),
    ("feat: stuff\n\n- AUTH1 login", "AUTH", "AUTH1", NOT, ""),
    ("working-dir snapshot: AUTH1", "AUTH", "AUTH1", NOT, ""),
    ("AUTH1 snapshot: x", "AUTH", "AUTH1", NOT, ""),
    ("AUTH1: snapshot: x", "AUTH", "AUTH1", SHIPPED, "direct"),
    ("AUTH: archive 20260530T093407Z old", "AUTH", "archive", NOT, ""),
    ("AUTH: archive old rows", "AUTH", "archive", SHIPPED, "direct"),
    (
        "Login feature (#7)\n\n* AUTH1: login\n* AUTH2: logout",
        "AUTH",
        "AUTH1",
        UNPROVEN,
        "squash-bullet",
    ),
    ("feat(auth): login (AUTH AUTH1)", "AUTH", "AUTH1", UNPROVEN, "trailer"),
    ("do it\n\nUnit: AUTH/AUTH1", "AUTH", "AUTH1", SHIPPED, "git-trailer"),
    ("do it\n\nShips: AUTH AUTH1\nShips: AUTH AUTH2", "AUTH", "AUTH2", SHIPPED, "git-trailer"),
    ("do it\n\nUnit: AUTH/AUTH10", "AUTH", "AUTH1", NOT, ""),
]
DECLARED = [
    (TRAILER, "feat(auth): login (AUTH AUTH1)", "AUTH", "AUTH1", SHIPPED, "trailer"),
    (TRAILER, "feat: login (AUTH: AUTH1)", "AUTH", "AUTH1", SHIPPED, "trailer"),
    (TRAILER, "feat: login (refs AUTH AUTH1)", "AUTH", "AUTH1", SHIPPED, "trailer"),
    (TRAILER, "feat: login (docs/AUTH AUTH1)", "AUTH", "AUTH1", SHIPPED, "trailer"),
    (TRAILER, "feat: login (AUTH AUTH1) (#42)", "AUTH", "AUTH1", SHIPPED, "trailer"),
    (TRAILER, "feat: login (AUTH1)", "AUTH", "AUTH1", NOT, ""),
    (TRAILER, "feat: login (AUTH AUTH10)", "AUTH", "AUTH1", NOT, ""),
    (TRAILER, "feat: login (AUTH AUTH1 audit)", "AUTH", "AUTH1", NOT, ""),
    (TRAILER, "feat: login (AUTH AUTH1) done", "AUTH", "AUTH1", NOT, ""),
    (TRAILER, "feat: login (AUTH AUTH1, AUTH2)", "AUTH", "AUTH1", NOT, ""),
    (TRAILER, "feat: x (docs/42 Phase 3)", "docs/42_wheel-builds", "Phase 3", SHIPPED, "trailer"),
    (TRAILER, "feat: x (docs/42 Phase 3)", "docs/42_wheel-builds", "Phase 30", NOT, ""),
    (TRAILER, "v1.2.3: x (AUTH AUTH1)", "AUTH", "AUTH1", SHIPPED, "release-prefix"),
    (FOLDERS, "src/AUTH: AUTH1 x", "AUTH", "AUTH1", SHIPPED, "direct"),
    (FOLDERS, "src/AUTH AUTH1", "AUTH", "AUTH1", SHIPPED, "direct"),
    (FOLDERS, "AUTH: AUTH1", "AUTH", "AUTH1", NOT, ""),
    (FOLDERS, "AUTH1: x", "AUTH", "AUTH1", NOT, ""),
    (FOLDERS, "src/AUTH1: x", "AUTH", "AUTH1", NOT, ""),
    (FOLDERS, "docs/AUTH: AUTH1", "AUTH", "AUTH1", NOT, ""),
    (AUDITS, "AUTH: AUTH1 audit of x", "AUTH", "AUTH1", NOT, ""),
    (AUDITS, "AUTH1: audit", "AUTH", "AUTH1", NOT, ""),
    ("", "AUTH1: audit", "AUTH", "AUTH1", SHIPPED, "direct"),
    (AUDITS, "AUTH: AUTH1 - audit", "AUTH", "AUTH1", SHIPPED, "direct"),
    (AUDITS, "AUTH: AUTH1: audit", "AUTH", "AUTH1", SHIPPED, "direct"),
    (BUNDLE, "docs/OPS: Rotate api-keys weekly", "OPS", "rotate_api_keys", SHIPPED, "hyg-slug"),
    (PARENT, "UI: UI6 metrics tile", "UI", "UI6-metrics", SHIPPED, "sub-phase-parent"),
    (PARENT, "UI: UI6 tile", "UI", "UI6-metrics", NOT, ""),
    ("", "UI: UI6 metrics tile", "UI", "UI6-metrics", NOT, ""),
]


@pytest.mark.parametrize(
    ("message", "plan", "phase", "answer", "rung"), SUBJECTS, ids=[row[0][:40] for row in SUBJECTS]
)
def test_a_message_names_a_unit_or_does_not(tmp_path, message, plan, phase, answer, rung):
    repository = Repository(tmp_path)
    repository.commit(message)
    verdict = repository.verify(plan, phase)
    assert (verdict.answer, verdict.rung) == (answer, rung), verdict.reason


@pytest.mark.parametrize(
    ("stamp", "message", "plan", "phase", "answer", "rung"),
    DECLARED,
    ids=[row[1][:40] for row in DECLARED],
)
def test_a_workspace_declares_its_own_grammar(tmp_path, stamp, message, plan, phase, answer, rung):
    repository = Repository(tmp_path)
    repository.commit("begin", {"dos.toml": stamp, "src/a.py": "a = 1\n"})
    repository.commit(message)
    verdict = repository.verify(plan, phase)
    assert (verdict.answer, verdict.rung) == (answer, rung), verdict.reason


@pytest.mark.parametrize(
    ("message", "files", "answer"),
    [
        ("v1.2.3: AUTH1", {"VERSION": "2\n", "CHANGELOG.md": "new\n"}, UNPROVEN),
        ("AUTH1: login", {"VERSION": "2\n"}, UNPROVEN),
        ("AUTH1: login", {"src/__init__.py": '__version__ = "2"\n'}, UNPROVEN),
        ("AUTH1: login", {"dos.state.yaml": "a: 1\n"}, UNPROVEN),
        ("AUTH1: login", {"docs/releases/v1.md": "new\n"}, UNPROVEN),
        ("v1.2.3: AUTH1", {"VERSION": "2\n", "src/a.py": "a = 1\n"}, SHIPPED),
    ],
)
def test_files_that_every_release_touches_ship_nothing(tmp_path, message, files, answer):
    repository = Repository(tmp_path)
    sha = repository.commit(message, files)
    verdict = repository.verify("AUTH", "AUTH1")
    assert verdict.answer is answer
    assert verdict.sha == sha
    assert ("bookkeeping_only" in verdict.contradictions) == (answer is UNPROVEN)


def test_a_real_ship_is_found_behind_a_later_bump_of_the_same_name(tmp_path):
    repository = Repository(tmp_path)
    real = repository.commit("AUTH1: login")
    repository.commit("AUTH1: bump", VERSION)
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.sha) == (SHIPPED, real)
    assert len(verdict.candidates) == 2


def test_a_ship_on_a_branch_counts_once_it_is_merged(tmp_path):
    repository = Repository(tmp_path)
    repository.commit("begin")
    repository.git("switch", "--quiet", "-c", "feat")
    repository.commit("AUTH1: login", {"src/login.py": "login = 1\n"})
    repository.git("switch", "--quiet", "main")
    assert repository.verify("AUTH", "AUTH1").answer is NOT
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge branch feat", "feat")
    assert repository.verify("AUTH", "AUTH1").answer is SHIPPED


def test_a_cherry_picked_ship_counts_by_its_new_name(tmp_path):
    repository = Repository(tmp_path)
    repository.commit("begin")
    repository.git("switch", "--quiet", "-c", "feat")
    picked = repository.commit("AUTH1: login", {"src/login.py": "login = 1\n"})
    repository.git("switch", "--quiet", "main")
    repository.commit("other", {"src/other.py": "other = 1\n"})
    repository.git("cherry-pick", picked)
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.sha) == (SHIPPED, repository.head)


def test_what_was_amended_or_reset_away_never_was(tmp_path):
    repository = Repository(tmp_path)
    repository.commit("begin")
    repository.commit("AUTH1: login")
    repository.git("commit", "--quiet", "--amend", "-m", "something else")
    assert repository.verify("AUTH", "AUTH1").answer is NOT
    repository.commit("AUTH1: login")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    assert repository.verify("AUTH", "AUTH1").answer is NOT


REGISTRY = (
    "recently_completed:\n- plan: {plan}\n  phase: {phase}\n"
    "  status: {status}\n  commit_sha: {sha}\n"
)


@pytest.mark.parametrize(
    ("status", "sha", "answer"),
    [
        ("done", "deadbeefdeadbeef", UNPROVEN),
        ("done", "''", UNPROVEN),
        ("DONE", "HEAD", UNPROVEN),
        ("failed", "deadbeefdeadbeef", NOT),
        ("stalled", "deadbeefdeadbeef", NOT),
        ("expired", "deadbeefdeadbeef", NOT),
        ("''", "deadbeefdeadbeef", NOT),
    ],
)
def test_a_registry_points_and_proves_nothing(tmp_path, status, sha, answer):
    repository = Repository(tmp_path)
    repository.commit("begin")
    repository.write(
        "dos.state.yaml", REGISTRY.format(plan="AUTH", phase="AUTH1", status=status, sha=sha)
    )
    verdict = repository.verify("AUTH", "AUTH1")
    assert verdict.answer is answer
    assert ("registry_unbacked" in verdict.contradictions) == (answer is UNPROVEN)


def test_a_registry_that_is_no_yaml_is_passed_over(tmp_path):
    repository = Repository(tmp_path)
    repository.commit("AUTH1: login")
    repository.write("dos.state.yaml", "recently_completed: [}")
    assert repository.verify("AUTH", "AUTH1").answer is SHIPPED
    assert repository.verify("AUTH", "AUTH2").answer is NOT


@pytest.mark.parametrize("files", [{"VERSION": "2\n"}, {"docs/other-plan.md": "id: OTHER\n"}])
def test_a_registry_row_with_a_commit_that_did_something_else_proves_nothing(tmp_path, files):
    repository = Repository(tmp_path)
    repository.commit("begin", {"docs/px-plan.md": "## PX PX2: it\n\n- paths: src/px.py\n"})
    sha = repository.commit("other", files)
    repository.write(
        "dos.state.yaml", REGISTRY.format(plan="PX", phase="PX2", status="done", sha=sha)
    )
    assert not repository.verify("PX", "PX2").shipped


def test_a_registry_row_counts_where_the_declared_files_speak_for_it(tmp_path):
    repository = Repository(tmp_path)
    repository.commit("begin", {"docs/px-plan.md": "## PX PX2: it\n\n- paths: src/px.py\n"})
    sha = repository.commit("a subject that names nothing", {"src/px.py": "px = 1\n"})
    repository.write(
        "dos.state.yaml", REGISTRY.format(plan="PX", phase="PX2", status="done", sha=sha)
    )
    verdict = repository.verify("PX", "PX2")
    assert (verdict.answer, verdict.source) == (SHIPPED, "registry")


@pytest.mark.parametrize(("status", "answer"), [("in_progress", NOT), ("passed", SHIPPED)])
def test_what_soaks_has_not_shipped(tmp_path, status, answer):
    repository = Repository(tmp_path)
    sha = repository.commit("QA5: x")
    repository.write(
        ".dos/soaks/index.yaml", f"soaks:\n- id: qa5-latency\n  plan: QA\n  status: {status}\n"
    )
    verdict = repository.verify("QA", "QA5")
    assert (verdict.answer, verdict.sha) == (answer, sha)


def test_a_soak_of_another_unit_holds_nothing_up(tmp_path):
    repository = Repository(tmp_path)
    repository.commit("QA50: x")
    repository.write(
        ".dos/soaks/index.yaml", "soaks:\n- id: qa5-latency\n  plan: QA\n  status: in_progress\n"
    )
    assert repository.verify("QA", "QA50").answer is SHIPPED


@pytest.mark.parametrize(("plan", "phase"), [("", "AUTH1"), ("AUTH", ""), ("", "")])
def test_nothing_ships_an_empty_name(tmp_path, plan, phase):
    repository = Repository(tmp_path)
    repository.commit("AUTH1: login")
    assert repository.verify(plan, phase).answer is NOT
