"""The marker hook: holds the turn of a waiting agent open, a limited number of times."""

from dos.agenthooks import marker
from dos.agenthooks.events import Moment
from dos.agenthooks.io.hook_call import HookCall
from dos.errors import BadInput
from dos.journal.events.doors import MarkerHeld, MarkerReset
from dos.journal.events.reader import select

MOST_READ = 10_000  # events of one conversation


def reset(call: HookCall) -> None:
    """Let the count of the conversation begin again."""
    if not call.session:
        raise BadInput("it is not known which conversation to reset", hint="Give --session-id ID.")
    call.record(MarkerReset(session=call.session))


def judge(call: HookCall) -> marker.Verdict:
    """Return whether the turn is held, and record it if so."""
    config = call.world.config
    most = call.options.max_markers
    if most is None:
        most = config.marker.max_streak
    if most is None:
        most = config.noop_streak.max_streak
    armed = marker.is_armed(config.marker, call.caller.environment, loop=call.options.loop)
    is_stop = call.event.moment == Moment.MARKER and not call.event.was_cut_off
    can_count = bool(call.session) and call.is_known
    verdict = marker.judge(
        marker.Evidence(
            held=_held(call),
            armed=armed and is_stop and can_count,
            already_continued=call.event.already_continued,
        ),
        config.marker,
        most=most,
    )
    if verdict.hold:
        call.record(MarkerHeld(session=call.session))
    return verdict


def _held(call: HookCall) -> int:
    """How often the turn was held since the last reset."""
    held = 0
    for _, fact in select(call.recent_events(MOST_READ), MarkerHeld, MarkerReset):
        if isinstance(fact, MarkerReset):
            held = 0
        else:
            held += 1
    return held
