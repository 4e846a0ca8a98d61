"""The reasons for which a tool call was refused, left to a person, or noted.

Hooks and the pipes of agent programs give them; `dos why`, `dos helped` and the report show them.
"""

from functools import partial

from dos.reasons.reason import Category, ClearsBy, Kind, make_reason

_row = partial(make_reason, Kind.CALL)
_STAY = "The agent has to stay inside its lane; `dos why` shows what it asked for."
_WALLS = "`dos doctor` names the walls; the worker's log says what failed: dos logs LANE"

CALLS = (
    _row(
        "OUT_OF_REGION", Category.MISROUTE, ClearsBy.NOBODY,
        "The agent asked to write outside of its lane.",
        f"{_STAY} If the unit needs the path, widen the lane's tree in dos.toml.",
    ),
    _row(
        "REGION_HELD", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "The path belongs to a lane that another worker holds.",
        "`dos lease-lane live` lists the leases; wait, or work on other paths.",
    ),
    _row(
        "FENCE_LOST", Category.MISROUTE, ClearsBy.NOBODY,
        "The lease of the agent's lane has ended, so it may only read.",
        "Nothing: its commits are kept, and another worker continues the unit.",
    ),
    _row(
        "NO_LEASE", Category.MISROUTE, ClearsBy.OPERATOR,
        "A session that holds no lane asked to write in the work tree of a lane.",
        "Work in your own checkout, or take it: dos lease-lane acquire --lane LANE --owner NAME",
    ),
    _row(
        "OTHER_TREE", Category.MISROUTE, ClearsBy.NOBODY,
        "The agent asked to write in another work tree than its own.",
        _STAY,
    ),
    _row(
        "GIT_DIRECTORY", Category.MISROUTE, ClearsBy.NOBODY,
        "The agent asked to write into git's own files.",
        "It has to use git commands; they are checked when they run.",
    ),
    _row(
        "UNREAD_INPUT", Category.UNCLASSIFIED, ClearsBy.NOBODY,
        "The agent sent text to a running program, and nothing tells what that writes.",
        "Nothing: the commit gate and the landing look at what was changed.",
    ),
    _row(
        "NEEDS_PERSON", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "[enforcement] ask_person names the tool, and no person has allowed this call.",
        "`dos decisions` shows the open questions.",
    ),
    _row(
        "NOBODY_THERE", Category.OPERATOR_GATE, ClearsBy.NOBODY,
        "The agent asked its user a question, and an agent of the fleet has no user.",
        "Say in the unit what it has to know.",
    ),
    _row(
        "NOT_JUDGED", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "The call could not be judged, so it was refused.",
        _WALLS,
    ),
    _row(
        "REQUEST_UNREADABLE", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "The program sent a request that cannot be read, or too many at once.",
        "`dos agents test AGENT` shows whether this version of the program works with dos.",
    ),
    _row(
        "PRECURSOR_MISSING", Category.UNCLASSIFIED, ClearsBy.NOBODY,
        "A tool was called without a lookup that [precursor] requires before it.",
        "Nothing: the agent was told to look it up first.",
    ),
    _row(
        "TOOL_STREAM_REPEATING", Category.UNCLASSIFIED, ClearsBy.NOBODY,
        "The agent made the same call again, with the same result.",
        "Nothing: the agent was told. [tool_stream] sets after how many calls.",
    ),
    _row(
        "TOOL_STREAM_STALLED", Category.UNCLASSIFIED, ClearsBy.NOBODY,
        "The agent kept making the same call, with the same result.",
        "Look at what it does: dos logs LANE. `dos steer LANE \"TEXT\"` tells it something.",
    ),
    _row(
        "CLAIM_NOT_SHIPPED", Category.STALE_CLAIM, ClearsBy.NOBODY,
        "The agent said that a unit is done, and git does not show it.",
        "Nothing: its turn went on. `dos verify PLAN UNIT` says what is missing.",
    ),
)  # fmt: skip
