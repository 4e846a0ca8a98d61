"""Reads a test file: its cases, what each asserts and how strictly, and which of them never run.

The text is read line by line, without comments, as common frameworks write tests; it is not run.
"""

import re
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from dos.verify.content import significant_lines


class Grade(IntEnum):
    """How strict an assertion is."""

    VACUOUS = 0  # it cannot fail
    WEAK = 1  # something is there, or true
    STRONG = 2  # it is this value


class Assertion(Struct, frozen=True):
    """A line that asserts something."""

    text: str
    grade: Grade


class Case(Struct, frozen=True, kw_only=True):
    """One test case."""

    name: str
    text: str
    is_skipped: bool
    assertions: tuple[Assertion, ...]
    rows: int = 0  # of the table that it is run over

    def count(self, least: Grade) -> int:
        """Return the number of assertions that are at least this strict."""
        return sum(assertion.grade >= least for assertion in self.assertions)


class Suite(Struct, frozen=True, kw_only=True):
    """Everything that a test file checks."""

    cases: tuple[Case, ...] = ()
    loose: tuple[Assertion, ...] = ()  # outside of the cases: what they share
    wide_skips: int = 0  # of a class, a module or a block; also marks such as `.only`
    rows: int = 0  # of the tables that cases are run over


_LONGEST_LINE = 2000  # the rest of one is not looked at
_LONGEST_KEPT = 100_000
_QUOTED = r"""["'`](?P<title>[^"'`\n]*)"""
_PYTHON_CASE = re.compile(r"^ *(?:async )?def (?P<name>test\w*)\(")
_SCRIPT_CASE = re.compile(
    rf"^(?P<skip>x)?(?:it|test|specify"
    rf"|scenario)(?P<mark>(?:\.\w+)*)(?:\([^\"'`]*\))?\((?:{_QUOTED}|(?P<name>\w+),)"
)
_GO_CASE = re.compile(r"^func (?:\([^)]*\) ?)?(?P<name>Test\w*)\(")
_RUBY_CASE = re.compile(
    rf"^(?P<skip>x)?(?:(?:it|test|specify|scenario|example)[ (]+{_QUOTED}"
    rf"|def (?P<name>test_\w+[?!]?))"
)
_SHELL_CASE = re.compile(rf"^(?:@test {_QUOTED}|(?:function )?(?P<name>test\w*) ?\(\))")
_NATIVE_CASE = re.compile(
    r"^(?:TEST|TEST_F|TEST_P|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE)\((?P<name>[^)]*)\)"
)
_OTHER_CASE = re.compile(
    rf"^(?:[\w<>\[\],? ]+ )?(?:fun|func|fn|function|void|def|Task|method"
    rf"|sub) [`\"]?(?P<name>[tT]est\w*)"
    rf"|^(?:it|test|scenario)[ (]+{_QUOTED}"
)
_MARKED_CASE = re.compile(r"^(?:[\w<>\[\],?.&:'() ]+ )?(?:fn |fun )?(?P<name>\w+|`[^`]+`)[<(]")
_BY_DEPTH = ("py", "pyi")  # a case ends where its block does
_SHELL = ("sh", "bash", "zsh", "bats")
_CASES = {
    **dict.fromkeys(_BY_DEPTH, _PYTHON_CASE),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "vue", "svelte"), _SCRIPT_CASE),
    "go": _GO_CASE,
    "rb": _RUBY_CASE,
    **dict.fromkeys(_SHELL, _SHELL_CASE),
    **dict.fromkeys(("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm"), _NATIVE_CASE),
}
# Where a mark on the line before makes a function a case.
_MARKED = frozenset(
    ["rs", "java", "kt", "kts", "scala", "groovy", "cs", "vb", "fs", "php", "swift"]
)
_TEST_MARK = re.compile(
    r"#\[(?:\w+::)*(?:test|rstest|test_case)\b|@(?:Test|ParameterizedTest|RepeatedTest)\b"
    r"|\[(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b|#\[Test\]"
)
_MARK = re.compile(r"^(?:@|#\[|\[[A-Z])")

_SKIP_MARK = re.compile(
    r"@(?:pytest\.mark\.)?(?:skip|xfail)\b(?!if)|@(?:unittest\.)?(?:skip|expectedFailure)\b(?!If"
    r"|Unless)"
    r"|mark\.(?:skipif|xfail)\((?:True|not False|[\d=<>!\"' ]+[,)])|@unittest\.skipIf\((?:True|1)\b"
    r"|@(?:Disabled|Ignore)\b(?!If)|#\[ignore|\[(?:Ignore|Explicit)\b|\[(?:Fact|Theory"
    r"|Test)\(.*\bSkip ?="
)
_SKIP_CALL = re.compile(
    r"\b(?:pytest\.(?:skip|xfail)|self\.skipTest|\w+\.Skip(?:Now|f)?|this\.skip|GTEST_SKIP"
    r"|markTestSkipped"
    r"|markTestIncomplete|XCTSkip)\(|^ *skip(?:$|[ (])|^ *pending\b|raise (?:unittest\.)?SkipTest"
)
_SWALLOWS = re.compile(
    r"^ *except(?: \(?.*\b(?:AssertionError|Exception|BaseException)\b.*)?:"
    r"|catch ?(?:\(\w*\))?\{ ?\}"
    r"|suppress\(.*(?:AssertionError|Exception)\b"
)
_RAISES = re.compile(r" *(?:raise|assert|pytest\.fail|self\.fail|if )")
_WIDE_SKIP = re.compile(
    r"pytestmark=.*(?:skip|xfail)\b(?!if)|__test__=False|collect_ignore|allow_module_level"
    r"|pytest\.skip\(.*module"
    r"|\b(?:describe|context|suite)\.skip\b|^x(?:describe|context)\b|\.only\(|^f(?:describe|it"
    r"|context)\("
    r"|^//go:build (?:ignore|never)|^ *#if 0\b|^ *if ?\(?(?:false|False|0)\)?[:{]"
)
_CONDITION = re.compile(r"^ *(?:el)?(?:if|unless|except|else|when)\b|\bif\b.*[{:]")
_IF = re.compile(r"\bif\b|\bunless\b")
_TABLE = re.compile(
    r"parametrize|\beach\b|InlineData|TestCase\(|DataRow|CsvSource|ValueSource|MethodSource"
    r"|rstest|#\[case|\[\]struct"
    r"|subTest|\.Run\(|\bfor\b"
)
_ROW = re.compile(
    r"^ *(?:pytest\.param\(|[(\[{|\"'\d]).*[,)\]}|]$|#\[case|\[(?:InlineData|TestCase|DataRow)\("
)
_ONE_LINE_TABLE = re.compile(r"(?:parametrize|\beach).*?\[(?P<rows>.*)\]")
_INNERMOST = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")

_ASSERTS = re.compile(
    r"(?:^|[^\w.])assert\b(?! ?=)|\b(?:assert|refute|expect|check|verify|ensure|XCTAssert"
    r"|EXPECT_|ASSERT_|CHECK|REQUI"
    r"RE)\w*!?(?:\(|\.\w)|\brequire\.\w+\(|\bAssert\.\w+|\b[tb]\.(?:Error|Fatal|Fail)\w*\("
    r"|\.should\b|\.Should\(\)"
    r"|\.must_\w+|\bpytest\.(?:raises|warns)\(|\brefute\w* |\bassert_\w+ |\bis_expected\b"
)
_DEFINES = re.compile(
    r"^ *(?:async )?(?:def|function|fn|func|fun|import|from|use|class|const \w+=require|export)\b"
)
_SHELL_ASSERTS = re.compile(
    r"\[\[? |^ *test |\bdiff\b|\bcmp\b|\bgrep -\w*q|\b(?:exit|return) [1-9]|\bassert\w*|\bfail\b"
)

# A text that is longer than a line has lines that are not indented and begin no statement.
_STATEMENT = re.compile(
    r" *(?:@|def |class |async |if |for |while |with |try:|import |from |[\w.\[\]\"']+(?:=|\())"
)
_LITERAL = r"(?:-?\d+(?:\.\d+)?|\"[^\"]*\"|'[^']*'|[tT]rue|[fF]alse|None|null|nil)"
_CANNOT_FAIL = re.compile(
    r"\bassert(?:\(| \(?)(?:[tT]rue|1|not False|not 0|\"[^\"]+\"|'[^']+')\)?(?:,|;|$)"
    r"|\b(?:assert|Assert|XCTAssert|refute|EXPECT|ASSERT"
    r"|ok)\w*(?:\.\w+)?!?\((?:[tT],)?(?:[tT]rue|1|!false|!0|"
    r"not False)(?:,[\"'f].*)?\)"
    r"|\((?:[tT], ?)?(?P<same>[^,()]+), ?(?P=same)[,)]"
    r"|expect\((?P<it>[^()]*)\)\.(?:\w+\.)*\w+\((?P=it)\)"
    r"|\bassert (?P<left>[^=<>!]+)==(?P=left)(?:,|$)"
    rf"|\bassert {_LITERAL}(?:==|!=|<=?|>=?){_LITERAL}(?:,|$)"
    rf"|\({_LITERAL}\)\.(?:\w+\.)*\w+\({_LITERAL}\)"
    r"|\bor True\b|\bTrue or\b|\belse True\b|\|\| ?true\b|\|\| ?:$|\blen\([^()]*\) ?>= ?0\b"
    r"|\.length ?>= ?0\b"
    r"|^ *expect\((?:[^()]++|\([^()]*+\))*+\);?$"
)
_TUPLE = re.compile(r"^assert\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?,f?[\"'].*\)$")
_COMPARES = re.compile(
    r"==|!=|(?<![-=])>|<|\bin\b|\bis\b|\b(?:allclose|isclose|approx|array_equal|issubset"
    r"|issuperset|startswith|endswith|ma"
    r"tch|search|fullmatch|all|contains?|includes?|equals?|eql?|starts_with|ends_with)\w*\("
)
_ONLY_THERE = re.compile(
    r"(?:is|==|!=|is not|===|!==) ?(?:True|False|None|null|undefined|nil|true|false)\b"
    r"|== ?(?:mock\.)?ANY\b|expect\.any(?:thing)?\("
)
_WEAK_NAMES = re.compile(
    r"\b(?:assert|Assert\.|assert\.|require\.|XCTAssert|refute_)?(?:True|False|IsNotNone|IsNone"
    r"|NotNull|Null|NotNil|Nil|Is"
    r"True|IsFalse|IsNotNull|IsNull|NotEmpty|ok|isOk|isTrue|isDefined|exists|isNotNull|NoError"
    r"|NotNone)\("
    r"|assert_not_nil|assert_predicate|toBe(?:Defined|Truthy|Falsy|Null|Undefined)\(|\.to\.exist"
    r"|\.to\.be\.ok"
    r"|be_truthy|be_nil|be_falsey|be_present|\.is_(?:ok|some|err|none)\(\)|\.isNotNull\("
    r"|\.NotBeNull\(|toHaveBeenCalled\(\)"
    r"|assertDoesNotThrow|(?:^|[^\w.])assert!?[ (]|(?:EXPECT|ASSERT)_(?:TRUE|FALSE)\("
)


def read(path: str, text: str) -> Suite:
    """Return what a test file checks.

    Recent results are kept: what one commit left is what the next one found.
    """
    if len(text) < _LONGEST_KEPT:
        return _read_cached(path, text)
    return _read(path, text)


class _Start(Struct, frozen=True):
    """Where a case begins."""

    marked: int  # the line of its first mark
    line: int
    name: str
    is_skipped: bool


def _read(path: str, text: str) -> Suite:
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    lines = [line[:_LONGEST_LINE] for line in significant_lines(path, text)]
    starts, wide_skips = _starts(suffix, lines)
    cases: list[Case] = []
    loose: list[str] = []
    after = 0
    for start, following in pairwise([*starts, _Start(len(lines), len(lines), "", False)]):
        end = following.marked
        if suffix in _BY_DEPTH:
            end = _end_of_block(lines, start.line, following.marked)
        loose += lines[after : start.line]
        after = end
        cases.append(_read_case(suffix, lines, start, end))
    if suffix in _BY_DEPTH:
        cases = _without_shadowed(cases, lines, starts)
    rows = 0
    if any(map(_has_table, lines)):
        rows = sum(map(_rows, lines))
    return Suite(
        cases=tuple(cases),
        loose=_assertions(suffix, loose + lines[after:]),
        wide_skips=wide_skips + sum(map(_skips_widely, lines)),
        rows=rows,
    )


def _read_case(suffix: str, lines: list[str], start: _Start, end: int) -> Case:
    return Case(
        name=start.name,
        text="\n".join(lines[start.line : end]),
        is_skipped=start.is_skipped or _gives_up(lines[start.line + 1 : end]),
        assertions=_assertions(suffix, lines[start.line : end]),
        rows=sum(map(_rows, lines[start.marked : start.line])),
    )


_read_cached = lru_cache(maxsize=256)(_read)
# For functions of one line: most lines of a file are in its next version too.
_line_cache = lru_cache(maxsize=1 << 14)


def _starts(suffix: str, lines: list[str]) -> tuple[list[_Start], int]:
    """Return where each case begins, and how many marks skip more than one case."""
    starts: list[_Start] = []
    wide_skips = 0
    marks: list[str] = []
    for number, line in enumerate(lines):
        is_marked = suffix in _MARKED and any(map(_TEST_MARK.search, marks))
        case = _case(suffix, line, is_marked)
        bare = line.lstrip()
        if case is not None:
            name, is_skipped = case
            is_skipped = is_skipped or any(map(_SKIP_MARK.search, marks))
            starts.append(_Start(number - len(marks), number, name, is_skipped))
            marks = []
        elif _MARK.match(bare) or (marks and _open_brackets(marks) > 0):
            marks.append(bare)
        elif marks:
            wide_skips += any(map(_SKIP_MARK.search, marks))
            marks = []
    return starts, wide_skips


@_line_cache
def _case(suffix: str, line: str, is_marked: bool) -> tuple[str, bool] | None:
    """Return the name of the case that a line begins, and whether the line skips it."""
    bare = line.lstrip()
    if suffix not in _BY_DEPTH:
        line = bare
    found = _CASES.get(suffix, _OTHER_CASE).match(line)
    if not found and suffix in _MARKED and not _MARK.match(line):
        is_marked = is_marked or _TEST_MARK.search(line) is not None
        if is_marked:
            found = _MARKED_CASE.match(_TEST_MARK.sub("", line).lstrip("]) "))
    if not found:
        return None
    groups = found.groupdict()
    name = groups.get("name") or groups.get("title") or line
    mark = groups.get("mark") or ""
    is_skipped = bool(groups.get("skip")) or _SKIP_MARK.search(bare) is not None
    is_skipped = is_skipped or any(word in mark for word in ("skip", "todo", "failing"))
    return name, is_skipped or re.search(r"^DISABLED_|, ?DISABLED_", name) is not None


def _end_of_block(lines: list[str], start: int, following: int) -> int:
    """Return the line after a case whose end is told by indentation."""
    depth = _depth(lines[start])
    for number in range(start + 1, following):
        if _depth(lines[number]) <= depth and _STATEMENT.match(lines[number]):
            return number
    return following


def _assertions(suffix: str, lines: list[str]) -> tuple[Assertion, ...]:
    assertions: list[Assertion] = []
    for assertion in filter(None, (_assertion(suffix, line) for line in lines)):
        # The same line once more asserts nothing more.
        if not assertions or assertions[-1].text != assertion.text:
            assertions.append(assertion)
    return tuple(assertions)


@_line_cache
def _assertion(suffix: str, line: str) -> Assertion | None:
    asserts = _SHELL_ASSERTS if suffix in _SHELL else _ASSERTS
    if not asserts.search(line) or _DEFINES.match(line):
        return None
    bare = line.strip()
    is_tuple = suffix in _BY_DEPTH and _TUPLE.search(bare) is not None
    grade = Grade.VACUOUS if is_tuple else _grade(bare)
    return Assertion(bare, grade)


def _without_shadowed(cases: list[Case], lines: list[str], starts: list[_Start]) -> list[Case]:
    """Drop cases that a later function of the same name in the same class replaces."""
    if len({case.name for case in cases}) == len(cases):
        return cases
    classes = [number for number, line in enumerate(lines) if line.lstrip().startswith("class ")]
    last: dict[tuple[int, int, str], Case] = {}
    for case, start in zip(cases, starts, strict=True):
        depth = _depth(lines[start.line])
        owner = -1
        for number in reversed(classes):
            if number < start.line and _depth(lines[number]) < depth:
                owner = number
                break
        last[owner, depth, start.name] = case
    return list(last.values())


def _grade(line: str) -> Grade:
    if _CANNOT_FAIL.search(line):
        return Grade.VACUOUS
    if not _WEAK_NAMES.search(line) and not _ONLY_THERE.search(line):
        return Grade.STRONG
    if _COMPARES.search(_ONLY_THERE.sub("", line)):
        return Grade.STRONG
    return Grade.WEAK


def _gives_up(body: list[str]) -> bool:
    """Whether a body returns at once, skips itself unconditionally, or swallows every failure."""
    if body and body[0].strip().rstrip(";") == "return":
        return True
    for before, line, after in zip(["", *body], body, [*body[1:], ""], strict=False):
        skips, swallows = _ways_out(line)
        if skips and not _CONDITION.search(before):
            return True
        if swallows and not _RAISES.match(after):
            return True
    return False


@_line_cache
def _ways_out(line: str) -> tuple[bool, bool]:
    """Whether a line skips the case without a condition, and whether it swallows failures."""
    skips = _SKIP_CALL.search(line) is not None and not _IF.search(line)
    swallows = _SWALLOWS.search(line) is not None
    return skips, swallows


@_line_cache
def _skips_widely(line: str) -> bool:
    return _WIDE_SKIP.search(line) is not None


@_line_cache
def _has_table(line: str) -> bool:
    return _TABLE.search(line) is not None


@_line_cache
def _rows(line: str) -> int:
    """Return how many rows of a table a line holds."""
    count = int(_ROW.match(line) is not None)
    table = _ONE_LINE_TABLE.search(line)
    if table:
        flat = _INNERMOST.sub("", _INNERMOST.sub("", table["rows"]))
        count += flat.count(",") + 1
    return count


def _open_brackets(marks: list[str]) -> int:
    """Return how many brackets the marks before a case leave open."""
    text = "".join(marks)
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
