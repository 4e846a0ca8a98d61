"""One thing that is wrong, or that is worth knowing: what was found, why it matters, and one command to type."""

from collections.abc import Sequence

from msgspec import Struct

from dos.config.lint import Severity


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    kind: str
    severity: Severity
    what: str
    why: str
    fix: str
    output: tuple[str, ...] = ()  # the last lines of the command that it is about


def error(kind: str, what: str, why: str, fix: str, output: Sequence[str] = ()) -> Finding:
    return Finding(kind=kind, severity=Severity.ERROR, what=what, why=why, fix=fix, output=tuple(output))


def warning(kind: str, what: str, why: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=Severity.WARN, what=what, why=why, fix=fix)


def note(kind: str, what: str, why: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=Severity.INFO, what=what, why=why, fix=fix)
