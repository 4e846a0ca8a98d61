"""Tells which cases never run, and what keeps others from running."""

import re
from collections.abc import Sequence
from functools import lru_cache

from dos.audit.suites.cases import Case
from dos.audit.suites.statements import Statement

_SKIP_MARK = re.compile(
    r"@(?:pytest\.mark\.)?(?:skip|xfail)\b(?!if)|@(?:unittest\.)?(?:skip|expectedFailure)\b(?!If"
    r"|Unless)"
    r"|mark\.(?:skipif|xfail)\((?:True|not False|[\d=<>!\x01 ]+[,)])"
    r"|@unittest\.skipIf\((?:True|1)\b"
    r"|@(?:[\w.]+\.)?(?:Disabled|Ignore)\b(?!If)|#\[ignore|\[(?:Ignore|Explicit)\b"
    r"|\[(?:Fact|Theory|Test)\(.*\bSkip ?=|@Test\(.*enabled=false"
)
_SKIP_TAGS = ("@tag :skip", "@tag skip:", "@moduletag :skip", "@describetag :skip")
_NAMED_SKIP = re.compile(
    r"pending\("
    r"|(?:await )?(?:x(?:it|test|specify|describe|context)\b"
    r"|(?:it|test|specify|scenario|Deno\.test)"
    r"(?:\.\w+)*?\.(?:skip|todo|failing|fixme|fails)\b)|.*[(,] ?DISABLED_"
    r"|(?:it|specify|example)[ (]\x01(?:\)|,? ?:?(?:skip|pending).*)?$"
    r"|.*[,{]:?(?:skip|pending|todo)(?::(?:true|\x01)|[,)]| do\b|$)"
)
_SKIP_CALL = re.compile(
    r"\b(?:pytest\.(?:skip|xfail|importorskip)|self\.skipTest|\w+\.Skip(?:Now|f)?|this\.skip"
    r"|GTEST_SKIP|t\.skip|t\.todo|Assert\.Ignore|Assert\.Inconclusive"
    r"|markTestSkipped|markTestIncomplete|XCTSkip)\(|^skip(?:$|[ (])|^pending\b"
    r"|^raise (?:unittest\.)?SkipTest|^(?:org\.junit\.)?Assume\.assumeTrue\((?:false|\x01,false)\)"
    r"|^assumeTrue\((?:false|\x01,false)\)"
)
_SWALLOWS = re.compile(
    r"except(?: \(?.*\b(?:AssertionError|Exception|BaseException)\b.*)?:"
    r"|\}?catch ?(?:\((?:\w* )?\w*\))?\{ ?\}|.*catch ?(?:\(\w*\))?\{ ?\}"
    r"|.*suppress\(.*(?:AssertionError|Exception)\b|rescue(?: =>? ?\w+| Exception.*)?$"
)
_RAISES = re.compile(r"raise|assert|pytest\.fail|self\.fail|if |fail|throw|expect|t\.")
_WIDE_SKIP = re.compile(
    r"pytestmark=.*(?:skip|xfail)\b(?!if)|__test__=False|^collect_ignore|allow_module_level"
    r"|\b(?:describe|context|suite)\.skip\b|^x(?:describe|context)\b"
    r"|^(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.only\b|^f(?:describe|it|context)[( ]"
    r"|^(?:it|describe|context)\b.*focus:true"
    r"|^//go:build (?:ignore|never)|^#if 0\b|^\}?,?skip:(?:true|\x01)\)?$"
    r"|^if ?\(?(?:false|False|0)\)?[:{]|^del test\w*"
)
_NEEDS_MODULE = re.compile(r"(?:\w+=)?pytest\.importorskip\(")
_CONDITION = re.compile(
    r"[} ]*(?:el|else ?)?(?:if|unless|except|else|when|case|switch)\b|.*\bif\b.*[{:]$"
)
_IF = re.compile(r"\bif\b|\bunless\b")


def is_skipped(case: Case) -> bool:
    """Whether a case never runs, or cannot fail."""
    if any(map(is_skip_mark, case.marks)):
        return True
    first = case.body[0]
    if _NAMED_SKIP.match(first.masked) or _is_skip_mark(first.masked):
        return True
    if re.search(r"\bDISABLED_", case.name):
        return True
    return _gives_up(case.body[1:])


def skips_widely(statement: Statement) -> bool:
    """Whether a statement keeps more than one case from running."""
    if not statement.depth and _NEEDS_MODULE.match(statement.masked):
        return True
    return _is_wide_skip(statement.masked)


@lru_cache(maxsize=1 << 12)
def _is_wide_skip(masked: str) -> bool:
    return _WIDE_SKIP.search(masked) is not None


def is_skip_mark(statement: Statement) -> bool:
    """Whether a mark skips what it is before."""
    if _is_skip_mark(statement.masked):
        return True
    return statement.text.startswith(_SKIP_TAGS)


@lru_cache(maxsize=1 << 12)
def _is_skip_mark(masked: str) -> bool:
    return _SKIP_MARK.search(masked) is not None


def _gives_up(body: Sequence[Statement]) -> bool:
    """Whether a body returns at once, skips itself unconditionally, or swallows every failure."""
    if body and body[0].masked == "return":
        return True
    for at, statement in enumerate(body):
        skips, swallows = _ways_out(statement.masked)
        if skips and not _is_under_condition(body, at):
            return True
        after = body[at + 1].masked if at + 1 < len(body) else ""
        if swallows and not _RAISES.match(after):
            return True
    return False


def _is_under_condition(body: Sequence[Statement], at: int) -> bool:
    """Whether a statement is in a block that begins with a condition."""
    depth = body[at].depth
    for before in reversed(body[max(0, at - 20) : at]):
        if before.depth < depth:
            if _CONDITION.match(before.masked):
                return True
            depth = before.depth
    return False


@lru_cache(maxsize=1 << 14)
def _ways_out(masked: str) -> tuple[bool, bool]:
    """Whether a statement skips the case without a condition, and whether it swallows failures."""
    skips = _SKIP_CALL.search(masked) is not None and not _IF.search(masked)
    return skips, _SWALLOWS.match(masked) is not None
