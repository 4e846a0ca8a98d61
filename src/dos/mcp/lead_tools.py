"""The tools of a lead, who runs a fleet: what works, what waits, what landed, and what to do."""

from typing import Any

from dos.errors import BadInput
from dos.mcp.tool import Argument, Call, Effect, Given, Tool

STEER_SECONDS = 2.0  # how long a call waits until the agent has been told
PLAN = Argument(name="plan", about="plan of the unit, as in PLAN/UNIT", required=True)


def _plan(given: Given) -> Call:
    """Ask for the whole board; what is wanted of it is cut out of the answer."""
    if given.get("limit", 0) < 0:
        raise BadInput(f"limit is {given['limit']}; it must be 0 or more", hint="Leave it out.")
    return Call("plan", {"once": True})


def _log(given: Given) -> Call:
    return Call("logs", {"lines": 20, **given})


def _wait(given: Given) -> Call:
    return Call("wait", given)


def _start(given: Given) -> Call:
    return Call("up", {**given, "detach": True})


def _stop(given: Given) -> Call:
    """Stop one run, or the fleet; the call does not wait for the end."""
    if "run" in given:
        reason = {"reason": given["reason"]} if "reason" in given else {}
        return Call("halt", {"run": given["run"], "timeout": 0.0, **reason})
    return Call("down", {"timeout": 0.0, "now": given.get("now", False)})


def _answer(given: Given) -> Call:
    return Call("decisions answer", {"decision": given["id"], "choice": given["choice"]})


def _add_unit(given: Given) -> Call:
    own = {name: value for name, value in given.items() if name != "paths"}
    if "paths" in given:
        own["path"] = given["paths"]
    return Call("plan add", own)


def _board(data: Any, given: Given) -> Any:
    """Leave out the units of other plans and lanes than those asked for, and those past the
    limit. The summary counts all units."""
    if not isinstance(data, dict):
        return data
    phases = data.get("phases", [])
    scope = {name.casefold() for name in given.get("scope", [])}
    if scope:
        phases = [row for row in phases if {row["plan"].casefold(), row["lane"].casefold()} & scope]
    return {**data, "phases": phases[: given.get("limit")]}


LEAD_TOOLS = (
    Tool(
        name="fleet",
        about="Show every lane: who works on what, what waits on what, landings and cost.",
        verb="top",
        prepare=lambda _given: Call("top", {"once": True}),
    ),
    Tool(
        name="plan",
        about="Show every unit: what its plan claims beside what git shows.",
        verb="plan",
        arguments=(
            Argument(name="scope", kind="texts", about="only these plans or lanes"),
            Argument(name="limit", kind="integer", about="most units (default: all)"),
        ),
        prepare=_plan,
        shape=_board,
    ),
    Tool(
        name="why",
        about="Explain why a run continued or stopped, iteration by iteration.",
        verb="why",
        arguments=(
            Argument(name="run", about="run, lane or unit (default: the newest run)"),
            Argument(name="iteration", kind="integer", about="only this iteration"),
        ),
    ),
    Tool(
        name="verify",
        about="Has a unit shipped? Answers from git, with the evidence; never from claims.",
        verb="verify",
        arguments=(
            PLAN,
            Argument(name="phase", about="the unit's id in its plan", required=True),
            Argument(name="ref", about="commit or branch (default: HEAD)"),
        ),
        prepare=lambda given: Call(
            "verify",
            {
                "units": [given["plan"], given["phase"]],
                **({"ref": given["ref"]} if "ref" in given else {}),
            },
        ),
    ),
    Tool(
        name="decisions",
        about="List the questions that only a person can answer, and what waits for each.",
        verb="decisions",
        arguments=(Argument(name="all", kind="flag", about="also answered ones"),),
    ),
    Tool(
        name="log",
        about="Show the last lines of the agent on a lane.",
        verb="logs",
        arguments=(
            Argument(name="lane", about="the lane", required=True),
            Argument(name="run", about="only this run"),
            Argument(name="lines", kind="integer", about="how many lines", default=20),
        ),
        prepare=_log,
    ),
    Tool(
        name="costs",
        about="Show the cost of landed units, and of work that did not land.",
        verb="costs",
        arguments=(
            Argument(name="by", about="group by", choices=("unit", "lane", "day", "agent")),
            Argument(name="since", about="UTC date, such as 2026-08-01"),
        ),
    ),
    Tool(
        name="wait",
        about=(
            "Wait until work landed, a question came up or nobody works: use it instead of"
            " polling. Pass the position of one answer as `after` of the next."
        ),
        verb="wait",
        arguments=(
            Argument(
                name="until",
                about="what ends the wait",
                choices=("landed", "question", "idle", "any"),
                default="any",
            ),
            Argument(name="seconds", kind="number", about="up to 50", default=50),
            Argument(name="after", kind="integer", about="position (default: now)"),
        ),
        waits=True,
        prepare=_wait,
    ),
    Tool(
        name="start",
        about="Start the fleet in the background. It spends money.",
        verb="up",
        arguments=(
            Argument(name="target", kind="integer", about="number of workers"),
            Argument(name="until_idle", kind="flag", about="stop when nothing can be started"),
        ),
        effect=Effect.FLEET,
        idempotent=True,
        waits=True,
        prepare=_start,
    ),
    Tool(
        name="stop",
        about="Stop the fleet after the work in progress, or one run at once.",
        verb="down",
        arguments=(
            Argument(name="run", about="only this run, or the run on this lane; at once"),
            Argument(name="now", kind="flag", about="stop the agents of the fleet, too"),
            Argument(name="reason", about="why, with `run`"),
        ),
        effect=Effect.FLEET,
        destructive=True,
        idempotent=True,
        prepare=_stop,
    ),
    Tool(
        name="answer",
        about="Answer a decision for the person, who has told you the choice.",
        verb="decisions answer",
        arguments=(
            Argument(name="id", about="as `decisions` lists it", required=True),
            Argument(name="choice", about="one of its choices", required=True),
        ),
        effect=Effect.ANSWER,
        destructive=True,
        prepare=_answer,
    ),
    Tool(
        name="add_unit",
        about="Add a unit to a plan document; a running fleet takes it. Commit the document.",
        verb="plan add",
        arguments=(
            Argument(name="unit", about="its name, as PLAN/ID", required=True),
            Argument(name="title", about="its title, one line", required=True),
            Argument(name="text", about="what is to be done"),
            Argument(name="lane", about="lane that works on it"),
            Argument(name="paths", kind="texts", about="globs that it changes"),
            Argument(name="acceptance", about="command that passes once it is done"),
            Argument(name="depends", kind="texts", about="units that have to land first"),
        ),
        effect=Effect.FLEET,
        prepare=_add_unit,
    ),
    Tool(
        name="steer",
        about="Tell a running agent something while it works.",
        verb="steer",
        arguments=(
            Argument(name="run", about="the run, or its lane", required=True),
            Argument(name="message", about="what its agent should know", required=True),
        ),
        effect=Effect.FLEET,
        prepare=lambda given: Call("steer", {**given, "timeout": STEER_SECONDS}),
    ),
)
