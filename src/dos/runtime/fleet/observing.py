"""The fleet as a tick sees it: lanes with their work and their workers, questions for people, runs that spin."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from dos.config.tables import Config
from dos.journal.states import decisions as asked
from dos.journal.states import fleet as folded
from dos.journal.states.decisions import Decisions
from dos.plans import starting
from dos.plans.limits import deciding
from dos.plans.limits.deciding import Question
from dos.plans.staffing import Lane
from dos.plans.starting import Left
from dos.records.leases import Lease
from dos.records.reasons import Needs
from dos.records.regions import region
from dos.runtime.effects import NoRoom

START_SECONDS = 120.0  # a worker that has not taken its lease by then is not coming
REST_SECONDS = 30.0  # after a run was told to wait
GIVEN_UP = ("operator", "environment")
LETS_GO = ("retry", "raise", "fixed", "again", "wait")  # the answers after which a lane is worked on again
SAID_ALREADY = ("decision-needed", "halted", "drain", "benign-drain", "lane-held")


class Seen(Struct, frozen=True, kw_only=True):
    """What the journal and git say now."""

    config: Config
    state: folded.Fleet
    answers: Decisions
    leases: Mapping[str, Lease]  # by lane
    offered: Mapping[str, int]  # how many units each lane could take
    lane_of: dict[str, str] = {}  # by unit
    roomless: Mapping[str, NoRoom]  # lanes on which no agent may be started now, and why
    now_ms: int
    gone: Callable[[Lease], bool]  # its process, by the word of its own system
    never_came: Callable[[folded.Starts], bool]  # the worker that was started, by the word of its own system


def lanes(seen: Seen) -> list[Lane]:
    # A lease on a lane that the roster does not have keeps its region as any other does.
    return [_lane(seen, name) for name in dict.fromkeys([*seen.offered, *seen.leases])]


def _lane(seen: Seen, name: str) -> Lane:
    policy, lease = seen.config.supervise, seen.leases.get(name)
    starts = seen.state.starts.get(name, folded.Starts())
    period_ms = policy.restart_period_seconds * 1000
    recent = [at for at in starts.unended.values() if seen.now_ms - at < period_ms]
    back_off_ms = policy.restart_backoff_seconds * 1000 * 2 ** (len(recent) - 1) if recent else 0
    paused = "" in seen.state.paused or name in seen.state.paused
    waiting = seen.now_ms - starts.told_to_wait_ms < REST_SECONDS * 1000
    return Lane(
        name=name,
        region=lease.region if lease else seen.config.lane_region(name) or region([]),
        exclusive=seen.config.is_exclusive(name) or (lease is not None and lease.exclusive),
        offerable=seen.offered.get(name, 0),
        held=lease is not None,
        ours=lease is None or _is_of_worker(seen, lease),
        holder_gone=lease is not None and seen.gone(lease),
        pending=lease is None and _pending(seen, starts),
        failed=waits_for_a_person(seen, name),
        resting=paused or waiting or name in seen.roomless or seen.now_ms - starts.at_ms < back_off_ms,
        recent_starts=len(recent),
        most_starts=policy.restart_intensity,
    )


def _is_of_worker(seen: Seen, lease: Lease) -> bool:
    """A worker's own lane: what it holds besides, to groom the plans, is no second worker."""
    run = seen.state.runs.get(lease.run_id)
    return bool(lease.run_id) and (run is None or run.lane == lease.lane)


def waits_for_a_person(seen: Seen, lane: str) -> bool:
    starts = seen.state.starts.get(lane, folded.Starts())
    held = asked.held(seen.answers)
    if lane in seen.roomless and seen.roomless[lane].needs is Needs.OPERATOR:
        return True
    if not held.isdisjoint({"fleet", f"lane:{lane}"}):
        return True
    stopped = starts.stopped
    if starts.failed and not _let_go(seen, lane, "", since_ms=seen.state.started_ms):
        return True
    if stopped is None or stopped.needs not in GIVEN_UP:
        return False
    return f"run:{stopped.run_id}" in held or not _let_go(seen, lane, stopped.run_id, since_ms=stopped.at_ms)


def _let_go(seen: Seen, lane: str, run_id: str, *, since_ms: int) -> bool:
    """Somebody has answered since then that it may go on."""
    mine = {
        "fleet",
        f"lane:{lane}",
        f"run:{run_id}",
        *(f"unit:{unit}" for unit, at in seen.lane_of.items() if at == lane),
    }
    return any(
        answer.answered_ms >= since_ms
        and answer.choice in LETS_GO
        and any(waiting in mine or waiting.startswith("limit:") for waiting in answer.raised.waits)
        for answer in seen.answers.answered.values()
    )


def questions(seen: Seen, undone: Mapping[str, str]) -> Iterator[Question]:
    """What nobody was asked yet: why a lane stopped that has work, and units that landed and are gone."""
    found = [
        deciding.unit_undone(unit, commit=seen.state.units[unit].landed, why=why)
        for unit, why in undone.items()
        if unit in seen.state.units
    ]
    # Where nobody may be started, no worker comes to ask.
    found += [question for room in seen.roomless.values() for question in room.questions]
    for lane, starts in seen.state.starts.items():
        stopped = starts.stopped
        if not stopped or stopped.needs not in GIVEN_UP or stopped.reason in SAID_ALREADY:
            continue
        if seen.offered.get(lane) and waits_for_a_person(seen, lane):
            found.append(deciding.lane_stopped(lane, stopped.run_id, f"{stopped.reason}, {stopped.detail}"))
    fresh = {question.id: question for question in found if not seen.answers.knows(question.id)}
    yield from fresh.values()


def found(seen: Seen, landed: Sequence[str]) -> starting.Found:
    """What was left when the journal was last written."""
    lefts = []
    for run_id, run in seen.state.runs.items():
        lease = next((each for each in seen.leases.values() if each.run_id == run_id), None)
        if lease is None and run.stop_reason:
            continue
        lefts.append(
            Left(
                lane=run.lane,
                holder=lease.holder if lease else "",
                process_gone=lease is not None and seen.gone(lease),
                iterations=run.iterations,
                unit="" if _is_done(seen, run.unit) else run.unit,
            )
        )
    return starting.plan(lefts, landed)


def _is_done(seen: Seen, unit: str) -> bool:
    """It landed, or its landing was under way: git says how far that came, and it is not done again."""
    found = seen.state.units.get(unit)
    return found is not None and bool(found.landed or found.intended)


def _pending(seen: Seen, starts: folded.Starts) -> bool:
    if not starts.pending or seen.now_ms - starts.at_ms > START_SECONDS * 1000:
        return False
    return not seen.never_came(starts)
