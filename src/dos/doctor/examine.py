"""Looks at every subject. What could not be looked at is a finding too."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from shlex import quote

from dos.config import edit
from dos.config.lint import Severity
from dos.doctor.subjects import (
    agents,
    at_once,
    clock,
    configuration,
    disk,
    git,
    lanes,
    leases,
    packages,
    plans,
    processes,
    receipt_key,
    store,
    uncommitted,
    worktrees,
)
from dos.doctor.subjects.finding import Finding, warning
from dos.errors import DosError, GitFailed, StoreFailed
from dos.world import World

Look = Callable[[World], list[Finding]]

# In the order in which they are put right: what stands first is needed for what stands later.
SUBJECTS: dict[str, Look] = {
    "packages": packages.examine,
    "git": git.examine,
    "configuration": configuration.examine,
    "lanes": lanes.examine,
    "plans": plans.examine,
    "naming": plans.naming,
    "committed": uncommitted.examine,
    "agents": agents.examine,
    "store": store.examine,
    "disk": disk.examine,
    "clock": clock.examine,
    "leases": leases.examine,
    "processes": processes.examine,
    "orphans": processes.orphans,
    "worktrees": worktrees.examine,
    "receipts": receipt_key.examine,
}


# What takes long, and is kept for all who ask for it.
SLOW: tuple[Callable[[World], object], ...] = (git.repository, agents.versions, processes.running)


def examine(world: World, more: Mapping[str, Look] = {}) -> list[Finding]:
    """Every finding, errors first; each trouble once, however many subjects met it. `more` is looked at last."""
    with suppress(DosError, OSError):  # whoever asks again is told again
        at_once.ask([partial(question, world) for question in SLOW])
    found = [
        finding
        for subject, look in {**SUBJECTS, **more}.items()
        for finding in look_at(subject, look, world)
    ]
    order = list(Severity)
    return sorted(dict.fromkeys(found), key=lambda finding: order.index(finding.severity))


def look_at(subject: str, look: Look, world: World) -> list[Finding]:
    try:
        return look(world)
    except StoreFailed as failure:
        return [store.failed(failure, world)]
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
    """What clears the way, or where a person sees more of what stands in it."""
    cause = failure.__cause__ if isinstance(failure.__cause__, OSError) else failure
    if isinstance(cause, PermissionError) and cause.filename:
        return edit.readable(cause.filename)
    if isinstance(cause, OSError) and cause.filename:
        return f"ls -ld {quote(str(cause.filename))}"
    if isinstance(failure, GitFailed):
        return f"ls -la {quote(str(world.workspace.common or world.workspace.tree))}"
    return "DOS_TRACEBACK=1 dos doctor"
