"""Looks at every subject. What could not be looked at is a finding too."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from shlex import quote

from dos.config import fix_commands
from dos.config.lint import Severity
from dos.doctor.subjects import (
    agents,
    configuration,
    git,
    machine,
    plans,
    processes,
    store,
    worktrees,
)
from dos.doctor.subjects.finding import Finding, run_concurrently, warning
from dos.doctor.view import Repair
from dos.errors import Conflict, DosError, GitFailed, StoreFailed
from dos.git.repository import Writer
from dos.journal.store import Store
from dos.lease import Lease
from dos.world import World

Examiner = Callable[[World], list[Finding]]

# In the order in which they are put right: what stands first is needed for what stands later.
SUBJECTS: dict[str, Examiner] = {
    "packages": machine.examine_packages,
    "git": git.examine,
    "configuration": configuration.examine,
    "lanes": configuration.examine_lanes,
    "plans": plans.examine_plans,
    "naming": plans.examine_naming,
    "committed": plans.examine_uncommitted,
    "agents": agents.examine,
    "store": store.examine,
    "disk": machine.examine_disk,
    "clock": machine.examine_clock,
    "leases": processes.examine_leases,
    "processes": processes.examine_stopped,
    "orphans": processes.examine_orphans,
    "worktrees": worktrees.examine,
    "receipts": machine.examine_receipt_key,
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
        run_concurrently([partial(question, world) for question in SLOW])
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
        return fix_commands.make_readable_command(cause.filename)
    if isinstance(cause, OSError) and cause.filename:
        return f"ls -ld {quote(str(cause.filename))}"
    if isinstance(failure, GitFailed):
        return f"ls -la {quote(str(world.workspace.common or world.workspace.tree))}"
    return "DOS_TRACEBACK=1 dos doctor"


ONLY_SHOWN = "a dry run changes nothing"


def repair(world: World, open_journal: Callable[[], Store], *, dry_run: bool) -> list[Repair]:
    return [
        *_run_step(
            "revoke the leases of dead processes",
            lambda: _revoke_dead_leases(world, open_journal, dry_run=dry_run),
        ),
        *_run_step(
            "forget worktrees that are gone", lambda: _forget_worktrees(world, dry_run=dry_run)
        ),
    ]


def _run_step(what: str, step: Callable[[], list[Repair]]) -> list[Repair]:
    """One step that cannot be done does not keep the others from being done."""
    try:
        return step()
    except (DosError, OSError) as failure:
        why = failure.message if isinstance(failure, DosError) else failure.strerror or str(failure)
        return [Repair(kind="NOT_TRIED", what=what, done=False, why_not=why)]


def _revoke_dead_leases(
    world: World, open_journal: Callable[[], Store], *, dry_run: bool
) -> list[Repair]:
    """Revoke the leases of processes that are gone."""
    gone = processes.dead_leases(world)
    if not gone:
        return []
    if dry_run or world.loaded_config.problems:
        # Which journal is in use, and under which policy, is not known for certain while the file has errors.
        why = ONLY_SHOWN if dry_run else "dos.toml has errors"
        return [_repair(lease, done=False, why_not=why) for lease in gone]
    store = open_journal()
    return [_revoke(store, lease) for lease in gone]


def _revoke(store: Store, lease: Lease) -> Repair:
    try:
        store.revoke(lease.fence, version=lease.version, reason=f"its process {lease.pid} is gone")
    except Conflict as changed:  # renewed or taken since it was looked at
        return _repair(lease, done=False, why_not=changed.message)
    return _repair(lease, done=True)


def _repair(lease: Lease, *, done: bool, why_not: str = "") -> Repair:
    what = f"revoke the lease of process {lease.pid} on {processes.lease_name(lease)} (fence {lease.fence})"
    return Repair(kind="LEASE_HOLDER_GONE", what=what, done=done, why_not=why_not)


def _forget_worktrees(world: World, *, dry_run: bool) -> list[Repair]:
    """Git's entries for worktrees that are not there; git itself keeps those that are locked."""
    stale = worktrees.stale_worktrees(world)
    if not stale:
        return []
    if not dry_run:
        Writer(world.workspace.tree).run("worktree", "prune")
    return [
        Repair(
            kind="WORKTREE_STALE",
            what=f"forget the worktree {path}",
            done=not dry_run,
            why_not=ONLY_SHOWN if dry_run else "",
        )
        for path in stale
    ]
