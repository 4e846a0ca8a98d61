"""Commits of many languages that weaken tests, and their neighbours that do not."""

import pytest
from changed.changes import COMMITS as CHANGES
from commit_histories import Told, write
from growth import grows_less_than
from hypothesis import given
from hypothesis import strategies as st
from labelled_commit import LabelledCommit
from weakened_commits import COMMITS

from dos.audit import audit
from dos.audit.io.gather import Auditor
from dos.audit.removal import CodeChange, removed_names
from dos.audit.weakening import TestChange, Weakening, find, is_watched
from dos.git import changes
from dos.git.changes import CommitRange
from dos.git.objects import Objects
from dos.git.repository import Writer


def found(commit: LabelledCommit) -> list[Weakening]:
    tests = []
    code = []
    for path, (old, new) in commit.files.items():
        if is_watched(path):
            tests.append(TestChange(path=path, old=old, new=new))
        else:
            code.append(CodeChange(path, old, new))
    return find(tests, lambda: removed_names(code, commit.subject))


@pytest.mark.parametrize("commit", COMMITS, ids=lambda commit: f"{commit.tests}: {commit.why}")
def test_a_commit_weakens_tests_or_does_not(commit):
    assert bool(found(commit)) == (commit.tests == "weakened"), found(commit)


@pytest.mark.parametrize("commit", CHANGES, ids=lambda commit: f"{commit.tests}: {commit.why}")
def test_a_change_of_a_few_lines_asks_for_less_or_does_not(commit):
    assert bool(found(commit)) == (commit.tests == "weakened"), found(commit)


REAL = [commit for commit in COMMITS if len(commit.files) > 1 or "revert" in commit.subject.lower()]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory) -> dict[int, str]:
    """What the audit says of the commits, each on a branch of a real repository."""
    base = {}
    branches = {}
    for number, commit in enumerate(REAL):
        changed = {}
        for path, (old, new) in commit.files.items():
            base[f"{number}/{path}"] = old
            changed[f"{number}/{path}"] = new
        branches[f"b{number}"] = [Told(commit.subject, changed, commit.body)]
    files = {path: text for path, text in base.items() if text is not None}
    git = Writer(write(tmp_path_factory.mktemp("commits"), files, branches))
    answers = {}
    with Objects(git) as objects:
        auditor = Auditor(git, objects, short=9)
        for number in range(len(REAL)):
            wanted = CommitRange(words=(f"main..b{number}",), is_range=True, short=9)
            [evidence] = auditor.gather_all(changes.read_commits(git, wanted))
            answers[number] = audit.judge(evidence).verdict
    return answers


@pytest.mark.parametrize("number", range(len(REAL)), ids=lambda number: REAL[number].why)
def test_the_audit_of_a_real_commit_says_so(number, verdicts):
    is_weakened = verdicts[number] is audit.Answer.TESTS_WEAKENED
    assert is_weakened == (REAL[number].tests == "weakened")


def test_the_file_the_case_and_the_line_are_named():
    old = "def test_total():\n    cart = open()\n    assert cart.total() == 14\n"
    [loss] = find([TestChange(path="tests/test_x.py", old=old, new=old.replace("assert ", ""))])
    assert str(loss) == (
        "tests/test_x.py: assertions removed: test_total, line 3: assert cart.total()==14"
    )


NAMES = st.sampled_from(["apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel"])


class Suite(list[tuple[str, int, int]]):
    """Cases by what they call, with what, and what they expect; to be written in a language."""

    def python(self, indent: str = "    ") -> str:
        case = "def test_{0}():\n{3}found = {0}({1})\n{3}assert found.{0} == {2}\n\n"
        return "".join(case.format(*each, indent) for each in self)

    def script(self, indent: str = "  ") -> str:
        case = "test('{0}', t => {{\n{3}const found = {0}({1});\n{3}t.is(found.{0}, {2});\n}});\n"
        return "".join(case.format(*each, indent) for each in self)

    def go(self, indent: str = "\t") -> str:
        case = (
            "func Test_{0}(t *testing.T) {{\n{3}found := {0}({1})\n{3}if found.{0} != {2} {{\n"
            '{3}{3}t.Error("it is not")\n{3}}}\n}}\n'
        )
        return "".join(case.format(*each, indent) for each in self)

    def java(self, indent: str = "  ") -> str:
        case = (
            "{3}@Test\n{3}public void {0}() {{\n{3}{3}Found found = {0}({1});\n"
            "{3}{3}assertEquals({2}, found.{0}());\n{3}}}\n"
        )
        return "class Cases {\n" + "".join(case.format(*each, indent) for each in self) + "}\n"

    def ruby(self, indent: str = "  ") -> str:
        case = "it '{0}' do\n{3}found = {0}({1})\n{3}expect(found.{0}).to eq({2})\nend\n"
        return "".join(case.format(*each, indent) for each in self)

    def tcl(self, indent: str = "    ") -> str:
        case = "test {{{0}}} {{\n{3}set found [{0} {1}]\n{3}assert_equal {2} [${0} found]\n}}\n"
        return "".join(case.format(*each, indent) for each in self)


LANGUAGES = {
    "tests/test_x.py": Suite.python,
    "tests/x.test.ts": Suite.script,
    "x_test.go": Suite.go,
    "src/test/java/XTest.java": Suite.java,
    "spec/x_spec.rb": Suite.ruby,
    "tests/x.tcl": Suite.tcl,
}
ROWS = st.tuples(NAMES, st.integers(100, 999), st.integers(100, 999))
SUITES = st.lists(ROWS, min_size=1, max_size=6, unique_by=lambda row: row[0]).map(Suite)
PATHS = st.sampled_from(sorted(LANGUAGES))


@given(SUITES, PATHS, st.randoms())
def test_order_layout_names_and_files_weaken_nothing(suite, path, random):
    written = LANGUAGES[path]
    old = written(suite)
    mixed = Suite(suite)
    random.shuffle(mixed)
    moved = path.replace("x", "y", 1).replace("XTest", "YTest")
    for new in (old, written(mixed), written(suite, "      ")):
        assert find([TestChange(path=path, old=old, new=new)]) == []
    away = TestChange(path=path, old=old, new=None)
    assert find([away, TestChange(path=moved, old=None, new=old)]) == []


@given(SUITES, PATHS)
def test_another_name_of_a_case_weakens_nothing(suite, path):
    old = LANGUAGES[path](suite)
    name = suite[0][0]
    first, rest = old.split(name, 1)
    assert find([TestChange(path=path, old=old, new=f"{first}{name}_too{rest}")]) == []


@given(SUITES.filter(lambda suite: len(suite) > 2), PATHS, st.integers(1000, 2000))
def test_a_case_that_goes_is_missed_whatever_comes(suite, path, number):
    written = LANGUAGES[path]
    other = Suite([*suite[1:], ("something", number, number + 1)])
    for left in (Suite(suite[1:]), other):
        assert find([TestChange(path=path, old=written(suite), new=written(left))])


HOSTILE = {
    "brackets": lambda size: "(" * size,
    "braces": lambda size: "func TestX(t *testing.T) {" + "{" * size,
    "words": lambda size: "assert " * size,
    "quotes": lambda size: "assert x == '" + "a'b" * size,
    "one line": lambda size: "def test_x(): assert " + "a and " * size,
    "rows": lambda size: "for x in [" + "(1, 2), " * size + "]:\n    assert x\n",
    "cases": lambda size: "".join(f"def test_{n}():\n    assert a({n})\n" for n in range(size)),
    "checks": lambda size: "def test_x():\n" + "".join(f"    assert a({n})\n" for n in range(size)),
    "same checks": lambda size: "def test_x():\n" + "    assert a == b\n    a()\n" * size,
    "conditions": lambda size: "def test_x():\n    if a:\n" + "        b()\n" * size,
    "marks": lambda size: "@mark\n" * size + "def test_x():\n    assert a\n",
}


@pytest.mark.parametrize("path", ["tests/test_x.py", "x_test.go", "tests/x.test.ts", "tests/x.tcl"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_the_time_grows_with_the_text_and_no_faster(kind, path):
    def compare(size: int) -> None:
        old = HOSTILE[kind](size)
        find([TestChange(path=path, old=old, new=old.replace("a", "b").replace("1", "2"))])

    assert grows_less_than(8, compare, 500, 2000)
