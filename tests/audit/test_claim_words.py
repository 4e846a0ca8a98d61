"""The words of subjects: what they raise, name and speak of."""

import time

import pytest

from dos.audit.claims import claim_kinds, subject, terms, unfinished
from dos.audit.claims.changed_lines import ChangedLines
from dos.audit.claims.claim_kinds import ClaimKind, Firmness, Topic, parse_claim
from dos.verify.stubs.only_stubs import TextChange

CODE, TEST, DOC, NONE = ClaimKind


@pytest.mark.parametrize(
    ("text", "kind", "firmness"),
    [
        ("Allow nested lists", CODE, Firmness.BEHAVIOUR),
        ("Fix nested lists", CODE, Firmness.FIRM),
        ("Nested lists", CODE, Firmness.OPEN),
        ("Nested lists done", CODE, Firmness.FIRM),
        ("Add a test runner option", CODE, Firmness.FIRM),
        ("Add tests for nested lists", TEST, Firmness.FIRM),
        ("Add a spec", TEST, Firmness.FIRM),
        ("Update README.md", DOC, Firmness.OPEN),
        ("Update the CHANGES", DOC, Firmness.OPEN),
        ("Update the changes of a row", CODE, Firmness.OPEN),
        ("1.2.3", NONE, Firmness.OPEN),
        ("Prepare for release 3.4", NONE, Firmness.OPEN),
        ("minor things", NONE, Firmness.OPEN),
        ("chore(deps): bump rich from 1.0 to 1.1", CODE, Firmness.OPEN),
    ],
)
def test_a_subject_claims_a_kind_of_change_more_or_less_firmly(text, kind, firmness):
    claim = parse_claim(text)
    assert (claim.kind, claim.firmness) == (kind, firmness)


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("Fix flaky login", {Topic.TESTS}),
        ("Fix the example in the guide", {Topic.DOCUMENTS}),
        ("Escape names in the comment list", set()),
        ("Wrap a comment", {Topic.COMMENTS, Topic.LAYOUT}),
        ("Add a format function", set()),
        ("Run clippy", {Topic.LINT}),
        ("Cache on Travis", {Topic.CI}),
    ],
)
def test_words_tell_what_a_subject_speaks_of(text, topics):
    assert parse_claim(text).topics == topics


@pytest.mark.parametrize(
    ("text", "raised"),
    [
        ("Bump serde from 1.0.92 to 1.0.94", ("serde", "1.0.94")),
        ("build(deps): bump @types/node from 4 to 5 in /web (#12)", ("@types/node", "5")),
        ("Upgrade Guava to 32.1.3-jre (fixes a CVE)", ("Guava", "32.1.3-jre")),
        ("Update Go to 1.22", ("Go", "1.22")),
        ("Update the timeout to 30", None),
        ("Update links to 3.0 pages", None),
        ("bump version to 2", None),
        ("Bump to 2.0", None),
    ],
)
def test_a_dependency_is_raised_to_a_version(text, raised):
    found = parse_claim(text).raises
    assert (found and (found.name, found.version)) == raised


@pytest.mark.parametrize(
    ("version", "line", "is_there"),
    [
        ("1.2", 'rich = "1.2.0"', True),
        ("1.2", 'rich = "11.2"', False),
        ("1.2", 'rich = "1.20"', False),
        ("4", "uses: actions/checkout@v4", True),
        ("3.12", "envlist = py312", True),
    ],
)
def test_a_version_is_found_whole_or_as_a_beginning(version, line, is_there):
    raised = parse_claim(f"Bump rich from 0.1 to {version}").raises
    assert raised is not None and raised.is_version(line) == is_there


@pytest.mark.parametrize(
    ("name", "line", "is_there"),
    [
        ("serde", 'serde = "1.2"', True),
        ("serde", 'serde_derive = "1.2"', False),
        ("serde", '"serde-json": "1.2"', False),
        ("Guava", "<guava.version>1.2</guava.version>", True),
        ("guava", "guavaVersion = 1.2", True),
        ("actions/checkout", "uses: actions/checkout@v4", True),
        ("@types/node", '"@types/node": "^1.2"', True),
    ],
)
def test_a_dependency_is_named_whole(name, line, is_there):
    raised = parse_claim(f"Bump {name} from 0.1 to 1.2").raises
    assert raised is not None and raised.is_named(line) == is_there


@pytest.mark.parametrize(
    ("text", "line", "is_near"),
    [
        ("Fix the parsing of quoted fields", "def parse(text):", True),
        ("Fix expansion of home", "expand(path)", True),
        ("Fix a parameter", "param = 1", True),
        ("Fix `readFile`", "def read_file(path):", True),
        ("Fix readFile()", "x = reader.readfile", True),
        ("Fix max_width", "self.maxWidth = 3", True),
        ("Fix logs", "catalog = 1", False),
        ("Fix logs", "changeLog(1)", True),
        ("Fix quoted fields", "return total", False),
    ],
)
def test_a_word_is_found_in_the_forms_that_programs_write(text, line, is_near):
    assert terms.occurs(terms.terms(subject.parse(text)), line) == is_near


@pytest.mark.parametrize(
    "text", ["Fix it", "Improve performance", "Handle options gracefully", "Fix the value of a key"]
)
def test_few_and_common_words_say_too_little_to_expect_one(text):
    assert not terms.telling(terms.terms(subject.parse(text)))


def test_changed_lines_come_with_what_is_around_them():
    old = "class Cart:\n" + "    pass\n" * 9 + "    def total(self):\n" + "        a = 1\n" * 9
    changed = ChangedLines(old, old + "        return 2\n")
    assert changed.added() == ["        return 2"]
    assert "a = 1" in changed.touched() and "total" not in changed.touched()
    assert "def total" in changed.around() and "class Cart" in changed.around()


@pytest.mark.parametrize(
    ("new", "is_missing"),
    [
        ("def a():\n    raise NotImplementedError\n", True),
        ("def a():\n    pass\n", True),
        ("def a():\n    return 1 + 1\n", False),
        ("def a():\n    if b:\n        raise NotImplementedError\n    return b * 2\n", False),
    ],
)
def test_a_stub_is_not_written_yet(new, is_missing):
    assert bool(unfinished.not_written([TextChange(path="a.py", old="", new=new)])) == is_missing


HOSTILE = ["1", " ", "a ", "A1-1 ", "[", "(", '"', "Revert ", "`a", "a.", "1.", "test ", "bump "]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("start", ["", "Revert ", "Bump ", "Add "])
def test_a_hostile_subject_is_read_in_a_time_that_grows_with_its_length(start, piece):
    began = time.process_time()
    claim = parse_claim(start + piece * 10_000 + "!")
    terms.occurs(terms.terms(claim.subject), "x" * 100_000)
    assert claim_kinds.names_code(claim.subject) in (True, False)
    assert time.process_time() - began < 2


@pytest.mark.parametrize("line", ["return" + " " * 50_000 + "x", "{ " * 50_000 + "x", " " * 50_000])
def test_a_hostile_line_is_read_in_a_time_that_grows_with_its_length(line):
    change = TextChange(path="a.js", old="", new=line + "\nthrow Error('not implemented')\n")
    began = time.process_time()
    unfinished.not_written([change])
    unfinished.asks_nothing([change])
    unfinished.may_be_unwritten([line])
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("check", "cannot_fail"),
    [
        ("assert True", True), ("assert 1, 'why'", True), ("self.assertTrue(True)", True),
        ("assert 1 == total()", False), ("assertEquals(1, total())", False),
        ("self.assertEqual(1, total())", False), ("assert True is total()", False),
        ("assertTrue(1 == total())", False), ("assert_equal(1, total())", False),
    ],
)  # fmt: skip
def test_a_new_test_asks_something_unless_its_check_cannot_fail(check, cannot_fail):
    text = f"def test_total():\n    {check}\n"
    change = TextChange(path="tests/test_total.py", old=None, new=text)
    assert unfinished.asks_nothing([change]) is cannot_fail
