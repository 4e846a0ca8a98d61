"""Choose the next activity: dispatch, replan, unstick or wait.

Without --state-json the state is read from the journal, git and the plans, for one lane or for the
first lane that can work. What is worth knowing beside a dispatch is shown as evidence, and never
stops it.
"""

from typing import Annotated

from msgspec import Struct, ValidationError, json, to_builtins

from dos.errors import BadInput
from dos.fields import BadValue
from dos.lanes.io.parts import config_for
from dos.loop.verdicts import scout
from dos.loop.verdicts.scout import Activity, State
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "dispatch": 0,
    "unstick": 3,
    "replan": 4,
    "wait": 5,
    "stop": 6,
    "contract_error": 2,
}
NEXT = {
    Activity.DISPATCH: "Dispatch on the lane.",
    Activity.UNSTICK: "`dos recurring --all` shows the causes; a person decides about each.",
    Activity.REPLAN: "Replan before the next dispatch.",
    Activity.WAIT: "`dos wait` returns when something changes.",
    Activity.STOP: "`dos status` shows what is missing and what clears it.",
}
EXAMPLE = """For example: --state-json '{"health": "route_replan", "open_soaks": 1}'"""


class Args(Struct, kw_only=True):
    """The lane, or the state to judge."""

    lane: Annotated[str, Option(help="lane to look at (default: one that can work)")] = ""
    state_json: Annotated[
        str, Option(help="state to judge instead of the workspace's", metavar="JSON")
    ] = ""
    now_ms: Annotated[int | None, Option(help="time to judge at (default: now)", metavar="MS")] = (
        None
    )


def run(args: Args, context: Context) -> Reply:
    """Judge the given state, or that of the workspace."""
    if args.state_json:
        if args.lane:
            raise BadInput(
                "--state-json has a lane of its own", hint='Give it there: {"scope": "LANE"}'
            )
        state = _state(args.state_json)
    else:
        state = _read(args, context)
    verdict = scout.judge(state)
    lines = [f"{verdict.activity}  {verdict.reason}", *(f"  {note}" for note in verdict.evidence)]
    return Reply(
        code=EXITS[verdict.activity],
        text="\n".join(lines),
        data=to_builtins(verdict),
        next_action=NEXT[verdict.activity],
        indented=True,
    )


def _read(args: Args, context: Context) -> State:
    from dos.fleet.io.scouting import scout_state  # --state-json needs none of it

    lane = ""
    if args.lane:
        name = validated_name(args.lane, "lane name")
        known = config_for(context.policy_world, name).canonical_lane(name)
        if known is None:
            lanes = ", ".join(context.policy.known_lanes())
            raise BadInput(f"there is no lane {name}", hint=f"The lanes are {lanes}.")
        lane = known
    return scout_state(context.world, lane, now_ms=args.now_ms)


def _state(text: str) -> State:
    """Decode a state. Raises BadInput for what is none."""
    try:
        return json.decode(text, type=State)
    except (ValidationError, BadValue) as error:
        raise BadInput(f"--state-json is no state: {error}", hint=EXAMPLE) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--state-json is not JSON: {error}", hint=EXAMPLE) from error
