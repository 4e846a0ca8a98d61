"""The hook at the start of a conversation."""

from dos.agenthooks.events import HookVerdict
from dos.agenthooks.io.hook_call import HookCall


def answer(_call: HookCall) -> HookVerdict:
    """Return what the agent is told."""
    return HookVerdict()
