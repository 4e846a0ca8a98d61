"""Lies that a committer can tell, and what the oracle makes of them."""

import json
import subprocess
import sys

import pytest
from repository import Repository

from dos.verify.candidate import Tier
from dos.verify.shipped import Answer

pytestmark = pytest.mark.sampled(3)

LINES = "".join(f"def part_{number}(value):\n    return value + {number}\n" for number in range(50))
PLAN = "## AUTH AUTH1: log in\n\n- paths: src/auth/**\n"


@pytest.fixture
def repository(tmp_path):
    other = Repository(tmp_path / "work")
    other.commit("begin", {"src/base.py": "base = 1\n", "README.md": "hello\n"})
    return other


def check(repository, answer, *contradictions, **ask):
    verdict = repository.verify("AUTH", "AUTH1", **ask)
    assert (verdict.answer, set(verdict.contradictions)) == (answer, set(contradictions)), (
        verdict.reason
    )
    return verdict


def test_an_empty_commit_is_a_claim(repository):
    sha = repository.commit("AUTH1: login", empty=True)
    verdict = check(repository, Answer.UNPROVEN, "empty")
    assert (verdict.tier, verdict.sha, verdict.source) == (Tier.NAMED, sha, "none")


@pytest.mark.parametrize("path", ["notes.txt", "README.md", "docs/auth.rst"])
def test_prose_is_no_login(repository, path):
    repository.commit("AUTH1: OAuth login with PKCE", {path: "We log in with OAuth now.\n"})
    check(repository, Answer.UNPROVEN, "docs_only")


def test_prose_ships_a_unit_that_is_about_prose(repository):
    repository.commit("declare", {"dos.toml": '[units.AUTH1]\nkind = "docs"\n'})
    repository.commit("AUTH1: explain the login", {"README.md": "We log in with OAuth now.\n"})
    check(repository, Answer.SHIPPED)


def test_a_bookkeeping_file_ships_a_unit_that_declares_it(repository):
    repository.commit("declare", {"dos.toml": '[units.AUTH1]\npaths = ["pyproject.toml"]\n'})
    repository.commit("AUTH1: pin it", {"pyproject.toml": "[project]\nname = 'x'\n"})
    check(repository, Answer.SHIPPED)


def test_a_reverted_ship_is_undone(repository):
    shipped = repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.git("revert", "--no-edit", "HEAD")
    verdict = check(repository, Answer.UNDONE, "reverted")
    assert (verdict.undone_by, verdict.sha) == (repository.head, shipped)


def test_a_revert_between_other_work_is_found_too(repository):
    sha = repository.commit("AUTH1: login", {"src/base.py": "base = 1\n" + LINES})
    repository.commit("other", {"src/base.py": "base = 2\nbelow = 2\n\n\nbase = 1\n" + LINES})
    repository.git("revert", "--no-edit", sha)
    verdict = check(repository, Answer.UNDONE, "reverted")
    assert verdict.undone_by == repository.head


def test_a_reverted_revert_is_a_ship(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.git("revert", "--no-edit", "HEAD")
    repository.git("revert", "--no-edit", "HEAD")
    check(repository, Answer.SHIPPED)


def test_a_deleted_file_is_undone(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.commit("clean up", {"src/login.py": None})
    verdict = check(repository, Answer.UNDONE, "removed")
    assert verdict.undone_by == repository.head


def test_a_merge_that_kept_the_other_side_is_undone(repository):
    repository.git("switch", "--quiet", "-c", "feat")
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.git("switch", "--quiet", "main")
    repository.commit("other", {"src/other.py": "other = 1\n"})
    repository.git("merge", "--quiet", "-s", "ours", "-m", "Merge branch feat", "feat")
    verdict = check(repository, Answer.UNDONE, "removed")
    assert verdict.undone_by == repository.head


def test_a_moved_file_is_still_there(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    (repository.root / "lib").mkdir()
    repository.git("mv", "src/login.py", "lib/session.py")
    repository.commit("move it", {})
    check(repository, Answer.SHIPPED)


def test_a_file_is_followed_through_moves_and_growth(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    for number, place in enumerate(("lib/session.py", "lib/sessions/session.py")):
        was = repository.git("ls-files", "*login.py", "*session.py")
        (repository.root / place).parent.mkdir(parents=True, exist_ok=True)
        repository.git("mv", was, place)
        repository.commit("move it", {})
        more = "".join(f"def more_{number}_{line}():\n    return {line}\n" for line in range(200))
        repository.commit("grow", {place: (repository.root / place).read_text() + more})
    check(repository, Answer.SHIPPED)


def test_code_that_became_a_text_file_is_gone(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.git("mv", "src/login.py", "src/login.txt")
    repository.commit("put it away", {})
    check(repository, Answer.UNDONE, "removed")


@pytest.mark.parametrize(
    "subject",
    [
        "AUTH1: TODO", "wip/AUTH1: half done", "AUTH1: WIP not done",
        "AUTH: AUTH1 blocked, not started",
        "AUTH1: revert login", "AUTH: AUTH1 reverted", "todo/AUTH1: plan", "revert/AUTH1: undo",
        "AUTH1: login (WIP)",
        "AUTH1: login, not finished",
        "v1.2.3: all but not AUTH1", "v1.2.3: release\n\n- AUTH1 not done",
    ],
)  # fmt: skip
def test_a_subject_that_says_it_is_not_done_is_believed(repository, subject):
    repository.commit(subject, {"src/login.py": LINES})
    check(repository, Answer.UNPROVEN, "negated_subject")


def test_an_id_of_another_plan_ships_nothing(repository):
    repository.commit("AUTH1: x", {"src/login.py": LINES})
    assert repository.verify("BILLING", "AUTH1").answer is Answer.NOT_SHIPPED


@pytest.mark.parametrize(
    ("subject", "plan", "phase"),
    [
        ("Phase 1: billing", "AUTH", "AUTH1"),
        ("fix: typo", "AUTH", "fix"),
        ("1: login", "AUTH", "1"),
    ],
)
def test_a_name_without_its_plan_ships_nothing(repository, subject, plan, phase):
    repository.commit(subject, {"src/login.py": LINES})
    assert repository.verify(plan, phase).answer is Answer.NOT_SHIPPED


def test_a_body_cannot_pretend_to_be_another_commit(repository):
    repository.commit(
        "x\n\n--END--\nabc1234\nv9.9.9: AUTH1\n\0".rstrip("\0"), {"src/login.py": LINES}
    )
    assert repository.verify("AUTH", "AUTH1").answer is Answer.NOT_SHIPPED


def test_a_replaced_commit_is_read_as_it_was_made(repository):
    old = repository.commit("something", {"src/login.py": LINES})
    fake = repository.git("commit-tree", "-m", "AUTH1: login", "-p", f"{old}^", f"{old}^{{tree}}")
    repository.git("replace", old, fake)
    check(repository, Answer.NOT_SHIPPED, "replaced_object")


def test_grafts_do_not_bring_a_commit_into_history(repository):
    head = repository.head
    fake = repository.git("commit-tree", "-m", "AUTH1: login", "-p", head, f"{head}^{{tree}}")
    repository.commit("next")
    (repository.root / ".git/info/grafts").write_text(f"{repository.head} {fake}\n")
    check(repository, Answer.NOT_SHIPPED)


def test_grammar_that_nobody_committed_does_not_count(repository):
    repository.commit("chore: mention AUTH1 somewhere", {"src/login.py": LINES})
    repository.write("dos.toml", '[stamp]\nsummary_bundle_prefixes = ["chore:"]\n')
    check(repository, Answer.NOT_SHIPPED, "config_dirty")


def test_a_lower_bar_that_nobody_committed_does_not_count(repository):
    repository.commit("AUTH1: login", empty=True)
    repository.write("dos.toml", '[verify]\nrequire = "named"\n')
    check(repository, Answer.UNPROVEN, "empty", "config_dirty")
    repository.commit("lower the bar", {})
    check(repository, Answer.SHIPPED, "empty")


def test_errors_in_the_settings_on_disk_are_not_called_other_rules(repository):
    repository.commit("AUTH1: login")
    repository.write("dos.toml", "[leases]\nttl_second = 60\n")
    check(repository, Answer.SHIPPED, "config_invalid")
    repository.write("dos.toml", '[verify]\nrequire = "named"\n[leases]\nttl_second = 60\n')
    check(repository, Answer.SHIPPED, "config_dirty", "config_invalid")


def test_other_settings_on_disk_are_no_matter(repository):
    repository.commit("AUTH1: login")
    repository.write("dos.toml", '[workers]\ntarget_branch = "main"\n')
    check(repository, Answer.SHIPPED)


def test_a_squashed_branch_ships_what_its_files_speak_for(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    body = "Login feature (#7)\n\n* AUTH1: login\n\n* AUTH2: logout"
    repository.commit(body, {"src/auth/login.py": LINES})
    verdict = check(repository, Answer.SHIPPED)
    assert verdict.rung == "squash-bullet"
    assert not repository.verify("AUTH", "AUTH2").shipped


@pytest.mark.parametrize(
    "name",
    ["AUTH: AUTH2, AUTH1", "AUTH2/AUTH1: both", "AUTH2 + AUTH1: both", "feat(AUTH): AUTH1 login"],
)
def test_faint_names_count_where_the_declared_files_speak_for_them(repository, name):
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    repository.commit(name, {"src/auth/login.py": LINES})
    check(repository, Answer.SHIPPED)


@pytest.mark.parametrize(
    "setting",
    ["color.ui=always", "log.decorate=short", "log.showSignature=true", "core.quotePath=true"],
)
def test_settings_of_the_user_change_nothing(repository, setting):
    repository.git("config", *setting.split("="))
    repository.commit("AUTH1: login", {"src/é\t\n.py": LINES})
    check(repository, Answer.SHIPPED)


def test_a_clone_that_is_cut_off_cannot_tell(repository, tmp_path):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.commit("later")
    subprocess.run(
        [
            "git",
            "clone",
            "--quiet",
            "--depth=1",
            f"file://{repository.root}",
            str(tmp_path / "shallow"),
        ],
        check=True,
    )
    clone = Repository(tmp_path / "shallow")
    verdict = check(clone, Answer.CANNOT_TELL)
    assert verdict.limits == ("shallow",)


def test_the_commit_at_the_cut_cannot_be_judged(repository, tmp_path):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    subprocess.run(
        [
            "git",
            "clone",
            "--quiet",
            "--depth=1",
            f"file://{repository.root}",
            str(tmp_path / "shallow"),
        ],
        check=True,
    )
    check(Repository(tmp_path / "shallow"), Answer.CANNOT_TELL)


def test_a_workspace_that_is_not_there_is_an_error(repository):
    code, said, error = repository.dos("verify", "--workspace", "/nonexistent", "AUTH", "AUTH1")
    assert (code, said) == (2, "") and "Traceback" not in error


def test_a_ref_that_is_not_there_is_an_error(repository):
    for ref in ("nope", "--output=x", "HEAD\nHEAD", "main..HEAD", ":/AUTH"):
        code, said, error = repository.dos("verify", "AUTH", "AUTH1", f"--ref={ref}")
        assert (code, said) == (2, ""), ref
        assert "Traceback" not in error and not (repository.root / "x").exists()


def test_outside_of_git_nobody_can_tell(tmp_path):
    (tmp_path / "plain").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "dos", "verify", "AUTH", "AUTH1", "--json"],
        cwd=tmp_path / "plain",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 5
    assert json.loads(done.stdout)["limits"] == ["no_git"]


def test_a_repository_without_commits_ships_nothing(tmp_path):
    assert Repository(tmp_path).verify("AUTH", "AUTH1").answer is Answer.NOT_SHIPPED


def test_another_repository_in_the_environment_is_not_read(repository, tmp_path):
    other = Repository(tmp_path / "other")
    other.commit("AUTH1: login", {"src/login.py": LINES})
    for name in (
        "GIT_DIR",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    ):
        code, _, _ = repository.dos("verify", "AUTH", "AUTH1", **{name: str(other.root / ".git")})
        assert code == 1, name


def test_a_branch_that_is_not_merged_does_not_count_for_the_protected_one(repository):
    repository.git("switch", "--quiet", "-c", "feat")
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    assert repository.verify("AUTH", "AUTH1").shipped
    check(repository, Answer.NOT_SHIPPED, "not_merged", merged_into="main")
    repository.git("switch", "--quiet", "main")
    repository.git("merge", "--quiet", "feat")
    check(repository, Answer.SHIPPED, merged_into="main", ref="feat")


def test_what_the_protected_branch_took_out_again_does_not_count_for_it(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.git("branch", "feat")
    repository.git("revert", "--no-edit", "HEAD")
    assert repository.verify("AUTH", "AUTH1", ref="feat").shipped
    check(repository, Answer.UNDONE, "reverted", ref="feat", merged_into="main")


def test_a_branch_cannot_lower_the_bar_of_the_protected_one(repository):
    repository.git("switch", "--quiet", "-c", "feat")
    repository.commit("AUTH1: login", {"dos.toml": '[verify]\nrequire = "named"\n'})
    repository.git("switch", "--quiet", "main")
    repository.git("merge", "--quiet", "--squash", "feat")
    repository.git("reset", "--quiet", "--hard")
    assert not repository.verify("AUTH", "AUTH1", ref="feat", merged_into="main").shipped


@pytest.mark.parametrize(
    "text",
    [
        "base = 1\n\n", "base = 1  \n", "# a login\nbase = 1\n", "base = 1  # login\n",
        '"""A login."""\nbase = 1\n',
        "base = 1\r\n", "\ufeffbase = 1\n", "base = 1\npass\n",
    ],
)  # fmt: skip
def test_what_changes_nothing_is_no_login(repository, text):
    repository.commit("AUTH1: login", {"src/base.py": text})
    check(repository, Answer.UNPROVEN, "cosmetic_only")


def test_a_mode_or_a_new_name_is_no_login(repository):
    repository.commit("begin", {"src/login.py": LINES})
    (repository.root / "src/login.py").chmod(0o755)
    repository.commit("AUTH1: login", {})
    check(repository, Answer.UNPROVEN, "cosmetic_only")
    repository.git("mv", "src/login.py", "src/login2.py")
    repository.commit("AUTH1: login", {})
    check(repository, Answer.UNPROVEN, "cosmetic_only")


def test_work_elsewhere_than_declared_does_not_count(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    repository.commit("AUTH1: login", {"src/pay.py": LINES})
    verdict = check(repository, Answer.UNPROVEN, "out_of_scope")
    assert verdict.expected == ("src/auth/**",)


def test_a_touch_of_the_declared_files_needs_to_be_real(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN, "src/auth/login.py": "a = 1\n"})
    repository.commit(
        "AUTH1: login", {"src/pay.py": LINES, "src/auth/login.py": "a = 1\n\n# login\n"}
    )
    check(repository, Answer.UNPROVEN, "out_of_scope")


def test_what_stands_is_asked_of_the_declared_files_only(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    repository.commit("AUTH1: login", {"src/pay.py": LINES, "src/auth/login.py": LINES})
    repository.commit("clean up", {"src/auth/login.py": None})
    check(repository, Answer.UNDONE, "removed")


def test_a_declaration_in_the_same_commit_comes_too_late(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    widened = PLAN.replace("src/auth/**", "src/**")
    repository.commit("AUTH1: login", {"docs/auth-plan.md": widened, "src/pay.py": LINES})
    check(repository, Answer.UNPROVEN, "out_of_scope")


def test_files_that_the_plan_names_in_its_text_are_declared(repository):
    text = "## AUTH AUTH1: log in\n\nWrite `src/auth/login.py`, see docs/design.md.\n"
    repository.commit("declare", {"docs/auth-plan.md": text})
    repository.commit("AUTH1: login", {"src/pay.py": LINES})
    check(repository, Answer.UNPROVEN, "out_of_scope")
    repository.commit("AUTH1: login", {"src/auth/login.py": LINES})
    check(repository, Answer.SHIPPED)


def test_work_that_was_rewritten_is_not_the_work(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    other = "".join(f"class Other{number}:\n    value = {number}\n" for number in range(30))
    sha = repository.commit("rewrite", {"src/login.py": other})
    verdict = check(repository, Answer.UNPROVEN, "overwritten")
    assert sha[:7] in verdict.reason


@pytest.mark.parametrize(("kept", "answer"), [(70, Answer.SHIPPED), (10, Answer.SHIPPED)])
def test_work_that_was_partly_rewritten_stands(repository, kept, answer):
    lines = [f"line_{number} = {number}\n" for number in range(100)]
    repository.commit("AUTH1: login", {"src/login.py": "".join(lines)})
    repository.commit("rewrite", {"src/login.py": "".join(lines[:kept]) + "other = 1\n"})
    verdict = check(repository, answer)
    assert f"{kept} of 100" in verdict.reason


def test_a_deletion_is_work_as_long_as_the_file_is_gone(repository):
    repository.commit("begin", {"src/old.py": LINES})
    repository.commit("AUTH1: drop the old login", {"src/old.py": None})
    check(repository, Answer.SHIPPED)
    repository.commit("bring it back", {"src/old.py": LINES})
    check(repository, Answer.UNDONE, "removed")


def test_lines_that_were_there_twice_do_not_count_twice(repository):
    repository.commit("begin", {"src/login.py": "call(1)\nother = 1\n"})
    repository.commit("AUTH1: login", {"src/login.py": "call(1)\ncall(1)\nother = 1\n"})
    check(repository, Answer.SHIPPED)
    repository.commit("back", {"src/login.py": "call(1)\nother = 2\n"})
    assert not repository.verify("AUTH", "AUTH1").shipped


def test_binary_files_prove_nothing_unless_they_are_declared(repository):
    (repository.root / "src/logo.png").write_bytes(b"\x89PNG\0" + bytes(range(256)))
    repository.commit("AUTH1: login", {})
    check(repository, Answer.UNPROVEN, "docs_only")


def test_any_depth_of_history_is_looked_at(repository):
    script = []
    for number in range(4_100):
        script.append(
            "commit refs/heads/main\n"
            f"committer A <a@b> {1_700_000_000 + number} +0000\ndata 4\nmore\n"
            + (f"from {repository.head}^0\n" if not number else "")
        )
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    script[0] = script[0].replace(script[0].split("from ")[1], f"{repository.head}^0\n")
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=repository.root,
        input="\n".join(script).encode(),
        check=True,
    )
    check(repository, Answer.SHIPPED)


def test_the_text_names_the_tier_and_what_speaks_against_it(repository):
    sha = repository.commit("AUTH1: login", empty=True)
    code, said, _ = repository.dos("verify", "AUTH", "AUTH1")
    assert (code, said) == (3, f"UNPROVEN AUTH/AUTH1 {sha[:7]} (named only: the commit is empty)\n")


@pytest.mark.parametrize("flag", [(), ("--legacy-exit",)])
def test_released_exit_codes_are_there_for_who_asks(repository, flag):
    repository.commit("AUTH1: login", empty=True)
    assert repository.dos("verify", "AUTH", "AUTH1", *flag)[0] == (1 if flag else 3)
    assert repository.dos("verify", "AUTH", "AUTH2", *flag)[0] == 1


def test_many_units_are_answered_from_one_read(repository):
    plan = "".join(
        f"## AUTH AUTH{number}: step {number}\n\n- paths: src/p{number}.py\n\n"
        for number in range(1, 6)
    )
    repository.commit("declare", {"docs/auth-plan.md": plan})
    for number in (1, 3):
        repository.commit(f"AUTH{number}: do it", {f"src/p{number}.py": LINES})
    code, said, error = repository.dos("verify", "--all", "--json")
    assert code == 1, error
    found = {verdict["phase"]: verdict["shipped"] for verdict in json.loads(said)["verdicts"]}
    assert found == {"AUTH1": True, "AUTH2": False, "AUTH3": True, "AUTH4": False, "AUTH5": False}
