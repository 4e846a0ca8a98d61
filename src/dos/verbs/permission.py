"""Refuses verbs for people to the agents of a fleet; the table of verbs says which they are.

An agent that could answer its own questions, or approve the plan that it is judged by, would make
the answers worthless. Agents are recognised by the key of their lease and by their processes.
"""

from msgspec import Struct

from dos.errors import DosError, NotPermitted
from dos.lanes.io import caller
from dos.lease import Lease
from dos.text import comparison_key
from dos.verbs.context import Context
from dos.verbs.listing.verb import PERSON_OR_HOLDER, Verb
from dos.workspace import Workspace
from dos.world import World

STARTED_BY_SUPERVISORS = ("worker", "serve")


def check_permission(verb: Verb, arguments: Struct, context: Context, flag: str = "") -> None:
    """Raise NotPermitted where an agent of the fleet calls the verb.

    Some verbs an agent may call for its own lane. `flag` is the option that makes a verb for anyone
    one for people.
    """
    workspace, leases = _workspace_and_leases(context)
    agent = caller.find_calling_agent(workspace, leases, context.caller_pid)
    if agent is None:
        return
    if agent.is_of_supervisor and verb.name in STARTED_BY_SUPERVISORS:
        return
    if verb.allowed == PERSON_OR_HOLDER and _is_own_lane(arguments, agent, leases):
        return
    command = f"dos {verb.name} {flag}".rstrip()
    raise NotPermitted(
        f"{command} is for people, and {agent} called it: {agent.found_by}",
        hint=f"Ask a person to run it in their own shell: {command}",
    )


def _workspace_and_leases(context: Context) -> tuple[Workspace | None, list[Lease]]:
    """Return the workspace and its leases, as far as they can be read.

    Without them an agent is recognised by its processes alone. The verb reports what is wrong.
    """
    workspace = None
    try:
        with World(context.start_directory, lenient=True) as world:
            workspace = world.workspace
            world.use_store_of_broken_config()
            return workspace, world.journal.leases()
    except (DosError, OSError):
        return workspace, []


def _is_own_lane(arguments: Struct, agent: caller.Agent, leases: list[Lease]) -> bool:
    """Whether all that the arguments name, by lane or by fence, is the lane of the agent.

    The agent must have proven that the lane is its own: a fence is a number that anybody can read.
    """
    if not agent.lane or not agent.is_proven:
        return False
    lanes = []
    lane = getattr(arguments, "lane", None)
    if lane:
        lanes.append(lane)
    fence = getattr(arguments, "fence", None)
    if fence:
        lanes += [lease.lane for lease in leases if lease.fence == fence]
    own = comparison_key(agent.lane)
    return bool(lanes) and all(comparison_key(name) == own for name in lanes)
