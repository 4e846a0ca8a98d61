"""The fleet as a tick sees it: lanes with their work and their workers, questions for people, what is left and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from dos import backoff
from dos.config.tables import Config
from dos.evidence.access import asked_units
from dos.journal.engine_events import BaselineStarted, IncidentFound
from dos.journal.states import decisions as asked
from dos.journal.states import fleet as folded
from dos.journal.states.decisions import Closing, Decisions
from dos.journal.states.quota import Quota
from dos.journal.states.spend import Spend
from dos.plans import staffing, starting
from dos.plans.limits import baselines, quota
from dos.plans.limits.quota import Candidate, Limit
from dos.plans.questions import subject
from dos.plans.questions.catalog import AnyQuestion
from dos.plans.questions.lanes import FailedUnit, LaneStopped, UnitsFailed
from dos.plans.questions.resources import LimitDoubted, LimitReached, about_limit
from dos.plans.questions.texts import TextChanged
from dos.plans.questions.units import UnitUndone
from dos.plans.staffing import REST_SECONDS, START_SECONDS, WANTS_ROOM, Lane
from dos.plans.starting import Left, Unfinished, WaitsFor
from dos.records.leases import Lease
from dos.records.regions import region
from dos.records.units import Unit
from dos.runtime.effects import Backlog, NoRoom
from dos.runtime.staff import choosing
from dos.runtime.supervisor import Fleet, Spinning

SAID_ALREADY = ("halted",)  # by a person


class Seen(Struct, frozen=True, kw_only=True):
    """What the journal and git say now."""

    config: Config
    state: folded.Fleet
    answers: Decisions
    leases: Mapping[str, Lease]  # by lane
    backlogs: Mapping[str, Backlog]  # of the roster's lanes
    roomless: Mapping[str, NoRoom] = {}  # lanes on which no agent may be started now, and why
    limits: Mapping[str, Limit] = {}  # by the stream of their key
    agents: Sequence[Candidate] = ()  # all that the lanes may be worked on by
    logged_in: Sequence[Limit] = ()  # that nobody was logged in for, and somebody has logged in since
    now_ms: int
    gone: Callable[[Lease], bool]  # its process, by the word of its own system
    never_came: Callable[[folded.Starts], bool]  # the worker that was started, by the word of its own system
    unstaffed: Mapping[str, str] = {}  # units that have not landed on whose lane nobody is ever placed, each with why
    changed_texts: Sequence[AnyQuestion] = ()  # plans and settings that are on disk as nobody approved them
    where: str = ""  # this checkout, as approvals name it
    unfinished: Mapping[str, Unit] | None = None  # the declared units that have not landed; None: not known
    baseline: baselines.Plan = baselines.Plan(step=baselines.Step.CLEAR)  # of this host

    @property
    def offered(self) -> dict[str, int]:
        """How many units each lane could take."""
        return {lane: len(backlog.open) for lane, backlog in self.backlogs.items()}

    def starts(self, lane: str) -> folded.Starts:
        return self.state.starts.get(lane) or folded.Starts()


def fleet(
    seen: Seen,
    *,
    lanes: list[Lane],
    supervisor: Lease,
    spinning: list[Spinning],
    undone: Mapping[str, str],
    first: bool,
    incidents: Sequence[IncidentFound] = (),
    begun: BaselineStarted | None = None,
) -> Fleet:
    """`undone` are the units that landed and are gone, each with why; `incidents` those that nobody wrote down yet;
    `begun` is the check of the baseline that would be made."""
    due = closings(seen)
    busy = any((lane.held and lane.ours) or lane.pending for lane in lanes)
    idle = not (busy or due or any(lane.offerable and not lane.failed for lane in lanes))
    is_unchecked = seen.baseline.step is baselines.Step.CHECK and any(lane.wants_worker for lane in lanes)
    return Fleet(
        lanes=lanes,
        unchecked=begun if is_unchecked else None,
        leases=dict(seen.leases),
        versions={name: starts.version for name, starts in seen.state.starts.items()},
        drain_requested=seen.state.orders(supervisor).drain,
        busy=busy,
        idle=idle,
        left=list(unfinished(seen)) if idle else [],
        times_failed={name: starts.times_failed for name, starts in seen.state.starts.items()},
        # Where nobody may be started, no worker comes to tell or to ask.
        told=list(dict.fromkeys(fact for room in seen.roomless.values() for fact in room.told)),
        questions=list(questions(seen, undone)),
        due=due,
        settled=settled(seen),
        logged_in=list(seen.logged_in),
        spinning=spinning,
        incidents=list(incidents),
        found=found(seen) if first else None,
    )


def closings(seen: Seen) -> list[Closing]:
    """The open questions that need no answer any more, each with what is taken for it.

    A start retries what was asked about before it; but it clears no cooldown, and leaves what is still cooling.
    """
    resting = {rest.unit_id for backlog in seen.backlogs.values() for rest in backlog.resting}
    found = {}
    due = asked.due(seen.answers, seen.now_ms, started_ms=seen.state.started_ms)
    for standing in (*due, *unused(seen)):
        question = standing.question
        found[question.id] = Closing(asked=standing, choice=question.closed_with(resting))
    current = {question.id for question in seen.changed_texts}
    for name, standing in seen.answers.open.items():
        question = standing.question
        is_ours = isinstance(question, TextChanged) and question.where == seen.where
        if is_ours and name not in current:
            reason = "the file on disk is another one now, or was approved"
            found[name] = Closing(asked=standing, choice=question.settled_as, reason=reason)
    for name, standing in seen.answers.open.items():
        if name in found or seen.unfinished is None:
            continue
        if why := asked_units.cause_gone(standing, seen.state, seen.unfinished):
            found[name] = Closing(asked=standing, choice=standing.question.settled_as, reason=why)
    return list(found.values())


def lanes(seen: Seen) -> list[Lane]:
    # A lease on a lane that the roster does not have keeps its region as any other does.
    return [_lane(seen, name) for name in dict.fromkeys([*seen.backlogs, *seen.leases])]


def _lane(seen: Seen, name: str) -> Lane:
    policy, lease, starts = seen.config.supervise, seen.leases.get(name), seen.starts(name)
    most = min(policy.restart_intensity, folded.DEATHS_KEPT)
    period_ms = policy.restart_period_seconds * 1000
    recent = [at for at in starts.unended.values() if seen.now_ms - at < period_ms]
    # Twice as long each time, and never so long that the deaths that are allowed would not fit into the period.
    pauses = backoff.growing(policy.restart_backoff_seconds * 1000, cap=period_ms / (2 * most))
    backs_off = seen.now_ms - starts.at_ms < pauses.delay(len(recent))
    run = seen.state.runs.get(lease.run_id) if lease else None
    return Lane(
        name=name,
        region=lease.region if lease else seen.config.lane_region(name) or region([]),
        exclusive=seen.config.is_exclusive(name) or (lease is not None and lease.exclusive),
        offerable=len(seen.backlogs[name].open) if name in seen.backlogs else 0,
        held=lease is not None,
        ours=lease is None or _is_of_worker(seen, lease),
        holder_gone=lease is not None and seen.gone(lease),
        pending=lease is None and _pending(seen, starts),
        failed=waits_for_a_person(seen, name),
        resting=backs_off or name in seen.roomless or _is_paused(seen, name) or _rests(seen, starts),
        unchecked=seen.baseline.step is baselines.Step.CHECK,
        spinning=run is not None and run.flagged,
        recent_starts=len(recent),
        most_starts=most,
    )


def _is_paused(seen: Seen, lane: str) -> bool:
    return "" in seen.state.paused or lane in seen.state.paused


def _rests(seen: Seen, starts: folded.Starts) -> bool:
    """Its last run was told to wait; or came and found nothing that it may do, so that it saw another lane than we."""
    stopped = starts.stopped
    in_vain = stopped is not None and stopped.reason in (*staffing.WANTS_WORK, WANTS_ROOM) and not stopped.landed
    in_vain = in_vain and stopped is not None and stopped.at_ms > starts.woken_ms
    since_ms = max(starts.told_to_wait_ms, stopped.at_ms if stopped and in_vain else 0)
    return seen.now_ms - since_ms < REST_SECONDS * 1000


def _is_of_worker(seen: Seen, lease: Lease) -> bool:
    """A worker's own lane: what it holds besides, to groom the plans, is no second worker."""
    run = seen.state.runs.get(lease.run_id)
    return bool(lease.run_id) and (run is None or run.lane == lease.lane)


def _pending(seen: Seen, starts: folded.Starts) -> bool:
    if not starts.pending or seen.now_ms - starts.at_ms > START_SECONDS * 1000:
        return False
    return not seen.never_came(starts)


def waits_for_a_person(seen: Seen, lane: str) -> bool:
    return bool(why_a_person(seen, lane))


def why_a_person(seen: Seen, lane: str) -> str:
    """What only a person can clear before anybody is started on the lane; empty: nothing."""
    room = seen.roomless.get(lane)
    if room and room.until_ms is None:
        return room.detail or room.why
    if seen.baseline.step is baselines.Step.WAIT:
        return seen.baseline.why
    waiting = {subject.Fleet(), subject.Lane(lane)}
    for name, standing in seen.answers.open.items():
        if not waiting.isdisjoint(standing.question.waits):
            return f"`dos decisions show {name}`"
    starts = seen.starts(lane)
    if starts.failed:
        return starts.failed
    stopped = starts.stopped
    is_stuck = stopped is not None and staffing.is_stuck(stopped.reason, stopped.needs)
    if stopped and is_stuck and not staffing.is_about_units(stopped.reason, stopped.failed):
        return f"its last run stopped: {stopped.reason}, {stopped.detail}"
    return ""


def roomless(
    config: Config,
    agents: Mapping[str, Sequence[Sequence[Candidate]]],
    limits: Quota,
    spend: Spend,
    state: folded.Fleet,
    *,
    now_ms: int,
) -> dict[str, NoRoom]:
    """The lanes on which no agent may be started: no worker is started either.

    `agents` has the lanes to look at, each with who may do its units: one list for each agent that a unit asks for. A
    lane has room as long as one of its units has an agent. Where a run's own budget is spent it is that run's which
    counts, until somebody has answered.
    """
    found = {}
    for lane, asked_for in agents.items():
        stopped = state.starts.get(lane, folded.Starts()).stopped
        run_id = stopped.run_id if stopped and stopped.reason == WANTS_ROOM else ""
        iteration = spend.runs[run_id].iteration if run_id in spend.runs else 0
        rooms = [
            choosing.choose(config, each, limits, spend, run_id=run_id, lane=lane, iteration=iteration, now_ms=now_ms)
            for each in asked_for
        ]
        refusals = [room for room in rooms if isinstance(room, NoRoom)]
        if refusals and len(refusals) == len(rooms):
            found[lane] = choosing.first_to_open(refusals)
    return found


def questions(seen: Seen, undone: Mapping[str, str]) -> Iterator[AnyQuestion]:
    """What nobody was asked yet: why a lane stopped that has work, and units that landed and are gone."""
    found: list[AnyQuestion] = [
        UnitUndone.ask(unit, commit=seen.state.units[unit].landed, why=why)
        for unit, why in undone.items()
        if unit in seen.state.units
    ]
    found += [seen.baseline.question] if seen.baseline.question else []
    found += [question for room in seen.roomless.values() for question in room.questions]
    found += [about_limit(limit) for limit in _of_people(seen)]
    found += seen.changed_texts
    found += [question for lane in seen.backlogs if (question := _about_stop(seen, lane))]
    fresh = {question.id: question for question in found if not seen.answers.knows(question.id)}
    yield from fresh.values()


def _of_people(seen: Seen) -> list[Limit]:
    """The limits that a person has to clear, also while another agent takes over; none when no work is left."""
    if not any(_open_units(backlog) for backlog in seen.backlogs.values()):
        return []
    policy = seen.config.quota
    known = quota.in_use(seen.limits, seen.agents)
    return [each for each in known if quota.is_doubted(each) or quota.opens_ms(each, policy) is None]


def settled(seen: Seen) -> list[asked.Standing]:
    """The open questions whose cause is gone: a limit that does not hold any more, a test that passes by now."""
    found = [seen.answers.open[name] for name in seen.baseline.passed]
    for question, stream in _about_limits(seen):
        limit = seen.limits.get(stream)
        if limit is None or not limit.ending or about_limit(limit).id != question.raised.id:
            found.append(question)
    return found


def unused(seen: Seen) -> list[asked.Standing]:
    """The open questions about limits that no agent of these lanes would meet."""
    used = {limit.key.path for limit in quota.in_use(seen.limits, seen.agents)}
    standing = {stream for stream, limit in seen.limits.items() if limit.ending}
    return [question for question, stream in _about_limits(seen) if stream in standing - used]


def _about_limits(seen: Seen) -> Iterator[tuple[asked.Standing, str]]:
    """Each with the stream of the limit."""
    for question in seen.answers.open.values():
        if isinstance(question.question, LimitReached | LimitDoubted):
            yield question, question.question.key.path


def _about_stop(seen: Seen, lane: str) -> AnyQuestion | None:
    """What to ask about the lane's last run; None where it needs nobody, or where all there is to say was said."""
    stopped = seen.starts(lane).stopped
    if not stopped or not staffing.is_stuck(stopped.reason, stopped.needs) or lane in seen.leases:
        return None
    # Who stopped it, or what is asked about its limit, says all there is to say.
    if stopped.reason in SAID_ALREADY or stopped.limit or not _open_units(seen.backlogs[lane]):
        return None
    failed = _failed_units(seen, lane, stopped.failed)
    if staffing.is_about_units(stopped.reason, stopped.failed):
        return UnitsFailed.ask(lane, stopped.run_id, failed) if failed else None
    last = f"; the last was {stopped.missed}" if stopped.missed else ""
    return LaneStopped.ask(lane, stopped.run_id, f"{stopped.reason}, {stopped.detail}{last}", failed)


def _failed_units(seen: Seen, lane: str, tried: Sequence[str]) -> list[FailedUnit]:
    """The units of a lane that were tried in vain, by its last run or a short while ago, and nobody was asked about."""
    backlog = seen.backlogs[lane]
    names = dict.fromkeys([*tried, *(rest.unit_id for rest in backlog.resting)])
    asked_about = asked.held(seen.answers)
    failed = []
    for name in names:
        unit = seen.state.units.get(name, folded.Unit())
        if unit.tried is None or name not in _open_units(backlog) or subject.Unit(name) in asked_about:
            continue
        declared = seen.unfinished.get(name) if seen.unfinished else None
        if declared and unit.tried.text and unit.tried.text != declared.fingerprint:
            continue  # it was rewritten: another unit, which nobody has tried
        why = unit.tries[-1] if unit.tries else unit.tried.outcome
        failed.append(FailedUnit(unit=name, tries=unit.failures, why=why, text=unit.tried.text))
    return failed


def _open_units(backlog: Backlog) -> Sequence[str]:
    return backlog.completion.residual if backlog.completion else ()


def unfinished(seen: Seen) -> Iterator[Unfinished]:
    """What is left when nobody works and nobody is to be started, and what each unit waits for."""
    for lane, backlog in seen.backlogs.items():
        person = why_a_person(seen, lane)
        held = {each.unit: (starting.cleared_by(str(each.reason)), each.evidence) for each in backlog.held}
        resting = {
            each.unit_id: (WaitsFor.TIME, f"{each.reason}; `dos up --retry {each.unit_id}` tries it now")
            for each in backlog.resting
        }
        for unit in _open_units(backlog):
            waits_for, why = resting.get(unit, (WaitsFor.TIME, ""))
            if person:
                waits_for, why = WaitsFor.PERSON, person
            if unit in held:
                waits_for, why = held[unit]
            yield Unfinished(unit=unit, waits_for=waits_for, why=why)
    for unit, why in seen.unstaffed.items():
        yield Unfinished(unit=unit, waits_for=WaitsFor.PERSON, why=why)


def found(seen: Seen) -> starting.Found:
    """What was left when the journal was last written. Of the dead, those that nobody was told of."""
    lefts = []
    for run_id, run in seen.state.runs.items():
        lease = next((each for each in seen.leases.values() if each.run_id == run_id), None)
        if lease is None and (run.stop_reason or run.told):
            continue
        unit = seen.state.units.get(run.unit, folded.Unit())
        lefts.append(
            Left(
                lane=run.lane,
                holder=lease.holder if lease else "",
                process_gone=lease is not None and seen.gone(lease),
                iterations=run.iterations,
                unit=run.unit,
                # Git says how far a landing came that was under way, and it is not done again.
                landed=bool(unit.landed or unit.intended),
            )
        )
    return starting.plan(lefts)
