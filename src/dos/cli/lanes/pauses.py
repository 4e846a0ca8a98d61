"""Read, record and end the pauses of a lane or of the whole fleet.

During a pause no new work is started, and no work is stopped. `dos pause`, `dos resume` and
`dos halt` use this.
"""

from shlex import quote

from dos.cli.lanes import caller
from dos.errors import BadInput
from dos.fleet.state.fleet import FleetState, LaneStarts
from dos.fleet.state.live import LiveState, Pause
from dos.journal import fold, streams
from dos.journal.events.limits import PauseEnded, PauseRequested
from dos.text import join_some, validated_name
from dos.verbs.context import Context, Reply, actor


def active_pauses(context: Context) -> dict[str, Pause]:
    """Return the pauses in force by lane; "" is the key of a pause of the whole fleet."""
    return fold.fold(LiveState(), context.journal_world.journal.load(streams.FLEET)).pauses


def validated_lane(context: Context, lane: str) -> str:
    """Return the lane's declared name, or "" if none is given; raises BadInput if it is unknown."""
    if not lane:
        return ""
    return caller.known_lane(context.journal_world, validated_name(lane, "lane name"))


def record_pause(context: Context, lane: str, reason: str) -> None:
    """Record in the journal that the lane, or with "" the fleet, is paused."""
    context.journal.record(streams.FLEET, PauseRequested(lane=lane, by=actor(), reason=reason))


def describe(lane: str) -> str:
    """Return "lane NAME", or "the fleet" for no lane."""
    if not lane:
        return "the fleet"
    return f"lane {lane}"


def resume_command(lane: str) -> str:
    """Return the command that ends the pause."""
    if not lane:
        return "dos resume"
    return f"dos resume {quote(lane)}"


def end_pause(context: Context, lane: str) -> Reply:
    """End the pause of a lane or the fleet, or let a stopped lane start again.

    Raises BadInput if neither a lane nor a run is named and the fleet is not paused: the caller may
    have meant a run.
    """
    lane = validated_lane(context, lane)
    pauses = active_pauses(context)
    if not lane and "" not in pauses:
        raise _nothing_to_resume(list(pauses))
    names = _lanes_that_need_a_person(context, lane) if lane else []
    if lane in pauses and lane not in names:
        names.insert(0, lane)
    for name in names:
        context.journal.record(streams.FLEET, PauseEnded(lane=name, by=actor()))
    resumed = bool(names)
    text = f"{describe(lane)} is not paused"
    if resumed:
        text = f"{describe(lane)} can start again"
    fleet_paused = bool(lane) and "" in pauses
    if fleet_paused:
        text += f"; the fleet is still paused: `{resume_command('')}` ends that"
    return Reply(
        text=text,
        data={"resumed": resumed, "lane": lane or None, "fleet_paused": fleet_paused},
    )


def _nothing_to_resume(paused_lanes: list[str]) -> BadInput:
    """Return the error for `dos resume` without a lane or a run while the fleet is not paused."""
    if not paused_lanes:
        return BadInput(
            "the fleet is not paused, and no run is named",
            hint="`dos resume --run-id RID` shows where a run can resume.",
        )
    return BadInput(
        f"the fleet is not paused, but {join_some(paused_lanes)} is, and no run is named",
        hint=f"`{resume_command(paused_lanes[0])}` ends that pause.",
    )


def _lanes_that_need_a_person(context: Context, lane: str) -> list[str]:
    """Return the lane, and the parts of a repeatable one, that only a person's word starts again.

    The last run was halted or stopped for something an operator has to clear, or the starts failed.
    """
    fleet, _ = fold.current(context.journal_world.journal, FleetState)
    whole_of = context.journal_world.config.lanes.whole_of
    found = []
    for name, starts in fleet.starts.items():
        if (name == lane or whole_of(name) == lane) and _needs_a_person(starts):
            found.append(name)
    return found


def _needs_a_person(starts: LaneStarts) -> bool:
    if starts.failed:
        return True
    return starts.stopped is not None and starts.stopped.needs in ("operator", "environment")
