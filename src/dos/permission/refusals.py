"""The refusals that follow from no region: nobody judged the call, or a person has to allow it.

The model reads these sentences, whatever transport brings them. Each class is a row of the table of
reasons (`reasons/calls.py`).
"""

from dos.permission.ask import Allow, Deny
from dos.permission.call import ToolCall
from dos.unknown import Unknown, call_or_unknown

NEEDS_PERSON = "NEEDS_PERSON"
NOT_JUDGED = "NOT_JUDGED"
REQUEST_UNREADABLE = "REQUEST_UNREADABLE"
NO_ANSWER = "dos did not answer, so this call is refused."  # for hooks that reach nobody
_WITHOUT_IT = "Work without it, or finish and say what you would have needed."


def _needs_person(reason: str) -> Deny:
    return Deny(reason=reason, hint=_WITHOUT_IT, reason_class=NEEDS_PERSON)


NOT_ANSWERED = _needs_person("Only a person can allow this, and nobody answered in time.")
# The tool is a question to a user, and an agent of the fleet has none.
NOBODY_THERE = Deny(
    reason="Nobody is there to answer: you work unattended.",
    hint="Decide by what the unit says, and name what you had to assume in the commit message.",
    reason_class="NOBODY_THERE",
)
UNREADABLE = Deny(
    reason="The request could not be read, so it is refused.",
    hint="Write less at once.",
    reason_class=REQUEST_UNREADABLE,
)
UNKNOWN_EVENT = Deny(
    reason="dos does not know this kind of event, so the call is refused.",
    reason_class=REQUEST_UNREADABLE,
)


def too_many(most: int) -> Deny:
    """Return the refusal of one request more than may wait at once."""
    return Deny(
        reason=f"{most} requests of this program already wait for an answer.",
        hint="Ask for one thing at a time.",
        reason_class=REQUEST_UNREADABLE,
    )


def denied_by(person: str) -> Deny:
    """Return the refusal of a person; an empty name is that of somebody unknown."""
    return _needs_person(f"{person or 'A person'} was asked to allow this, and denied it.")


def answer_unjudged(call: ToolCall, why: str) -> Allow | Deny:
    """Answer a call of the fleet that could not be judged: only a read is allowed.

    Never raises: what judges a call may also fail to read it.
    """
    footprint = call_or_unknown(lambda: call.footprint("/"))
    if not isinstance(footprint, Unknown) and footprint.reads_only:
        return Allow()
    problem = " ".join(why.split()).rstrip(".")
    return Deny(
        reason=f"dos could not judge this call, so it is refused: {problem}.",
        reason_class=NOT_JUDGED,
    )
