"""Facts about the doors of dos: what agents asked, what they were told, what was sent outwards."""

from typing import Any

from msgspec import field

from dos.journal.events.envelope import Fact
from dos.units.unit import PlanMove


class ToolCalled(Fact, frozen=True, kw_only=True):
    """An agent program reported that a tool was used. Holds digests, never contents."""

    kind = "tool_called"
    session: str  # the agent program's own name for the conversation
    tool: str
    args_digest: str
    result_digest: str = ""  # empty: the program reported no result
    paths: tuple[str, ...] = ()  # that the call writes, as far as it is known
    run_id: str = ""


class HookAnswered(Fact, frozen=True, kw_only=True):
    """An agent was denied something, warned, or told to ask a person.

    Recorded for answers that say something; a plain "allow" is not.
    """

    kind = "hook_answered"
    moment: str  # pretool, posttool, stop, marker, session
    action: str  # DENY, WARN, ASK
    reason_class: str = ""  # a token of the table of reasons
    reason: str = ""
    tool: str = ""
    paths: tuple[str, ...] = ()
    session: str = ""
    run_id: str = ""
    lane: str = ""
    fence: int | None = None
    via: str = "hook"  # hook, or pipe: the agent's own protocol
    intervention: str = ""  # a rung of the intervention ladder


class RunSteered(Fact, frozen=True, kw_only=True):
    """A person has a message for the agent of a run (`dos steer`).

    It is for the agent that works on the lane now, or else for the next one there.
    """

    kind = "run_steered"
    run_id: str
    lane: str
    id: str  # of the message
    message: str
    unit: str = ""  # in work when it was written; empty: none was
    by: str = ""


class SteerDelivered(Fact, frozen=True, kw_only=True):
    """An agent is about to be told a message. Recorded before, so that none is told twice."""

    kind = "steer_delivered"
    run_id: str  # of the agent
    lane: str
    id: str
    unit: str = ""  # that the agent works on
    agent: str = ""
    in_prompt: bool = False  # with its prompt; else while it worked


class MarkerHeld(Fact, frozen=True, kw_only=True):
    """The marker hook kept a waiting session open once more."""

    kind = "marker_held"
    session: str


class MarkerReset(Fact, frozen=True, kw_only=True):
    """The count of a session's holds begins again."""

    kind = "marker_reset"
    session: str


class SessionBound(Fact, frozen=True, kw_only=True):
    """A conversation of an agent program belongs to the holder of a lease."""

    kind = "session_bound"
    session: str
    lane: str
    fence: int
    # The process of the lease, where descent from it is the proof: the conversation is then that
    # of its descendants alone. None: a person named the conversation.
    pid: int | None = None
    pid_started: float | None = None


class ExportAdvanced(Fact, frozen=True, kw_only=True):
    """`dos export` has shipped every event up to a position over one transport."""

    kind = "export_advanced"
    transport: str
    position: int


class NotificationSent(Fact, frozen=True, kw_only=True):
    """A message went out to people. `key` is what it is about: the next one replaces it."""

    kind = "notification_sent"
    transport: str
    key: str
    ref: str = ""  # the transport's own name for the message, by which it can be edited
    digest: str = ""  # of what it said


class VerdictGiven(Fact, frozen=True, kw_only=True):
    """A verb that judges gave its verdict. Losing one changes no state."""

    kind = "verdict_given"
    syscall: str  # the verb
    verdict: str  # the token of its exit code
    subject: str = ""  # what was judged: PLAN::UNIT, a unit, a commit
    run_id: str = ""
    lane: str = ""
    detail: dict[str, Any] = field(default_factory=dict)


class LifecycleTicked(Fact, frozen=True, kw_only=True):
    """One cycle over the classes of plans ended. A plan that moved rests for its cooldown."""

    kind = "lifecycle_ticked"
    moves: tuple[PlanMove, ...] = ()
    commit: str = ""  # that changed the documents
