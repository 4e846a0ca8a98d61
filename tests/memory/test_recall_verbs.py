"""`dos memory recall` and `dos memory verify` against a real repository."""

import os

import pytest
from commanding import git, in_process

CODE = '"""It says import old."""\nimport new\n# import gone\nrun("--strict")\n'


@pytest.fixture
def repository(tmp_path, monkeypatch):
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    git("init", "--quiet", "-b", "main", ".", cwd=root)
    (root / "src" / "here.py").write_text(CODE)
    (root / "src" / "removed.py").write_text("x = 1\n")
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--message", "begin", cwd=root)
    git("rm", "--quiet", "src/removed.py", cwd=root)
    git("commit", "--quiet", "--message", "remove", cwd=root)
    (root / "notes").mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))
    return root


@pytest.fixture
def commits(repository):
    """A commit of each sort by its name: in HEAD, on another branch, nowhere."""
    git("checkout", "--quiet", "-b", "other", cwd=repository)
    git("commit", "--quiet", "--allow-empty", "--message", "other", cwd=repository)
    other = git("rev-parse", "HEAD", cwd=repository).strip()
    git("checkout", "--quiet", "main", cwd=repository)
    return {
        "HEAD": git("rev-parse", "HEAD", cwd=repository).strip(),
        "OTHER": other,
        "NOWHERE": "0" * 39 + "1",
    }


def write(repository, name, text):
    (repository / "notes" / f"{name}.md").write_text(text)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Created src/here.py", "FRESH"),
        ("src/removed.py was removed", "FRESH"),
        ("src/removed.py was added", "STALE"),
        ("src/here.py was removed", "STALE"),
        ("Created src/never.py", "STALE"),
        ("src/never.py was removed", "UNVERIFIABLE"),
        ("src/never.py is where it belongs", "UNVERIFIABLE"),
        ("Fixed in HEAD", "FRESH"),
        ("Fixed in OTHER", "STALE"),
        ("Fixed in NOWHERE", "UNVERIFIABLE"),
        ("src/here.py:2 has `import new`", "FRESH"),
        ("src/here.py:3 has `import gone`", "STALE"),  # only a comment has it
        ("src/here.py:1 has `import old`", "STALE"),  # only the documentation has it
        ("src/here.py:3 no longer has `import gone`", "FRESH"),
        ("src/here.py:4 takes `--strict`", "FRESH"),
        ("src/here.py:4 takes `--str`", "STALE"),  # another flag
        ("src/here.py:4 no longer takes `--strict`", "STALE"),
        ("src/never.py:4 takes `--strict`", "STALE"),
        ("Created src/here.py. Created src/never.py", "STALE"),
        ("Created src/here.py. Fixed in NOWHERE", "FRESH"),
        ("---\ntype: feedback\n---\nCreated src/never.py", "UNVERIFIABLE"),
        ("> RECALL_STALE: src/never.py was added\n\nCreated src/here.py", "FRESH"),
        ("I like short names.", "UNVERIFIABLE"),
    ],
)
def test_a_note_is_compared_with_the_repository(repository, commits, text, verdict):
    for name, commit in commits.items():
        text = text.replace(name, commit)
    write(repository, "it", text)
    answer = in_process("memory", "recall", "it", "--store", "notes", "--json")
    assert answer.json["verdict"] == f"RECALL_{verdict}", answer.json
    assert answer.code == (3 if verdict == "STALE" else 0)
    assert set(answer.json) == {"verdict", "reason", "memory", "type", "culprit", "claims"}
    for row in answer.json["claims"]:
        assert set(row) == {"claim", "status", "ground_truth", "source"}
        assert set(row["claim"]) == {"raw", "kind", "polarity", "target_file", "line_hint"}


def test_a_sweep_has_the_stale_ones_first_and_asks_about_each_once(repository):
    write(repository, "a-fresh", "Created src/here.py")
    write(repository, "b-opinion", "---\ntype: user\n---\nCreated src/never.py")
    write(repository, "c-stale", "Created src/never.py")
    write(repository, "MEMORY", "Created src/never.py")
    swept = in_process("memory", "verify", "--store", "notes", "--json")
    assert swept.code == 0
    assert [row["memory"] for row in swept.json["memories"]] == ["c-stale", "b-opinion", "a-fresh"]
    assert not (repository / ".git" / "dos").exists(), "it only reads"
    routed = [
        in_process("memory", "verify", "--store", "notes", "--route", "--json").json["routed"]
        for _ in range(2)
    ]
    assert len(routed[0]) == 1 and routed[1] == []
    (row,) = in_process("decisions", "--json").json
    assert "c-stale" in row["reason_text"] and "src/never.py" in row["reason_text"]


def test_a_note_is_found_by_name_in_any_case_or_by_path(repository):
    write(repository, "file", "---\nname: Login Flow\n---\nCreated src/here.py")
    for words in (("login flow", "--store", "notes"), ("notes/file.md",)):
        assert in_process("memory", "recall", *words).code == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("recall", "logn", "--store", "notes"), "login"),
        (("recall", "login", "--store", "nowhere"), "nowhere"),
        (("recall", "login"), "--store"),
        (("verify",), "--store"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(repository, words, named):
    write(repository, "login", "x")
    answer = in_process("memory", *words)
    assert answer.code == 2 and named in answer.err, answer


def test_the_notes_of_claude_code_are_found_by_themselves(repository, tmp_path):
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(repository))
    folder = tmp_path / ".claude" / "projects" / slug / "memory"
    folder.mkdir(parents=True)
    (folder / "login.md").write_text("Created src/never.py")
    assert in_process("memory", "recall", "login").code == 3


def test_outside_of_git_nothing_about_commits_is_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it.md").write_text("Fixed in 1a2b3c4. Created src/never.py")
    answer = in_process("memory", "recall", "./it.md", "--json")
    assert answer.json["verdict"] == "RECALL_UNVERIFIABLE", answer


def test_a_pipe_in_place_of_a_file_holds_nobody_up(repository):
    os.mkfifo(repository / "src" / "pipe.py")
    write(repository, "pipe", "src/pipe.py:4 takes `--strict`")
    answer = in_process("memory", "recall", "pipe", "--store", "notes", "--json")
    assert (answer.code, answer.json["verdict"]) == (0, "RECALL_UNVERIFIABLE")
    assert "cannot be read" in answer.json["claims"][0]["ground_truth"]
    os.mkfifo(repository / "notes" / "piped.md")
    alone = in_process("memory", "recall", f"notes{os.sep}piped.md", "--store", "notes")
    assert alone.code == 2
    assert in_process("memory", "verify", "--store", "notes").code == 0


def test_a_note_that_claims_too_much_is_not_checked_and_says_so(repository):
    honest = "Created src/here.py. " + " ".join(f"src/{number}.py." for number in range(100))
    write(repository, "honest", honest)
    assert in_process("memory", "recall", "honest", "--store", "notes").code == 0
    text = "Created src/here.py. " + " ".join(f"Removed src/{number}.py." for number in range(501))
    write(repository, "much", text)
    answer = in_process("memory", "recall", "much", "--store", "notes", "--json")
    assert answer.json["verdict"] == "RECALL_UNVERIFIABLE"
    assert "it makes 502 claims" in answer.json["reason"]
