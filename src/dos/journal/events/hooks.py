"""What is written of the hooks of agent programs. They stand in one stream, `hooks`."""

from dos.journal.events.envelope import Fact


class HookFault(Fact, frozen=True, kw_only=True):
    """A hook could not answer and let the agent continue; one of a session is written, with its session as the key."""

    kind = "hook_fault"
    moment: str  # as it was typed
    problem: str
    session: str = (
        ""  # the agent program's own name for the conversation; empty: the event names none
    )
