"""Finds what the statements of a test check, and how strictly."""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache

from msgspec import Struct

from dos.audit.suites import conjuncts
from dos.audit.suites.statements import Statement, is_by_line

_LONGEST = 2000  # characters of a check that are looked at
_PYTHON = frozenset(("py", "pyi"))
_SHELLS = frozenset(("sh", "bash", "zsh", "bats"))
_TCL = frozenset(("tcl", "test"))
_WITH_COMMAND = 3  # statements of a case of Tcl that has one


class Strictness(IntEnum):
    """How much a check asks for."""

    VACUOUS = 0  # it cannot fail
    PRESENCE = 1  # something is there, or true, or no error came
    LOOSE = 2  # a part of it, a limit, a pattern, one of several
    EXACT = 3  # it is this value
    GOLDEN = 4  # all of it is as it was recorded


class Check(Struct, frozen=True, gc=False):
    """A statement that can fail a test; for a failure under a condition, the condition."""

    masked: str
    text: str
    line: int
    strictness: Strictness
    is_plain: bool = True  # how strict it is, is told by a known name or operator
    is_condition: bool = False  # it fails where this is true


_ASSERTS = re.compile(
    r"(?:^|[^\w.])assert\b(?! ?=)|\b(?:assert|refute)(?!ion|ed\b|ing\b)\w*!?(?:\(|\.\w)"
    r"|^(?:assert|refute)\w*(?: |\{|\[|$)|\bck_assert\w*\(|^(?:throws|dies|lives)_ok ?\{"
    r"|\b(?:assert|Assert|intercept)\w*(?:\.\w+)?(?:<[^<>()]{0,80}>|\[[^\[\]()]{0,80}\])[({]"
    r"|\bassert\w+\{|\bAssert\w*\.\w+\(|\.assert\w*\(|\b_?[a-z]+\w*Assert\w*\("
    r"|\b(?:\w*_)?(?:ASSERT|EXPECT|REQUIRE|CHECK|VERIFY|COMPARE)\w*\(|\bQ(?:VERIFY|COMPARE)\("
    r"|\bexpect(?!ed|s?\b ?=|ation)\w*(?:\(|\.\w| \w| \x01|\{|<|!)|\bXCTAssert\w*\(|\bXCTFail\("
    r"|\brequire\.(?!context|resolve|main|cache)\w+\(|\bdebug_assert\w*!|\bmatches!\("
    r"|\bt\.(?:is|not|true|false|truthy|falsy|ok|notOk|equals?|notEquals?|deepEquals?|notDeepEqual"
    r"|same|notSame|strictSame|like|unlike|throws\w*|notThrows\w*|doesNotThrow|rejects|resolves"
    r"|regex|notRegex|match|notMatch|snapshot|assert|pass|strictEqual|looseEqual|has|type|error"
    r"|deepLooseEqual)\("
    r"|\.should\b|\.Should\w*\(|\bshould(?:_not)? |\bshould[A-Z]\w*+[ ({<]"
    r"|\.must_\w+|\.wont_\w+|\bis_expected\b"
    r"|^is\.(?:Equal|NotEqual|True|False|NoErr|Err|Nil|NotNil|Len|Contains)\("
    r"|^#\[should_panic|^@Test\(.*\bexpected ?=|^\[ExpectedException\("
    r"|\bpytest\.(?:raises|warns|deprecated_call)\(|\bassert_\w+(?=[ (.!]|$)"
    r"|(?:^|[^\w.])(?:ok|is_deeply|isnt"
    r"|cmp_ok|isa_ok|throws_ok|dies_ok|lives_ok|is|like|unlike)\(.*,"
    r"|\btest_(?:cond|assert\w*|equal\w*|true)\(|\b(?:cmocka_unit_test|RUN_TEST|tcase_add_test"
    r"|CPPUNIT_TEST|CU_add_test|g_test_add\w*|addTest)\b"
    r"|\bto_?[mM]atch_?[sS]napshot|\.assert\(\)|\.(?:success|failure)\(\)(?:\.|$)|\bshouldThrow\b"
)
_CHECKS_ALONE = re.compile(
    r"(?:await |return |return await |yield )?(?:[\w$]+(?:\(\))?(?:\.|->|::))*+"
    r"_?(?:check|verify|ensure|validate|compare|test_(?!client|dir|path|file|data)|wait_for_(?!ready))"
    r"(?!_?(?:output|call|out|in|box|sum|point|ed)\b)\w*!?(?:\(|\.\w| \w| \x01)"
)
_FAILS = re.compile(
    r"(?:[tb]\.(?:Error|Fatal|Fail)\w*\(|(?:\w+\.)?(?:fail|Fail)(?:\(|!| \x01|$)|pytest\.fail\("
    r"|self\.fail\(|XCTFail\(|FAIL\(|ADD_FAILURE|raise AssertionError|throw new Assertion"
    r"|t\.fail\(|flunk|Assert\.Fail)"
)
_GUARDS = re.compile(r"(?:throw |raise\b|panic!|unreachable!|panic\(|die\b|abort\(|exit\(1)")
_DEFINES = re.compile(
    r"(?:export )?(?:default )?(?:async )?(?:def|function|fn|func|fun|import|from|use|class|proc"
    r"|const \w+=require|#include|#define|using|package|interface|struct|pub|describe|context"
    r"|public|private|protected|static|module|require_relative|require(?!\.))\b"
)
_CALLED = re.compile(r"(?:await )?(?:[A-Za-z_]\w*(?:\(\))?(?:\.|->|::))*+([A-Za-z_]\w*)[(!]")
_COMMAND = re.compile(r"([A-Za-z_]\w*[?!]?)(?: |$)")
_SHELL_ASSERTS = re.compile(
    r"\[\[? |^test |\bdiff\b|\bcmp\b|\bgrep -\w*q|\b(?:exit|return) [1-9]|\bassert\w*|\bfail\b"
)
_TCL_EXPECTS = re.compile(r"\} ?(?:\{.*\S.*\}|\x01|-result .*|-returnCodes .*)$")
_SHELL_LOOSE = re.compile(r" -(?:ge|gt|le|lt|ne) |!=|=~|\*|\bgrep\b|(?i:contain|partial|like)")
_SHELL_PRESENCE = re.compile(r"\[ (?:! )?-[nefdsrwx] |^test -[nefdsrwx] ")
_SHELL_EXACT = re.compile(r" -eq | ==? |(?i:equal)|\bassert_output\b|\b(?:diff|cmp)\b")
_CONDITION = re.compile(
    r"[}\s]*(?:el|else ?)?(?:if|unless|when|switch|while)\b|[}\s]*else\b|case\b"
)

_LITERAL = r"(?:-?\d+(?:\.\d+)?|\"[^\"]*\"|'[^']*'|[tT]rue|[fF]alse|None|null|nil)"
_CANNOT_FAIL = re.compile(
    r"\bassert(?:\(| \(?)(?:[tT]rue|1|not False|not 0|\"[^\"]+\"|'[^']+')\)?(?:,|;|$)"
    r"|\b(?:assert|Assert|XCTAssert|refute|EXPECT|ASSERT|CPPUNIT_ASSERT"
    r"|ok)\w*(?:\.\w+)?!?\((?:[tT],)?(?:[tT]rue|1|!false|!0|"
    r"not False)(?:,[\"'f].*)?\)"
    r"|\bt\.(?:true|truthy|ok|assert)\((?:true|1)(?:,.*)?\)|\bt\.pass\(|\bassert \{(?:1|true)\}"
    r"|\((?:[tT], ?)?(?P<same>[^,()\[\]{}]{1,80}), ?(?P=same)[,)]"
    r"|expect\((?P<it>[^()]{0,80})\)\.(?:\w+\.)*\w+\((?P=it)\)"
    r"|\bassert (?P<left>[^=<>!]{1,80})==(?P=left)(?:,|$)"
    r"|\bassert_equal (?P<one>[^,]{1,80}),(?P=one)$"
    rf"|\bassert {_LITERAL}(?:==|!=|<=?|>=?){_LITERAL}(?:,|$)"
    rf"|\b(?:expect|assertThat)\({_LITERAL}\)\.(?:\w+\.)*\w+\({_LITERAL}\)"
    r"|\bor True\b|\bTrue or\b|\belse True\b|\|\| ?true\b|\|\| ?:$|\|\| ?1\b"
    r"|\blen\([^()]*\) ?>= ?0\b"
    r"|\.(?:length|size|count)(?:\(\))? ?>= ?0\b"
)
_ONLY_NAMES = re.compile(r" *expect\((?:[^()]++|\([^()]*+\))*+\);?$")  # and does not compare
_GOLDEN = re.compile(
    r"(?i:snapshot|regression\.check|golden|approvals?\b|\.verify\(|assert_matches_file)"
)
_EQUALS = re.compile(
    r"==|===|\b(?:assert|Assert|refute|expect|EXPECT|ASSERT|CHECK|REQUIRE|CPPUNIT|CU|TEST|BOOST|ck"
    r"|cr|g|XCT|require|is)\w*(?:\.\w+)*\.?(?<!Not)(?<!not)(?<!ot_)(?<!NE)(?<!Or)_?"
    r"(?:[eE]quals?|EQUALS?|EQ|eq|STREQ|is\b|Len\b|Count\b|[sS]ame)\w*\b|\bshouldBe\b|[,(]is\(|\bis\("
    r"|\bshould be[ (]+[\d\x01]"
    r"|\.(?:toBe|toEqual|toStrictEqual|is|deepEqual|equals?|strictEqual|same|isEqualTo|Be"
    r"|toHaveLength|toHaveBeenCalledTimes|toHaveBeenCalledWith|strictSame|containsExactly\w*"
    r"|hasSize|HaveCount|EqualTo)\("
    r"|\b(?:eql?|equal|must_equal)\b[ (]|assert_eq!|assert_called_\w*with|isEqualTo|is_deeply"
    r"|\b(?:Unordered)?ElementsAre\w*\(|\bcontain_exactly\b|\bmatch_array\b|\bBeEquivalentTo\("
    r"|\bError(?:Is|As)\(|\bContentEqual\b|ArrayEquals"
)
_LOOSELY = re.compile(
    r"(?i:_(?:ge|gt|le|lt|ne|gte|lte)\()|(?<=[{(,\[])_(?=[,})\]])(?!\)? ?[-=]>)"
    r"|(?<![-=<])>=?(?!=)|<=?(?![\w]+>)|\bin\b|!=|\bnot in\b|\bis not\b"
    r"|(?i:contain|includ|match|regex|like\b|startswith|starts_with|start_with|endswith|ends_with"
    r"|end_with|search|between|within|close|approx|almost|greater|less|atleast|atmost|hasitem|anyof"
    r"|oneof|one_of|any_of|assertin\b|range|notequal|not_equal|not_eq|assert_ne!|isnot|\bnear\b|above|below|positive|negative|delta|accuracy|anything|isin\b)"
    r"|\bassertNot\w+|\bNotEqual|\bany\("
)
_ANY = re.compile(r"\b(?:any|some)\(|\bsome\b\(|\.any\?|\banyMatch\(")
_ONLY_THERE = re.compile(
    r"(?:\bis|==|!=|\bis not|===|!==) ?(?:True|False|None|null|NULL|undefined|nil|true|false)\b"
    r"|== ?(?:mock\.)?ANY\b|expect\.any(?:thing)?\("
)
_WEAK_NAMES = re.compile(
    r"\b(?:assert|Assert\.|assert\.|require\.|XCTAssert|refute_)?(?:True|False|IsNotNone|IsNone"
    r"|NotNull|Null|NotNil|Nil|IsTrue|IsFalse|IsNotNull|IsNull|NotEmpty|ok|isOk|isTrue|isDefined"
    r"|exists|isNotNull|NoError|NotNone)\("
    r"|assert_not_nil|assert_predicate|toBe(?:Defined|Truthy|Falsy|Null|Undefined)\(|\.to\.exist"
    r"|\.to\.be\.ok|be_truthy|be_nil|be_falsey|be_present|\.is_(?:ok|some|err|none)\(\)"
    r"|\.isNotNull\(|\.NotBeNull\(|toHaveBeenCalled\(\)|\brefute_nil|\bt\.(?:true|truthy|ok|assert"
    r"|false|falsy|notOk)\("
    r"|assertDoesNotThrow|notThrows|(?:^|[^\w.])assert!?[ (]"
    r"|[iI]sNotEmpty\b|\bisNotNull\b|[nN]ot_?[bB]e_?[eE]mpty|not\.be\.empty|refute_empty|is_not_nil"
    r"|\bis_(?:true|false|truthy|falsy|nil)\(|\bassertNotEmpty\(|\.NotZero\(|\.NotBeEmpty\("
    r"|(?:EXPECT|ASSERT|CHECK)_(?:TRUE|FALSE)\(|\bREQUIRE\(|\bCPPUNIT_ASSERT\("
)
_COMPARES = re.compile(
    r"==|!=|(?<![-=])>|<|\bin\b|\bis\b|\b(?:allclose|isclose|approx|array_equal|issubset"
    r"|issuperset|startswith|endswith|match|search|fullmatch|all|contains?|includes?|equals?|eql?"
    r"|starts_with|ends_with)\w*\("
)


def of(suffix: str, body: Sequence[Statement], helpers: frozenset[str]) -> list[Check]:
    """Return what the statements check, in order; a check that is repeated at once counts once.

    `helpers` are names of functions whose call is a check because they check something.
    """
    found: list[Check] = []
    last = -2  # where the last check is
    for at, statement in enumerate(body):
        if suffix in _PYTHON and conjuncts.may_split(statement.masked):
            found += _of_assertion(suffix, statement)
            last = at
            continue
        check = _of_statement(suffix, body, at)
        if check is None and helpers and _calls(suffix, statement.masked, helpers):
            check = Check(statement.masked, statement.text, statement.line, Strictness.EXACT, False)
        if check is None:
            continue
        is_repeated = found and found[-1].text == check.text
        if not is_repeated or (at > last + 1 and found[-1].line != check.line):
            found.append(check)
        last = at
    return found


def _of_assertion(suffix: str, statement: Statement) -> Iterator[Check]:
    """Yield a check for each thing that an assertion of Python asserts."""
    for text in conjuncts.split(statement.text):
        masked = conjuncts.mask(text)
        graded = _graded(suffix, masked, text)
        if graded:
            yield Check(masked, text, statement.line, *graded)


def is_guard(statement: Statement) -> bool:
    """Whether a statement ends the test with an error: it can stand for a check that went."""
    return _GUARDS.match(statement.masked) is not None


def is_failure(statement: Statement) -> bool:
    """Whether a statement fails the test wherever it is run."""
    return _fails(statement.masked)


def _calls(suffix: str, masked: str, helpers: frozenset[str]) -> bool:
    """Whether a statement is a call of a helper, for what it does and not for its value."""
    called = _CALLED.match(masked)
    if called is None and is_by_line(suffix):
        called = _COMMAND.match(masked)
    return called is not None and called[1] in helpers


def _of_statement(suffix: str, body: Sequence[Statement], at: int) -> Check | None:
    statement = body[at]
    if _fails(statement.masked):
        return _of_failure(body, at)
    if suffix in _TCL and at == len(body) - 1 and _TCL_EXPECTS.match(statement.masked):
        return _of_result(body)
    graded = _graded(suffix, statement.masked, statement.text)
    if graded is None:
        return None
    strictness, is_plain = graded
    return Check(statement.masked, statement.text, statement.line, strictness, is_plain)


def _of_result(body: Sequence[Statement]) -> Check:
    """Return the check of a case of Tcl: that its last command returns what is expected."""
    result = body[-1]
    strictness = Strictness.LOOSE if "*" in result.text else Strictness.EXACT
    command = body[-2]
    if not result.masked.startswith("} -") or len(body) < _WITH_COMMAND:
        return Check(result.masked, result.text, result.line, strictness)
    if _LOOSELY.search(command.masked):
        strictness = Strictness.LOOSE
    masked, text = f"{command.masked} {result.masked}", f"{command.text} {result.text}"
    return Check(masked, text, command.line, strictness)


@lru_cache(maxsize=1 << 14)
def _fails(masked: str) -> bool:
    return _FAILS.match(masked) is not None


def _of_failure(body: Sequence[Statement], at: int) -> Check:
    """Return the check of a statement that fails the test: the condition around it.

    Without one it is the statement before, which has to raise.
    """
    failure = body[at]
    for before in reversed(body[max(0, at - 8) : at]):
        if before.depth < failure.depth:
            if _CONDITION.match(before.masked):
                strictness = _of_condition(before.masked)
                return Check(before.masked, before.text, before.line, strictness, is_condition=True)
            break
    if at:
        before = body[at - 1]
        masked, text = f"fail after {before.masked}", f"fail after {before.text}"
        return Check(masked, text, failure.line, Strictness.EXACT, False)
    return Check("fail", "fail", failure.line, Strictness.EXACT, False)


def _of_condition(masked: str) -> Strictness:
    """Return how strict a condition is under which a test fails."""
    bare = re.sub(r"(?:!=|==) ?(?:nil|null|NULL|None|\x01\x01)", "", masked)
    if "!=" in bare or re.search(
        r"!errors\.(?:Is|As)\(|!\w*(?:\.\w+)*(?:Equal|equals?|Same)", bare
    ):
        return Strictness.EXACT
    if re.search(r"==|<|(?<!-)>|(?i:contain|match|prefix|suffix)", bare):
        return Strictness.LOOSE
    return Strictness.PRESENCE


def _is_tuple(masked: str) -> bool:
    """Whether an assertion is of a tuple, which is always true: `assert (x == 1, "why")`."""
    depth = 0
    for at, mark in enumerate(masked):
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if not depth:
                return False
        elif mark == "," and depth == 1:
            return masked.endswith(")") and "(" not in masked[at:]
    return False


@lru_cache(maxsize=1 << 14)
def _graded(suffix: str, masked: str, text: str) -> tuple[Strictness, bool] | None:
    """Return how strict a statement is, and whether that is sure; None if it checks nothing."""
    is_shell = suffix in _SHELLS
    asserts = _SHELL_ASSERTS if is_shell else _ASSERTS
    if _DEFINES.match(masked):
        return None
    if not asserts.search(masked) and not _CHECKS_ALONE.match(masked):
        return None
    is_tuple = suffix in _PYTHON and masked.startswith("assert(") and _is_tuple(masked)
    is_unread = suffix != "dart" and _ONLY_NAMES.match(text[:_LONGEST]) is not None
    if is_tuple or is_unread or _CANNOT_FAIL.search(text[:_LONGEST]):
        return Strictness.VACUOUS, True
    if is_shell:
        return _of_shell(text[:_LONGEST])
    if masked.startswith("cmp_ok("):
        is_equality = re.search(r"['\"](?:==|eq)['\"]", text[:_LONGEST])
        return (Strictness.EXACT if is_equality else Strictness.LOOSE), True
    strictness, is_plain = _strictness(masked)
    # In Dart a value stands for its matcher.
    return strictness, is_plain or (suffix == "dart" and masked.startswith("expect("))


def _of_shell(text: str) -> tuple[Strictness, bool]:
    """Return how strict a check of a shell is, and whether that is sure."""
    if _CONDITION.match(text):
        return Strictness.EXACT, False  # it decides what is done
    if _SHELL_LOOSE.search(text):
        return Strictness.LOOSE, True
    if _SHELL_PRESENCE.search(text):
        return Strictness.PRESENCE, True
    return Strictness.EXACT, _SHELL_EXACT.search(text) is not None


def _strictness(masked: str) -> tuple[Strictness, bool]:
    """Return how strict a check is by the names and operators in it, and whether it has any."""
    if _GOLDEN.search(masked):
        return Strictness.GOLDEN, True
    is_weak = _WEAK_NAMES.search(masked) or _ONLY_THERE.search(masked)
    rest = _ONLY_THERE.sub("", masked)
    if is_weak and not _COMPARES.search(rest):
        return Strictness.PRESENCE, True
    if _EQUALS.search(rest) and not _ANY.search(rest):
        return Strictness.EXACT, True
    if _LOOSELY.search(rest):
        return Strictness.LOOSE, True
    return Strictness.EXACT, False
