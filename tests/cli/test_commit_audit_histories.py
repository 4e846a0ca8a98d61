"""Ranges, merges, clones that are cut off, and settings of other people: on real repositories."""

import os
import subprocess
from pathlib import Path

import pytest
from commanding import command, git, in_process
from commit_histories import Told, write
from patience import PATIENCE

TEST = (
    "import a\n\n\ndef test_act():\n    assert a.act(1) == 1\n\n\ndef test_other():\n"
    "    assert a.other(1) == 2\n"
)
BASE = {
    "README.md": "# It\n",
    "src/a.py": "def act(value):\n    return value\n\n\ndef other(value):\n    return value + 1\n",
    "src/b.py": "def gone():\n    return 1\n",
    "tests/test_a.py": TEST,
    "tests/test_b.py": "import b\n\n\ndef test_gone():\n    assert b.gone() == 1\n",
}


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    root = write(tmp_path / "repository", BASE, {})
    git("checkout", "--quiet", "--force", "main", cwd=root)
    monkeypatch.chdir(root)
    return root


def commit(root: Path, subject: str, files: dict[str, str | None], *more: str) -> str:
    for path, text in files.items():
        target = root / path
        if text is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--allow-empty", "--message", subject, *more, cwd=root)
    return git("rev-parse", "HEAD", cwd=root).strip()


def verdicts(*words: str) -> list[str]:
    return [found["verdict"] for found in in_process("commit-audit", "--json", *words).json]


def test_a_range_is_audited_newest_first(repository):
    commit(
        repository,
        "fix: one",
        {"src/a.py": "x = 1\n", "tests/test_c.py": "def test():\n    assert 1 + 1 == 2\n"},
    )
    commit(repository, "fix: two", {})
    commit(repository, "wip", {})
    assert verdicts("HEAD~3..HEAD") == ["ABSTAIN", "CLAIM_UNWITNESSED", "OK"]
    assert verdicts("HEAD~3..") == ["ABSTAIN", "CLAIM_UNWITNESSED", "OK"]
    assert verdicts("HEAD~1...HEAD") == ["ABSTAIN"]
    assert verdicts("..HEAD~1") == []
    assert in_process("commit-audit", "HEAD~3..HEAD").code == 1


def test_a_symmetric_range_has_both_sides(repository):
    git("checkout", "--quiet", "-b", "side", cwd=repository)
    commit(repository, "fix: here", {})
    git("checkout", "--quiet", "main", cwd=repository)
    commit(repository, "wip", {})
    assert sorted(verdicts("main...side")) == ["ABSTAIN", "CLAIM_UNWITNESSED"]


def test_an_empty_range_says_so(repository):
    answer = in_process("commit-audit", "HEAD..HEAD")
    assert (answer.code, answer.out) == (0, "no commits in HEAD..HEAD\n")
    assert in_process("commit-audit", "HEAD..HEAD", "--json").json == []
    swept = in_process("commit-audit", "HEAD..HEAD", "--sweep", "--json").json
    assert swept == {
        "commits": 0, "checkable": 0, "abstained": 0, "witnessed": 0, "unwitnessed": 0,
        "tests_weakened": 0, "drift_rate": 0.0, "by_kind": {}, "unwitnessed_shas": [],
        "weakened_shas": [], "limits": {},
    }  # fmt: skip


def test_a_long_range_is_audited_whole(tmp_path, monkeypatch):
    told = [Told("fix: x" if number % 4 else "wip", {}) for number in range(1200)]
    told[600] = Told("tidy", {"tests/test_a.py": None})
    monkeypatch.chdir(write(tmp_path / "long", BASE, {"side": told}))
    answer = in_process("commit-audit", "main..side", "--sweep", "--json")
    swept = answer.json
    assert answer.code == 1
    assert (
        swept["commits"],
        swept["unwitnessed"],
        swept["abstained"],
        swept["tests_weakened"],
    ) == (1200, 900, 299, 1)
    assert swept["checkable"] == 901 and swept["drift_rate"] == pytest.approx(900 / 901)
    assert len(swept["unwitnessed_shas"]) == 900 and len(swept["weakened_shas"]) == 1
    assert swept["by_kind"]["code_effect"] == {
        "unwitnessed": 900,
        "witnessed": 0,
        "abstain": 0,
        "tests_weakened": 0,
    }
    assert "1200 commits" in in_process("commit-audit", "main..side", "--sweep").out


def test_a_first_commit_made_all_that_is_in_it(tmp_path, monkeypatch):
    folder = tmp_path / "first"
    folder.mkdir()
    git("init", "--quiet", ".", cwd=folder)
    monkeypatch.chdir(folder)
    commit(folder, "Add login", {"src/login.py": "x = 1\n"})
    assert verdicts() == ["OK"]
    commit(folder, "Add nothing", {})
    assert verdicts() == ["CLAIM_UNWITNESSED"]


def test_a_merge_is_what_it_brings_to_its_first_parent(repository):
    git("checkout", "--quiet", "-b", "feature", cwd=repository)
    commit(repository, "more", {"src/login.py": "x = 1\n"})
    git("checkout", "--quiet", "main", cwd=repository)
    git("merge", "--quiet", "--no-ff", "-m", "Add login feature (#12)", "feature", cwd=repository)
    assert verdicts() == ["OK"]


def test_a_merge_does_not_answer_for_the_tests_that_the_other_side_removed(repository):
    git("checkout", "--quiet", "-b", "feature", cwd=repository)
    commit(repository, "more", {"src/login.py": "x = 1\n"})
    git("checkout", "--quiet", "main", cwd=repository)
    commit(repository, "less", {"tests/test_b.py": None})
    git("checkout", "--quiet", "feature", cwd=repository)
    git(
        "merge",
        "--quiet",
        "--no-ff",
        "-m",
        "Merge branch 'main' into feature",
        "main",
        cwd=repository,
    )
    assert verdicts() == ["ABSTAIN"]
    git("merge-base", "--is-ancestor", "main", "HEAD", cwd=repository)
    commit(
        repository,
        "Merge branch 'main' into feature",
        {"tests/test_a.py": TEST.replace("== 1", "")},
        "--amend",
    )
    assert len(git("rev-list", "--parents", "-1", "HEAD", cwd=repository).split()) == 3
    assert verdicts() == ["TESTS_WEAKENED"]


def test_a_commit_whose_parent_is_cut_off_is_not_judged(repository, tmp_path, monkeypatch):
    commit(repository, "fix: empty", {})
    commit(repository, "fix: empty too", {})
    git("clone", "--quiet", "--depth", "2", f"file://{repository}", "shallow", cwd=tmp_path)
    monkeypatch.chdir(tmp_path / "shallow")
    answer = in_process("commit-audit", "HEAD~1", "--json")
    assert (answer.code, answer.json[0]["verdict"], answer.json[0]["limits"]) == (
        0,
        "ABSTAIN",
        ["shallow"],
    )
    assert "shallow" in answer.json[0]["reason"] and "shallow" in answer.err
    assert verdicts() == ["CLAIM_UNWITNESSED"]
    assert in_process("commit-audit", "HEAD~2..HEAD").code == 2
    ranged = in_process("commit-audit", "HEAD~1..HEAD", "--warn-only")
    assert "shallow" in ranged.err


@pytest.mark.parametrize("subject", ["remove b", "use the library in place of b"])
def test_tests_go_with_the_code_that_a_commit_removes(repository, subject):
    commit(repository, subject, {"src/b.py": None, "tests/test_b.py": None})
    assert verdicts() == ["OK"]


def test_a_case_goes_with_its_function(repository):
    less = {
        "src/a.py": "def act(value):\n    return value\n",
        "tests/test_a.py": TEST.partition("\n\n\ndef test_other")[0] + "\n",
    }
    commit(repository, "drop other()", less)
    assert verdicts() == ["OK"]


@pytest.mark.parametrize(
    ("subject", "files"),
    [
        ("remove b", {"tests/test_b.py": None}),
        ("remove b", {"src/b.py": None, "tests/test_a.py": None}),
        ("remove b", {"src/b.py": None, "tests/test_a.py": TEST.replace("a.act(1) == 1", "True")}),
    ],
)
def test_tests_of_what_is_still_there_do_not_go_with_it(repository, subject, files):
    commit(repository, subject, files)
    assert verdicts() == ["TESTS_WEAKENED"]


def test_a_revert_takes_back_the_tests_with_the_code_and_nothing_more(repository):
    more = {
        "src/a.py": BASE["src/a.py"] + "x = 1\n",
        "tests/test_a.py": TEST + "\n\ndef test_x():\n    assert a.x == 1\n",
    }
    commit(repository, "fix: race", more)
    git("revert", "--no-edit", "HEAD", cwd=repository)
    assert verdicts() == ["OK"]
    commit(
        repository,
        "add tests",
        {"tests/test_a.py": TEST + "\n\ndef test_x():\n    assert a.act(3) == 3\n"},
    )
    git("revert", "--no-edit", "HEAD", cwd=repository)
    assert verdicts() == ["TESTS_WEAKENED"]


def test_a_mode_is_no_effect_unless_it_is_what_is_spoken_of(repository):
    (repository / "src" / "a.py").chmod(0o755)
    commit(repository, "fix: race", {})
    assert verdicts() == ["CLAIM_UNWITNESSED"]
    commit(repository, "fix: make it executable", {}, "--amend")
    assert verdicts() == ["OK"]


def test_a_submodule_that_moves_is_an_effect(repository, tmp_path):
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/thing", cwd=repository)
    git("commit", "--quiet", "-m", "upgrade the thing", cwd=repository)
    [found] = in_process("commit-audit", "--json").json
    assert (found["verdict"], found["limits"]) == ("OK", [])


def test_a_file_that_is_not_in_the_clone_is_said(repository):
    sha = commit(repository, "fix: race", {"src/a.py": "x = 1\n"})
    blob = git("rev-parse", f"{sha}:src/a.py", cwd=repository).strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    [found] = in_process("commit-audit", "--json").json
    assert (found["limits"], found["verdict"]) == (["unread"], "ABSTAIN")
    assert "not in this clone" in in_process("commit-audit").err


def test_bytes_that_are_no_text_can_be_told(tmp_path, monkeypatch):
    named = b"tests/test_\xff.py".decode("utf-8", "surrogateescape")
    base = {named: b"def test_a():\n    assert x == '\xfe'\n"}
    monkeypatch.chdir(
        write(
            tmp_path / "odd", base, {"side": [Told("tidy", {named: b"def test_a():\n    pass\n"})]}
        )
    )
    answer = in_process("commit-audit", "side", "--json")
    assert answer.json[0]["verdict"] == "TESTS_WEAKENED"
    assert answer.json[0]["weakened"][0]["path"] == "tests/test_\ufffd.py"
    assert "TESTS WEAKENED" in in_process("commit-audit", "side").out


SETTINGS = {
    "color.ui": "always", "core.quotePath": "true", "core.abbrev": "5", "diff.noprefix": "true",
    "diff.renames": "copies", "diff.relative": "true", "diff.ignoreSubmodules": "all",
    "diff.orderFile": "/nowhere", "diff.external": "false",
    "diff.x.textconv": "false", "log.showRoot": "false", "log.showSignature": "true",
    "log.decorate": "short", "log.diffMerges": "off", "log.follow": "true", "log.mailmap": "true",
    "i18n.logOutputEncoding": "latin1", "core.attributesFile": "/nowhere",
    "format.pretty": "oneline", "notes.displayRef": "refs/notes/*",
}  # fmt: skip


def as_asked(root: Path, *words: str, **environment: str) -> tuple[int, str]:
    asked = command("commit-audit", *words, "--json")
    done = subprocess.run(
        asked,
        cwd=root,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout


@pytest.mark.soak
def test_nobodys_settings_change_an_answer(repository, tmp_path, monkeypatch):
    commit(repository, "fix: é", {"src/é.py": "x = 1\n", "sub/a.py": "y = 1\n"})
    commit(repository, "fix: race", {"tests/test_b.py": None, "src/b.py": "y = 2\n"})
    commit(repository, "feat: more", {"src/b.py": "# c\ny = 2\n"})
    git("checkout", "--quiet", "-b", "feature", "HEAD~1", cwd=repository)
    commit(repository, "z", {"src/z.py": "z = 1\n"})
    git("checkout", "--quiet", "main", cwd=repository)
    git("merge", "--quiet", "--no-ff", "-m", "Add z", "feature", cwd=repository)
    first = git("rev-list", "--max-parents=0", "HEAD", cwd=repository).strip()
    git("branch", "first", first, cwd=repository)
    asked = [("first..main",), ("first",)]
    plain = [as_asked(repository, *words) for words in asked]
    assert [code for code, _ in plain] == [1, 0]

    other = write(tmp_path / "other", {"x.py": "x = 1\n"}, {})
    leading = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_EXTERNAL_DIFF": "false",
    }
    leading |= {
        "LC_ALL": "de_DE.UTF-8",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_DIFF_OPTS": "-u0",
        "GIT_TRACE": "1",
    }
    assert [as_asked(repository, *words, **leading) for words in asked] == plain
    assert [as_asked(repository / "sub", *words) for words in asked] == plain

    (repository / ".gitattributes").write_text("*.py diff=x -diff binary export-ignore\n")
    for name, value in SETTINGS.items():
        git("config", name, value, cwd=repository)
    swapped = git("rev-parse", "main~1", cwd=repository).strip()
    git("replace", swapped, first, cwd=repository)
    assert [as_asked(repository, *words) for words in asked] == plain


def test_a_pipe_that_closes_early_is_no_trouble(tmp_path):
    root = write(tmp_path / "long", BASE, {"side": [Told("fix: x", {}) for _ in range(2000)]})
    words = command("commit-audit", "main..side")
    with subprocess.Popen(
        words, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
