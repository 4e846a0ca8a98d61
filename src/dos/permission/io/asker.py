"""Find out who asks: the holder of a lease, a stranger in a lane's tree, or a person.

What an agent can set proves nothing that helps it. The key of a lease proves its holder, and so
does descent from its process. The id of a run, and a session, name a lease only where the lease has
no key, because a person took it; of a lease with a key they are believed only together with the
process. So is a session that was bound by its own hook, since the event of a hook can name any
session. A key that fits no lease is that of a lease that has ended.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from dos import regions, run_ids
from dos.globs import escape_folder
from dos.journal import streams
from dos.journal.backend import ReadTransaction
from dos.journal.events import doors, lanes
from dos.journal.events.reader import select
from dos.lease import KEY_VARIABLE, Lease, key_hash
from dos.machine import process
from dos.permission.ask import Asker, AskerKind, Neighbour, OwnLane
from dos.permission.io.record import bound_stream
from dos.regions import Region
from dos.world import World

LONGEST_FENCE = 18  # digits; no journal has more events
_RECENT = 50  # events of a lane among which the end of a session's lease is looked for


def find_asker(
    world: World,
    *,
    session: str,
    tree: Path,
    caller_pid: int | None,
    environment: Mapping[str, str],
) -> Asker:
    """Return who asks, with what it may change and what others hold.

    `world` is the workspace of the lanes, also for a caller in the tree of one; `tree` is the top
    of the work tree that the caller works in. `caller_pid` and `environment` are those of the
    asking process as the kernel knows them. Raises StoreFailed where the journal cannot be read.
    """
    with world.journal.backend.read() as view:
        leases = [lease for lease in view.leases() if not lease.is_lock]
        found = _holder(view, leases, session, caller_pid, environment)
        own = found if isinstance(found, list) else []
        prefix = world.workspace.prefix
        neighbours = find_neighbours(view, prefix, own=own)
    if own:
        first, *others = own
        return Asker(
            kind=AskerKind.HOLDER,
            lane=first.lane,
            region=_from_top(first, prefix),
            fence=first.fence,
            run_id=first.run_id,
            session=session,
            further=tuple(
                OwnLane(lane=lease.lane, region=_from_top(lease, prefix)) for lease in others
            ),
            neighbours=neighbours,
        )
    if isinstance(found, tuple):
        lane, fence = found
        return Asker(
            kind=AskerKind.LOST, lane=lane, fence=fence, session=session, neighbours=neighbours
        )
    kind = AskerKind.STRANGER if is_lane_tree(tree, world) else AskerKind.PERSON
    return Asker(kind=kind, session=session, neighbours=neighbours)


def find_neighbours(
    view: ReadTransaction, prefix: str, *, own: Sequence[Lease]
) -> tuple[Neighbour, ...]:
    """Return what others hold now, with regions from the top of the work tree on.

    `own` are the leases of the asker; others of its run are nobody else's. `prefix` is the path
    from the top of the work tree to dos.toml, for leases that do not name theirs.
    """
    now_ms = view.lease_ms()
    boot = view.boot()
    fences = {lease.fence for lease in own}
    runs = {lease.run_id for lease in own} - {""}
    return tuple(
        Neighbour(
            lane=lease.lane,
            region=_from_top(lease, prefix),
            run_id=lease.run_id,
            holder=lease.holder,
        )
        for lease in view.leases()
        if not lease.is_lock
        and lease.fence not in fences
        and lease.run_id not in runs
        and not lease.has_lapsed(now_ms, boot)
        and not process.holder_has_exited(lease)
    )


def lease_to_bind(
    world: World, *, session: str, fence: int | None, caller_pid: int | None
) -> Lease | None:
    """Return the lease of a fence if the hook of a session may bind the session to it.

    The caller has to descend from the process of the lease, and the session must not be somebody
    else's: of a person who named it for another lease, or of another process that lives.
    """
    family = _Family(caller_pid)
    with world.journal.backend.read() as view:
        leases = view.leases()
        proven = [lease for lease in leases if lease.fence == fence and family.holds(lease)]
        if not proven:
            return None
        earlier = _newest_binding(view, session)
        if earlier is not None and earlier.pid is None:
            is_taken = earlier.fence != fence and _lease_of(view, leases, earlier) is not None
        elif earlier is not None:
            is_taken = not family.is_of(earlier) and not _has_exited(earlier)
        else:
            is_taken = False
    return None if is_taken or not session else proven[0]


def is_lane_tree(tree: Path, world: World | None = None) -> bool:
    """Whether a work tree is that of a lane of a fleet."""
    top = tree.resolve()
    if world is not None and top.is_relative_to(world.workspace.worktrees):
        return True
    parents = [top, *top.parents]
    return any(
        folder.name == "worktrees" and folder.parent.parent.name == "dos" for folder in parents
    )


_Lost = tuple[str, int | None]  # the lane and the fence of a lease that has ended


def _holder(
    view: ReadTransaction,
    leases: Sequence[Lease],
    session: str,
    caller_pid: int | None,
    environment: Mapping[str, str],
) -> list[Lease] | _Lost | None:
    """The leases that the caller holds, or the one that it has lost; None: it holds nothing.

    A key is that of one lease. A person may hold several lanes, by their run or in their terminal.
    """
    if key := environment.get(KEY_VARIABLE, ""):
        found = _by_key(leases, key, environment)
        return [found] if isinstance(found, Lease) else found
    family = _Family(caller_pid)
    if own := _by_run(leases, family, environment):
        return own
    bound = _bound(view, leases, session, family)
    if isinstance(bound, tuple):
        return bound
    own = [lease for lease in leases if family.holds(lease)]
    if bound is not None:
        own = [bound, *(lease for lease in own if lease.fence != bound.fence)]
        if not bound.key_hash:  # a person's, so no worker's counts beside it
            return [lease for lease in own if not lease.key_hash]
    return _held_together(own) or None


def _by_key(leases: Sequence[Lease], key: str, environment: Mapping[str, str]) -> Lease | _Lost:
    """The lease of a key. What the environment says of one that has ended is only for the words."""
    wanted = key_hash(key)
    for lease in leases:
        if lease.key_hash == wanted:
            return lease
    fence = environment.get("DOS_FENCE", "")
    is_number = fence.isdecimal() and len(fence) <= LONGEST_FENCE
    return environment.get("DOS_LANE", ""), int(fence) if is_number else None


def _by_run(
    leases: Sequence[Lease], family: "_Family", environment: Mapping[str, str]
) -> list[Lease]:
    """The leases of the first run that the environment names and that has any."""
    for run_id in run_ids.all_named_in(environment):
        own = [lease for lease in leases if lease.run_id == run_id and family.may_claim(lease)]
        if own:
            return _held_together(own)
    return []


def _held_together(own: list[Lease]) -> list[Lease]:
    """The leases that count at once: all that a person took, but one of a worker's.

    A worker has several while an agent of it works under one of them.
    """
    of_workers = [lease for lease in own if lease.key_hash]
    return of_workers[:1] or own


class _Family:
    """A process and its ancestors, looked up when a lease has a process to compare with."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self._pids: list[int] | None = None

    def holds(self, lease: Lease) -> bool:
        """Whether the process of a lease runs, and is the caller or an ancestor of it."""
        return self._includes(lease.pid) and process.holder_is_running(lease) is True

    def is_of(self, binding: doors.SessionBound) -> bool:
        """Whether the process that a session was bound by runs, and is one of the family."""
        return self._includes(binding.pid) and not _has_exited(binding)

    def may_claim(self, lease: Lease) -> bool:
        """Whether a name alone makes the caller the holder: of a lease without a key it does."""
        return not lease.key_hash or self.holds(lease)

    def _includes(self, pid: int | None) -> bool:
        if self._pid is None or pid is None:
            return False
        if self._pids is None:
            self._pids = [self._pid, *process.ancestors(self._pid)]
        return pid in self._pids


def _has_exited(binding: doors.SessionBound) -> bool:
    """Whether the process that a session was bound by is gone."""
    if binding.pid is None or binding.pid_started is None:
        return True
    return process.has_exited(binding.pid, binding.pid_started)


def _bound(
    view: ReadTransaction, leases: Sequence[Lease], session: str, family: "_Family"
) -> Lease | _Lost | None:
    """The lease that a session was bound to last. One that was given back leaves it free."""
    binding = _newest_binding(view, session)
    if binding is None or (binding.pid is not None and not family.is_of(binding)):
        return None
    bound = _lease_of(view, leases, binding)
    if isinstance(bound, Lease) and not family.may_claim(bound):
        return None
    return bound


def _newest_binding(view: ReadTransaction, session: str) -> doors.SessionBound | None:
    if not session:
        return None
    stream = bound_stream(session)
    newest = view.load(stream, max(0, view.head(stream) - 1), 1)
    for _, fact in select(newest, doors.SessionBound):
        return fact
    return None


def _lease_of(
    view: ReadTransaction, leases: Sequence[Lease], fact: doors.SessionBound
) -> Lease | _Lost | None:
    for lease in leases:
        if lease.fence == fact.fence:
            return lease
    if _was_taken(view, fact):
        return fact.lane, fact.fence
    return None


def _was_taken(view: ReadTransaction, bound: doors.SessionBound) -> bool:
    """Whether a lease was ended by others: it expired, was revoked, or was taken over."""
    stream = streams.lease(bound.lane)
    head = view.head(stream)
    recent = view.load(stream, max(0, head - _RECENT), _RECENT)
    ended = [fact.lease for _, fact in select(recent, lanes.LeaseExpired, lanes.LeaseRevoked)]
    ended += [fact.previous for _, fact in select(recent, lanes.LeaseAdopted)]
    return bound.fence in ended


def _from_top(lease: Lease, prefix: str) -> Region:
    """The region of a lease with its globs from the top of the work tree on.

    Its own folder counts, wherever it is asked about: a program that was started at the top of a
    repository has its hooks there, and dos.toml may be below. `prefix` is for a lease that does not
    name it.
    """
    if lease.prefix is not None:
        prefix = lease.prefix
    if not prefix:
        return lease.region
    folder = escape_folder(prefix)
    return regions.region(f"{folder}{glob}" for glob in lease.region.globs)
