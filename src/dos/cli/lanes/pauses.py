"""Pauses: who asked for which, and how one is asked for and ended."""

from shlex import quote

from dos.cli.lanes import caller
from dos.errors import BadInput
from dos.fleet.state.fleet import Fleet, Starts
from dos.fleet.state.live import Pause, Watching
from dos.journal import fold, streams
from dos.journal.events.limits import PauseEnded, PauseRequested
from dos.text import join_some, validated_name
from dos.verbs.context import Context, Reply, actor


def active_pauses(context: Context) -> dict[str, Pause]:
    """By lane; under no name, the whole fleet's."""
    return fold.fold(Watching(), context.journal_world.journal.load(streams.FLEET)).pauses


def validated_lane(context: Context, given: str) -> str:
    return (
        caller.known_lane(context.journal_world, validated_name(given, "lane name"))
        if given
        else ""
    )


def record_pause(context: Context, lane: str, reason: str) -> None:
    context.journal.record(streams.FLEET, PauseRequested(lane=lane, by=actor(), reason=reason))


def describe(lane: str) -> str:
    return f"lane {lane}" if lane else "the fleet"


def resume_command(lane: str) -> str:
    """What ends the pause."""
    return f"dos resume {quote(lane)}" if lane else "dos resume"


def end_pause(context: Context, given: str) -> Reply:
    """End a pause, or let a lane go on that was stopped; but whoever names nothing at all may have meant a run."""
    lane, paused = validated_lane(context, given), active_pauses(context)
    if not lane and lane not in paused:
        lanes = f", but {join_some(list(paused))} is" if paused else ""
        raise BadInput(
            f"the fleet is not paused{lanes}, and no run is named",
            hint=f"`{resume_command(next(iter(paused)))}` ends that pause."
            if paused
            else "`dos resume --run-id RID` says where a run goes on.",
        )
    goes_on = lane in paused or (bool(lane) and _was_stopped(context, lane))
    if goes_on:
        context.journal.record(streams.FLEET, PauseEnded(lane=lane, by=actor()))
    told = f"{describe(lane)} goes on" if goes_on else f"{describe(lane)} is not paused"
    still = (
        f"; the fleet is still paused, `{resume_command('')}` ends that"
        if lane and "" in paused
        else ""
    )
    return Reply(
        text=told + still,
        data={"resumed": goes_on, "lane": lane or None, "fleet_paused": bool(still)},
    )


def _was_stopped(context: Context, lane: str) -> bool:
    """Its last run ended in a way that only a person's word clears, a halt among them; or it was given up on."""
    fleet, _ = fold.current(context.journal_world.journal, Fleet)
    starts = fleet.starts.get(lane, Starts())
    return bool(starts.failed) or (
        starts.stopped is not None and starts.stopped.needs in ("operator", "environment")
    )
