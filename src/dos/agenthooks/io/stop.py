"""The stop hook: an agent that says it is done goes on until git shows its work."""

from collections.abc import Sequence

from dos.agenthooks.events import Action, HookVerdict, Moment
from dos.agenthooks.io.hook_call import HookCall
from dos.claims import stop
from dos.claims.io.stop import StopRequest, gather
from dos.journal.events.doors import HookAnswered
from dos.verify import shipped

UNSHIPPED = "CLAIM_NOT_SHIPPED"


def why_not_checked(call: HookCall) -> str:
    """Return why an event is let through unchecked; "" if it has to be checked."""
    event = call.event
    if event.moment != Moment.STOP or event.was_cut_off:
        return "the event is not a stop"
    if event.already_continued and not call.options.force:
        return "this stop was refused once already"
    return ""


def judge(call: HookCall) -> stop.Verdict:
    """Return whether the agent may stop, by its claims and what git shows of them."""
    options = call.options
    request = StopRequest(
        last_message=call.event.last_message,
        event_transcript=call.event.transcript,
        transcript=options.transcript,
        plan=options.plan,
        phase=options.phase,
        last_turns=options.last_turns,
    )

    def verify(units: Sequence[tuple[str, str]]) -> Sequence[shipped.Verdict]:
        """Verify these units in the workspace of the event."""
        from dos.verify.io import verifier  # imported here: most stops claim nothing

        with call.open_lenient_world() as world:
            return verifier.verify(world, units)

    return stop.judge(gather(request, verify), strict=options.strict)


def as_hook_verdict(call: HookCall, verdict: stop.Verdict) -> HookVerdict:
    """Return the refusal for the program, after recording it; PASS where the agent may stop."""
    if not verdict.refused:
        return HookVerdict()
    call.record(
        HookAnswered(
            moment=Moment.STOP,
            action=Action.DENY,
            reason_class=UNSHIPPED,
            reason=verdict.reason,
            session=call.session,
            run_id=call.run_id,
        )
    )
    return HookVerdict(action=Action.DENY, reason=verdict.reason)
