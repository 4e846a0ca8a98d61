"""The tools of a worker's agent: what may I change, and would my work be believed?"""

from dos.errors import BadInput
from dos.mcp.tool import Argument, Call, Effect, Given, Tool
from dos.text import quote


def _claim(given: Given) -> Call:
    """Ask about the commits of the caller's own tree: the fleet lands them only afterwards."""
    plan, slash, unit = given["unit"].rpartition("/")
    if not slash:
        raise BadInput(
            f"{quote(unit)} names no plan", hint="Write the unit as PLAN/UNIT, such as AUTH/AUTH3."
        )
    return Call("verify", {"units": [plan, unit]})


WORKER_TOOLS = (
    Tool(
        name="lane",
        about="Which lane and which paths may this session change, and who holds the others?",
        verb="whoami",
        effect=Effect.CALLER,
    ),
    Tool(
        name="claim",
        about="Say that a unit is done. Git answers whether your commits show it.",
        verb="verify",
        arguments=(Argument(name="unit", about="the unit, as PLAN/UNIT", required=True),),
        prepare=_claim,
    ),
)
