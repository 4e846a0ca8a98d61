"""The hook before a tool call: refuses what the asker may not write."""

from dos.agenthooks.events import HookVerdict
from dos.agenthooks.io.hook_call import HookCall


def answer(_call: HookCall) -> HookVerdict:
    """Return the verdict on the call of an event."""
    return HookVerdict()
