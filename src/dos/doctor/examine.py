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

Examiner = Callable[[World], list[Finding]]

# In the order in which they are put right: what stands first is needed for what stands later.
SUBJECTS: dict[str, Examiner] = {
    "packages": packages.examine_packages,
    "git": git.examine,
    "configuration": configuration.examine,
    "lanes": lanes.examine_lanes,
    "plans": plans.examine_plans,
    "naming": plans.examine_naming,
    "committed": uncommitted.examine_uncommitted,
    "agents": agents.examine,
    "store": store.examine,
    "disk": disk.examine_disk,
    "clock": clock.examine_clock,
    "leases": leases.examine_leases,
    "processes": processes.examine_stopped,
    "orphans": processes.examine_orphans,
    "worktrees": worktrees.examine,
    "receipts": receipt_key.examine_receipt_key,
}


# What takes long, and is kept for all who ask for it.
SLOW: tuple[Callable[[World], object], ...] = (
    git.repository,
    agents.versions,
    processes.running_processes,
)


def examine(world: World, more: Mapping[str, Examiner] = {}) -> list[Finding]:
    """Every finding, errors first; each trouble once, however many subjects met it. `more` is looked at last."""
    with suppress(DosError, OSError):  # whoever asks again is told again
        at_once.run_concurrently([partial(question, world) for question in SLOW])
    found = [
        finding
        for subject, look in {**SUBJECTS, **more}.items()
        for finding in examine_subject(subject, look, world)
    ]
    order = list(Severity)
    return sorted(dict.fromkeys(found), key=lambda finding: order.index(finding.severity))


def examine_subject(subject: str, look: Examiner, world: World) -> list[Finding]:
    try:
        return look(world)
    except StoreFailed as failure:
        return [store.store_finding(failure, world)]
    except (DosError, OSError) as failure:
        return [
            warning(
                f"{subject.upper()}_UNREAD",
                f"{subject} could not be looked at: {failure}",
                "What is wrong there, if anything, is not known.",
                _next_command(failure, world),
            )
        ]


def _next_command(failure: DosError | OSError, world: World) -> str:
    """What clears the way, or where a person sees more of what stands in it."""
    cause = failure.__cause__ if isinstance(failure.__cause__, OSError) else failure
    if isinstance(cause, PermissionError) and cause.filename:
        return edit.make_readable_command(cause.filename)
    if isinstance(cause, OSError) and cause.filename:
        return f"ls -ld {quote(str(cause.filename))}"
    if isinstance(failure, GitFailed):
        return f"ls -la {quote(str(world.workspace.common or world.workspace.tree))}"
    return "DOS_TRACEBACK=1 dos doctor"
