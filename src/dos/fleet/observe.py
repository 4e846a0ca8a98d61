"""What a tick of the supervisor derives from an observation: lanes to fill, questions, findings.

Questions are derived both ways: those to ask because something happened, and the open ones to close
because their time is over or their cause is gone.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import assert_never

from msgspec import structs

from dos.backlog.waiting import FleetWaits, Waits, WaitsOn
from dos.baseline import gate
from dos.fleet import waits, worker_health
from dos.fleet.observation import Observation
from dos.fleet.population import reconcile
from dos.fleet.population.reconcile import InterruptedLane, StartupFindings
from dos.fleet.population.types import LaneLiveness
from dos.fleet.state import held_units
from dos.fleet.state.fleet import UnitState
from dos.fleet.state.held_units import DeclaredUnits
from dos.fleet.tick import FleetSnapshot, LiveRun
from dos.journal.events.envelope import Fact
from dos.journal.events.limits import BaselineStarted, IncidentFound
from dos.lease import Lease
from dos.limits import quota
from dos.limits.quota import Limit
from dos.questions import state
from dos.questions.agent_requests import AGENT_ENDED, ToolRequested
from dos.questions.catalog import Added, AnyQuestion, UnknownQuestion
from dos.questions.changed_tests import TestsChanged
from dos.questions.documents import PlanChanged, SettingsChanged
from dos.questions.lanes import LaneFailed, LaneStopped, UnitsFailed
from dos.questions.resources import (
    BaselineFailed,
    BudgetSpent,
    LimitDoubted,
    LimitReached,
    limit_question,
)
from dos.questions.runs import HaltProposed, RunStopped, Spinning
from dos.questions.state import OpenQuestion, PendingClose
from dos.questions.units import Incident, LandingBlocked, LandingConflict, UnitHeld, UnitUndone
from dos.times import utc_datetime

# These are closed by what has happened, as if a person had answered. The others expire.
_SETTLED = (BaselineFailed, LimitReached, LimitDoubted)
SPIN_ANSWER_MS = 4 * 3_600_000
SOON = timedelta(minutes=1)
# Why a lane that waits for nothing gets no worker.
NOTHING_LEFT = "no unit is left"
IN_PARTS = "its units are worked on in parts of it"


def snapshot(
    observation: Observation,
    *,
    supervisor: Lease,
    first: bool,
    incidents: Sequence[IncidentFound] = (),
    begun: BaselineStarted | None = None,
) -> FleetSnapshot:
    """Return what the tick of a supervisor decides by.

    `supervisor` is its lease. `incidents` are not recorded yet; `begun` is the check of the
    baseline that would be started now.
    """
    # A worker takes its units from the plans, so that none is started where they declare none.
    observation = structs.replace(observation, has_no_plans=False)
    expired = closings(observation)
    own = waits.own_waits(observation)
    is_draining = observation.state.stop_requests(supervisor).drain
    busy = _is_busy(observation, is_draining=is_draining)
    failing = failing_lanes(observation, own)
    can_start = any(_may_start(observation, lane, own) for lane in observation.backlogs)
    idle = not (busy or expired or failing or can_start)
    unfinished: dict[str, Waits] = {}
    if idle:
        unfinished = dict(waits.with_obstacles(observation, own, ()).units)
    return FleetSnapshot(
        lanes=entries(observation, own),
        waits=own,
        starts_soon=any(_starts_soon(observation, lane) for lane in own.lanes.values()),
        unfinished=unfinished,
        failing_lanes=failing,
        baseline_to_check=begun if _needs_check(observation, own) else None,
        leases=worker_health.leases_by_lane(observation.config, observation.holders.leases),
        versions={lane: starts.version for lane, starts in observation.state.starts.items()},
        drain_requested=is_draining,
        busy=busy,
        idle=idle,
        warnings=_warnings(observation),
        questions=list(questions(observation)),
        expired=expired,
        settled=settled(observation),
        new_logins=list(observation.new_logins),
        runs=_live_runs(observation),
        incidents=list(incidents),
        findings=startup_findings(observation) if first else None,
    )


def _is_busy(observation: Observation, *, is_draining: bool) -> bool:
    """Whether a worker is at work, or a dead one has to be reaped before a drained fleet ends.

    A reap ends the processes that the dead worker's agent has started.
    """
    if is_draining:
        leases = observation.leases.values()
        if any(observation.is_worker(lease) and observation.is_gone(lease) for lease in leases):
            return True
    lanes = {*observation.backlogs, *observation.leases}
    return any(observation.working_on(lane) for lane in lanes)


def _needs_check(observation: Observation, own: FleetWaits) -> bool:
    """Whether a lane with work waits for nothing but the check of the baseline."""
    if observation.baseline.step is not gate.Step.CHECK:
        return False
    return any(
        len(waiting) == 1 and observation.backlogs[lane].open for lane, waiting in own.lanes.items()
    )


def _warnings(observation: Observation) -> list[Fact]:
    """Return the facts about lanes on which no agent may start, where no worker records them."""
    facts: dict[Fact, None] = {}
    for refusal in observation.cannot_start.values():
        facts |= dict.fromkeys(refusal.warnings)
    return list(facts)


def _starts_soon(observation: Observation, waiting: Waits) -> bool:
    """Whether only a time that is near keeps the lane from being started."""
    until = waiting[0].until if waiting else None
    return until is not None and until - utc_datetime(observation.now_ms) <= SOON


def _live_runs(observation: Observation) -> dict[str, LiveRun]:
    """Return the runs that hold a lane and that the journal knows, by lane."""
    runs = {}
    for lane, lease in observation.leases.items():
        run = observation.state.runs.get(lease.run_id)
        if run is None:
            continue
        ordinal = run.landed + 1
        question = Spinning.id_of(lease.run_id, ordinal)
        runs[lane] = LiveRun(
            lease=lease,
            is_flagged=run.flagged,
            is_asked_about=observation.answers.knows(question),
            expires_ms=observation.now_ms + SPIN_ANSWER_MS,
            ordinal=ordinal,
        )
    return runs


def entries(
    observation: Observation, own: FleetWaits, *, repeats: bool = False
) -> tuple[LaneLiveness, ...]:
    """Return the lanes as the population plan takes them.

    A lane that waits for something, or has no unit to offer, gets no worker.
    """
    leases = observation.holders.leases
    no_workers = {lease.fence for lease in leases if not observation.is_worker(lease)}
    reasons = {lane: _why_not_started(observation, lane, own) for lane in observation.backlogs}
    return worker_health.entries(
        observation.config,
        observation.holders,
        waits=reasons,
        no_workers=no_workers,
        repeats=repeats,
    )


def _why_not_started(observation: Observation, lane: str, own: FleetWaits) -> str:
    """Return why no worker may be started on the lane; empty where one may."""
    if waiting := own.lanes.get(lane):
        return str(waiting[0])
    if observation.backlogs[lane].open or observation.has_no_plans:
        return ""
    if lane in observation.lanes_in_parts:
        return IN_PARTS
    return NOTHING_LEFT


def _may_start(observation: Observation, lane: str, own: FleetWaits) -> bool:
    """Whether the lane has a unit to offer, and no person has to do anything first."""
    if not observation.backlogs[lane].open:
        return False
    return not any(waiting.needs_person for waiting in own.lanes.get(lane, ()))


def failing_lanes(observation: Observation, own: FleetWaits) -> list[LaneFailed]:
    """Return the questions about lanes to disable, which could be started otherwise."""
    found: list[LaneFailed] = []
    for lane, backlog in observation.backlogs.items():
        waiting = own.lanes.get(lane, ())
        if not observation.why_failing(lane) or not waiting or not backlog.open:
            continue
        waits_only_for_deaths = all(each.on is WaitsOn.START_FAILED for each in waiting)
        question = observation.question_about_deaths(lane)
        if waits_only_for_deaths and question:
            found.append(question)
    return found


def waits_for_a_person(observation: Observation, lane: str) -> bool:
    """Whether the lane waits for something that only a person can clear."""
    waiting = waits.own_waits(observation).lanes.get(lane, ())
    return any(each.needs_person for each in waiting)


def questions(observation: Observation) -> Iterator[AnyQuestion]:
    """Yield the questions that are not asked yet, but for those about lanes to disable."""
    found: list[AnyQuestion] = []
    for unit in observation.undone:
        if unit in observation.state.units:
            found.append(observation.question_about_undone(unit))
    if observation.baseline.question:
        found.append(observation.baseline.question)
    for refusal in observation.cannot_start.values():
        found += refusal.questions
    found += [limit_question(limit) for limit in _limits_for_people(observation)]
    found += observation.changed_texts
    for lane in observation.backlogs:
        if question := observation.question_about_stop(lane):
            found.append(question)
    knows = observation.answers.knows
    unasked = {question.id: question for question in found if not knows(question.id)}
    yield from unasked.values()


def failure_questions(observation: Observation) -> Iterator[AnyQuestion]:
    """Yield the questions about lanes to disable, which the supervisor asks as it does so."""
    for lane in observation.backlogs:
        question = observation.question_about_deaths(lane)
        if question is None or observation.answers.knows(question.id):
            continue
        if not observation.working_on(lane):
            yield question


def declared_units(observation: Observation) -> DeclaredUnits:
    """Return the units that may need a person, with all questions that are not asked yet."""
    unasked = [*questions(observation), *failure_questions(observation)]
    held = observation.held_units
    return DeclaredUnits(
        unfinished=observation.unfinished,
        verdicts=observation.verdicts,
        state=observation.state,
        unasked=unasked,
        put_aside={name for name, hold in held.items() if not hold.is_open},
    )


def _limits_for_people(observation: Observation) -> list[Limit]:
    """Return the limits that a person has to clear, also while another agent takes over.

    None when no work is left.
    """
    if not any(observation.open_units(lane) for lane in observation.backlogs):
        return []
    policy = observation.config.quota
    return [
        limit
        for limit in quota.limits_met_by(observation.limits, observation.agents)
        if quota.is_doubted(limit) or quota.opens_ms(limit, policy) is None
    ]


def startup_findings(observation: Observation) -> StartupFindings:
    """Return what earlier supervisors left behind, less the deaths that were reported before."""
    leases = {lease.run_id: lease for lease in reversed(list(observation.leases.values()))}
    lanes = []
    for run_id, run in observation.state.runs.items():
        lease = leases.get(run_id)
        if lease is None and (run.stop_reason or run.reported):
            continue
        unit = observation.state.units.get(run.unit, UnitState())
        lanes.append(
            InterruptedLane(
                lane=run.lane,
                holder=lease.holder if lease else "",
                process_gone=lease is not None and observation.is_gone(lease),
                iterations=run.iterations,
                unit=run.unit,
                # Git shows how far an intended landing came, so the unit is not repeated.
                landed=bool(unit.landed or unit.intended),
            )
        )
    return reconcile.startup_findings(lanes)


def closings(observation: Observation) -> list[PendingClose]:
    """Return the open questions that expire now, each with the choice that is taken for it."""
    answers = observation.answers
    expired = state.expired_questions(
        answers, observation.now_ms, started_ms=observation.state.started_ms
    )
    expired_ids = {asked.raised.id for asked in expired}
    found = []
    for asked in answers.open.values():
        question = asked.question
        if question.id in expired_ids or _is_unused(observation, asked):
            choice = question.choice_without_answer(observation.on_cooldown)
            why = ""
            if choice != question.otherwise:
                why = "no person answered, and a unit of it is still on cooldown"
            found.append(PendingClose(asked=asked, choice=choice, reason=why))
        elif not isinstance(question, _SETTLED):
            why = _why_moot(observation, asked)
            if why:
                choice = question.settled_choice
                found.append(PendingClose(asked=asked, choice=choice, reason=why))
    return found


def settled(observation: Observation) -> list[OpenQuestion]:
    """Return the open questions that events have answered: a test passes, a limit is lifted."""
    found = []
    for asked in observation.answers.open.values():
        if isinstance(asked.question, _SETTLED) and _why_moot(observation, asked):
            found.append(asked)
    return found


def _why_moot(observation: Observation, asked: OpenQuestion) -> str:
    """Return why no answer is needed any more; empty while the question stands."""
    question = asked.question
    match question:
        case PlanChanged() | SettingsChanged():
            return _why_text_moot(observation, question)
        case UnitsFailed():
            return held_units.why_moot(asked, observation.state, observation.unfinished)
        case BaselineFailed():
            return "the test passes" if question.id in observation.baseline.passed else ""
        case LimitReached() | LimitDoubted():
            return _why_limit_moot(observation, question)
        case HaltProposed() | RunStopped():
            return ""  # the state of the questions closes them with the event that ends the cause
        case LandingBlocked():
            return ""  # the worker that lands the unit closes it
        case ToolRequested():
            is_live = question.run_id in observation.live_runs
            return "" if is_live else AGENT_ENDED
        case (
            LaneFailed()
            | LaneStopped()
            | LandingConflict()
            | TestsChanged()
            | UnitUndone()
            | UnitHeld()
            | Incident()
            | Spinning()
            | BudgetSpent()
            | Added()
            | UnknownQuestion()
        ):
            return ""  # only an answer or the end of their time closes them
        case _:
            assert_never(question)


def _why_text_moot(observation: Observation, question: PlanChanged | SettingsChanged) -> str:
    """Return why a question about an edited file needs no answer; empty while it does."""
    if question.where != observation.where:
        return ""  # it is about another checkout
    current = {changed.id for changed in observation.changed_texts}
    if question.id in current:
        return ""
    return "the file was edited again, or approved"


def _why_limit_moot(observation: Observation, question: LimitReached | LimitDoubted) -> str:
    """Return why a question about a limit needs no answer; a later hit is another question."""
    limit = observation.limits.get(question.key.path)
    if limit is None or not limit.ending or limit_question(limit).id != question.id:
        return "the limit does not hold any more"
    return ""


def _is_unused(observation: Observation, asked: OpenQuestion) -> bool:
    """Whether it is about a limit that holds, and that no agent of these lanes uses."""
    question = asked.question
    if not isinstance(question, LimitReached | LimitDoubted):
        return False
    limit = observation.limits.get(question.key.path)
    if limit is None or not limit.ending:
        return False
    used = {met.key for met in quota.limits_met_by(observation.limits, observation.agents)}
    return question.key not in used
