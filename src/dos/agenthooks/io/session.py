"""The hook at the start of a conversation: whose it is, and what its agent should know."""

from dos.agenthooks.events import Action, HookVerdict, Moment
from dos.agenthooks.io.hook_call import HookCall
from dos.permission.ask import Asker, AskerKind
from dos.permission.io.asker import find_asker, lease_to_bind
from dos.permission.io.record import bind_session
from dos.permission.judge import name_lanes
from dos.text import join_some


def answer(call: HookCall) -> HookVerdict:
    """Bind the conversation to the lease of the process that runs it, and tell the agent.

    Only where the hook descends from that process: an event can name any conversation. Whoever has
    no such lease is bound to none; that is for its user (`dos lease-lane acquire --session ID`). A
    conversation that was bound before keeps its lease.
    """
    if call.event.moment != Moment.SESSION or not call.is_known:
        return HookVerdict()
    asker = find_asker(
        call.world,
        session=call.session,
        tree=call.trees[1],
        caller_pid=call.caller.pid,
        environment=call.caller.environment,
    )
    lease = lease_to_bind(
        call.world, session=call.session, fence=asker.fence, caller_pid=call.caller.pid
    )
    if asker.kind is AskerKind.HOLDER and lease is not None:
        bind_session(call.store, call.session, lease, of_process=True)
    told = _told(asker)
    if not told:
        return HookVerdict()
    return HookVerdict(action=Action.WARN, context=told)


def _told(asker: Asker) -> str:
    """One line about the lanes that matter here; empty where none does."""
    match asker.kind:
        case AskerKind.HOLDER:
            which = "these lanes" if asker.further else "that lane"
            return f"dos: you hold {name_lanes(asker)}. Change only files of {which}."
        case AskerKind.LOST:
            return f"dos: your lease of lane {asker.lane} has ended. Change nothing here."
        case AskerKind.STRANGER:
            return "dos: this is the work tree of a lane that you do not hold. Change nothing here."
        case AskerKind.PERSON:
            lanes = [f"{each.lane} ({', '.join(each.region.globs)})" for each in asker.neighbours]
            if not lanes:
                return ""
            return f"dos: workers hold these lanes now: {join_some(lanes)}."
