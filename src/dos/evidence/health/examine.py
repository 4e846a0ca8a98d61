"""Looks at every subject. What could not be looked at is a finding too."""

from collections.abc import Callable
from shlex import quote

from dos.config.lint import Severity
from dos.errors import DosError, GitFailed, StoreFailed
from dos.evidence.health import (
    agents,
    clock,
    configuration,
    disk,
    git,
    lanes,
    leases,
    plans,
    processes,
    store,
    worktrees,
)
from dos.evidence.health.finding import Finding, warning
from dos.sources.world import World

Look = Callable[[World], list[Finding]]

SUBJECTS: dict[str, Look] = {
    "configuration": configuration.examine,
    "git": git.examine,
    "lanes": lanes.examine,
    "plans": plans.examine,
    "agents": agents.examine,
    "store": store.examine,
    "disk": disk.examine,
    "clock": clock.examine,
    "leases": leases.examine,
    "processes": processes.examine,
    "orphans": processes.orphans,
    "worktrees": worktrees.examine,
}


def examine(world: World) -> list[Finding]:
    """Every finding, errors first."""
    found = [finding for subject, look in SUBJECTS.items() for finding in look_at(subject, look, world)]
    order = list(Severity)
    return sorted(found, key=lambda finding: order.index(finding.severity))


def look_at(subject: str, look: Look, world: World) -> list[Finding]:
    try:
        return look(world)
    except (DosError, OSError) as failure:
        return [
            warning(
                f"{subject.upper()}_UNREAD",
                f"{subject} could not be looked at: {failure}",
                "What is wrong there, if anything, is not known.",
                _next_look(failure, world),
            )
        ]


def _next_look(failure: DosError | OSError, world: World) -> str:
    """Where a person sees more of what stood in the way."""
    if isinstance(failure, StoreFailed):
        return f"ls -l {quote(str(world.workspace.state))}"
    if isinstance(failure, GitFailed):
        return f"git -C {quote(str(world.workspace.tree))} status"
    if isinstance(failure, OSError) and failure.filename:
        return f"ls -ld {quote(str(failure.filename))}"
    return "DOS_TRACEBACK=1 dos doctor"
