"""What a test file tests: its cases, what each of them asserts and how strictly, and which of them never run.

It is read line by line, without comments, in the manner of the common frameworks; nothing is run.
"""

import re
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from dos.verdicts.commits.content import substance


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
_NATIVE_CASE = re.compile(r"^(?:TEST|TEST_F|TEST_P|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE)\((?P<name>[^)]*)\)")
_OTHER_CASE = re.compile(
    rf"^(?:[\w<>\[\],? ]+ )?(?:fun|func|fn|function|void|def|Task|method|sub) [`\"]?(?P<name>[tT]est\w*)"
    rf"|^(?:it|test|scenario)[ (]+{_QUOTED}"
)
_MARKED_CASE = re.compile(r"^(?:[\w<>\[\],?.&:'() ]+ )?(?:fn |fun )?(?P<name>\w+|`[^`]+`)[<(]")
_CASES = {
    **dict.fromkeys(("py", "pyi"), _PYTHON_CASE),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "vue", "svelte"), _SCRIPT_CASE),
    "go": _GO_CASE,
    "rb": _RUBY_CASE,
    **dict.fromkeys(("sh", "bash", "zsh", "bats"), _SHELL_CASE),
    **dict.fromkeys(("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm"), _NATIVE_CASE),
}
# Where a mark on the line before makes a function a case.
_MARKED = frozenset(("rs", "java", "kt", "kts", "scala", "groovy", "cs", "vb", "fs", "php", "swift"))
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
_ROW = re.compile(r"^ *(?:pytest\.param\(|[(\[{|\"'\d]).*[,)\]}|]$|#\[case|\[(?:InlineData|TestCase|DataRow)\(")
_ONE_LINE_TABLE = re.compile(r"(?:parametrize|\beach).*?\[(?P<rows>.*)\]")
_INNERMOST = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")

_ASSERTS = re.compile(
    r"(?:^|[^\w.])assert\b(?! ?=)|\b(?:assert|refute|expect|check|verify|ensure|XCTAssert|EXPECT_|ASSERT_|CHECK|REQUI"
    r"RE)\w*!?(?:\(|\.\w)|\brequire\.\w+\(|\bAssert\.\w+|\b[tb]\.(?:Error|Fatal|Fail)\w*\(|\.should\b|\.Should\(\)"
    r"|\.must_\w+|\bpytest\.(?:raises|warns)\(|\brefute\w* |\bassert_\w+ |\bis_expected\b"
)
# One of these is in every line that the pattern finds: looking for them first takes a tenth of the time.
_ASSERT_NEEDLES = (
    "ssert", "xpect", "refute", "check", "verify", "ensure", "EXPECT_", "ASSERT_", "CHECK", "REQUIRE", "require.",
    ".Error", ".Fatal", ".Fail", "hould", ".must_", "pytest.", "[ ", "test ", "diff", "cmp", "grep", "exit", "return ",
    "fail",
)  # fmt: skip
_SKIP_NEEDLES = (
    "skip", "Skip", "SKIP", "xfail", "pending", "except", "catch", "suppress", "Incomplete", "__test__",
    "collect_ignore", "xdescribe", "xcontext", "fdescribe", "fcontext", "fit(", "only", "#if 0", "if (", "if(",
    "if False", "if 0", "go:build",
)  # fmt: skip
_DEFINES = re.compile(r"^ *(?:async )?(?:def|function|fn|func|fun|import|from|use|class|const \w+=require|export)\b")
_SHELL_ASSERTS = re.compile(
    r"\[\[? |^ *test |\bdiff\b|\bcmp\b|\bgrep -\w*q|\b(?:exit|return) [1-9]|\bassert\w*|\bfail\b"
)

# A text that is longer than a line has lines that are not indented and begin no statement.
_STATEMENT = re.compile(r" *(?:@|def |class |async |if |for |while |with |try:|import |from |[\w.\[\]\"']+(?:=|\())")
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
    lines = [line[:_LONGEST_LINE] for line in substance(path, text)]
    return _Reading(path.rpartition("/")[2].rpartition(".")[2].lower()).of(lines)


_read_again = lru_cache(maxsize=256)(_read)


class _Reading:
    """One pass over the lines of a file, from case to case."""

    def __init__(self, suffix: str) -> None:
        self._pattern = _CASES.get(suffix, _OTHER_CASE)
        self._by_mark = suffix in _MARKED
        self._asserts = _SHELL_ASSERTS if self._pattern is _SHELL_CASE else _ASSERTS
        self._by_depth = suffix in ("py", "pyi")
        self._needles: list[str] = []

    def of(self, lines: list[str]) -> Suite:
        text = "\n".join(lines)
        self._needles = [needle for needle in _ASSERT_NEEDLES if needle in text]
        may_skip = any(needle in text for needle in _SKIP_NEEDLES)
        starts, wide = self._starts(lines)
        cases, inside = [], set[int]()
        bounds = [*starts, (len(lines), len(lines), "", False)]
        for (marked, start, name, is_skipped), (following, *_) in pairwise(bounds):
            end = self._end(lines, start, following)
            body = lines[start + 1 : end]
            inside.update(range(start, end))
            cases.append(
                Case(
                    name=name,
                    text="\n".join(lines[start:end]),
                    is_skipped=is_skipped or _returns(body) or (may_skip and _is_skipped(body)),
                    assertions=self._assertions(lines[start:end]),
                    rows=_rows(lines[marked:start]) if marked < start else 0,
                )
            )
        outside = [line for at, line in enumerate(lines) if at not in inside]
        return Suite(
            cases=tuple(_unshadowed(cases, lines, starts) if self._by_depth else cases),
            loose=self._assertions(outside),
            wide_skips=wide + (_count(_WIDE_SKIP, lines) if may_skip else 0),
            rows=_rows(lines) if _TABLE.search(text) else 0,
        )

    def _starts(self, lines: list[str]) -> tuple[list[tuple[int, int, str, bool]], int]:
        """Each case: where its marks begin, where it begins, its name, whether a mark skips it; and skips of more."""
        found, wide = [], 0
        marks: list[str] = []
        for at, line in enumerate(lines):
            bare = line.lstrip()
            case = self._case(bare if not self._by_depth else line, marks)
            if case is not None:
                name, is_skipped = case
                is_skipped = is_skipped or any(map(_SKIP_MARK.search, marks)) or _SKIP_MARK.search(bare) is not None
                found.append((at - len(marks), at, name, bool(is_skipped)))
                marks = []
            elif _MARK.match(bare) or (marks and _open(marks) > 0):
                marks.append(bare)
            elif marks:
                wide += any(map(_SKIP_MARK.search, marks))
                marks = []
        return found, wide

    def _case(self, line: str, marks: list[str]) -> tuple[str, bool] | None:
        found = self._pattern.match(line)
        if not found and self._by_mark and (any(map(_TEST_MARK.search, marks)) or _TEST_MARK.search(line)):
            found = _MARKED_CASE.match(_TEST_MARK.sub("", line).lstrip("]) ")) if not _MARK.match(line) else None
        if not found:
            return None
        groups = found.groupdict()
        name = groups.get("name") or groups.get("title") or line
        mark = groups.get("mark") or ""
        is_skipped = bool(groups.get("skip")) or any(word in mark for word in ("skip", "todo", "failing"))
        return name, is_skipped or name.startswith("DISABLED_") or ", DISABLED_" in name or ",DISABLED_" in name

    def _end(self, lines: list[str], start: int, following: int) -> int:
        if not self._by_depth:
            return following
        depth = _depth(lines[start])
        after = range(start + 1, following)
        return next((at for at in after if _depth(lines[at]) <= depth and _STATEMENT.match(lines[at])), following)

    def _assertions(self, lines: list[str]) -> tuple[Assertion, ...]:
        found: list[Assertion] = []
        for line in lines:
            if not any(needle in line for needle in self._needles):
                continue
            if self._asserts.search(line) and not _DEFINES.match(line):
                bare = line.strip()
                # The same line once more asserts nothing more.
                if not found or found[-1].text != bare:
                    is_tuple = self._by_depth and _TUPLE.search(bare) is not None
                    found.append(Assertion(bare, Grade.VACUOUS if is_tuple else _grade(bare)))
        return tuple(found)


def _unshadowed(cases: list[Case], lines: list[str], starts: list[tuple[int, int, str, bool]]) -> list[Case]:
    """Of the functions of one name in one class only the last is there when the file has been read."""
    classes = [at for at, line in enumerate(lines) if line.lstrip().startswith("class ")]
    last: dict[tuple[int, int, str], Case] = {}
    for case, (_, start, name, _) in zip(cases, starts, strict=True):
        depth = _depth(lines[start])
        owner = next((at for at in reversed(classes) if at < start and _depth(lines[at]) < depth), -1)
        last[owner, depth, name] = case
    return list(last.values())


def _grade(line: str) -> Grade:
    if _CANNOT_FAIL.search(line):
        return Grade.VACUOUS
    if not _WEAK_NAMES.search(line) and not _ONLY_THERE.search(line):
        return Grade.STRONG
    return Grade.STRONG if _COMPARES.search(_ONLY_THERE.sub("", line)) else Grade.WEAK


def _returns(body: list[str]) -> bool:
    return bool(body) and body[0].strip().rstrip(";") == "return"


def _is_skipped(body: list[str]) -> bool:
    """Whether the body gives up without asking, or forgives every failure."""
    before = ""
    for at, line in enumerate(body):
        if _SKIP_CALL.search(line) and not _CONDITION.search(before) and not _IF.search(line):
            return True
        if _SWALLOWS.search(line) and not (at + 1 < len(body) and _TELLS.match(body[at + 1])):
            return True
        before = line
    return False


def _rows(lines: list[str]) -> int:
    count = sum(_ROW.match(line) is not None for line in lines)
    for line in lines:
        if table := _ONE_LINE_TABLE.search(line):
            inner = _INNERMOST.sub("", _INNERMOST.sub("", table["rows"]))
            count += inner.count(",") + 1
    return count


def _open(marks: list[str]) -> int:
    """How many brackets the marks before a case leave open."""
    text = "".join(marks)
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _count(pattern: re.Pattern[str], lines: list[str]) -> int:
    return sum(pattern.search(line) is not None for line in lines)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
