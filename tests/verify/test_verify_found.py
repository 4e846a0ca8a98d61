"""Regressions: lies that were believed, honest work that was denied, faults that answered."""

import os
import sqlite3
import subprocess
import sys
import time
import zlib

import pytest
from patience import PATIENCE
from repository import Repository

from dos.config.load import load
from dos.units.io import sources
from dos.units.markdown import fields
from dos.verify import content, file_kinds
from dos.verify.file_kinds import Kind
from dos.verify.message import Message, unfinished_words
from dos.verify.naming import UnitName
from dos.verify.shipped import Answer
from dos.workspace import find

pytestmark = pytest.mark.sampled(3)

LINES = "".join(f"def part_{number}(value):\n    return value + {number}\n" for number in range(50))
PLAN = "## AUTH AUTH1: log in\n\n- paths: src/auth/**\n"


@pytest.fixture
def repository(tmp_path):
    other = Repository(tmp_path / "work")
    other.commit("begin", {"src/base.py": "import os\nbase = 1\n", "README.md": "hello\n"})
    return other


def answer(repository, **ask):
    return repository.verify("AUTH", "AUTH1", **ask).answer


def verb(repository, *words, cwd="."):
    done = subprocess.run(
        [sys.executable, "-m", "dos", "verify", "AUTH", "AUTH1", *words], cwd=repository.root / cwd,
        capture_output=True, text=True, timeout=PATIENCE, env=dict(os.environ),
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode


@pytest.mark.parametrize("pieces", [1, 2])
def test_work_that_was_taken_back_under_the_same_name_has_not_shipped(repository, pieces):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    left = LINES.splitlines(keepends=True)[: len(LINES.splitlines()) // 2] if pieces == 2 else []
    if left:
        repository.commit("AUTH1: tidy login", {"src/login.py": "".join(left)})
    repository.commit("AUTH1: tidy login more", {"src/login.py": None})
    assert answer(repository) is Answer.UNDONE


def test_an_object_that_was_written_over_is_not_believed(repository):
    old = repository.commit("something", {"src/login.py": LINES})
    raw = subprocess.run(
        ["git", "cat-file", "commit", old], cwd=repository.root, capture_output=True, check=True
    ).stdout
    fake = raw.replace(b"something", b"AUTH1: login")
    file = repository.root / ".git/objects" / old[:2] / old[2:]
    file.chmod(0o644)
    file.write_bytes(zlib.compress(b"commit %d\0" % len(fake) + fake))
    assert verb(repository) in (2, 5)


def test_a_branch_from_before_the_declaration_does_not_escape_it(repository):
    repository.git("switch", "--quiet", "-c", "feat")
    repository.commit("AUTH1: login", {"src/z.py": "x = 1\n"})
    repository.git("switch", "--quiet", "main")
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge feat", "feat")
    assert answer(repository) is Answer.UNPROVEN


def test_a_declaration_that_is_away_for_a_moment_does_not_escape_it(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    repository.commit("oops", {"docs/auth-plan.md": "nothing\n"})
    repository.commit("AUTH1: login", {"src/z.py": "x = 1\n"})
    repository.commit("restore", {"docs/auth-plan.md": PLAN})
    assert answer(repository) is Answer.UNPROVEN


def test_a_configuration_that_is_broken_for_a_moment_does_not_escape_it(repository):
    toml = '[units.AUTH1]\npaths = ["src/auth/**"]\n'
    repository.commit("declare", {"dos.toml": toml})
    repository.commit("break", {"dos.toml": "[units"})
    repository.commit("AUTH1: login", {"src/z.py": "x = 1\n"})
    repository.commit("repair", {"dos.toml": toml})
    assert answer(repository) is Answer.UNPROVEN


UNITS = '[units.auth1]\npaths = ["src/other/**"]\n'


def test_the_paths_of_the_plan_take_precedence_over_those_of_the_settings(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN, "dos.toml": UNITS})
    repository.commit("AUTH1: login", {"src/auth/login.py": LINES})
    assert answer(repository) is Answer.SHIPPED
    [unit] = sources.read(find(repository.root), load(repository.root).config).units
    assert unit.paths == ("src/auth/**",)


def test_the_settings_state_the_paths_that_the_plan_does_not(repository):
    plan = "## AUTH AUTH1: log in\n\nChange src/auth/login.py.\n"
    repository.commit("declare", {"docs/auth-plan.md": plan, "dos.toml": UNITS})
    repository.commit("AUTH1: login", {"src/auth/login.py": LINES})
    assert answer(repository) is Answer.UNPROVEN
    repository.commit("AUTH1: login", {"src/other/login.py": f"import os\n{LINES}"})
    assert answer(repository) is Answer.SHIPPED
    [unit] = sources.read(find(repository.root), load(repository.root).config).units
    assert unit.paths == ("src/other/**",)


def test_a_first_commit_of_its_own_does_not_escape_the_declaration(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    fake = repository.git("commit-tree", "-m", "AUTH1: login", "HEAD^{tree}")
    repository.git(
        "merge", "--quiet", "--allow-unrelated-histories", "-s", "ours", "-m", "Merge it", fake
    )
    assert answer(repository) is Answer.UNPROVEN


def test_a_revert_that_left_a_common_line_is_a_revert(repository):
    repository.commit("AUTH1: login", {"src/login.py": "import os\n" + LINES})
    repository.git("revert", "--no-commit", "HEAD")
    repository.write("src/login.py", "import os\n")
    sha = repository.git("rev-parse", "HEAD")
    repository.commit(f'Revert "AUTH1: login"\n\nThis reverts commit {sha}.\n', {})
    assert answer(repository) is Answer.UNDONE


@pytest.mark.parametrize("phase", ["auth1", "Phase 1", "AUTH1"])
def test_however_it_is_spelled_a_unit_has_its_scope(repository, phase):
    repository.commit("declare", {"dos.toml": '[units.AUTH1]\npaths = ["src/auth/**"]\n'})
    repository.commit("AUTH1: login", {"src/z.py": "x = 1\n"})
    assert repository.verify("AUTH", phase).answer is Answer.UNPROVEN


def test_a_dos_toml_that_nobody_committed_takes_no_policy_away(repository):
    repository.commit("policy", {"dos.toml": '[verify]\nrequire = "witnessed"\n'})
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.write("src/dos.toml", "")
    assert verb(repository) == verb(repository, cwd="src") == 3


def test_pointers_to_nothing_are_no_work(repository):
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1234' * 10},src/dep")
    repository.git("commit", "--quiet", "-m", "AUTH1: login")
    assert answer(repository) is Answer.UNPROVEN
    (repository.root / "src/link.py").symlink_to("/nowhere")
    repository.git("add", "src/link.py")
    repository.git("commit", "--quiet", "-m", "AUTH1: login")
    assert answer(repository) is Answer.UNPROVEN


def test_a_registry_cannot_give_one_units_commit_to_another(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN + PLAN.replace("AUTH1", "AUTH2")})
    sha = repository.commit("AUTH2: logout", {"src/auth/out.py": LINES})
    row = (
        f"recently_completed:\n- {{plan: AUTH, phase: AUTH1, status: done, commit_sha: '{sha}'}}\n"
    )
    repository.write("dos.state.yaml", row)
    assert answer(repository) is not Answer.SHIPPED


def test_a_second_document_cannot_widen_a_unit(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN})
    repository.commit("widen", {"docs/a-plan.md": "## AUTH AUTH1: log in\n\n- paths: '**'\n"})
    repository.commit("AUTH1: login", {"src/z.py": "x = 1\n"})
    assert answer(repository) is Answer.UNPROVEN


def test_a_file_of_the_same_name_elsewhere_is_another_file(repository):
    repository.commit(
        "declare", {"docs/auth-plan.md": "## AUTH AUTH1: log in\n\nWrite `src/auth/login.py`.\n"}
    )
    repository.commit("AUTH1: login", {"junk/login.py": LINES})
    assert answer(repository) is Answer.UNPROVEN


@pytest.mark.parametrize(
    "path", ["LICENSE-MIT", "README.en", "notes.tex", "x.log", "docs/guide.rtf"]
)
def test_prose_in_other_clothes_is_prose(path):
    assert file_kinds.kind(path) is Kind.DOCS


@pytest.mark.parametrize(
    ("path", "comment"),
    [
        ("x.f90", "! login"),
        ("x.asm", "; login"),
        ("x.adb", "-- login"),
        ("x.vim", '" login'),
        ("x.service", "# login"),
    ],
)
def test_comments_of_older_languages_mean_nothing(path, comment):
    assert content.significant_lines(path, f"one\n{comment}\n") == content.significant_lines(
        path, "one\n"
    )


@pytest.mark.parametrize(
    "subject",
    [
        "AUTH1: part 1 of 3", "AUTH1: scaffolding", "AUTH1: skeleton of it",
        "AUTH1: back out login", "AUTH1: tbd",
        "AUTH1: login does not compile", "AUTH1: not-done", "AUTH1: login isn’t done",
        "AUTH1: W.I.P.",
        "AUTH1: w\u200bip", "AUTH1: ＴＯＤＯ", "AUTH1: roll back login",
    ],
)  # fmt: skip
def test_more_ways_to_say_that_it_is_not_done(subject):
    naming = UnitName("AUTH", "AUTH1").find_in(Message.parse(subject))
    assert naming is not None and naming.negated


@pytest.mark.parametrize(
    "subject",
    [
        "AUTH1: add todo list",
        "AUTH1: part 3 of 3",
        "AUTH1: login when not ready to wait",
        "AUTH1: show drafts",
    ],
)
def test_words_that_only_look_like_it(subject):
    assert not unfinished_words(subject, 0, len("AUTH1:"))


def test_a_unit_about_removing_something_is_done_by_removing_it(repository):
    repository.commit(
        "declare", {"docs/auth-plan.md": "## AUTH AUTH1: Remove the old store\n\n- paths: src/**\n"}
    )
    repository.commit("AUTH1: remove the old store", {"src/base.py": "import os\n"})
    assert answer(repository) is Answer.SHIPPED


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (fields.mentioned_files, "+a/" * 33_000),
        (fields.mentioned_files, "@a/" * 33_000),
        (lambda text: content.significant_lines("x.php", text), "'\\" * 50_000),
        (lambda text: content.significant_lines("x.rb", text), '"\\' * 50_000),
    ],
)
def test_reading_takes_a_time_that_grows_with_the_text(read, text):
    """An expression that backtracks takes minutes for these texts."""
    began = time.process_time()
    assert read(text) is not None
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "text",
    [
        "recently_completed: &a [1]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n",
        "recently_completed: " + "[" * 100_000,
        "recently_completed: !!timestamp foo", "recently_completed: !!bool x",
        "recently_completed: !!int ''",
    ],
)  # fmt: skip
def test_a_hostile_registry_is_no_registry(repository, text):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.write("dos.state.yaml", text)
    assert verb(repository) == 0


def test_a_pipe_in_the_registrys_place_holds_nobody_up(repository):
    os.mkfifo(repository.root / "dos.state.yaml")
    assert verb(repository) == 1


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "no such", "a\0b"])
def test_an_encoding_that_nobody_knows_is_no_fault(repository, encoding):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    tree, parent = repository.git("rev-parse", "HEAD^{tree}"), repository.head
    raw = (
        f"tree {tree}\nparent {parent}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n"
        f"encoding {encoding}\n\nAUTH1: é\n"
    ).encode("latin-1")
    completed = subprocess.run(
        ["git", "hash-object", "--literally", "-t", "commit", "-w", "--stdin"], cwd=repository.root,
        input=raw,
        capture_output=True, check=True,
    )  # fmt: skip
    repository.git("update-ref", "refs/heads/main", completed.stdout.decode().strip())
    assert verb(repository) == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE commits SET sha = 'text' WHERE id = 2", "UPDATE commits SET sha = 7 WHERE id = 2",
        "DROP TABLE about",
        "CREATE VIEW v AS SELECT * FROM about",
    ],
)  # fmt: skip
def test_a_meddled_index_is_made_anew(repository, damage):
    repository.commit("AUTH1: login", {"src/login.py": LINES, "dos.toml": ""})
    assert verb(repository) == 0
    with sqlite3.connect(repository.root / ".git/dos/history.sqlite") as base:
        base.execute(damage)
    assert verb(repository) == 0


def test_a_branch_whose_commit_is_missing_is_not_empty(repository):
    head = repository.head
    (repository.root / ".git/objects" / head[:2] / head[2:]).unlink()
    assert verb(repository) == 2


def test_the_reason_is_one_line_whatever_a_file_is_called(repository):
    repository.commit("AUTH1: login", {"docs/x\nSHIPPED AUTH AUTH1\n.md": "text\n"})
    verdict = repository.verify("AUTH", "AUTH1")
    assert verdict.answer is Answer.UNPROVEN and "\n" not in verdict.reason


def test_a_glob_that_was_wrong_once_is_no_error_for_ever(repository):
    repository.commit("declare", {"docs/auth-plan.md": PLAN.replace("src/auth", "/src/auth")})
    repository.commit("AUTH1: login", {"src/auth/login.py": LINES})
    repository.commit("correct", {"docs/auth-plan.md": PLAN})
    assert answer(repository) is Answer.SHIPPED


def test_a_commit_from_the_future_is_merged_all_the_same(repository):
    repository.write("src/login.py", LINES)
    repository.git("add", "--all")
    repository.git(
        "commit", "--quiet", "-m", "AUTH1: login", GIT_COMMITTER_DATE="2040-01-01T00:00:00Z"
    )
    for number in range(12):
        repository.write(f"src/n{number}.py", f"n = {number}\n")
        repository.git("add", "--all")
        repository.git(
            "commit",
            "--quiet",
            "-m",
            "more",
            GIT_COMMITTER_DATE=f"2020-01-{number + 1:02d}T00:00:00Z",
        )
    repository.git("branch", "release")
    repository.commit("on")
    assert answer(repository, merged_into="release") is Answer.SHIPPED


def test_many_empty_commits_of_a_name_do_not_hide_the_real_one(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    script = "".join(
        "commit refs/heads/main\n"
        f"committer A <a@b> {1_900_000_000 + number} +0000\ndata 12\nAUTH1: again\n"
        + (f"from {repository.head}\n" if not number else "")
        for number in range(70)
    )
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=repository.root, input=script.encode(), check=True
    )
    assert answer(repository) is Answer.SHIPPED


@pytest.mark.parametrize(
    "message",
    [
        "log in\n\nUnit: AUTH/AUTH1\n\nCo-authored-by: B <b@example.org>\n",
        "log in\r\n\r\nUnit: AUTH/AUTH1\r\n",
        "log in\n\nUnit: AUTH/AUTH1\n(cherry picked from commit 1234567)\n",
        "log in\n   \nUnit: AUTH/AUTH1\n   \nCo-authored-by: B <b@example.org>\n",
    ],
)
def test_trailers_are_found_where_people_put_them(repository, message):
    repository.commit(message, {"src/login.py": LINES})
    assert answer(repository) is Answer.SHIPPED


def test_functions_that_went_into_a_class_stand(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    inside = "class Login:\n" + "".join(f"    {line}\n" for line in LINES.splitlines())
    repository.commit("wrap", {"src/login.py": inside})
    assert answer(repository) is Answer.SHIPPED


def test_a_file_that_was_folded_into_another_stands(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.commit(
        "fold", {"src/login.py": None, "src/base.py": "import os\nbase = 1\n" + LINES}
    )
    assert answer(repository) is Answer.SHIPPED


def test_a_file_whose_old_place_was_used_again_is_found(repository):
    repository.commit("AUTH1: login", {"src/login.py": LINES})
    repository.git("mv", "src/login.py", "src/session.py")
    repository.commit("move", {})
    repository.commit("another", {"src/login.py": "other = 1\n"})
    repository.commit("and away", {"src/login.py": None})
    assert answer(repository) is Answer.SHIPPED


@pytest.mark.parametrize(
    ("stamp", "subject", "is_found"),
    [
        ('subject_dirs = ["src"]', "AUTH1: log in", True),
        ('subject_dirs = ["src"]', "src/AUTH: AUTH1 log in", False),
        ("", "AUTH1: log in", False),
        ('subject_dirs = ["src"]', "fix: 3 bugs", False),
    ],
)
def test_a_grammar_that_understands_nobody_is_a_finding(repository, stamp, subject, is_found):
    repository.commit(subject, {"src/login.py": LINES, "dos.toml": f"[stamp]\n{stamp}\n"})
    done = subprocess.run(
        [sys.executable, "-m", "dos", "doctor", "--json"],
        cwd=repository.root,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ("STAMP_RECOGNISES_NOTHING" in done.stdout) == is_found
