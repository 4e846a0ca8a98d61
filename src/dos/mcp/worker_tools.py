"""The tools of a worker's agent: what may I change, and would my work be believed?"""

from dos.mcp.tool import Argument, Call, Given, Tool


def _claim(given: Given) -> Call:
    return Call("reconcile", {**given, "claimed_done": True})


WORKER_TOOLS = (
    Tool(
        name="lane",
        about="Which lane and which paths may this session change, and who holds the others?",
        verb="whoami",
    ),
    Tool(
        name="claim",
        about="Say that a unit is done. Git answers whether it is: what is missing stays open.",
        verb="reconcile",
        arguments=(Argument(name="unit", about="the unit, as PLAN/UNIT", required=True),),
        prepare=_claim,
    ),
)
