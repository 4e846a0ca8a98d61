"""What an agent did, from git and exit codes alone."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

from dos import regions
from dos.errors import BadInput
from dos.fleet.effects import Measurement, Worktree
from dos.git.commits import hidden_history, is_fast_forward
from dos.git.objects import Objects
from dos.git.repository import Reader
from dos.lease import Lease
from dos.receipts.io.acceptance import AcceptanceCheck, AcceptanceResult
from dos.text import join_some, printable_path, replace_undecodable
from dos.units.unit import Unit
from dos.verify import mentions
from dos.verify.candidate import Contradiction
from dos.verify.io import verifier
from dos.verify.message import Message
from dos.verify.naming import UnitName
from dos.verify.policy import Policy
from dos.verify.shipped import judge
from dos.workspace import Workspace
from dos.world import World

Doubt = Callable[[str], str]  # of a head: why it does not show the unit


def always_shipped(head: str) -> str:
    return ""


def measure(
    worktree: Worktree,
    lease: Lease,
    accept: AcceptanceCheck,
    prefix: str = "",
    *,
    doubt: Doubt = always_shipped,
) -> Measurement:
    inside = Reader(Path(worktree.path))
    head = inside.run("rev-parse", "HEAD").strip()
    if flaw := history_problem(inside, worktree.base, head):
        return Measurement(
            head=head, commits=[], strays=[], changed_paths=0, accepted=None, detail=flaw
        )
    paths = inside.paths_between(worktree.base, head)
    outside = paths_outside_lane(inside, worktree.base, head, lease, prefix)
    answer = accept(inside.tree) if paths and not outside else AcceptanceResult()
    return Measurement(
        head=head,
        commits=inside.commits_between(worktree.base, head),
        strays=outside,
        changed_paths=len(paths),
        accepted=answer.passed,
        detail=answer.detail,
        why_not_shipped=doubt(head) if paths and not outside and answer.passed is not False else "",
        acceptance_run=answer.run,
    )


def history_problem(inside: Reader, base: str, head: str) -> str:
    """Why the commits from a base to a head cannot be counted; empty when they can."""
    if cut := hidden_history(inside, base, head):
        return cut
    return "" if is_fast_forward(inside, base, head) else "its base was rewritten away"


def paths_outside_lane(
    inside: Reader, base: str, head: str, lease: Lease, prefix: str = ""
) -> list[str]:
    """The changed paths that lie outside of the lane, whose globs start where dos.toml is."""
    changed = inside.paths_between(base, head)
    return [
        replace_undecodable(path)
        for path in changed
        if not regions.lane_holds(lease.region, path, prefix)
    ]


_NOT_NAMED = "no commit names the unit; the last paragraph of the commit message has to be the line `Unit: {name}`"
_NOT_SAID = "a plan says that a unit is about such files by `paths:`, or by `class: docs`"


def unnamed_reason(unit: Unit) -> str:
    """What is said of commits that are about no unit at all."""
    return _NOT_NAMED.format(name=unit.name)


def why_not_shipped(workspace: Workspace, unit: Unit, *, base: str, head: str) -> str:
    """Why the commits from a base to a head do not show the unit; empty when they do."""
    ask = verifier.Ask(ref=head, since=base, is_vouched=False)
    try:
        with World(workspace.root, lenient=True) as world:
            (seen,), policy = verifier.gather(world, [(unit.plan, unit.id)], ask)
    except BadInput as error:
        return f"whether it shipped cannot be told: {error.message}"
    # Nobody can have run or watched yet what has not landed: all that counts is what git itself shows.
    alone = Policy(require="named" if policy.require == "named" else "live")
    verdict = judge(structs.replace(seen, soaking=False, limits=()), alone)
    if verdict.shipped:
        return ""
    if not verdict.candidates:
        return unnamed_reason(unit)
    about = f" ({_NOT_SAID})" if Contradiction.DOCS_ONLY in verdict.contradictions else ""
    return verdict.reason + about


def other_units_named(
    workspace: Workspace,
    unit: Unit,
    declared: Sequence[Unit],
    *,
    commits: Sequence[str],
    base: str,
    head: str,
) -> str:
    """Which other units the commits name, told to whoever tries next; empty when they name none.

    A unit that is named faintly counts where the oracle would call it shipped by these commits.
    """
    faint: dict[tuple[str, str], str] = {}  # the commit that names it
    with World(workspace.root, lenient=True) as world, Objects(world.git) as objects:
        # By the grammar before the work and after it: one that only a commit in between declares hides nothing.
        stamps = dict.fromkeys(
            verifier.Verifier(world, objects, verifier.Ask(ref=ref)).stamp for ref in (base, head)
        )
        for sha in commits:
            commit = objects.commit(sha)
            message = Message.parse(commit.message if commit else "")
            for stamp in stamps:
                names = [UnitName(each.plan, each.id, stamp) for each in declared]
                found = mentions.other_units(message, UnitName(unit.plan, unit.id, stamp), names)
                if found.plainly:
                    return _told(unit, sha, found.plainly)
                faint |= dict.fromkeys(found.faintly, sha)
        ask = verifier.Ask(ref=head, since=base, is_vouched=False)
        verdicts = verifier.verify(world, list(faint), ask) if faint else []
    shipped = [(each.plan, each.phase) for each in verdicts if each.shipped]
    return (
        _told(unit, faint[shipped[0]], [f"{plan}/{phase}" for plan, phase in shipped])
        if shipped
        else ""
    )


def _told(unit: Unit, sha: str, others: Sequence[str]) -> str:
    told = join_some([printable_path(replace_undecodable(name)) for name in others])
    return (
        f"commit {sha[:9]} names {told}, and this work is for {unit.name} alone: a commit names only the unit "
        f"that it was made for (reword it with git commit --amend or git rebase, and leave the rest to others)"
    )
