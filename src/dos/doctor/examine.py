"""Examine every subject of the workspace, and repair what needs no decision.

`examine` only reads: the journal is opened for reading, and git's refs and files stay as they are.
A subject that cannot be examined is a finding too, so that a report without findings means that
everything was checked. `repair` is what `dos doctor --fix` does.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from shlex import quote

from dos.config import fix_commands
from dos.config.lint import Severity
from dos.doctor.subjects import (
    agents,
    configuration,
    environment,
    forms,
    git,
    machine,
    notify,
    plans,
    processes,
    runtime_hooks,
    sandbox,
    server,
    store,
    worktrees,
)
from dos.doctor.subjects.finding import Finding, run_concurrently, warning
from dos.doctor.view import Repair
from dos.errors import Conflict, DosError, GitFailed, StoreFailed
from dos.git.repository import Writer
from dos.journal.store import Store
from dos.landing.lane.retired import retire
from dos.lease import Lease
from dos.text import join_some
from dos.world import World

# Returns the findings of one subject. It may raise a DosError or an OSError if it cannot look.
Examiner = Callable[[World], list[Finding]]

# In the order in which they should be fixed: later subjects need earlier ones.
SUBJECTS: dict[str, Examiner] = {
    "packages": machine.examine_packages,
    "git": git.examine,
    "configuration": configuration.examine,
    "lanes": configuration.examine_lanes,
    "plans": plans.examine_plans,
    "naming": plans.examine_naming,
    "committed": plans.examine_uncommitted,
    "forms": forms.examine,
    "agents": agents.examine,
    "environment": environment.examine,
    "sandbox": sandbox.examine,
    "store": store.examine,
    "disk": machine.examine_disk,
    "clock": machine.examine_clock,
    "leases": processes.examine_leases,
    "processes": processes.examine_stopped,
    "orphans": processes.examine_orphans,
    "worktrees": worktrees.examine,
    "receipts": machine.examine_receipt_key,
    "hooks": runtime_hooks.examine,
    "server": server.examine,
    "notify": notify.examine,
}


# What each subject is about, where its key in the table above is not the word for it.
SUBJECT_NAMES = {
    "forms": "the form of the repository",
    "naming": "the units that commits name",
    "environment": "the variables that agents and checks get",
    "committed": "uncommitted plans and settings",
    "orphans": "processes without a lease",
    "receipts": "the key that signs receipts",
    "hooks": "the hooks of agent programs",
}


# Readings that take long. Each is cached, so reading them concurrently first saves time: the
# subjects above then find the results ready.
SLOW: tuple[Callable[[World], object], ...] = (
    git.repository,
    agents.versions,
    processes.running_processes,
)


def examine(world: World, more: Mapping[str, Examiner] = {}) -> list[Finding]:
    """Return every finding once, errors first, in the order of the subjects.

    The subjects of `more` are examined last; `--deep` adds those that run commands. Nothing is
    raised for a subject that cannot be examined: it becomes a finding.
    """
    # A failure is raised again, and reported, by the subject that needs the reading.
    with suppress(DosError, OSError):
        run_concurrently([partial(reading, world) for reading in SLOW])
    findings: list[Finding] = []
    for subject, examiner in {**SUBJECTS, **more}.items():
        findings += examine_subject(subject, examiner, world)
    order = list(Severity)
    return sorted(dict.fromkeys(findings), key=lambda finding: order.index(finding.severity))


def examine_subject(subject: str, examiner: Examiner, world: World) -> list[Finding]:
    """Return the findings of one subject, or one finding that says why it cannot be examined.

    A store that fails has a finding with a fix of its own, whichever subject met it first.
    """
    try:
        return examiner(world)
    except StoreFailed as failure:
        return [store.store_finding(failure, world)]
    except (DosError, OSError) as failure:
        return [
            warning(
                f"{subject.upper()}_UNREAD",
                f"cannot check {SUBJECT_NAMES.get(subject, subject)}: {failure}",
                "Problems of this kind are not reported until the check can run.",
                _next_command(failure, world),
            )
        ]


def _next_command(failure: DosError | OSError, world: World) -> str:
    """A command that removes the obstacle, or that shows more of it."""
    cause: BaseException = failure
    if isinstance(failure.__cause__, OSError):
        cause = failure.__cause__
    if isinstance(cause, PermissionError) and cause.filename:
        return fix_commands.make_readable_command(cause.filename)
    if isinstance(cause, OSError) and cause.filename:
        return f"ls -ld {quote(str(cause.filename))}"
    if isinstance(failure, GitFailed):
        return f"ls -la {quote(str(world.workspace.common or world.workspace.tree))}"
    return "DOS_TRACEBACK=1 dos doctor"


DRY_RUN = "dry run"  # why nothing was repaired, where nothing should be


def repair(world: World, open_journal: Callable[[], Store], *, dry_run: bool) -> list[Repair]:
    """Revoke the leases of dead processes, and remove what is left of worktrees and lanes.

    Nothing is deleted that a person may want, and no living process is disturbed. With `dry_run`
    nothing is changed, and the result says what would be.
    """
    return [
        *_run_step(
            "revoke the leases of dead processes",
            lambda: _revoke_dead_leases(world, open_journal, dry_run=dry_run),
        ),
        *_run_step(
            "remove worktrees that no longer exist",
            lambda: _forget_worktrees(world, dry_run=dry_run),
        ),
        *_run_step(
            "remove what is left of lanes that are no longer declared",
            lambda: _retire_lanes(world, dry_run=dry_run),
        ),
    ]


def _run_step(what: str, step: Callable[[], list[Repair]]) -> list[Repair]:
    """Run one step. A failure is returned, so that the other steps still run."""
    try:
        return step()
    except DosError as failure:
        why = failure.message
    except OSError as failure:
        why = failure.strerror or str(failure)
    return [Repair(kind="NOT_TRIED", what=what, done=False, why_not=why)]


def _revoke_dead_leases(
    world: World, open_journal: Callable[[], Store], *, dry_run: bool
) -> list[Repair]:
    """Revoke the leases of processes that have exited."""
    leases = processes.dead_leases(world)
    if not leases:
        return []
    why_not = ""
    if dry_run:
        why_not = DRY_RUN
    elif world.loaded_config.problems:
        # With errors in the file it is not certain which journal is in use.
        why_not = "dos.toml has errors"
    if why_not:
        return [_repair(lease, done=False, why_not=why_not) for lease in leases]
    journal = open_journal()
    return [_revoke(journal, lease) for lease in leases]


def _revoke(journal: Store, lease: Lease) -> Repair:
    """Revoke one lease, unless it was renewed or taken since it was read.

    The version makes sure of that: the journal refuses to revoke a lease that has changed.
    """
    try:
        journal.revoke(
            lease.fence, version=lease.version, reason=f"its process {lease.pid} is gone"
        )
    except Conflict as changed:
        return _repair(lease, done=False, why_not=changed.message)
    return _repair(lease, done=True)


def _repair(lease: Lease, *, done: bool, why_not: str = "") -> Repair:
    """The record of a lease that was revoked, or of why it was not."""
    name = processes.lease_name(lease)
    what = f"revoke the lease of process {lease.pid} on {name} (fence {lease.fence})"
    return Repair(kind="LEASE_HOLDER_GONE", what=what, done=done, why_not=why_not)


def _forget_worktrees(world: World, *, dry_run: bool) -> list[Repair]:
    """Remove git's entries of missing worktrees. Git keeps those that are locked."""
    stale = worktrees.stale_worktrees(world)
    if not stale:
        return []
    why_not = ""
    if dry_run:
        why_not = DRY_RUN
    else:
        Writer(world.workspace.tree).run("worktree", "prune")
    repairs = []
    for path in stale:
        what = f"remove git's entry of the worktree {path}"
        repairs.append(Repair(kind="WORKTREE_STALE", what=what, done=not dry_run, why_not=why_not))
    return repairs


def _retire_lanes(world: World, *, dry_run: bool) -> list[Repair]:
    """Remove what is left of lanes that are no longer declared; their work is saved first."""
    repairs = []
    for name in worktrees.removed_lanes(world):
        what = f"remove what is left of lane {name}"
        why_not = DRY_RUN
        if not dry_run:
            why_not = ""
            saved = retire(world.workspace, Writer(world.workspace.tree), name)
            if saved:
                what = f"{what}; saved as {join_some([work.ref for work in saved])}"
        repairs.append(Repair(kind="RETIRED_LANE", what=what, done=not dry_run, why_not=why_not))
    return repairs
