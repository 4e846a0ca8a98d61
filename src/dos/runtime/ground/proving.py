"""Whether git shows a unit's work: asked before it lands, of the oracle that anybody can ask afterwards."""

from msgspec import structs

from dos.errors import BadInput
from dos.evidence.work import shipped as oracle
from dos.records.units import Unit
from dos.sources.workspace import Workspace
from dos.sources.world import World
from dos.verdicts.work.shipped import Contradiction, Policy, judge

_NOT_NAMED = "no commit names the unit; the last paragraph of the commit message has to be the line `Unit: {name}`"
_NOT_SAID = "a plan says that a unit is about such files by `paths:`, or by `class: docs`"


def unproven(place: Workspace, unit: Unit, *, base: str, head: str) -> str:
    """Why the commits from a base to a head do not show the unit; empty when they do."""
    ask = oracle.Ask(ref=head, since=base, is_vouched=False)
    try:
        with World(place.root, lenient=True) as world:
            (seen,), policy = oracle.gather(world, [(unit.plan, unit.id)], ask)
    except BadInput as error:
        return f"whether it shipped cannot be told: {error.message}"
    # Nobody can have run or watched yet what has not landed: all that counts is what git itself shows.
    alone = Policy(require="named" if policy.require == "named" else "live")
    verdict = judge(structs.replace(seen, soaking=False, limits=()), alone)
    if verdict.shipped:
        return ""
    if not verdict.candidates:
        return _NOT_NAMED.format(name=unit.name)
    about = f" ({_NOT_SAID})" if Contradiction.DOCS_ONLY in verdict.contradictions else ""
    return verdict.reason + about
