"""Which tools a client is offered: all that read, and those that act where it was allowed."""

from msgspec import Struct

from dos.errors import BadInput
from dos.mcp.lead_tools import LEAD_TOOLS
from dos.mcp.loop_tools import LOOP_TOOLS
from dos.mcp.tool import Effect, Tool
from dos.mcp.worker_tools import WORKER_TOOLS
from dos.text import nearest_names, quote, suggest
from dos.verbs.listing.table import VERBS

PREFIX = "dos_"  # the names of dos-kernel; every client puts the server's name before a tool
TOOLS = {
    tool.name: tool for tool in (*LEAD_TOOLS, *WORKER_TOOLS, *LOOP_TOOLS) if tool.verb in VERBS
}
SWITCHES = {Effect.FLEET: "--allow-fleet", Effect.ANSWER: "--allow-answers"}


class Permits(Struct, frozen=True, kw_only=True):
    """What tools may change besides nothing.

    By default they record what the caller itself does: leases, attempts, decisions of its own loop.
    Starting and stopping agents costs money and work, and an answer is a person's, so both have to
    be allowed. None of this gives an agent of a fleet a right that it has not on the command line.
    """

    callers: bool = True  # whether the server can tell which process asks
    records: bool = True
    fleet: bool = False
    answers: bool = False

    def allows(self, effect: Effect) -> bool:
        """Whether a tool with this effect may be called."""
        match effect:
            case Effect.READ:
                return True
            case Effect.CALLER:
                return self.callers
            case Effect.RECORD:
                return self.records
            case Effect.FLEET:
                return self.fleet
            case Effect.ANSWER:
                return self.answers


def offered(permits: Permits) -> list[Tool]:
    """Return the tools that may be called, in the order in which they are listed."""
    tools = [tool for tool in TOOLS.values() if permits.allows(tool.effect)]
    return [tool.narrowed(permits.allows) for tool in tools]


def find_tool(name: object, permits: Permits) -> Tool:
    """Return the tool of this name, with or without its prefix.

    Raises BadInput for a name that there is not, or whose tool is switched off.
    """
    text = str(name)
    tool = TOOLS.get(text) or TOOLS.get(text.removeprefix(PREFIX))
    names = [each.name for each in offered(permits)]
    if tool is None:
        near = nearest_names(text, names, 1)
        suggestion = f"; {suggest(near[0])}" if near else ""
        raise BadInput(f"unknown tool {quote(text)}{suggestion}")
    if tool.name not in names:
        reason = "this server only reads"
        if tool.effect is Effect.CALLER:
            reason = "a port does not tell who asks; `dos mcp` does"
        elif tool.effect in SWITCHES:
            reason = f"`dos mcp {SWITCHES[tool.effect]}` allows it"
        raise BadInput(f"the tool {tool.name} is switched off: {reason}")
    return tool.narrowed(permits.allows)
