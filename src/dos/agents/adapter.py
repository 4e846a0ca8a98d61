"""What every agent program must tell us: how to start it, and how to read its end."""

from typing import Protocol

from msgspec import Struct

LAUNCH_FAILED = 120  # what the runner's leash exits with when there is no such program


class Launch(Struct, frozen=True, kw_only=True):
    argv: list[str]
    stdin: str


class Outcome(Struct, frozen=True, kw_only=True):
    kind: str  # ok failed crashed killed hung limited overloaded launch_failed
    claim: str  # what it said, kept and never believed


class Adapter(Protocol):
    name: str

    def launch(self, prompt: str, command: tuple[str, ...]) -> Launch: ...

    def outcome(self, lines: list[str], exit_code: int | None, *, hung: bool) -> Outcome: ...


def by_exit(exit_code: int | None, *, hung: bool) -> str:
    """All that can be said of a program that prints nothing we can read."""
    if hung:
        return "hung"
    if exit_code in (None, LAUNCH_FAILED):
        return "launch_failed"
    if exit_code == 0:
        return "ok"
    return "crashed" if exit_code < 0 else "failed"
