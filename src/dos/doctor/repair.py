"""Puts right what can be put right without a person: nothing of anybody's is removed, and nobody alive is disturbed."""

from collections.abc import Callable

from dos.doctor.subjects import leases, worktrees
from dos.doctor.view import Repair
from dos.errors import Conflict, DosError
from dos.git.repository import Writer
from dos.journal.store import Store
from dos.lease import Lease
from dos.world import World

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
    gone = leases.dead_leases(world)
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
    what = f"revoke the lease of process {lease.pid} on {leases.lease_name(lease)} (fence {lease.fence})"
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
