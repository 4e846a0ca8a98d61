"""Join everything that is recorded of one run: origin, declaration, decisions, leases, commits.

A lease event belongs to the run when it names the run, or when it belongs to a lease that does.
The time at which something happened never attributes it to a run.
"""

from collections.abc import Iterator
from typing import Any, assert_never

from msgspec import Struct, structs

from dos import regions
from dos.git import commits
from dos.journal import run_state, streams
from dos.journal.events import fleet, lanes
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import RunMinted, SpawnIntended
from dos.journal.events.reader import select
from dos.journal.events.runs import HaltProposed
from dos.journal.run_state import RunState
from dos.journal.store import Store
from dos.journal.transfer import lane_log
from dos.lanes.io.parts import config_for
from dos.runs.io.evidence import gather_declaration, gather_step
from dos.runs.steps import Step, is_done
from dos.times import utc_stamp
from dos.unknown import Unknown
from dos.world import World

# By what an event was attributed to the run.
BY_RUN = "run_id"
BY_LEASE = "lease"


class Spine(Struct, frozen=True, kw_only=True):
    """Where the run comes from: the runs above it and below it.

    A run has a parent if it was started or resumed from another run; the root is the first of all.
    """

    run_json: dict[str, Any] | None
    parent_id: str  # empty: none; so are the next two
    root_id: str
    process_id: str
    ancestors: list[str]
    descendants: list[str]


class StepRow(Struct, frozen=True, kw_only=True):
    """One step, declared or only claimed."""

    step_id: str
    state: str  # VERIFIED (git confirms it now), CLAIMED or PENDING
    claimed_sha: str
    verified_sha: str
    verified_via: str


class Intent(Struct, frozen=True, kw_only=True):
    """What the run declared, and which steps are left."""

    has_intent: bool
    goal: str
    plan: str
    phase: str
    start_sha: str
    steps: list[StepRow]
    residual: list[str]
    corrupt_ledger_lines: int
    unreadable_newer: bool


class LeaseEvent(Struct, frozen=True, kw_only=True):
    """One lease event of the run, in the words of the released lane log."""

    op: str
    lane: str
    loop_ts: str
    ts: str
    reason: str
    reason_class: str
    attributed_by: str  # the run id or the lease; never the time alone


class Wal(Struct, frozen=True, kw_only=True):
    """The lease events of the run, and how many acquires name no run at all.

    The name is that of dos-kernel's log, and is kept because it is a key of the JSON.
    """

    lease_events: list[LeaseEvent]
    unattributed_acquires: int


class GitPart(Struct, frozen=True, kw_only=True):
    """The commits since the run began; in a lane that still exists, only those that touch it."""

    commits: list[commits.CommitSubject]


class Decision(Struct, frozen=True, kw_only=True):
    """How one iteration ended, and what the loop decided then."""

    iteration: int
    attempt: int
    unit: str
    outcome: str
    action: str
    reason: str
    ts: str


class Trace(Struct, frozen=True, kw_only=True):
    """Everything that is recorded of one run. `dos trace --json` prints it."""

    run_id: str
    found: bool
    spine: Spine
    intent: Intent
    decisions: list[Decision]
    wal: Wal
    git: GitPart


def gather(world: World, run_id: str) -> Trace:
    """Read the whole journal once and ask git; `found` is False when neither knows the run.

    Nothing is raised for a run without any record, and nothing is changed.
    """
    journal = world.journal
    run = run_state.read(journal, run_id)
    wal = _wal(journal, run_id)
    return Trace(
        run_id=run_id,
        found=bool(run.version or wal.lease_events),
        spine=_spine(journal, run_id, run),
        intent=_intent(world, run_id, run),
        decisions=_decisions(journal, run_id),
        wal=wal,
        git=GitPart(commits=_commits(world, run)),
    )


def _spine(journal: Store, run_id: str, run: RunState) -> Spine:
    """Where the run comes from; `run_json` only for a run that was minted."""
    parents = _parents(journal)
    minted = None
    if run.process_id:
        minted = {
            "run_id": run_id,
            "process_id": run.process_id,
            "parent_id": run.parent_id,
            "root_id": run.root_id,
            "ts_ms": run.minted_ms,
        }
    return Spine(
        run_json=minted,
        parent_id=run.parent_id or "",
        root_id=run.root_id,
        process_id=run.process_id,
        ancestors=_ancestors(parents, run_id),
        descendants=_descendants(parents, run_id),
    )


def _ancestors(parents: dict[str, str | None], run_id: str) -> list[str]:
    """The runs above a run, nearest first. A cycle in the records ends the walk."""
    ancestors: list[str] = []
    parent = parents.get(run_id)
    while parent and parent not in ancestors and parent != run_id:
        ancestors.append(parent)
        parent = parents.get(parent)
    return ancestors


def _descendants(parents: dict[str, str | None], run_id: str) -> list[str]:
    """The runs below a run, sorted."""
    children: dict[str, list[str]] = {}
    for child, parent in parents.items():
        if parent:
            children.setdefault(parent, []).append(child)
    below = {run_id}
    waiting = [run_id]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in below:
                below.add(child)
                waiting.append(child)
    return sorted(below - {run_id})


def _parents(journal: Store) -> dict[str, str | None]:
    """The parent of every recorded run; a run's first event names it."""
    parents: dict[str, str | None] = {}
    with journal.backend.read() as view:
        for stream in view.streams(streams.run.prefix):
            for _, fact in select(view.load(stream, 0, 1), RunMinted):
                parents[fact.run_id] = fact.parent_id
    return parents


def _intent(world: World, run_id: str, run: RunState) -> Intent:
    """The declaration, followed by steps that were claimed or verified without being declared."""
    declared = gather_declaration(world, run_id, run)
    rows = [_row(step) for step in declared.steps]
    for name in dict.fromkeys([*run.verified, *run.claimed]):
        if name not in run.steps:
            rows.append(_row(gather_step(world, run, name)))
    return Intent(
        has_intent=run.has_intent,
        goal=run.goal,
        plan=run.plan,
        phase=run.phase,
        start_sha=run.start_sha,
        steps=rows,
        residual=[step.id for step in declared.steps if not is_done(step)],
        corrupt_ledger_lines=run.unreadable_lines,
        unreadable_newer=run.unreadable_newer,
    )


def _row(step: Step) -> StepRow:
    """A step with its state in one word."""
    if is_done(step):
        state = "VERIFIED"
    elif step.claimed or step.verified:
        state = "CLAIMED"
    else:
        state = "PENDING"
    return StepRow(
        step_id=step.id,
        state=state,
        claimed_sha=step.claimed,
        verified_sha=step.verified,
        verified_via=step.via,
    )


def _wal(journal: Store, run_id: str) -> Wal:
    """The lease events that name the run, and the later events of those leases.

    A renewal or a release names only its lease, so the leases of the run are noted on the way.
    """
    rows: list[tuple[int, LeaseEvent]] = []
    own_leases: set[int] = set()  # by the position at which they were granted
    unattributed = 0

    def keeping_other_events() -> Iterator[Event]:
        """The events of the journal, noting on the way those of the run that are no lease's."""
        for event in journal.events():
            row = _other_event(event, run_id)
            if row:
                rows.append((event.pos, row))
            yield event

    for event, record in lane_log.lane_records(keeping_other_events()):
        fact = lane_log.reader.decode(event)
        named = _run_named(fact)
        if isinstance(fact, lanes.LeaseGranted) and not named:
            unattributed += 1
        if named == run_id:
            attributed_by = BY_RUN
        elif lane_log.previous_lease(fact) in own_leases:
            attributed_by = BY_LEASE
        else:
            continue
        if isinstance(fact, lanes.LeaseGranted | lanes.LeaseAdopted):
            own_leases.add(event.pos)
        rows.append((event.pos, _lease_event(event, record["op"], record, attributed_by)))
    rows.sort(key=lambda row: row[0])
    return Wal(lease_events=[row for _, row in rows], unattributed_acquires=unattributed)


def _other_event(event: Event, run_id: str) -> LeaseEvent | None:
    """A spawn or a proposed halt of the run; None for every other event."""
    for _, fact in select([event], SpawnIntended, HaltProposed):
        if fact.run_id != run_id:
            continue
        op = "HALT"
        if isinstance(fact, SpawnIntended):
            op = "SPAWN"
        return _lease_event(event, op, structs.asdict(fact), BY_RUN)
    return None


def _run_named(fact: lane_log.Handled | None) -> str:
    """The run that requested the lease; empty where the event names none."""
    match fact:
        case lanes.LeaseGranted() | lanes.LeaseAdopted():
            return fact.asked.run_id
        case lanes.LeaseRefused():
            return fact.run_id
        case (
            lanes.LeaseRenewed()
            | lanes.LeaseReleased()
            | lanes.LeaseExpired()
            | lanes.LeaseRevoked()
        ):
            return ""
        case fleet.UnitAttempted() | None:
            return ""
        case never:
            assert_never(never)


def _lease_event(event: Event, op: str, record: dict[str, Any], attributed_by: str) -> LeaseEvent:
    """An event in the fields of the released lane log."""
    return LeaseEvent(
        op=op,
        lane=record.get("lane", ""),
        loop_ts=record.get("loop_ts", ""),
        ts=utc_stamp(event.at_ms),
        reason=record.get("reason", ""),
        reason_class=record.get("reason_class", ""),
        attributed_by=attributed_by,
    )


def _decisions(journal: Store, run_id: str) -> list[Decision]:
    """The decision of the loop after each iteration of the run."""
    written = select(journal.load(run_state.stream(run_id)), fleet.IterationCommitted)
    decisions = []
    for event, fact in written:
        decisions.append(
            Decision(
                iteration=fact.iteration,
                attempt=fact.attempt,
                unit=fact.unit,
                outcome=fact.outcome,
                action=fact.action,
                reason=fact.reason,
                ts=utc_stamp(event.at_ms),
            )
        )
    return decisions


def _commits(world: World, run: RunState) -> list[commits.CommitSubject]:
    """The commits since the run began. With a known lane: only those that touch it."""
    since = commits.commit_by_hash(world.git, run.start_sha)
    if not since:
        return []
    later = commits.commits_after(world.git, since)
    if isinstance(later, Unknown):
        return []
    region = None
    if run.lane:
        region = config_for(world, run.lane).lane_region(run.lane)
    if region is None or not later:
        return later
    touched = commits.paths_by_commit(world.git, later)
    prefix = world.workspace.prefix
    own = []
    for commit in later:
        paths = touched.get(commit.sha, [])
        if any(regions.lane_holds(region, path, prefix) for path in paths):
            own.append(commit)
    return own
