"""What a test file tests: its cases, what each of them asserts and how strictly, and which of them never run.

It is read line by line, without comments, in the manner of the common frameworks; nothing is run.
"""

import re
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from dos.verify.content import significant_lines


class Grade(IntEnum):
    VACUOUS = 0  # it cannot fail
    WEAK = 1  # something is there, or true
    STRONG = 2  # it is this value


class Assertion(Struct, frozen=True):
    text: str
    grade: Grade


class Case(Struct, frozen=True, kw_only=True):
    name: str
    text: str
    is_skipped: bool
    assertions: tuple[Assertion, ...]
    rows: int = 0  # of the table that stands over it

    def count(self, least: Grade) -> int:
        return sum(assertion.grade >= least for assertion in self.assertions)


class Suite(Struct, frozen=True, kw_only=True):
    cases: tuple[Case, ...] = ()
    loose: tuple[Assertion, ...] = ()  # outside of the cases: what they share
    wide_skips: int = 0  # of a class, a module, a block; and marks that let a few run alone
    rows: int = 0  # of the tables that cases are run over


_LONGEST_LINE = 2000  # the rest of one is not looked at
_LONGEST_KEPT = 100_000
_QUOTED = r"""["'`](?P<title>[^"'`\n]*)"""
_PYTHON_CASE = re.compile(r"^ *(?:async )?def (?P<name>test\w*)\(")
_SCRIPT_CASE = re.compile(
    rf"^(?P<skip>x)?(?:it|test|specify|scenario)(?P<mark>(?:\.\w+)*)(?:\([^\"'`]*\))?\((?:{_QUOTED}|(?P<name>\w+),)"
)
_GO_CASE = re.compile(r"^func (?:\([^)]*\) ?)?(?P<name>Test\w*)\(")
_RUBY_CASE = re.compile(
    rf"^(?P<skip>x)?(?:(?:it|test|specify|scenario|example)[ (]+{_QUOTED}|def (?P<name>test_\w+[?!]?))"
)
_SHELL_CASE = re.compile(rf"^(?:@test {_QUOTED}|(?:function )?(?P<name>test\w*) ?\(\))")
_NATIVE_CASE = re.compile(
    r"^(?:TEST|TEST_F|TEST_P|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE)\((?P<name>[^)]*)\)"
)
_OTHER_CASE = re.compile(
    rf"^(?:[\w<>\[\],? ]+ )?(?:fun|func|fn|function|void|def|Task|method|sub) [`\"]?(?P<name>[tT]est\w*)"
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
    ("rs", "java", "kt", "kts", "scala", "groovy", "cs", "vb", "fs", "php", "swift")
)
_TEST_MARK = re.compile(r"#\[(?:\w+::)*(?:test|rstest|test_case)\b|@(?:Test|ParameterizedTest|RepeatedTest)\b"
                        r"|\[(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b|#\[Test\]")  # fmt: skip
_MARK = re.compile(r"^(?:@|#\[|\[[A-Z])")

_SKIP_MARK = re.compile(
    r"@(?:pytest\.mark\.)?(?:skip|xfail)\b(?!if)|@(?:unittest\.)?(?:skip|expectedFailure)\b(?!If|Unless)"
    r"|mark\.(?:skipif|xfail)\((?:True|not False|[\d=<>!\"' ]+[,)])|@unittest\.skipIf\((?:True|1)\b"
    r"|@(?:Disabled|Ignore)\b(?!If)|#\[ignore|\[(?:Ignore|Explicit)\b|\[(?:Fact|Theory|Test)\(.*\bSkip ?="
)
_SKIP_CALL = re.compile(
    r"\b(?:pytest\.(?:skip|xfail)|self\.skipTest|\w+\.Skip(?:Now|f)?|this\.skip|GTEST_SKIP|markTestSkipped"
    r"|markTestIncomplete|XCTSkip)\(|^ *skip(?:$|[ (])|^ *pending\b|raise (?:unittest\.)?SkipTest"
)
_SWALLOWS = re.compile(
    r"^ *except(?: \(?.*\b(?:AssertionError|Exception|BaseException)\b.*)?:|catch ?(?:\(\w*\))?\{ ?\}"
    r"|suppress\(.*(?:AssertionError|Exception)\b"
)
_TELLS = re.compile(r" *(?:raise|assert|pytest\.fail|self\.fail|if )")
_WIDE_SKIP = re.compile(
    r"pytestmark=.*(?:skip|xfail)\b(?!if)|__test__=False|collect_ignore|allow_module_level|pytest\.skip\(.*module"
    r"|\b(?:describe|context|suite)\.skip\b|^x(?:describe|context)\b|\.only\(|^f(?:describe|it|context)\("
    r"|^//go:build (?:ignore|never)|^ *#if 0\b|^ *if ?\(?(?:false|False|0)\)?[:{]"
)
_CONDITION = re.compile(r"^ *(?:el)?(?:if|unless|except|else|when)\b|\bif\b.*[{:]")
_IF = re.compile(r"\bif\b|\bunless\b")
_TABLE = re.compile(
    r"parametrize|\beach\b|InlineData|TestCase\(|DataRow|CsvSource|ValueSource|MethodSource|rstest|#\[case|\[\]struct"
    r"|subTest|\.Run\(|\bfor\b"
)
_ROW = re.compile(
    r"^ *(?:pytest\.param\(|[(\[{|\"'\d]).*[,)\]}|]$|#\[case|\[(?:InlineData|TestCase|DataRow)\("
)
_ONE_LINE_TABLE = re.compile(r"(?:parametrize|\beach).*?\[(?P<rows>.*)\]")
_INNERMOST = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")

_ASSERTS = re.compile(
    r"(?:^|[^\w.])assert\b(?! ?=)|\b(?:assert|refute|expect|check|verify|ensure|XCTAssert|EXPECT_|ASSERT_|CHECK|REQUI"
    r"RE)\w*!?(?:\(|\.\w)|\brequire\.\w+\(|\bAssert\.\w+|\b[tb]\.(?:Error|Fatal|Fail)\w*\(|\.should\b|\.Should\(\)"
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
    r"|\b(?:assert|Assert|XCTAssert|refute|EXPECT|ASSERT|ok)\w*(?:\.\w+)?!?\((?:[tT],)?(?:[tT]rue|1|!false|!0|"
    r"not False)(?:,[\"'f].*)?\)"
    r"|\((?:[tT], ?)?(?P<same>[^,()]+), ?(?P=same)[,)]"
    r"|expect\((?P<it>[^()]*)\)\.(?:\w+\.)*\w+\((?P=it)\)"
    r"|\bassert (?P<left>[^=<>!]+)==(?P=left)(?:,|$)"
    rf"|\bassert {_LITERAL}(?:==|!=|<=?|>=?){_LITERAL}(?:,|$)|\({_LITERAL}\)\.(?:\w+\.)*\w+\({_LITERAL}\)"
    r"|\bor True\b|\bTrue or\b|\belse True\b|\|\| ?true\b|\|\| ?:$|\blen\([^()]*\) ?>= ?0\b|\.length ?>= ?0\b"
    r"|^ *expect\((?:[^()]++|\([^()]*+\))*+\);?$"
)
_TUPLE = re.compile(r"^assert\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?,f?[\"'].*\)$")
_COMPARES = re.compile(
    r"==|!=|(?<![-=])>|<|\bin\b|\bis\b|\b(?:allclose|isclose|approx|array_equal|issubset|issuperset|startswith|endswith|ma"
    r"tch|search|fullmatch|all|contains?|includes?|equals?|eql?|starts_with|ends_with)\w*\("
)
_ONLY_THERE = re.compile(
    r"(?:is|==|!=|is not|===|!==) ?(?:True|False|None|null|undefined|nil|true|false)\b"
    r"|== ?(?:mock\.)?ANY\b|expect\.any(?:thing)?\("
)
_WEAK_NAMES = re.compile(
    r"\b(?:assert|Assert\.|assert\.|require\.|XCTAssert|refute_)?(?:True|False|IsNotNone|IsNone|NotNull|Null|NotNil|Nil|Is"
    r"True|IsFalse|IsNotNull|IsNull|NotEmpty|ok|isOk|isTrue|isDefined|exists|isNotNull|NoError|NotNone)\("
    r"|assert_not_nil|assert_predicate|toBe(?:Defined|Truthy|Falsy|Null|Undefined)\(|\.to\.exist|\.to\.be\.ok"
    r"|be_truthy|be_nil|be_falsey|be_present|\.is_(?:ok|some|err|none)\(\)|\.isNotNull\(|\.NotBeNull\(|toHaveBeenCalled\(\)"
    r"|assertDoesNotThrow|(?:^|[^\w.])assert!?[ (]|(?:EXPECT|ASSERT)_(?:TRUE|FALSE)\("
)


def read(path: str, text: str) -> Suite:
    """A text that was read a moment ago is not read again: what one commit left is what the next one found."""
    return _read_again(path, text) if len(text) < _LONGEST_KEPT else _read(path, text)


def _read(path: str, text: str) -> Suite:
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    lines = [line[:_LONGEST_LINE] for line in significant_lines(path, text)]
    starts, wide = _starts(suffix, lines)
    cases, loose, after = [], [], 0
    for start, following in pairwise([*starts, _Start(len(lines), len(lines), "", False)]):
        end = _end(lines, start.at, following.marked) if suffix in _BY_DEPTH else following.marked
        loose += lines[after : start.at]
        after = end
        cases.append(
            Case(
                name=start.name,
                text="\n".join(lines[start.at : end]),
                is_skipped=start.is_skipped or _gives_up(lines[start.at + 1 : end]),
                assertions=_assertions(suffix, lines[start.at : end]),
                rows=sum(map(_rows, lines[start.marked : start.at])),
            )
        )
    return Suite(
        cases=tuple(_unshadowed(cases, lines, starts) if suffix in _BY_DEPTH else cases),
        loose=_assertions(suffix, loose + lines[after:]),
        wide_skips=wide + sum(map(_skips_widely, lines)),
        rows=sum(map(_rows, lines)) if any(map(_has_table, lines)) else 0,
    )


_read_again = lru_cache(maxsize=256)(_read)
_of_a_line = lru_cache(maxsize=1 << 14)  # most lines of a file stand in its next version too


class _Start(Struct, frozen=True):
    """Where a case begins."""

    marked: int  # where its marks begin
    at: int
    name: str
    is_skipped: bool


def _starts(suffix: str, lines: list[str]) -> tuple[list[_Start], int]:
    """Each case, and how many marks skip more than one."""
    found, wide = list[_Start](), 0
    marks: list[str] = []
    for at, line in enumerate(lines):
        case = _case(suffix, line, suffix in _MARKED and any(map(_TEST_MARK.search, marks)))
        if case is not None:
            name, is_skipped = case
            found.append(
                _Start(at - len(marks), at, name, is_skipped or any(map(_SKIP_MARK.search, marks)))
            )
            marks = []
        elif _MARK.match(bare := line.lstrip()) or (marks and _open(marks) > 0):
            marks.append(bare)
        elif marks:
            wide += any(map(_SKIP_MARK.search, marks))
            marks = []
    return found, wide


@_of_a_line
def _case(suffix: str, line: str, is_marked: bool) -> tuple[str, bool] | None:
    """The name of the case that a line begins, and whether the line skips it."""
    bare = line.lstrip()
    line = line if suffix in _BY_DEPTH else bare
    found = _CASES.get(suffix, _OTHER_CASE).match(line)
    if (
        not found
        and suffix in _MARKED
        and not _MARK.match(line)
        and (is_marked or _TEST_MARK.search(line))
    ):
        found = _MARKED_CASE.match(_TEST_MARK.sub("", line).lstrip("]) "))
    if not found:
        return None
    groups = found.groupdict()
    name = groups.get("name") or groups.get("title") or line
    mark = groups.get("mark") or ""
    is_skipped = bool(groups.get("skip")) or any(
        word in mark for word in ("skip", "todo", "failing")
    )
    is_disabled = name.startswith("DISABLED_") or ", DISABLED_" in name or ",DISABLED_" in name
    return name, is_skipped or is_disabled or _SKIP_MARK.search(bare) is not None


def _end(lines: list[str], start: int, following: int) -> int:
    depth = _depth(lines[start])
    after = range(start + 1, following)
    return next(
        (at for at in after if _depth(lines[at]) <= depth and _STATEMENT.match(lines[at])),
        following,
    )


def _assertions(suffix: str, lines: list[str]) -> tuple[Assertion, ...]:
    found: list[Assertion] = []
    for line in lines:
        assertion = _assertion(suffix, line)
        # The same line once more asserts nothing more.
        if assertion and not (found and found[-1].text == assertion.text):
            found.append(assertion)
    return tuple(found)


@_of_a_line
def _assertion(suffix: str, line: str) -> Assertion | None:
    asserts = _SHELL_ASSERTS if suffix in _SHELL else _ASSERTS
    if not asserts.search(line) or _DEFINES.match(line):
        return None
    bare = line.strip()
    is_tuple = suffix in _BY_DEPTH and _TUPLE.search(bare) is not None
    return Assertion(bare, Grade.VACUOUS if is_tuple else _grade(bare))


def _unshadowed(cases: list[Case], lines: list[str], starts: list[_Start]) -> list[Case]:
    """Of the functions of one name in one class only the last is there when the file has been read."""
    if len({case.name for case in cases}) == len(cases):
        return cases
    classes = [at for at, line in enumerate(lines) if line.lstrip().startswith("class ")]
    last: dict[tuple[int, int, str], Case] = {}
    for case, start in zip(cases, starts, strict=True):
        depth = _depth(lines[start.at])
        owner = next(
            (at for at in reversed(classes) if at < start.at and _depth(lines[at]) < depth), -1
        )
        last[owner, depth, start.name] = case
    return list(last.values())


def _grade(line: str) -> Grade:
    if _CANNOT_FAIL.search(line):
        return Grade.VACUOUS
    if not _WEAK_NAMES.search(line) and not _ONLY_THERE.search(line):
        return Grade.STRONG
    return Grade.STRONG if _COMPARES.search(_ONLY_THERE.sub("", line)) else Grade.WEAK


def _gives_up(body: list[str]) -> bool:
    """Whether a body returns at once, skips itself without asking, or forgives every failure."""
    if body and body[0].strip().rstrip(";") == "return":
        return True
    for before, line, after in zip(["", *body], body, [*body[1:], ""], strict=False):
        skips, swallows = _ways_out(line)
        if (skips and not _CONDITION.search(before)) or (swallows and not _TELLS.match(after)):
            return True
    return False


@_of_a_line
def _ways_out(line: str) -> tuple[bool, bool]:
    """Whether a line skips the case without a condition of its own, and whether it swallows failures."""
    return _SKIP_CALL.search(line) is not None and not _IF.search(line), _SWALLOWS.search(
        line
    ) is not None


@_of_a_line
def _skips_widely(line: str) -> bool:
    return _WIDE_SKIP.search(line) is not None


@_of_a_line
def _has_table(line: str) -> bool:
    return _TABLE.search(line) is not None


@_of_a_line
def _rows(line: str) -> int:
    """How many rows of a table a line holds."""
    count = int(_ROW.match(line) is not None)
    if table := _ONE_LINE_TABLE.search(line):
        count += _INNERMOST.sub("", _INNERMOST.sub("", table["rows"])).count(",") + 1
    return count


def _open(marks: list[str]) -> int:
    """How many brackets the marks before a case leave open."""
    text = "".join(marks)
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
