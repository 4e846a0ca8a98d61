"""Whether git shows a unit's work, and that of no other: asked before it lands, of the oracle that anybody can ask
afterwards."""

from collections.abc import Sequence

from msgspec import structs

from dos.errors import BadInput
from dos.evidence.work import shipped as oracle
from dos.records.names import as_text, listed, on_one_line
from dos.records.units import Unit
from dos.sources.history.objects import Objects
from dos.sources.workspace import Workspace
from dos.sources.world import World
from dos.verdicts.commits import claimed_alone
from dos.verdicts.commits.naming import Message, Name
from dos.verdicts.work.policy import Policy
from dos.verdicts.work.shipped import Contradiction, judge

_NOT_NAMED = "no commit names the unit; the last paragraph of the commit message has to be the line `Unit: {name}`"
_NOT_SAID = "a plan says that a unit is about such files by `paths:`, or by `class: docs`"


def unnamed(unit: Unit) -> str:
    """What is said of commits that are about no unit at all."""
    return _NOT_NAMED.format(name=unit.name)


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
        return unnamed(unit)
    about = f" ({_NOT_SAID})" if Contradiction.DOCS_ONLY in verdict.contradictions else ""
    return verdict.reason + about


def named_besides(
    place: Workspace, unit: Unit, declared: Sequence[Unit], *, commits: Sequence[str], base: str, head: str
) -> str:
    """Which other units the commits name, told to whoever tries next; empty when they name none.

    A unit that is named faintly counts where the oracle would call it shipped by these commits.
    """
    faint: dict[tuple[str, str], str] = {}  # the commit that names it
    with World(place.root, lenient=True) as world, Objects(world.git) as objects:
        # By the grammar before the work and after it: one that only a commit in between declares hides nothing.
        stamps = dict.fromkeys(oracle.Look(world, objects, oracle.Ask(ref=ref)).stamp for ref in (base, head))
        for sha in commits:
            commit = objects.commit(sha)
            message = Message.of(commit.message if commit else "")
            for stamp in stamps:
                names = [Name(each.plan, each.id, stamp) for each in declared]
                found = claimed_alone.others(message, Name(unit.plan, unit.id, stamp), names)
                if found.plainly:
                    return _told(unit, sha, found.plainly)
                faint |= dict.fromkeys(found.faintly, sha)
        ask = oracle.Ask(ref=head, since=base, is_vouched=False)
        verdicts = oracle.verify(world, list(faint), ask) if faint else []
    shipped = [(each.plan, each.phase) for each in verdicts if each.shipped]
    return _told(unit, faint[shipped[0]], [f"{plan}/{phase}" for plan, phase in shipped]) if shipped else ""


def _told(unit: Unit, sha: str, others: Sequence[str]) -> str:
    told = listed([on_one_line(as_text(name)) for name in others])
    return (
        f"commit {sha[:9]} names {told}, and this work is for {unit.name} alone: a commit names only the unit "
        f"that it was made for (reword it with git commit --amend or git rebase, and leave the rest to others)"
    )
