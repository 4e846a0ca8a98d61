"""Everything that is written of one run, joined: where it comes from, what it declared, its leases, its commits."""

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
from dos.runs.declared import Step, is_done
from dos.runs.io.evidence import gather_declaration, gather_step
from dos.times import utc_stamp
from dos.unknown import Unknown
from dos.world import World

BY_RUN, BY_LEASE = "run_id", "lease"


class Spine(Struct, frozen=True, kw_only=True):
    run_json: dict[str, Any] | None
    parent_id: str  # empty: none, as for the two below
    root_id: str
    process_id: str
    ancestors: list[str]
    descendants: list[str]


class StepRow(Struct, frozen=True, kw_only=True):
    step_id: str
    state: str  # VERIFIED, by git's word now; CLAIMED; PENDING
    claimed_sha: str
    verified_sha: str
    verified_via: str


class Intent(Struct, frozen=True, kw_only=True):
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
    op: str
    lane: str
    loop_ts: str
    ts: str
    reason: str
    reason_class: str
    attributed_by: str  # never by the time at which it happened


class Wal(Struct, frozen=True, kw_only=True):
    lease_events: list[LeaseEvent]
    unattributed_acquires: int


class GitPart(Struct, frozen=True, kw_only=True):
    commits: list[commits.CommitSubject]


class Decision(Struct, frozen=True, kw_only=True):
    iteration: int
    attempt: int
    unit: str
    outcome: str
    action: str
    reason: str
    ts: str


class Trace(Struct, frozen=True, kw_only=True):
    run_id: str
    found: bool
    spine: Spine
    intent: Intent
    decisions: list[Decision]
    wal: Wal
    git: GitPart


def gather(world: World, run_id: str) -> Trace:
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
    parents = _parents(journal)
    ancestors: list[str] = []
    above = parents.get(run_id)
    while above and above not in ancestors and above != run_id:
        ancestors.append(above)
        above = parents.get(above)
    below = {run_id}
    while more := {run for run, parent in parents.items() if parent in below and run not in below}:
        below |= more
    minted = {
        "run_id": run_id, "process_id": run.process_id, "parent_id": run.parent_id, "root_id": run.root_id,
        "ts_ms": run.minted_ms,
    }  # fmt: skip
    return Spine(
        run_json=minted if run.process_id else None,
        parent_id=run.parent_id or "",
        root_id=run.root_id,
        process_id=run.process_id,
        ancestors=ancestors,
        descendants=sorted(below - {run_id}),
    )


def _parents(journal: Store) -> dict[str, str | None]:
    """Of every run that was written down; that is the first thing in its stream."""
    found: dict[str, str | None] = {}
    with journal.backend.read() as view:
        for stream in view.streams(streams.run.prefix):
            for _, fact in select(view.load(stream, 0, 1), RunMinted):
                found[fact.run_id] = fact.parent_id
    return found


def _intent(world: World, run_id: str, run: RunState) -> Intent:
    declared = gather_declaration(world, run_id, run)
    extras = [
        name for name in dict.fromkeys([*run.verified, *run.claimed]) if name not in run.steps
    ]
    rows = [_row(step) for step in declared.steps]
    rows += [_row(gather_step(world, run, name)) for name in extras]
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
    state = (
        "VERIFIED" if is_done(step) else "CLAIMED" if step.claimed or step.verified else "PENDING"
    )
    return StepRow(
        step_id=step.id,
        state=state,
        claimed_sha=step.claimed,
        verified_sha=step.verified,
        verified_via=step.via,
    )


def _wal(journal: Store, run_id: str) -> Wal:
    """The lease events of a run: those that name it, and what became of the leases that do."""
    found: list[tuple[int, LeaseEvent]] = []
    mine: set[int] = set()
    nameless = 0

    def others() -> Iterator[Event]:
        for event in journal.events():
            for _, fact in select([event], SpawnIntended, HaltProposed):
                if fact.run_id == run_id:
                    op = "SPAWN" if isinstance(fact, SpawnIntended) else "HALT"
                    found.append((event.pos, _event(event, op, structs.asdict(fact), BY_RUN)))
            yield event

    for event, record in lane_log.lane_records(others()):
        fact = lane_log.reader.decode(event)
        named, follows = _run_named(fact), lane_log.previous_lease(fact)
        nameless += isinstance(fact, lanes.LeaseGranted) and not named
        if named == run_id or follows in mine:
            mine |= (
                {event.pos} if isinstance(fact, lanes.LeaseGranted | lanes.LeaseAdopted) else set()
            )
            by = BY_RUN if named == run_id else BY_LEASE
            found.append((event.pos, _event(event, record["op"], record, by)))
    found.sort(key=lambda row: row[0])
    return Wal(lease_events=[row for _, row in found], unattributed_acquires=nameless)


def _run_named(fact: lane_log.Handled | None) -> str:
    """The run that a lease was asked for; an attempt is no matter of leases."""
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


def _event(event: Event, op: str, record: dict[str, Any], by: str) -> LeaseEvent:
    return LeaseEvent(
        op=op,
        lane=record.get("lane", ""),
        loop_ts=record.get("loop_ts", ""),
        ts=utc_stamp(event.at_ms),
        reason=record.get("reason", ""),
        reason_class=record.get("reason_class", ""),
        attributed_by=by,
    )


def _decisions(journal: Store, run_id: str) -> list[Decision]:
    written = select(journal.load(run_state.stream(run_id)), fleet.IterationCommitted)
    return [
        Decision(
            iteration=fact.iteration,
            attempt=fact.attempt,
            unit=fact.unit,
            outcome=fact.outcome,
            action=fact.action,
            reason=fact.reason,
            ts=utc_stamp(event.at_ms),
        )
        for event, fact in written
    ]


def _commits(world: World, run: RunState) -> list[commits.CommitSubject]:
    """Since it began; where its lane is known, those that touch it: the others are not its own."""
    since = commits.commit_by_hash(world.git, run.start_sha)
    found = commits.commits_after(world.git, since) if since else []
    if isinstance(found, Unknown):
        return []
    region = world.config.lane_region(run.lane) if run.lane else None
    if region is None or not found:
        return found
    touched = commits.paths_by_commit(world.git, found)
    root = world.workspace.prefix
    return [
        commit
        for commit in found
        if any(regions.lane_holds(region, path, root) for path in touched.get(commit.sha, []))
    ]
