"""What each lane and each unit waits for. Every surface prints the values that this returns.

It takes two steps: `own_waits` before the population plan, which starts no worker on a lane that
waits, and `with_obstacles` after it, with what the plan says of the others.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from shlex import quote

from dos.backlog.waiting import FleetWaits, Waiting, Waits, WaitsOn, by_clearing_time, clears_first
from dos.baseline import gate
from dos.fleet.observation import Observation
from dos.fleet.population import reconcile
from dos.fleet.population.reconcile import REST_SECONDS
from dos.fleet.population.types import Obstacle
from dos.fleet.state.entries import LaneStarts, LastStop
from dos.fleet.unit_waits import answer_command, unapproved_waits, unit_waits, waiting_for_question
from dos.loop import tokens
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.resources import BaselineFailed
from dos.text import comparison_key
from dos.times import utc_datetime

_PARKED_FOR = {
    "quota": WaitsOn.LIMIT,
    "budget": WaitsOn.BUDGET,
    "pause": WaitsOn.PAUSE,
    "landing": WaitsOn.LANDING,
    "decision": WaitsOn.PERSON,  # its agent asks whether it may use a tool
    "back-off": WaitsOn.COOLDOWN,  # only older versions wrote this
}


def own_waits(observation: Observation) -> FleetWaits:
    """Return what lanes and units wait for by themselves, before the population plan.

    A lane that can offer no unit waits for the unit that is likely to clear first. Where no plan
    declares a unit, every lane may have work, and all lanes that wait are listed.
    """
    units: dict[str, Waits] = {}
    for name, unit in observation.unfinished.items():
        units[name] = by_clearing_time(unit_waits(observation, unit))
    for unit in observation.unapproved:
        units[unit.name] = by_clearing_time(unapproved_waits(observation, unit))
    lanes: dict[str, Waits] = {}
    now = utc_datetime(observation.now_ms)
    for lane, backlog in observation.backlogs.items():
        open_units = []
        for name in observation.open_units(lane):
            if name not in observation.claimed:
                open_units.append(name)
        waiting = by_clearing_time(_lane_waits(observation, lane))
        is_shown = observation.has_no_plans or observation.is_parked(lane)
        if not open_units and not (waiting and is_shown):
            continue
        if open_units and not backlog.open and not observation.working_on(lane):
            first = clears_first((units.get(name, ()) for name in open_units), now)
            waiting = by_clearing_time((*waiting, *first))
        lanes[lane] = waiting
    return FleetWaits(lanes=lanes, units=units)


def with_obstacles(
    observation: Observation, own: FleetWaits, obstacles: Sequence[Obstacle]
) -> FleetWaits:
    """Add what the population plan says of lanes that wait for nothing by themselves."""
    lanes = dict(own.lanes)
    for obstacle in obstacles:
        lane = obstacle.lane
        if lane in lanes and not own.lanes[lane] and not observation.has_no_plans:
            waiting = Waiting(on=obstacle.waits_on, subject=lane, why=obstacle.reason)
            lanes[lane] = (waiting,)
    units: dict[str, Waits] = {}
    for name, waits in own.units.items():
        if name in observation.claimed:
            continue
        from_lane = _waits_of_its_lane(observation, name, lanes)
        units[name] = by_clearing_time((*waits, *from_lane))
    claimed = observation.claimed & own.units.keys()
    return FleetWaits(lanes=lanes, units=units | dict.fromkeys(claimed, ()))


def _waits_of_its_lane(observation: Observation, unit: str, lanes: dict[str, Waits]) -> Waits:
    """Return what a unit waits for because its lane does.

    A worker that waits before it has chosen a unit keeps no unit from being worked on: what it
    waits for does. What the lane waits for because of its units is left out.
    """
    lane = observation.lane_of.get(unit, "")
    own = tuple(waiting for waiting in lanes.get(lane, ()) if waiting.subject == lane)
    lease = observation.leases.get(lane)
    if own and lease and observation.is_parked(lane) and not observation.unit_of(lease):
        return own
    if activity := observation.working_on(lane):
        return (Waiting(on=WaitsOn.REGION_HELD, subject=lane, why=activity),)
    return own


def _lane_waits(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield what a lane waits for by itself.

    A lane at work waits for nothing. One whose worker is parked waits for that, and for the end of
    a pause, which would stop the worker next.
    """
    yield from _parked(observation, lane)
    is_parked = observation.is_parked(lane)
    if observation.working_on(lane) and not is_parked:
        return
    yield from _pauses(observation, lane)
    if is_parked:
        return
    yield from _questions(observation, lane)
    yield from _last_stop(observation, lane)
    yield from _failed_starts(observation, lane)
    yield from _failed_part(observation, lane)
    yield from _agent(observation, lane)
    yield from _baseline(observation, lane)
    yield from _other_holder(observation, lane)


def _parked(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield what the lane's worker waits for."""
    lease = observation.leases.get(lane)
    if lease is None or not observation.is_parked(lane):
        return
    run = subject.RunSubject(lease.run_id)
    for asked in observation.answers.open.values():
        if run in asked.question.waits:
            yield waiting_for_question(asked, lane)
            return
    parked = observation.parked[lease.run_id]
    if parked.why == "pause" and any(_pauses(observation, lane)):
        return  # listed as the pause, with who asked for it and what ends it
    yield Waiting(
        on=_PARKED_FOR.get(parked.why, WaitsOn.UNKNOWN),
        subject=lane,
        why=parked.detail or parked.why,
        since=utc_datetime(parked.since_ms),
        until=_datetime(parked.until_ms),
    )


def _pauses(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield the pauses of the lane, of the lane that it is a part of, and of the whole fleet."""
    own = {comparison_key(lane), comparison_key(observation.config.lanes.whole_of(lane))}
    for name, pause in observation.pauses.items():
        if comparison_key(name) not in own | {""}:
            continue
        command = "dos resume"
        if name:
            command += f" {quote(name)}"
        yield Waiting(
            on=WaitsOn.PAUSE,
            subject=lane,
            why=pause.text,
            since=utc_datetime(pause.since_ms),
            clears_with=command,
        )


def _questions(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield the open questions that hold the lane."""
    for asked in observation.answers.open.values():
        if _holds(asked.question, lane):
            yield waiting_for_question(asked, lane)


def _holds(question: AnyQuestion, lane: str) -> bool:
    """Whether the lane waits for the answer."""
    return not {subject.Fleet(), subject.Lane(lane)}.isdisjoint(question.waits)


def _is_open(observation: Observation, question: AnyQuestion | None) -> bool:
    return question is not None and question.id in observation.answers.open


def _last_stop(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield that only a person can clear the last run's stop, or that the lane rests after it."""
    starts = observation.starts(lane)
    stopped = starts.stopped
    if stopped is None:
        return
    is_stuck = reconcile.is_stuck(stopped.reason, stopped.needs)
    if is_stuck and not reconcile.holds_only_units(stopped.reason, stopped.failed):
        yield from _stuck(observation, lane, stopped)
        return
    rests_until_ms = _rests_until_ms(starts)
    if observation.now_ms < rests_until_ms:
        yield Waiting(
            on=WaitsOn.COOLDOWN,
            subject=lane,
            why=f"its last run stopped: {tokens.words(stopped.reason)}",
            since=utc_datetime(stopped.at_ms),
            until=utc_datetime(rests_until_ms),
        )


def _stuck(observation: Observation, lane: str, stopped: LastStop) -> Iterator[Waiting]:
    """Yield the stop that only a person can clear, unless its question is listed."""
    question = observation.question_about_stop(lane)
    if _is_open(observation, question):
        return  # listed as the question
    if stopped.reason in reconcile.STOPPED_BY_PERSON:
        why = f"halted: {stopped.detail}"
        command = f"dos resume {quote(lane)}"
    else:
        why = f"its last run stopped: {tokens.words(stopped.reason)}, {stopped.detail}"
        command = answer_command(observation, question)
    yield Waiting(
        on=WaitsOn.ENVIRONMENT if stopped.needs == "environment" else WaitsOn.PERSON,
        subject=lane,
        why=why,
        since=utc_datetime(stopped.at_ms),
        clears_with=command,
    )


def _rests_until_ms(starts: LaneStarts) -> int:
    """Return until when a lane rests after its last run was told to wait, or found no work.

    A run that found nothing to do saw the lane differently than this observation; starting it at
    once again would not help.
    """
    stopped = starts.stopped
    since_ms = starts.told_to_wait_ms
    is_last = stopped is not None and stopped.at_ms > starts.woken_ms
    if stopped and is_last and reconcile.found_no_work(stopped.reason, stopped.landed):
        since_ms = max(since_ms, stopped.at_ms)
    return since_ms + int(REST_SECONDS * 1000)


def _failed_starts(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield that the lane's workers die: it is disabled, about to be, or backs off."""
    starts = observation.starts(lane)
    question = observation.question_about_deaths(lane)
    if _is_open(observation, question):
        return  # listed as the question
    since = utc_datetime(starts.at_ms) if starts.at_ms else None
    until_ms = observation.backoff_ends_ms(lane)
    if why := starts.failed or observation.why_failing(lane):
        yield Waiting(
            on=WaitsOn.START_FAILED,
            subject=lane,
            why=why,
            since=since,
            clears_with=answer_command(observation, question),
        )
    elif observation.now_ms < until_ms:
        yield Waiting(
            on=WaitsOn.START_FAILED,
            subject=lane,
            why="its last worker died without recording a stop",
            since=since,
            until=utc_datetime(until_ms),
        )


def _failed_part(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield that the workers of another part of the lane die, or of the whole of it.

    What kills them is seldom the unit, so that a person is asked once and not about each unit.
    """
    whole = observation.config.lanes.whole_of(lane) or lane
    failed = observation.failed_parts.get(whole, lane)
    if failed == lane:
        return
    question = observation.question_about_deaths(failed)
    yield Waiting(
        on=WaitsOn.START_FAILED,
        subject=lane,
        why=f"the workers of {failed} keep dying, which shares lane {whole} with it",
        clears_with=answer_command(observation, question),
    )


def _agent(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield that no agent may start on the lane."""
    refusal = observation.cannot_start.get(lane)
    if refusal is None:
        return
    question = refusal.questions[0] if refusal.questions else None
    if question and _is_open(observation, question) and _holds(question, lane):
        return  # listed as the question
    command = refusal.clears_with
    until = _datetime(refusal.until_ms)
    if refusal.is_probed:
        command = ""  # the probe shows whether a person is needed
        until = None
    elif not command and (question or refusal.until_ms is None):
        command = answer_command(observation, question)
    yield Waiting(
        on=refusal.waits_on,
        subject=lane,
        why=refusal.detail or refusal.parked_for,
        until=until,
        clears_with=command,
    )


def _baseline(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield that the test of the target branch has to pass before a worker starts."""
    plan = observation.baseline
    if plan.step is gate.Step.CHECK:
        why = "the test of the target branch has to pass first"
        yield Waiting(on=WaitsOn.ENVIRONMENT, subject=lane, why=why)
    elif plan.step is gate.Step.WAIT:
        for asked in observation.answers.open.values():
            if isinstance(asked.question, BaselineFailed):
                yield waiting_for_question(asked, lane)
                return
        yield Waiting(
            on=WaitsOn.ENVIRONMENT,
            subject=lane,
            why=plan.why,
            clears_with=answer_command(observation, plan.question),
        )


def _other_holder(observation: Observation, lane: str) -> Iterator[Waiting]:
    """Yield that a person or a script holds the lane."""
    lease = observation.leases.get(lane)
    if lease is None or observation.is_worker(lease):
        return
    holder = quote(lease.holder)
    yield Waiting(
        on=WaitsOn.REGION_HELD,
        subject=lane,
        why=f"{lease.holder} holds it",
        since=utc_datetime(lease.granted_ms),
        clears_with=f"dos lease-lane release --lane {quote(lane)} --owner {holder}",
    )


def _datetime(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else utc_datetime(at_ms)
