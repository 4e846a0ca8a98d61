"""Ways to look busy, or to make a suite pass, that a diff gives away."""

import pytest
from commanding import git, in_process
from commit_histories import Told, add, write

PYTHON = (
    "import a\n\n\ndef test_act():\n    assert a.act(1) == 1\n\n\ndef test_other():\n"
    "    assert a.act(2) == 2\n"
)
SCRIPT = """import {a} from "./a";
it("adds", () => {
expect(a(1)).toBe(2);
});
it("more", () => {
expect(a(2)).toBe(3);
});
"""
GO = "package a\n\nfunc TestA(t *testing.T) {\n\trequire.Equal(t, 1, a())\n}\n"
NATIVE = "TEST(Suite, Works) {\n  EXPECT_EQ(1, a());\n}\n"
SHARP = (
    "public class ATests {\n  [Fact]\n  public void Works() {\n    Assert.Equal(1, A());\n  }\n}\n"
)
IN_A_STRING = PYTHON.replace("\n\ndef test_act", '\n"""\ndef test_act').replace(
    "== 1\n", '== 1\n"""\n'
)
BASE = {
    "src/a.py": "def act(value):\n    return value\n\n\ndef other(value):\n    return value\n",
    "src/a.ts": "export const a = 1;\n",
    "src/a.test.ts": SCRIPT,
    "a_test.go": GO,
    "a_test.cc": NATIVE,
    "tests/ATests.cs": SHARP,
    "tests/test_a.py": PYTHON,
    "tests/helpers.py": "def help():\n    return 1\n",
}
WEAKENED = [
    ({"src/a.test.ts": SCRIPT.replace('it("more"', '/*\nit("more"') + "*/\n"},
        "comment put around a test"),
    ({"src/a.test.ts": "if (false) {\n" + SCRIPT + "}\n"}, "tests put where nothing runs"),
    ({"src/a.test.ts": "if(false) {\n" + SCRIPT + "}\n"}, "the same, without a space"),
    ({"a_test.go": GO.replace("{\n", '{\n\tt.Skip("")\n')},
        "a line that skips and takes none away"),
    ({"a_test.go": GO.replace("{\n", "{\n\tif !testing.Verbose() {}\n")}, None),
    ({"a_test.cc": NATIVE.replace("{\n", "{\n  GTEST_SKIP();\n")},
        "a line that skips and takes none away"),
    ({"tests/ATests.cs": SHARP.replace("[Fact]\n", "[Fact]\n  [Explicit]\n")},
        "a mark that takes a test out"),
    ({"tests/test_a.py": PYTHON.replace("():\n", "():\n    raise SkipTest\n", 1)},
        "a line that skips"),
    ({"src/a.test.ts": SCRIPT.replace('it("adds"', 'it.only("adds"')}, "one test that runs alone"),
    ({"src/a.test.ts": SCRIPT + "\0"}, None),
    ({"src/a.test.ts": SCRIPT.replace("expect(a(1)).toBe(2);\n", "") + "\0"},
        "a byte that hides the text"),
    ({"tests/test_a.py": PYTHON + "\n\ndef test_act():\n    pass\n"},
        "a function that hides another"),
    ({"tests/test_a.py": IN_A_STRING}, "a string put around a test"),
    ({"tests/test_a.py": None, "src/old_a.py": PYTHON}, "a test taken out of the tests"),
    ({"tests/test_a.py": None, "tests/a_old.py": PYTHON},
        "a test under a name that nothing collects"),
    ({"tests/test_a.py": PYTHON.replace("def test_act", "def check_act")},
        "a test under a name that nothing calls"),
    ({"conftest.py": 'collect_ignore = ["tests/test_a.py"]\n'}, "a test left out of the run"),
    ({"tests/test_a.py": PYTHON.replace("a.act(1) == 1", "a.act(1) == a.act(1)")},
        "a value compared to itself"),
    ({"tests/test_a.py": PYTHON.replace("():\n", "():\n    if a is None:\n        return\n", 1)},
        None),
    ({"tests/test_a.py": PYTHON.replace("    assert a.act(1)", "    return\n    assert a.act(1)")},
        "an early return"),
    ({"tests/test_a.py": PYTHON.replace("\n", "\r\n")}, None),
    ({"tests/helpers.py": None}, None),
]  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return write(tmp_path_factory.mktemp("attacks") / "repository", BASE, {})


def audited(root, monkeypatch, subject: str, files) -> dict:
    monkeypatch.chdir(root)
    add(root, "attack", Told(subject, files))
    return in_process("commit-audit", "attack", "--json").json[0]


@pytest.mark.parametrize(("files", "what"), WEAKENED, ids=lambda value: str(value)[:50])
def test_tests_that_ask_for_less_are_found(repository, monkeypatch, files, what):
    found = audited(repository, monkeypatch, "tidy", files)
    assert found["verdict"] == ("TESTS_WEAKENED" if what else "ABSTAIN"), found["reason"]


@pytest.mark.parametrize(
    "files",
    [
        {"src/new.py": ""},
        {"src/new.py": '"""All of it is yet to come."""\n'},
        {"src/a.py": BASE["src/a.py"].replace("\n", "\r\n")},
        {"src/a.py": BASE["src/a.py"].replace("    ", "  ")},
        {"src/a.py": BASE["src/a.py"] + "# fixed\0\n"},
        {"src/a.ts": "export  const a = 1 ; // fixed\n"},
        {"src/new.ts": "/* fixed */\n"},
        {"NOTES": "fixed\n"},
        {"settings.yml": "# fixed\n"},
        {"fixed.png": b"\0"},
        {"fixed.log": "fixed\n"},
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_means_nothing_fixes_nothing(repository, monkeypatch, files):
    assert (
        audited(repository, monkeypatch, "fix: the race", files)["verdict"] == "CLAIM_UNWITNESSED"
    )


@pytest.mark.parametrize(
    "files",
    [
        {"src/a.py": BASE["src/a.py"].replace("def other", "def another"), "tests/test_a.py": None},
        {"src/a.py": None, "src/b.py": BASE["src/a.py"], "tests/test_a.py": None},
    ],
)
def test_renaming_code_does_not_take_its_tests_away(repository, monkeypatch, files):
    assert audited(repository, monkeypatch, "remove other", files)["verdict"] == "TESTS_WEAKENED"


@pytest.mark.parametrize(("mode", "target"), [("120000", "nowhere"), ("160000", "")])
def test_a_test_that_became_something_else_is_gone(repository, monkeypatch, mode, target):
    name = git("rev-parse", "main", cwd=repository).strip()
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository / ".git" / f"index-{mode}"))
    git("read-tree", "main", cwd=repository)
    if target:
        (repository / "link").write_text(target)
        name = git("hash-object", "-w", "link", cwd=repository).strip()
    git("update-index", "--cacheinfo", f"{mode},{name},tests/test_a.py", cwd=repository)
    tree = git("write-tree", cwd=repository).strip()
    made = git("commit-tree", "-p", "main", "-m", "tidy", tree, cwd=repository).strip()
    monkeypatch.delenv("GIT_INDEX_FILE")
    monkeypatch.chdir(repository)
    assert in_process("commit-audit", made, "--json").json[0]["verdict"] == "TESTS_WEAKENED"
