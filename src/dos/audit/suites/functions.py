"""Tells which function the statements outside of cases are in."""

import re
from collections.abc import Iterable

from dos.audit.suites.statements import Statement
from dos.verify.file_kinds import words

_FUNCTION = re.compile(
    r"(?:export |default |async |pub |static |public |private |protected |override |final "
    r"|inline )*+"
    r"(?:(?:def|function|fn|fun|sub|proc|defp?) (?:self\.)?(?P<name>[A-Za-z_]\w*[?!]?)"
    r"|func (?:\([^)]*\) ?)?(?P<go>[A-Za-z_]\w*)"
    r"|(?:const|let|var) (?P<script>[A-Za-z_]\w*)=(?:async )?(?:function\b|\(|\w+=>)"
    r"|(?:[\w<>\[\],.:*&]+ )++\**(?:\w+::)*(?P<native>[A-Za-z_]\w*)\([^;]*\{$"
    r"|#define (?P<macro>[A-Za-z_]\w*)\()"
)
_NO_FUNCTION = words("if for while switch catch else return do try")
# A runner calls these itself.
SHARED = re.compile(
    r"(?i:set_?up|tear_?down|before|after|fixture|init|cleanup|main|run)\w*|[bB]efore\w*|pytest_\w+"
)


def owned(statements: Iterable[Statement]) -> dict[str, list[Statement]]:
    """Return the statements by the function that they are in; those outside of any under ""."""
    owners: dict[str, list[Statement]] = {}
    around: list[tuple[int, str]] = []
    for statement in statements:
        while around and around[-1][0] >= statement.depth:
            around.pop()
        name = defined_name(statement.masked)
        if name:
            around.append((statement.depth, name))
        owner = around[0][1] if around else ""
        if around and len(around) > 1:
            owner = around[-1][1]
        owners.setdefault(owner, []).append(statement)
    return owners


def defined_name(masked: str) -> str:
    """Return the name of the function that a statement begins; "" if it begins none."""
    found = _FUNCTION.match(masked)
    if not found:
        return ""
    name = next(filter(None, found.groups()), "")
    return "" if name in _NO_FUNCTION else name
