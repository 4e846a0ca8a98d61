"""What a tick of the supervisor makes of the fleet that it sees: lanes to fill, questions for people, what is left."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from msgspec import structs

from dos.backlog.waiting import FleetWaits, Waits, WaitsOn
from dos.baseline import gate
from dos.fleet import close_questions, lane_entries, waits
from dos.fleet.observation import Observation
from dos.fleet.population import reconcile
from dos.fleet.population.reconcile import InterruptedLane as Left
from dos.fleet.population.types import LaneLiveness
from dos.fleet.state.fleet import UnitState
from dos.fleet.state.held_units import DeclaredUnits
from dos.fleet.tick import FleetSnapshot, LiveRun
from dos.journal.events.limits import BaselineStarted, IncidentFound
from dos.lease import Lease
from dos.limits import quota
from dos.limits.quota import Limit
from dos.questions.catalog import AnyQuestion
from dos.questions.lanes import LaneFailed
from dos.questions.resources import limit_question
from dos.questions.runs import Spinning
from dos.times import utc_datetime

SPIN_ANSWER_MS = 4 * 3_600_000
SOON = timedelta(minutes=1)
NOTHING_LEFT = "no unit is left"  # of a lane that waits for nothing, and gets no worker


def snapshot(
    seen: Observation,
    *,
    supervisor: Lease,
    first: bool,
    incidents: Sequence[IncidentFound] = (),
    begun: BaselineStarted | None = None,
) -> FleetSnapshot:
    """`incidents` are those that nobody wrote down yet; `begun` is the check of the baseline that would be made."""
    # A worker of ours finds its work in the plans: where they declare none, it would come in vain.
    seen = structs.replace(seen, has_no_plans=False)
    due = close_questions.closings(seen)
    own = waits.own_waits(seen)
    is_draining = seen.state.stop_requests(supervisor).drain
    # A worker that died is reaped before a drained fleet ends: what its agent started is ended then.
    is_to_reap = is_draining and any(
        seen.is_worker(lease) and seen.is_gone(lease) for lease in seen.leases.values()
    )
    busy = is_to_reap or any(seen.working_on(lane) for lane in {*seen.backlogs, *seen.leases})
    given_up = failing_lanes(seen, own)  # from now on: somebody has to be asked first
    idle = not (
        busy or due or given_up or any(_may_start(seen, lane, own) for lane in seen.backlogs)
    )
    only_check = [lane for lane, found in own.lanes.items() if _waits_for_check(found, seen, lane)]
    is_unchecked = seen.baseline.step is gate.Step.CHECK and bool(only_check)
    return FleetSnapshot(
        lanes=entries(seen, own),
        waits=own,
        starts_soon=any(_starts_soon(seen, found) for found in own.lanes.values()),
        unfinished=waits.with_obstacles(seen, own, ()).units if idle else {},
        failing_lanes=given_up,
        baseline_to_check=begun if is_unchecked else None,
        leases=lane_entries.leases_by_lane(seen.config, seen.holders.leases),
        versions={name: starts.version for name, starts in seen.state.starts.items()},
        drain_requested=is_draining,
        busy=busy,
        idle=idle,
        # Where nobody may be started, no worker comes to tell or to ask.
        warnings=list(
            dict.fromkeys(fact for room in seen.cannot_start.values() for fact in room.warnings)
        ),
        questions=list(questions(seen)),
        expired=due,
        settled=close_questions.settled(seen),
        new_logins=list(seen.new_logins),
        runs={lane: run for lane, lease in seen.leases.items() if (run := _live_run(seen, lease))},
        incidents=list(incidents),
        findings=startup_findings(seen) if first else None,
    )


def _starts_soon(seen: Observation, found: Waits) -> bool:
    """Nothing but a time that is near keeps it from being started: not worth a word."""
    last = found[0].until if found else None
    return last is not None and last - utc_datetime(seen.now_ms) <= SOON


def _live_run(seen: Observation, lease: Lease) -> LiveRun | None:
    run = seen.state.runs.get(lease.run_id)
    if run is None:
        return None
    ordinal = run.landed + 1
    return LiveRun(
        lease=lease,
        is_flagged=run.flagged,
        is_asked_about=seen.answers.knows(Spinning.id_of(lease.run_id, ordinal)),
        expires_ms=seen.now_ms + SPIN_ANSWER_MS,
        ordinal=ordinal,
    )


def entries(
    seen: Observation, own: FleetWaits, *, repeats: bool = False
) -> tuple[LaneLiveness, ...]:
    """The lanes as the population plan takes them: a lane that waits for something, or has no work, gets nobody."""
    no_workers = {lease.fence for lease in seen.holders.leases if not seen.is_worker(lease)}
    kept = {lane: _kept_free(seen, lane, own) for lane in seen.backlogs}
    return lane_entries.entries(
        seen.config, seen.holders, waits=kept, no_workers=no_workers, repeats=repeats
    )


def _kept_free(seen: Observation, lane: str, own: FleetWaits) -> str:
    """Why nobody may be started on the lane; empty: somebody may."""
    if found := own.lanes.get(lane):
        return str(found[0])
    return "" if seen.backlogs[lane].open or seen.has_no_plans else NOTHING_LEFT


def _may_start(seen: Observation, lane: str, own: FleetWaits) -> bool:
    """It has something to offer, and no person has to do anything first."""
    return bool(seen.backlogs[lane].open) and not any(
        each.needs_person for each in own.lanes.get(lane, ())
    )


def _waits_for_check(found: Sequence[object], seen: Observation, lane: str) -> bool:
    """Only the check of the baseline keeps it from being started."""
    return len(found) == 1 and bool(seen.backlogs[lane].open)


def failing_lanes(seen: Observation, own: FleetWaits) -> list[LaneFailed]:
    """The lanes to be given up on, which could be started otherwise; each as the question about it."""
    lanes = [
        lane
        for lane in seen.backlogs
        if seen.why_failing(lane) and _waits_only_for_deaths(seen, lane, own)
    ]
    return [question for lane in lanes if (question := seen.question_about_deaths(lane))]


def _waits_only_for_deaths(seen: Observation, lane: str, own: FleetWaits) -> bool:
    found = own.lanes.get(lane, ())
    return bool(found and seen.backlogs[lane].open) and all(
        each.on is WaitsOn.START_FAILED for each in found
    )


def waits_for_a_person(seen: Observation, lane: str) -> bool:
    return any(each.needs_person for each in waits.own_waits(seen).lanes.get(lane, ()))


def questions(seen: Observation) -> Iterator[AnyQuestion]:
    """What nobody was asked yet: why a lane stopped that has work, and units that landed and are gone."""
    found: list[AnyQuestion] = [
        seen.question_about_undone(unit) for unit in seen.undone if unit in seen.state.units
    ]
    found += [seen.baseline.question] if seen.baseline.question else []
    found += [question for room in seen.cannot_start.values() for question in room.questions]
    found += [limit_question(limit) for limit in _of_people(seen)]
    found += seen.changed_texts
    found += [question for lane in seen.backlogs if (question := seen.question_about_stop(lane))]
    fresh = {question.id: question for question in found if not seen.answers.knows(question.id)}
    yield from fresh.values()


def failure_questions(seen: Observation) -> Iterator[AnyQuestion]:
    """About the lanes that are given up on, which whoever gives one up asks."""
    for lane in seen.backlogs:
        question = seen.question_about_deaths(lane)
        if question and not seen.answers.knows(question.id) and not seen.working_on(lane):
            yield question


def declared_units(seen: Observation) -> DeclaredUnits:
    """The units that may need a person, with all that nobody was asked about yet."""
    unasked = [*questions(seen), *failure_questions(seen)]
    return DeclaredUnits(
        unfinished=seen.unfinished, verdicts=seen.verdicts, state=seen.state, unasked=unasked
    )


def _of_people(seen: Observation) -> list[Limit]:
    """The limits that a person has to clear, also while another agent takes over; none when no work is left."""
    if not any(seen.open_units(lane) for lane in seen.backlogs):
        return []
    policy = seen.config.quota
    known = quota.limits_met_by(seen.limits, seen.agents)
    return [
        each for each in known if quota.is_doubted(each) or quota.opens_ms(each, policy) is None
    ]


def startup_findings(seen: Observation) -> reconcile.StartupFindings:
    """What was left when the journal was last written. Of the dead, those that nobody was told of."""
    lefts = []
    for run_id, run in seen.state.runs.items():
        lease = next((each for each in seen.leases.values() if each.run_id == run_id), None)
        if lease is None and (run.stop_reason or run.reported):
            continue
        unit = seen.state.units.get(run.unit, UnitState())
        lefts.append(
            Left(
                lane=run.lane,
                holder=lease.holder if lease else "",
                process_gone=lease is not None and seen.is_gone(lease),
                iterations=run.iterations,
                unit=run.unit,
                # Git says how far a landing came that was under way, and it is not done again.
                landed=bool(unit.landed or unit.intended),
            )
        )
    return reconcile.startup_findings(lefts)
