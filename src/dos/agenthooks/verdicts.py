"""What a hook says of the answer to a call, before it is put into the words of a program."""

from dos.agenthooks.events import Action, HookVerdict
from dos.permission.ask import Allow, Answer, AskPerson, Deny


def verdict_of(answer: Answer) -> HookVerdict:
    """Return the verdict for an answer; a plain yes is no opinion."""
    match answer:
        case Deny():
            return HookVerdict(action=Action.DENY, reason=answer.sentence)
        case AskPerson():
            return HookVerdict(action=Action.ASK, reason=answer.question)
        case Allow(at_once=True):
            return HookVerdict(action=Action.ALLOW, reason="This call only reads.")
        case Allow() if answer.note:
            return HookVerdict(action=Action.WARN, context=answer.note)
    return HookVerdict()
