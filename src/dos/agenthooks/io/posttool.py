"""The hook after a tool call: remembers the call by digests, and tells an agent that is stuck."""

from collections.abc import Sequence

from dos.agenthooks import tool_stream
from dos.agenthooks.events import Action, HookVerdict, Moment
from dos.agenthooks.io.hook_call import HookCall
from dos.agenthooks.tool_stream import Step
from dos.journal.events.doors import HookAnswered, ToolCalled
from dos.journal.events.envelope import Event
from dos.journal.events.reader import select

FEWEST_READ = 20  # events of the conversation beside those that the policy counts


def answer(call: HookCall) -> HookVerdict:
    """Record the call, and warn where it repeats the ones before it with the same result."""
    event = call.event
    if event.moment != Moment.POSTTOOL or not event.tool or not call.session:
        return HookVerdict()
    result_digest = ""
    if event.has_result:
        result_digest = tool_stream.result_digest(event.result)
    recorded = call.record(
        ToolCalled(
            session=call.session,
            tool=event.tool,
            args_digest=tool_stream.args_digest(event.tool, event.arguments),
            result_digest=result_digest,
            paths=_written_paths(call),
            run_id=call.run_id,
        )
    )
    if recorded is None:
        return HookVerdict()
    policy = call.world.config.tool_stream
    # A warning between two calls is an event of the conversation too.
    events = call.recent_events(2 * policy.stall_n + FEWEST_READ)
    verdict = tool_stream.judge(steps_of(events), policy)
    if not verdict.message:
        return HookVerdict()
    call.record(
        HookAnswered(
            moment=Moment.POSTTOOL,
            action=Action.WARN,
            reason_class=f"TOOL_STREAM_{verdict.state}",
            reason=verdict.message,
            tool=event.tool,
            session=call.session,
            run_id=call.run_id,
        )
    )
    return HookVerdict(action=Action.WARN, context=verdict.message)


def _written_paths(call: HookCall) -> tuple[str, ...]:
    """What the call wrote, as far as it can be read."""
    tree, _ = call.trees
    footprint = call.event.call(call.cwd).footprint(str(tree))
    return footprint.paths


def steps_of(events: Sequence[Event]) -> list[Step]:
    """Return the tool calls among the events of a conversation, oldest first."""
    return [
        Step(tool=fact.tool, args_digest=fact.args_digest, result_digest=fact.result_digest)
        for _, fact in select(events, ToolCalled)
    ]
