"""The hook before a tool call: refuses what the asker may not write.

Who asks and what it may write is decided by `permission`. A call that it lets pass is compared with
the earlier calls of the conversation: with what it requires to be looked up before, and with what
its identifiers could be read from.
"""

from pathlib import Path

from msgspec.structs import replace

from dos import workspace
from dos.agenthooks import precursor
from dos.agenthooks.events import Action, HookVerdict, Moment
from dos.agenthooks.io.hook_call import HookCall
from dos.agenthooks.io.posttool import steps_of
from dos.journal.events.doors import HookAnswered
from dos.permission.ask import Allow, Answer, Ask, AskPerson, Deny, Footprint, Posture
from dos.permission.footprint import read_footprint
from dos.permission.io import record
from dos.permission.io.asker import find_asker
from dos.permission.io.resolve import guarded_trees, resolve
from dos.permission.judge import judge
from dos.permission.policy import posture_in_use

MOST_READ = 500  # events of the conversation


def answer(call: HookCall) -> HookVerdict:
    """Return the verdict on the call of an event. A plain yes says nothing and is not recorded."""
    event = call.event
    if event.moment != Moment.PRETOOL or not event.tool or event.has_result:
        return HookVerdict()
    tree = workspace.find(call.start).tree
    footprint = read_footprint(
        event.tool,
        event.arguments,
        cwd=event.cwd or str(call.start),
        root=str(tree),
        host=event.host,
        paths=event.paths,
        command=event.command,
    )
    verdict = _judge(call, tree, footprint)
    if verdict.action in (Action.DENY, Action.ASK):
        return verdict
    return _add(verdict, _precursor_warning(call))


def _judge(call: HookCall, tree: Path, footprint: Footprint) -> HookVerdict:
    """Judge by who asks and what is written. The journal is not read for a call that only reads."""
    environment = call.caller.environment
    posture = posture_in_use(call.world.config.enforcement, environment)
    if footprint.reads_only and posture is not Posture.ASSIST:
        return HookVerdict()
    asker = find_asker(
        call.world,
        session=call.session,
        tree=tree,
        caller_pid=call.caller.pid,
        environment=environment,
    )
    ask = Ask(
        asker=replace(asker, posture=posture),
        tool=call.event.tool,
        footprint=resolve(footprint, tree, guarded=guarded_trees(call.world.workspace)),
        command=call.event.command,
    )
    return _say(call, ask, judge(ask), footprint)


def _say(call: HookCall, ask: Ask, answer: Answer, footprint: Footprint) -> HookVerdict:
    """Return what is said of an answer, and record it."""
    match answer:
        case Deny():
            verdict = HookVerdict(action=Action.DENY, reason=answer.sentence)
        case AskPerson():
            verdict = HookVerdict(action=Action.ASK, reason=answer.question)
        case Allow():
            # Paths that are nobody's business were dropped: only the whole footprint proves a read.
            if answer.at_once and footprint.reads_only:
                return HookVerdict(action=Action.ALLOW, reason="This call only reads.")
            if not answer.note:
                return HookVerdict()
            verdict = HookVerdict(action=Action.WARN, context=answer.note)
    if not call.is_known:
        return verdict
    if record.is_repeated(call.store, ask, answer):
        return HookVerdict()
    record.record_answer(
        call.store, ask, answer, moment=Moment.PRETOOL, action=verdict.action, via="hook"
    )
    return verdict


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
