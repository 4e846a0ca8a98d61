"""Subjects against their diffs, on real repositories."""

import hashlib
from pathlib import Path

import pytest
from commanding import git, in_process
from commit_histories import Told, write

OK, UNWITNESSED, WEAKENED, ABSTAIN = "OK", "CLAIM_UNWITNESSED", "TESTS_WEAKENED", "ABSTAIN"
WITNESS = {
    OK: "diff-witnessed",
    WEAKENED: "diff-witnessed",
    UNWITNESSED: "subject-only",
    ABSTAIN: "abstain",
}
BASE = {
    "README.md": "# It\n",
    "src/a.py": "def act(value):\n    return value\n",
    "tests/test_x.py": (
        "import a\nimport x\nimport y\n\ndef test_act():\n    assert a.act(1) == 1\n"
    ),
    ".github/workflows/ci.yml": "on: push\n",
}
SOURCE = {"src/a.py": "def act(value):\n    return value + 1\n"}
README = {"README.md": "# It is\n"}
TEST = {
    "tests/test_x.py": BASE["tests/test_x.py"] + "\ndef test_more():\n    assert a.act(2) == 2\n"
}
SHORTER_TEST = {"tests/test_x.py": "import a\n\ndef test_act():\n    assert a.act(1) == 1\n"}
CI = {".github/workflows/ci.yml": "on: [push, pull_request]\n"}
NOTHING = {}

ROWS = [
    ("fix: resolve race", SOURCE, OK, "code_effect"),
    ("fix: resolve race", README, UNWITNESSED, "code_effect"),
    ("fix: resolve race", NOTHING, UNWITNESSED, "code_effect"),
    ("fix(parser): off by one", SOURCE, OK, "code_effect"),
    ("bench/foo: implement X", README, UNWITNESSED, "code_effect"),
    ("Implements login", README, UNWITNESSED, "code_effect"),
    ("Login implemented", README, UNWITNESSED, "code_effect"),
    ("feat: login", NOTHING, UNWITNESSED, "code_effect"),
    ("feat: add login", README, UNWITNESSED, "code_effect"),
    ("update docs", README, OK, "doc"),
    ("docs: explain", NOTHING, UNWITNESSED, "doc"),
    ("docs: explain", SOURCE, UNWITNESSED, "doc"),
    ("NOTES.md: add glossary", README, OK, "doc"),
    ("docs/7: add table", README, OK, "doc"),
    ("add tests for x", SOURCE, UNWITNESSED, "test"),
    ("add tests for x", TEST, OK, "test"),
    ("test: x", {"src/x_test.go": "package x\n"}, OK, "test"),
    ("fix the failing test", SOURCE, UNWITNESSED, "test"),
    ("fix: all tests pass", SHORTER_TEST, UNWITNESSED, "test"),
    ("tests: move helpers", SHORTER_TEST, OK, "test"),
    ("wip", SOURCE, ABSTAIN, "none"),
    ("wip", NOTHING, ABSTAIN, "none"),
    ("chore: add thing", NOTHING, ABSTAIN, "none"),
    ("bump version to 2", SOURCE, ABSTAIN, "none"),
    ("release: fix race", NOTHING, ABSTAIN, "none"),
    ("fix version parsing", README, UNWITNESSED, "code_effect"),
    ("fix lint errors", README, UNWITNESSED, "code_effect"),
    ("write unit tests", SOURCE, UNWITNESSED, "test"),
    ("fix(ci): cache", CI, OK, "code_effect"),
    ("fix(ci): cache", README, UNWITNESSED, "code_effect"),
    ("fix: ci cache", CI, OK, "code_effect"),
    ("fix(circuit): x", CI, UNWITNESSED, "code_effect"),
    ("ci: cache pip", CI, OK, "code_effect"),
    *(
        ("fix: config", {path: "a = 1\n"}, OK, "code_effect")
        for path in ("config.yml", "package.json", "pyproject.toml", "poetry.lock", "index.html")
    ),
    ("fix: build", {"Makefile": "all:\n\ttrue\n"}, OK, "code_effect"),
    ("fix: build", {"Dockerfile": "FROM scratch\n"}, OK, "code_effect"),
    ("fix: race", {"src/a.py": None}, OK, "code_effect"),
    ("engine: report the fix status", README, UNWITNESSED, "code_effect"),
    ("add tests", {"testing/x.py": "x = 1\n"}, UNWITNESSED, "test"),
    ("add tests", {"spec/readme.md": "x\n"}, OK, "test"),
    ("add tests", {"tests/data.bin": b"\0\1"}, OK, "test"),
    ("Merge branch x", SOURCE, ABSTAIN, "none"),
    ('revert "fix race"', SOURCE, OK, "code_effect"),
    ("AUTH1: login form done", NOTHING, UNWITNESSED, "code_effect"),
    # Words that end a claim do so only at its beginning.
    ("fix: rewrite scheduler (nit)", NOTHING, UNWITNESSED, "code_effect"),
    ("Implement payments, release ready", NOTHING, UNWITNESSED, "code_effect"),
    ("Add OAuth — merge ready", NOTHING, UNWITNESSED, "code_effect"),
    ("build(deps): bump foo from 1.2 to 1.3", NOTHING, UNWITNESSED, "code_effect"),
    # Claims that go by other words.
    ("perf: faster", NOTHING, UNWITNESSED, "code_effect"),
    ("finish login", NOTHING, UNWITNESSED, "code_effect"),
    ("Completed the parser", NOTHING, UNWITNESSED, "code_effect"),
    ("ship it", NOTHING, UNWITNESSED, "code_effect"),
    ("update login", NOTHING, UNWITNESSED, "code_effect"),
    ("login done", NOTHING, UNWITNESSED, "code_effect"),
    ("cache layer Phase 1: entries", NOTHING, UNWITNESSED, "code_effect"),
    ("[urgent] fix race", NOTHING, UNWITNESSED, "code_effect"),
    (":bug: fix race", NOTHING, UNWITNESSED, "code_effect"),
    ("Ajoute la connexion", NOTHING, UNWITNESSED, "code_effect"),
    ("docs(AUTH1): say why", README, OK, "doc"),
    ("chore(AUTH1): tidy", NOTHING, ABSTAIN, "none"),
    # What means nothing to a program stands behind nothing.
    ("fix: resolve race", {"src/a.py": BASE["src/a.py"] + "\n"}, UNWITNESSED, "code_effect"),
    ("fix: resolve race", {"src/a.py": "# a race\n" + BASE["src/a.py"]}, UNWITNESSED,
        "code_effect"),
    ("fix: resolve race", {"src/a.py": 'def act(value):\n  """Acts."""\n  return value\n'},
        UNWITNESSED, "code_effect"),
    ("fix: resolve race", {"src/b.py": "# nothing yet\n"}, UNWITNESSED, "code_effect"),
    ("fix: config", {"config.yml": "# nothing yet\n"}, UNWITNESSED, "code_effect"),
    ("add tests", {"tests/test_x.py": BASE["tests/test_x.py"] + "# more\n"}, UNWITNESSED, "test"),
    ("AUTH1: login", {"README": "a file without a suffix\n"}, UNWITNESSED, "code_effect"),
    # Names that git would quote.
    ("fix: resolve race", {"src/é.py": "x = 1\n"}, OK, "code_effect"),
    ("fix: resolve race", {'src/a\tb"c.py': "x = 1\n"}, OK, "code_effect"),
    ("fix: resolve race", {"src/a\nb.py": "x = 1\n"}, OK, "code_effect"),
    # Tests that ask for less, whatever the subject says.
    ("fix: make suite green", {"tests/test_x.py": None}, WEAKENED, "code_effect"),
    ("fix: race", {**SOURCE, "tests/test_x.py": None}, WEAKENED, "code_effect"),
    ("tidy", {"tests/test_x.py": None}, WEAKENED, "none"),
    ("docs: explain", {**README, "tests/test_x.py": None}, WEAKENED, "doc"),
    (
        "fix the failing test",
        {"tests/test_x.py": BASE["tests/test_x.py"].replace("a.act(1) == 1", "True")},
        WEAKENED,
        "test",
    ),
]  # fmt: skip


# A claim that is not met, beside weakened tests.
ROWS_UNMET = [("fix: resolve race", {**README, "tests/test_x.py": None})]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    branches = {
        f"row{number}": [Told(subject, files)]
        for number, (subject, files, *_) in enumerate([*ROWS, *ROWS_UNMET])
    }
    return write(tmp_path_factory.mktemp("table") / "repository", BASE, branches)


@pytest.fixture
def audit(table, monkeypatch):
    monkeypatch.chdir(table)
    return lambda *words: in_process("commit-audit", *words)


@pytest.mark.parametrize(
    ("number", "verdict", "kind"),
    [
        pytest.param(number, *row[2:], id=f"{row[0]} | {', '.join(row[1])}")
        for number, row in enumerate(ROWS)
    ],
)
def test_a_commit_is_judged_by_its_subject_and_its_diff(audit, number, verdict, kind):
    answer = audit(f"row{number}", "--json")
    [found] = answer.json
    assert (found["verdict"], found["claim_kind"]) == (verdict, kind), found["reason"]
    assert found["witness"] == WITNESS[verdict]
    assert answer.code == (1 if verdict in (UNWITNESSED, WEAKENED) else 0)
    assert found["reason"]


def row(subject: str, files: dict) -> str:
    commits = [found[:2] for found in [*ROWS, *ROWS_UNMET]]
    return f"row{commits.index((subject, files))}"


def test_the_keys_of_a_verdict(audit, table):
    [found] = audit(row("fix(ci): cache", CI), "--json").json
    assert found == {
        "sha": git("rev-parse", "--short", row("fix(ci): cache", CI), cwd=table).strip(),
        "verdict": "OK",
        "claim_kind": "code_effect",
        "witness": "diff-witnessed",
        "reason": "changes .github/workflows/ci.yml",
        "source_files": [],
        "test_files": [],
        "ci_files": [".github/workflows/ci.yml"],
        "config_only": False,
        "weakened": [],
        "limits": [],
    }


def test_what_was_weakened_is_named(audit):
    [found] = audit(row("tidy", {"tests/test_x.py": None}), "--json").json
    assert found["weakened"] == [
        {"path": "tests/test_x.py", "what": "test file deleted", "detail": "test_act (line 5)"}
    ]
    assert "tests/test_x.py" in found["reason"]


def test_weakened_tests_do_not_hide_a_claim_that_is_not_met(audit):
    files = {**README, "tests/test_x.py": None}
    [found] = audit(row("fix: resolve race", files), "--json").json
    assert (found["verdict"], found["witness"]) == (WEAKENED, "subject-only")


def test_settings_alone_are_marked(audit):
    [found] = audit(row("fix: config", {"config.yml": "a = 1\n"}), "--json").json
    assert found["config_only"] and found["source_files"] == []


def test_documents_can_be_let_stand_for_code(audit):
    assert audit(row("fix: resolve race", README), "--docs-ok").code == 0
    assert audit(row("fix: resolve race", NOTHING), "--docs-ok").code == 1


def test_a_warning_is_no_failure(audit):
    answer = audit(row("fix: resolve race", NOTHING), "--warn-only", "--json")
    assert answer.code == 0 and answer.json[0]["verdict"] == UNWITNESSED


def test_each_commit_is_one_line_of_text(audit):
    found = audit(row("fix: resolve race", NOTHING))
    assert (
        "UNWITNESSED" in found.out and "[subject only]" in found.out and found.out.count("\n") == 1
    )
    assert "1 of 1 commits" in found.err
    assert "witnessed" in audit(row("fix: resolve race", SOURCE)).out
    assert "abstain" in audit(row("wip", NOTHING)).out


@pytest.mark.parametrize(
    "ref",
    [
        "nope",
        "nope..HEAD",
        "main..nope",
        "nope...main",
        "-x",
        "--output=OUT..y",
        "--output=OUT",
        "a\nb",
        "main....row1",
    ],
)
def test_what_cannot_be_read_is_an_error_and_leaves_nothing(audit, table, tmp_path, ref):
    target = ref.replace("OUT", str(tmp_path / "x"))
    before = fingerprint(table)
    answer = audit("--", target)
    assert answer.code == 2 and answer.err.startswith("error: ") and not answer.out
    assert fingerprint(table) == before and not list(tmp_path.iterdir())


def test_outside_of_a_repository_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in ((), ("HEAD~1..HEAD",)):
        answer = in_process("commit-audit", *words)
        assert answer.code == 2 and "repository" in answer.err


def test_a_repository_without_a_commit_is_an_error(tmp_path, monkeypatch):
    git("init", "--quiet", ".", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    assert in_process("commit-audit").code == 2


def test_nothing_is_written(audit, table):
    before = fingerprint(table)
    audit("main..row0")
    audit("row0", "--json")
    audit("row0", "--sweep")
    assert fingerprint(table) == before


def fingerprint(root: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        digest.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()
