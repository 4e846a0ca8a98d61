"""Verbs that only a person may use are refused to the agents of a fleet. The table of verbs says which they are."""

from msgspec import Struct

from dos.config.past_errors import with_store_only
from dos.errors import DosError, NotPermitted
from dos.lanes.io import caller
from dos.lease import Lease
from dos.text import comparison_key
from dos.verbs.context import Context
from dos.verbs.table import PERSON_OR_HOLDER, Verb
from dos.workspace import Workspace
from dos.world import World


def check_permission(verb: Verb, arguments: Struct, context: Context, flag: str = "") -> None:
    """Raise where an agent of the fleet has typed the verb; some it may type for its own lane.

    `flag` is the one that makes a verb for anybody one for people.
    """
    place, leases = _workspace_and_leases(context)
    agent = caller.find_calling_agent(place, leases)
    if agent is None or (verb.allowed == PERSON_OR_HOLDER and _is_own(arguments, agent, leases)):
        return
    typed = f"dos {verb.name} {flag}".rstrip()
    raise NotPermitted(
        f"{typed} is for people, and this was typed by {agent}: {agent.found_by}",
        hint=f"Ask a person to type it in their own shell: {typed}",
    )


def _workspace_and_leases(context: Context) -> tuple[Workspace | None, list[Lease]]:
    """The workspace, and its leases: none where its journal cannot be read, and then an agent is told by its processes.

    What is wrong with either is for the verb to say.
    """
    workspace = None
    try:
        with World(context.start_directory, lenient=True) as world:
            workspace = world.workspace
            world.loaded_config = with_store_only(
                world.loaded_config, workspace.config, workspace.state
            )
            return workspace, world.journal.leases()
    except (DosError, OSError):
        return workspace, []


def _is_own(arguments: Struct, agent: caller.Agent, leases: list[Lease]) -> bool:
    """Whether the lease that is named is one of the agent's own lane."""
    lane, fence = getattr(arguments, "lane", None), getattr(arguments, "fence", None)
    if not agent.lane or not (lane or fence):
        return False
    named = [each for each in leases if each.fence == fence] if fence else []
    lanes = [*([lane] if lane else []), *(each.lane for each in named)]
    return bool(lanes) and all(comparison_key(each) == comparison_key(agent.lane) for each in lanes)
