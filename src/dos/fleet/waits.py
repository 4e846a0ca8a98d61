"""What each lane and each unit waits for, from the fleet as it is seen now. Every surface prints what this returns."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from shlex import quote

from dos.backlog import pickable
from dos.backlog.waiting import FleetWaits, Waiting, Waits, WaitsOn, by_clearing_time, clears_first
from dos.baseline import gate
from dos.fleet.observation import Observation
from dos.fleet.population import reconcile as staffing
from dos.fleet.population.reconcile import REST_SECONDS
from dos.fleet.population.types import Obstacle
from dos.fleet.state import held_units
from dos.fleet.state.fleet import LaneStarts
from dos.fleet.state.held_units import Hold
from dos.loop import tokens
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import PlanChanged
from dos.questions.resources import BaselineFailed
from dos.questions.state import AnsweredQuestion, OpenQuestion
from dos.text import comparison_key, plural
from dos.times import utc_datetime
from dos.units.portfolio import soak_end
from dos.units.unit import Unit

NEXT_START = "dos up"  # starts what a person left, and checks again what had failed

_PARKED_FOR = {
    "quota": WaitsOn.LIMIT,
    "budget": WaitsOn.BUDGET,
    "pause": WaitsOn.PAUSE,
    "landing": WaitsOn.LANDING,
    # Only older versions wrote these.
    "decision": WaitsOn.PERSON,
    "back-off": WaitsOn.COOLDOWN,
}
_HELD_FOR = {
    pickable.Answer.UNPARSEABLE: WaitsOn.PLAN_PROBLEM,
    pickable.Answer.DRAFT_CLASS: WaitsOn.GATE,
    pickable.Answer.OPERATOR_GATED: WaitsOn.GATE,
    pickable.Answer.SOAK_OPEN: WaitsOn.SOAK,
    pickable.Answer.DEPENDENCY_UNMET: WaitsOn.DEPENDENCY,
}


def own_waits(seen: Observation) -> FleetWaits:
    """What lanes and units wait for by themselves: before anybody asks whether there is room for one more worker.

    A lane of which no unit can be offered waits for the one that is likely to be free first. Where no plan declares
    anything, every lane may have work, and those are told that wait.
    """
    units = {name: by_clearing_time(_of_unit(seen, unit)) for name, unit in seen.unfinished.items()}
    units |= {unit.name: by_clearing_time(_of_unapproved(seen, unit)) for unit in seen.unapproved}
    lanes: dict[str, Waits] = {}
    for lane, backlog in seen.backlogs.items():
        left = [name for name in seen.open_units(lane) if name not in seen.claimed]
        found = by_clearing_time(_of_lane(seen, lane))
        is_told = bool(found) and (seen.has_no_plans or seen.is_parked(lane))
        if not left and not is_told:
            continue
        if left and not backlog.open and not seen.working_on(lane):
            first = clears_first((units.get(name, ()) for name in left), utc_datetime(seen.now_ms))
            found = by_clearing_time((*found, *first))
        lanes[lane] = found
    return FleetWaits(lanes=lanes, units=units)


def with_obstacles(
    seen: Observation, found: FleetWaits, obstacles: Sequence[Obstacle]
) -> FleetWaits:
    """With what the population plan says of lanes that have nothing of their own to wait for."""
    in_the_way = {
        each.lane: Waiting(on=each.waits_on, subject=each.lane, why=each.reason)
        for each in obstacles
    }
    lanes = dict(found.lanes)
    for lane, waits in lanes.items():
        if not waits and lane in in_the_way and not seen.has_no_plans:
            lanes[lane] = (in_the_way[lane],)
    units = {
        name: by_clearing_time((*waits, *_of_its_lane(seen, name, lanes)))
        for name, waits in found.units.items()
        if name not in seen.claimed
    }
    return FleetWaits(
        lanes=lanes, units=units | dict.fromkeys(seen.claimed & found.units.keys(), ())
    )


def _of_its_lane(seen: Observation, unit: str, lanes: dict[str, Waits]) -> Waits:
    """What a unit waits for because its lane does: less what the lane waits for because of its units."""
    lane = seen.lane_of.get(unit, "")
    if busy := seen.working_on(lane):
        return (
            Waiting(on=WaitsOn.REGION_HELD, subject=lane, why=f"lane {lane} is at work: {busy}"),
        )
    return tuple(each for each in lanes.get(lane, ()) if each.subject == lane)


def _of_lane(seen: Observation, lane: str) -> Iterator[Waiting]:
    yield from _parked(seen, lane)
    if seen.working_on(lane):
        return
    yield from _pauses(seen, lane)
    yield from _questions(seen, lane)
    yield from _stopped(seen, lane)
    yield from _starts(seen, lane)
    yield from _room(seen, lane)
    yield from _baseline(seen, lane)
    yield from _held(seen, lane)


def _parked(seen: Observation, lane: str) -> Iterator[Waiting]:
    """Of a lane whose worker waits."""
    lease = seen.leases.get(lane)
    if lease is None or not seen.is_parked(lane):
        return
    asked = [
        each
        for each in seen.answers.open.values()
        if subject.RunSubject(lease.run_id) in each.question.waits
    ]
    if asked:
        yield waiting_for_question(asked[0], lane)
        return
    parked = seen.parked[lease.run_id]
    on = _PARKED_FOR.get(parked.why, WaitsOn.UNKNOWN)
    until = utc_datetime(parked.until_ms) if parked.until_ms is not None else None
    yield Waiting(
        on=on,
        subject=lane,
        why=parked.detail or parked.why,
        since=utc_datetime(parked.since_ms),
        until=until,
    )


def _pauses(seen: Observation, lane: str) -> Iterator[Waiting]:
    for name, pause in seen.pauses.items():
        if name and comparison_key(name) != comparison_key(lane):
            continue
        by = f"by {pause.by}" if pause.by else ""
        why = ": ".join(part for part in (by, pause.reason) if part)
        command = f"dos resume {quote(name)}" if name else "dos resume"
        since = utc_datetime(pause.since_ms)
        yield Waiting(on=WaitsOn.PAUSE, subject=lane, why=why, since=since, clears_with=command)


def _questions(seen: Observation, lane: str) -> Iterator[Waiting]:
    for asked in seen.answers.open.values():
        if _holds(asked.question, lane):
            yield waiting_for_question(asked, lane)


def _holds(question: AnyQuestion, lane: str) -> bool:
    return not {subject.Fleet(), subject.Lane(lane)}.isdisjoint(question.waits)


def waiting_for_question(asked: OpenQuestion, held: str) -> Waiting:
    """`held` is the lane or the unit that waits for the answer."""
    return _waiting_for(asked.question, held, since=utc_datetime(asked.at_ms))


def _waiting_for(question: AnyQuestion, held: str, *, since: datetime | None) -> Waiting:
    return Waiting(
        on=question.waits_on,
        subject=held,
        why=question.text,
        since=since,
        until=utc_datetime(question.expires_ms) if question.expires_ms is not None else None,
        clears_with=question.answer_command,
        question=question.id,
    )


def _to_be_asked(seen: Observation, question: AnyQuestion | None) -> str:
    """The command that answers a question that is open or was not put yet; after an answer the next start tries."""
    if question is None or question.id in seen.answers.answered:
        return NEXT_START
    return question.answer_command


def _is_open(seen: Observation, question: AnyQuestion | None) -> bool:
    return question is not None and question.id in seen.answers.open


def _stopped(seen: Observation, lane: str) -> Iterator[Waiting]:
    """Its last run stopped for what only a person can clear, or found nothing that it may do a moment ago."""
    starts = seen.starts(lane)
    stopped = starts.stopped
    if stopped is None:
        return
    is_stuck = staffing.is_stuck(stopped.reason, stopped.needs)
    if is_stuck and not staffing.holds_only_units(stopped.reason, stopped.failed):
        question = seen.question_about_stop(lane)
        if not _is_open(seen, question):
            needs_world = stopped.needs == "environment"
            resumes = (
                f"dos resume {quote(lane)}" if stopped.reason in staffing.STOPPED_BY_PERSON else ""
            )
            yield Waiting(
                on=WaitsOn.ENVIRONMENT if needs_world else WaitsOn.PERSON,
                subject=lane,
                why=f"its last run stopped: {tokens.words(stopped.reason)}, {stopped.detail}",
                since=utc_datetime(stopped.at_ms),
                clears_with=resumes or _to_be_asked(seen, question),
            )
        return
    rested_ms = _rested_ms(starts)
    if seen.now_ms < rested_ms:
        yield Waiting(
            on=WaitsOn.COOLDOWN,
            subject=lane,
            why=f"its last run stopped: {tokens.words(stopped.reason)}",
            since=utc_datetime(stopped.at_ms),
            until=utc_datetime(rested_ms),
        )


def _rested_ms(starts: LaneStarts) -> int:
    """Its last run was told to wait; or came and found nothing that it may do, so that it saw another lane than we."""
    stopped = starts.stopped
    since_ms = starts.told_to_wait_ms
    if (
        stopped
        and staffing.found_no_work(stopped.reason, stopped.landed)
        and stopped.at_ms > starts.woken_ms
    ):
        since_ms = max(since_ms, stopped.at_ms)
    return since_ms + int(REST_SECONDS * 1000)


def _starts(seen: Observation, lane: str) -> Iterator[Waiting]:
    """Its workers die when they start: given up on, about to be, or after a back-off."""
    starts, question = seen.starts(lane), seen.question_about_deaths(lane)
    if _is_open(seen, question):
        return
    at = utc_datetime(starts.at_ms) if starts.at_ms else None
    on = WaitsOn.START_FAILED
    if starts.failed:
        command = _to_be_asked(seen, question)
        yield Waiting(on=on, subject=lane, why=starts.failed, since=at, clears_with=command)
    elif why := seen.why_failing(lane):
        yield Waiting(
            on=on, subject=lane, why=why, since=at, clears_with=_to_be_asked(seen, question)
        )
    elif seen.now_ms < (until_ms := seen.backoff_ends_ms(lane)):
        died = "its last worker ended without a word"
        yield Waiting(on=on, subject=lane, why=died, since=at, until=utc_datetime(until_ms))


def _room(seen: Observation, lane: str) -> Iterator[Waiting]:
    room = seen.cannot_start.get(lane)
    if room is None:
        return
    until = utc_datetime(room.until_ms) if room.until_ms is not None else None
    question = room.questions[0] if room.questions else None
    command = room.clears_with or (
        _to_be_asked(seen, question) if question or until is None else ""
    )
    is_listed = question is not None and _is_open(seen, question) and _holds(question, lane)
    if not is_listed:
        yield Waiting(
            on=room.waits_on,
            subject=lane,
            why=room.detail or room.parked_for,
            until=until,
            clears_with=command,
        )


def _baseline(seen: Observation, lane: str) -> Iterator[Waiting]:
    planned = seen.baseline
    if planned.step is gate.Step.CHECK:
        why = "the workspace's own test is checked first"
        yield Waiting(on=WaitsOn.ENVIRONMENT, subject=lane, why=why)
    elif planned.step is gate.Step.WAIT:
        is_about_it = (
            each for each in seen.answers.open.values() if isinstance(each.question, BaselineFailed)
        )
        asked = next(is_about_it, None)
        if asked:
            yield waiting_for_question(asked, lane)
        else:
            command = _to_be_asked(seen, planned.question)
            yield Waiting(
                on=WaitsOn.ENVIRONMENT, subject=lane, why=planned.why, clears_with=command
            )


def _held(seen: Observation, lane: str) -> Iterator[Waiting]:
    """Somebody who is no worker holds it."""
    lease = seen.leases.get(lane)
    if lease is None or seen.is_worker(lease):
        return
    command = f"dos lease-lane release --lane {quote(lane)} --owner {quote(lease.holder)}"
    why = f"{lease.holder} holds it"
    since = utc_datetime(lease.granted_ms)
    yield Waiting(on=WaitsOn.REGION_HELD, subject=lane, why=why, since=since, clears_with=command)


def _of_unit(seen: Observation, unit: Unit) -> Iterator[Waiting]:
    name = unit.name
    if why := seen.unstaffed.get(name):
        yield Waiting(on=WaitsOn.NO_LANE, subject=name, why=why)
        return
    if hold := seen.held_units.get(name):
        yield _of_hold(unit, hold)
    elif question := seen.unasked_failures.get(name):
        yield _of_possible_question(seen, question, name)
    elif verdict := seen.verdicts.get(name):
        yield _of_verdict(seen, unit, verdict)
    if rest := seen.on_cooldown.get(name):
        command = f"dos up --retry {quote(name)}"
        until = utc_datetime(rest.until_ms)
        why = f"{plural(rest.count, 'attempt')}, the last at {rest.last_ts}"
        yield Waiting(on=WaitsOn.COOLDOWN, subject=name, why=why, until=until, clears_with=command)


def _of_unapproved(seen: Observation, unit: Unit) -> Iterator[Waiting]:
    """Of a unit that is declared only by a plan as nobody approved it."""
    for question in seen.changed_texts:
        if not isinstance(question, PlanChanged) or question.document != unit.document:
            continue
        if question.id in seen.answers.answered:
            why = f"{unit.document} was edited on disk, and the edit is not approved"
            yield Waiting(on=WaitsOn.PERSON, subject=unit.name, why=why, clears_with=NEXT_START)
        else:
            yield _of_possible_question(seen, question, unit.name)


def _of_possible_question(seen: Observation, question: AnyQuestion, held: str) -> Waiting:
    """Of a question that stands, or that will be put at the next tick: then nobody has waited for it yet."""
    asked = seen.answers.open.get(question.id)
    return _waiting_for(question, held, since=utc_datetime(asked.at_ms) if asked else None)


def _of_hold(unit: Unit, hold: Hold) -> Waiting:
    if isinstance(hold.asked, AnsweredQuestion):
        command = f"dos up --retry {quote(unit.name)}"
        since = utc_datetime(hold.asked.answered_ms)
        return Waiting(
            on=WaitsOn.PERSON, subject=unit.name, why=hold.why, since=since, clears_with=command
        )
    return waiting_for_question(hold.asked, unit.name)


def _of_verdict(seen: Observation, unit: Unit, verdict: pickable.Verdict) -> Waiting:
    """What its plan, or what happened to it, holds it for."""
    reason = verdict.reason
    assert reason is not None
    on = _HELD_FOR.get(reason, WaitsOn.UNKNOWN)
    if (
        reason is pickable.Answer.OPERATOR_GATED and not unit.gated
    ):  # runs died at it, or it is not there any more
        on = WaitsOn.PERSON
    until = soak_end(unit.soak_until) if reason is pickable.Answer.SOAK_OPEN else None
    command = _clearing(seen, unit, verdict)
    return Waiting(on=on, subject=unit.name, why=verdict.evidence, until=until, clears_with=command)


def _clearing(seen: Observation, unit: Unit, verdict: pickable.Verdict) -> str:
    """What to type so that a unit is offered again; empty: it clears by itself."""
    if verdict.reason is pickable.Answer.DEPENDENCY_UNMET:
        return ""
    if unit.name in seen.undone and not unit.gated:
        return _to_be_asked(seen, seen.question_about_undone(unit.name))
    question = held_units.about_held(unit, verdict, seen.state)
    return question.command or question.answer_command
