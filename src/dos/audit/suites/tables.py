"""Reads the rows of the tables that cases are run over."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache

from dos.audit.suites.statements import Statement
from dos.verify.file_kinds import words

# What a framework runs a case over.
_RUN_OVER = re.compile(
    r"@?(?:pytest\.mark\.|mark\.)?parametrize\(|\w+=pytest\.mark\.parametrize\("
    r"|(?:it|test|describe|context)(?:\.\w+)*\.each\b|@\w*Source\(|#\[values"
)
_LOOP = re.compile(r"(?:async )?for\b|foreach |.*\.(?:each|forEach)\b")
_LOOP_OVER_LIST = re.compile(
    r"(?:async )?for\b.*(?:\bin|\bof|\brange|:)[ (]*(?:[\[({%]|vec!\[|new\b|map\[)"
    r"|foreach \S+ [{\[]|\(?[\[%].*\.(?:each|forEach)\b"
)
_ROW_MARK = re.compile(r"#\[(?:case|test_case)\b|\[(?:InlineData|TestCase|DataRow)\(|@TestCase\(")
_LOOPED = re.compile(
    r"(?:async )?for\b.*(?:\bin|\bof|\brange|:) ?([A-Za-z_]\w*)(?:\.items\(\)|\.entries\(\))?"
    r"(?:[:{)]|$| do\b)"
    r"|([A-Za-z_]\w*)\.(?:each|forEach)\b|.*parametrize\(.*,([A-Za-z_]\w*)(?:,|\)$)"
    r"|.*\beach\(([A-Za-z_]\w*)\)|foreach \S+ \$([A-Za-z_]\w*)"
)
_ASSIGNED_LIST = re.compile(
    r"(?:(?:export|const|let|var|val|static|set|final|private|public) )*([A-Za-z_]\w*)"
    r"(?::[\w\[\], .|]*)?(?: ?:?=(?!=) ?(?:[\[({%]|vec!\[|new\b|map\[|(?:Arrays|List)\.)| \{)"
)
_MOST_LOOPED = 40  # statements of a loop that are looked at
_PIECES = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`[^`]*+`|[\[\](){},]")
_SKIPPED = re.compile(r"\bskip\w*\b|\bxfail\b")  # such a row is not run
_WORD_LIST = re.compile(r"%w[\[({]([^\])}]*)|\bforeach \S+ \{([^{}]*)\}")
_LAST_WORD = re.compile(r"(\w+)$")
_COMPREHENSION = re.compile(r"\bfor\b.*\bin\b")
_BEFORE_A_LIST = words("in of return range and or not if else yield is struct string int")


def headers(
    statements: Sequence[Statement], checks: Callable[[Statement], bool]
) -> Iterator[Statement]:
    """Yield the statements that run a case, or a check, over something.

    `checks` tells whether a statement checks something.
    """
    for at, statement in enumerate(statements):
        if _RUN_OVER.match(statement.masked):
            yield statement
        elif _LOOP.match(statement.masked):
            for inner in statements[at + 1 : at + _MOST_LOOPED]:
                if inner.depth <= statement.depth:
                    break
                if checks(inner):
                    yield statement
                    break


def runs_cases(statement: Statement) -> bool:
    """Whether a framework runs a case over what a statement lists."""
    return _RUN_OVER.match(statement.masked) is not None


def looped_names(headers: Iterable[Statement]) -> frozenset[str]:
    """Return the names of what something is run over."""
    names: set[str] = set()
    for statement in headers:
        found = _LOOPED.match(statement.masked)
        if found:
            names.update(filter(None, found.groups()))
    return frozenset(names)


def rows(
    statements: Iterable[Statement], headers: Container[str], looped: Container[str]
) -> Iterator[str]:
    """Yield the rows of the tables among statements; a mark that is a row of its own is one."""
    for statement in statements:
        if _ROW_MARK.match(statement.masked):
            yield statement.text
        elif is_table(statement, headers, looped):
            for element in elements(statement.text):
                if not _SKIPPED.search(element):
                    yield element


def may_have_rows(statement: Statement) -> bool:
    """Whether a statement may list something; `rows` yields none of others."""
    masked = statement.masked
    patterns = (_ROW_MARK, _RUN_OVER, _LOOP_OVER_LIST, _ASSIGNED_LIST)
    return any(pattern.match(masked) for pattern in patterns)


def is_table(statement: Statement, headers: Container[str], looped: Container[str]) -> bool:
    """Whether something is run over what a statement lists."""
    if statement.text in headers:
        is_list = _RUN_OVER.match(statement.masked) or _LOOP_OVER_LIST.match(statement.masked)
        return is_list is not None
    assigned = _ASSIGNED_LIST.match(statement.masked)
    return assigned is not None and assigned[1] in looped


@lru_cache(maxsize=1 << 10)
def elements(text: str) -> tuple[str, ...]:
    """Return the elements of the outermost list that a statement writes down, if it does."""
    listed = _WORD_LIST.search(text)
    if listed:
        return tuple((listed[1] or listed[2] or "").split())
    best: list[str] = []
    best_rank = 1 << 30
    groups: list[tuple[int, int, list[str]]] = []  # its rank, where an element began, elements
    for piece in _PIECES.finditer(text):
        mark = piece[0]
        if mark in "([{":
            groups.append((_rank(text, piece.start(), len(groups)), piece.end(), []))
        elif mark == "," and groups:
            rank, began, found = groups[-1]
            found.append(text[began : piece.start()].strip())
            groups[-1] = (rank, piece.end(), found)
        elif mark in ")]}" and groups:
            rank, began, found = groups.pop()
            found = [*filter(None, found), *filter(None, [text[began : piece.start()].strip()])]
            if found and (rank, -len(found)) < (best_rank, -len(best)):
                best, best_rank = found, rank
    if best_rank >= _NO_LIST or (len(best) == 1 and _COMPREHENSION.search(best[0])):
        return ()
    return tuple(best)


_NO_LIST = 10_000


def _rank(text: str, at: int, depth: int) -> int:
    """Return how much a bracket looks like the beginning of a table; less is more.

    The outermost list is one rather than a tuple. Arguments and what is between the brackets of an
    index are none.
    """
    word = _LAST_WORD.search(text, max(0, at - 12), at)
    is_after_name = word is not None and word[1] not in _BEFORE_A_LIST
    is_after_value = is_after_name or text[at - 1 : at] in (")", "]")
    if text[at] == "{":
        return depth
    is_call = text[at] == "(" and word is not None and word[1] == "range"
    if is_after_value or is_call:
        return depth + _NO_LIST
    return depth + (1000 if text[at] == "(" else 0)
