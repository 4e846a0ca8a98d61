"""The hook before a tool call: refuses what the asker may not write.

Who asks and what it may write is decided by `permission`. A call that it lets pass is compared with
the earlier calls of the conversation: with what it requires to be looked up before, and with what
its identifiers could be read from.
"""

from msgspec.structs import replace

from dos.agenthooks import precursor
from dos.agenthooks.events import Action, HookVerdict, Moment
from dos.agenthooks.io.hook_call import HookCall
from dos.agenthooks.io.posttool import steps_of
from dos.agenthooks.verdicts import verdict_of
from dos.journal.events.doors import HookAnswered
from dos.permission.ask import HOOK, Allow, Asker
from dos.permission.io.asker import find_asker
from dos.permission.io.decide import Place, decide
from dos.permission.io.record import tell
from dos.permission.io.resolve import guarded_trees
from dos.permission.policy import posture_in_use

MOST_READ = 500  # events of the conversation


def answer(call: HookCall) -> HookVerdict:
    """Return the verdict on the call of an event. A plain yes says nothing and is not recorded."""
    event = call.event
    if event.moment != Moment.PRETOOL or not event.tool or event.has_result:
        return HookVerdict()
    verdict = _judge(call)
    if verdict.action in (Action.DENY, Action.ASK):
        return verdict
    return _add(verdict, _precursor_warning(call))


def _judge(call: HookCall) -> HookVerdict:
    """Judge by who asks and what is written, and record what is said."""
    environment = call.caller.environment
    tree, here = call.trees

    def find() -> Asker:
        return find_asker(
            call.world,
            session=call.session,
            tree=here,
            caller_pid=call.caller.pid,
            environment=environment,
        )

    decision = decide(
        call.event.call(call.cwd),
        find,
        Place(tree=tree, beside=here, guarded=guarded_trees(call.world.workspace)),
        posture=posture_in_use(call.world.config.enforcement, environment),
    )
    answer = decision.answer
    says_something = not isinstance(answer, Allow) or bool(answer.note)
    if decision.ask is not None and says_something and call.is_known:
        answer = tell(call.store, decision.ask, answer, via=HOOK)
    return verdict_of(answer)


def _precursor_warning(call: HookCall) -> str:
    """Return a warning where a tool was called without what it requires; else an empty text."""
    policy = call.world.config.precursor
    if not policy.requires:
        return ""
    earlier = [step.tool for step in steps_of(call.recent_events(MOST_READ))]
    verdict = precursor.judge(call.event.tool, earlier, policy)
    if verdict.answer is not precursor.Answer.REFUTED:
        return ""
    call.record(
        HookAnswered(
            moment=Moment.PRETOOL,
            action=Action.WARN,
            reason_class="PRECURSOR_MISSING",
            reason=verdict.reason,
            tool=call.event.tool,
            session=call.session,
            run_id=call.run_id,
        )
    )
    return f"dos: {verdict.reason}. Look it up first."


def _add(verdict: HookVerdict, warning: str) -> HookVerdict:
    """Return the verdict with one more fact for the agent."""
    if not warning:
        return verdict
    context = f"{verdict.context} {warning}".strip()
    return replace(verdict, action=Action.WARN, context=context)
