"""One thing that is wrong, or that is worth knowing: what was found, why it matters, and one command to type."""

from msgspec import Struct

from dos.config.lint import Severity


class Finding(Struct, frozen=True, kw_only=True):
    kind: str
    severity: Severity
    what: str
    why: str
    fix: str


def error(kind: str, what: str, why: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=Severity.ERROR, what=what, why=why, fix=fix)


def warning(kind: str, what: str, why: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=Severity.WARN, what=what, why=why, fix=fix)


def note(kind: str, what: str, why: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=Severity.INFO, what=what, why=why, fix=fix)
