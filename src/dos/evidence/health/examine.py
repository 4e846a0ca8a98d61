"""Looks at every subject. What could not be looked at is a finding too."""

from collections.abc import Callable

from dos.config.lint import Severity
from dos.errors import DosError, StoreFailed
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
from dos.evidence.health.finding import Finding, error
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
    "worktrees": worktrees.examine,
}
# Of a journal that cannot be opened one finding is enough.
_ABOUT_THE_JOURNAL = (leases.examine, processes.examine)


def examine(world: World) -> list[Finding]:
    """Every finding, errors first."""
    found: list[Finding] = []
    for subject, look in SUBJECTS.items():
        found += look_at(subject, look, world)
    order = list(Severity)
    return sorted(found, key=lambda finding: order.index(finding.severity))


def look_at(subject: str, look: Look, world: World) -> list[Finding]:
    try:
        return look(world)
    except (DosError, OSError) as failure:
        return [_unread(subject, failure)]


def _unread(subject: str, failure: DosError | OSError) -> Finding:
    fix = "dos doctor"
    if isinstance(failure, StoreFailed):
        fix = "dos doctor --workspace ."
    return error(f"{subject.upper()}_UNREAD", f"{subject} could not be looked at: {failure}", "", fix)
