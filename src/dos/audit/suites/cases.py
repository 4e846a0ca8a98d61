"""Finds the test cases of a file, as common frameworks write them."""

import re
from functools import lru_cache

from msgspec import Struct

from dos.audit.suites import statements
from dos.audit.suites.statements import STRING, Statement


class Case(Struct, frozen=True, kw_only=True):
    """One test case: the marks before it, and its statements, the first of which names it."""

    name: str
    path: str
    marks: tuple[Statement, ...]
    body: tuple[Statement, ...]

    @property
    def line(self) -> int:
        """The line that it begins in."""
        return self.body[0].line

    @property
    def content(self) -> tuple[str, ...]:
        """Its marks and statements as texts, whatever its name is and however deep it is."""
        marks = [mark.text for mark in self.marks]
        return (*marks, *[statement.text for statement in self.body[1:]])


class Suite(Struct, frozen=True, kw_only=True):
    """A test file: its cases, and the statements outside of them."""

    path: str = ""
    cases: tuple[Case, ...] = ()
    hidden: tuple[Case, ...] = ()  # by a later function of the same name
    loose: tuple[Statement, ...] = ()


_LONGEST_KEPT = 100_000
_PYTHON = ("py", "pyi")
_SCRIPTS = ("js", "jsx", "mjs", "cjs", "ts", "tsx", "vue", "svelte", "mts", "cts", "coffee")
_SHELLS = ("sh", "bash", "zsh", "bats")
_NATIVE = ("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm")
_PYTHON_CASE = re.compile(r"(?:async )?def (?P<name>test\w*)\(")
_SCRIPT_CASE = re.compile(
    rf"(?:await |void )?[xf]?(?:it|test|specify|scenario|Deno\.test)(?:\.\w++)*+"
    rf"(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)|{STRING})?\((?:\{{name:)?(?:{STRING}|\w+,)"
)
_GO_CASE = re.compile(r"func (?:\([^)]*\) ?)?(?P<name>(?:Test|Fuzz|Example)\w*)\(")
_RUBY_CASE = re.compile(
    rf"x?(?:it|test|specify|scenario|example|should|its)(?:[ (]+{STRING}|\{{| do\b)"
    rf"|def (?P<name>test_\w+[?!]?)"
)
_SHELL_CASE = re.compile(rf"@test {STRING}|(?:function )?(?P<name>test\w*) ?\(\)")
_TCL_CASE = re.compile(rf"test (?:\{{(?P<name>[^}}]*)\}}|{STRING}|(?P<word>\S+))")
_NATIVE_CASE = re.compile(
    r"(?:(?:\w+_)?TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO|BOOST_\w*TEST_CASE|START_TEST"
    r"|Test|Ensure)\((?P<title>[^)]*)\)"
    r"|(?:[\w:<>*&]++ )+?\**(?:\w+::)*(?P<name>[tT]est\w*)\([^;]*\)(?: ?const)?\{"
)
_OTHER_CASE = re.compile(
    rf"(?:@\w+(?:\([^()]*\))? ?)*(?:[\w<>\[\],?]+ )*?(?:fun|func|fn|function|void|def|Task|method"
    rf"|sub) [`\"]?(?P<name>[tT]est\w*)"
    rf"|pending\({STRING},"
    rf"|(?:it|test|test_that|scenario|Scenario|property)[ (:]+(?:{STRING}|(?P<rest>\w.*))"
)
_MARKED_CASE = re.compile(r"(?:[\w<>\[\],?.&:'() ]+ )?(?:fn |fun )?(?P<name>\w+|`[^`]+`)[<(]")
_CASES = {
    **dict.fromkeys(_PYTHON, _PYTHON_CASE),
    **dict.fromkeys(_SCRIPTS, _SCRIPT_CASE),
    "go": _GO_CASE,
    "rb": _RUBY_CASE,
    "cr": _RUBY_CASE,
    "tcl": _TCL_CASE,
    "test": _TCL_CASE,
    **dict.fromkeys(_SHELLS, _SHELL_CASE),
    **dict.fromkeys(_NATIVE, _NATIVE_CASE),
}
# Where a mark before a function makes it a case.
_MARKED = frozenset(
    ("rs", "java", "kt", "kts", "scala", "groovy", "cs", "vb", "fs", "php", "swift", "dart")
)
_TEST_MARK = re.compile(
    r"#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest|wasm_bindgen_test)\b"
    r"|@(?:[\w.]+\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b(?! ?func)"
    r"|\[(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b|#\[Test\]"
)
_UNCOLLECTED = re.compile(r"class (?!Test)\w+(?:\((?:object)?\))?:")
_MARK = re.compile(r"@|#\[|\[[A-Z]")
_CLOSES = re.compile(r"\}|end\b|\)|done\b|fi\b|esac\b")


def read(path: str, text: str) -> Suite:
    """Return the cases of a test file.

    Recent results are kept: what one commit left is what the next one found.
    """
    if len(text) < _LONGEST_KEPT:
        return _read_cached(path, text)
    return _read(path, text)


def is_read(path: str) -> bool:
    """Whether the cases of a file can be told, by its language."""
    suffix = statements.suffix_of(path)
    return suffix in _CASES or suffix in _MARKED


def _read(path: str, text: str) -> Suite:
    suffix = statements.suffix_of(path)
    told = statements.read(path, text)
    cases: list[Case] = []
    loose: list[Statement] = []
    marks: list[Statement] = []
    passed_over: list[int] = []  # how deep the classes are that no runner collects
    at = 0
    while at < len(told):
        statement = told[at]
        while passed_over and passed_over[-1] >= statement.depth:
            passed_over.pop()
        name = None
        if not passed_over:
            name = _case_name(suffix, statement, marks)
        if suffix in _PYTHON and _UNCOLLECTED.match(statement.masked):
            passed_over.append(statement.depth)
        if name is not None:
            end = _end_of_case(suffix, told, at)
            body = tuple(told[at:end])
            cases.append(Case(name=name, path=path, marks=tuple(marks), body=body))
            marks = []
            at = end
            continue
        if _is_mark(suffix, statement.masked):
            marks.append(statement)
        else:
            loose += (*marks, statement)
            marks = []
        at += 1
    loose += marks
    hidden: list[Case] = []
    if statements.is_indented(suffix):
        cases, hidden = _split_hidden(cases, told)
    return Suite(path=path, cases=tuple(cases), hidden=tuple(hidden), loose=tuple(loose))


_read_cached = lru_cache(maxsize=256)(_read)


def _case_name(suffix: str, statement: Statement, marks: list[Statement]) -> str | None:
    """Return the name of the case that a statement begins; None if it begins none."""
    is_marked = suffix in _MARKED and any(_is_test_mark(mark.masked) for mark in marks)
    start = _case_start(suffix, statement.masked, is_marked)
    if start is None:
        return None
    if start:
        return start
    return _first_string(statement.text) or statement.text


@lru_cache(maxsize=1 << 14)
def _case_start(suffix: str, masked: str, is_marked: bool) -> str | None:
    """Return the name in the code of a case's first statement, "" if a string names it."""
    found = _CASES.get(suffix, _OTHER_CASE).match(masked)
    if not found and suffix in _MARKED:
        is_marked = is_marked or _TEST_MARK.search(masked) is not None
        bare = _TEST_MARK.sub("", masked).lstrip("]) ")
        if is_marked and not _MARK.match(bare):
            found = _MARKED_CASE.match(bare)
        elif is_marked and "(" in bare:
            found = re.search(r"(?P<name>\w+)\([^()]*\)[^()]*\{$", bare)
    if not found:
        return None
    return next(filter(None, found.groupdict().values()), "")


def _first_string(text: str) -> str:
    """Return the first string of a statement, without its quotes."""
    found = re.search(r"([\"'`])(.*?)\1", text, re.DOTALL)
    return found[2] if found else ""


@lru_cache(maxsize=1 << 12)
def _is_test_mark(masked: str) -> bool:
    return _TEST_MARK.search(masked) is not None


@lru_cache(maxsize=1 << 14)
def _is_mark(suffix: str, masked: str) -> bool:
    if not _MARK.match(masked):
        return False
    return not masked.endswith("{") and (suffix in _MARKED or masked[0] == "@" or suffix == "rs")


def _end_of_case(suffix: str, told: list[Statement], start: int) -> int:
    """Return the place after the last statement of a case."""
    depth = told[start].depth
    at = start + 1
    while at < len(told) and told[at].depth > depth:
        at += 1
    if not statements.is_by_line(suffix):
        return at
    if at == start + 1:  # the body is not indented: it goes on to what may begin another
        while at < len(told) and _case_start(suffix, told[at].masked, False) is None:
            at += 1
        return at
    if at < len(told) and told[at].depth == depth and _CLOSES.match(told[at].masked):
        at += 1  # in Tcl it holds the expected value
    return at


def _split_hidden(cases: list[Case], told: list[Statement]) -> tuple[list[Case], list[Case]]:
    """Split off the cases that a later function of the same name in the same class replaces."""
    if len({case.name for case in cases}) == len(cases):
        return cases, []
    owners = _owners(told)
    last: dict[tuple[int, str], Case] = {}
    hidden: list[Case] = []
    for case in cases:
        key = (owners.get(case.line, -1), case.name)
        if key in last:
            hidden.append(last.pop(key))
        last[key] = case
    return list(last.values()), hidden


def _owners(told: list[Statement]) -> dict[int, int]:
    """Return the line of the class that each line of code is in, or of the branch."""
    owners: dict[int, int] = {}
    around: list[Statement] = []
    for statement in told:
        while around and around[-1].depth >= statement.depth:
            around.pop()
        owners[statement.line] = around[-1].line if around else -1
        if statement.masked.endswith(":"):
            around.append(statement)
    return owners
