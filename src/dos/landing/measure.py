"""Measures what an agent delivered, from git and exit codes alone."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import structs

from dos import regions
from dos.errors import BadInput
from dos.fleet.effects import Measurement
from dos.git.commits import hidden_history, is_fast_forward
from dos.git.objects import Objects
from dos.git.repository import Reader
from dos.lease import Lease
from dos.receipts.io.acceptance import AcceptanceCheck, AcceptanceResult
from dos.text import join_some, printable_path, replace_undecodable
from dos.units.unit import Unit
from dos.verify import mentions, shipped
from dos.verify.candidate import Contradiction
from dos.verify.io import verifier
from dos.verify.message import Message
from dos.verify.naming import UnitName
from dos.verify.policy import Policy
from dos.workspace import Workspace
from dos.world import World

ShippedCheck = Callable[[str], str]  # takes a head; why it does not ship the unit, or ""
_NOT_NAMED = (
    "no commit names the unit; the last paragraph of the commit message must be the line "
    "`Unit: {name}`"
)
_DOCS_HINT = "`paths:` or `class: docs` in the plan declares a unit of documentation"


def measure(
    git: Reader,
    base: str,
    head: str,
    lease: Lease,
    accept: AcceptanceCheck,
    prefix: str = "",
    *,
    shipped_check: ShippedCheck | None = None,
) -> Measurement:
    """Return what the commits from base to head come to: their paths, and what the checks say.

    The acceptance command runs only on commits that change something, all of it inside the lane;
    the shipped check only where acceptance did not fail. `prefix` is the folder of dos.toml.

    Callers ask `history_problem` first.
    """
    paths = git.paths_between(base, head)
    outside = paths_outside_lane(git, base, head, lease, prefix)
    is_checkable = bool(paths) and not outside
    result = AcceptanceResult()
    if is_checkable:
        result = accept(head)
    unproven = ""
    if shipped_check and is_checkable and result.passed is not False:
        unproven = shipped_check(head)
    return Measurement(
        head=head,
        commits=git.commits_between(base, head),
        strays=outside,
        changed_paths=len(paths),
        accepted=result.passed,
        detail=result.detail,
        why_not_shipped=unproven,
        acceptance_run=result.run,
    )


def nothing_measured(head: str, reason: str) -> Measurement:
    """Return the measurement of work that cannot be counted at all."""
    return Measurement(
        head=head, commits=[], strays=[], changed_paths=0, accepted=None, detail=reason
    )


def history_problem(git: Reader, base: str, head: str) -> str:
    """Return why the commits from base to head cannot be counted, or an empty text."""
    hidden = hidden_history(git, base, head)
    if hidden:
        return hidden
    if not is_fast_forward(git, base, head):
        return "HEAD no longer contains the base commit"
    return ""


def paths_outside_lane(
    git: Reader, base: str, head: str, lease: Lease, prefix: str = ""
) -> list[str]:
    """Return the changed paths outside the lane, whose globs start at the folder of dos.toml."""
    outside = []
    for path in git.paths_between(base, head):
        if not regions.lane_holds(lease.region, path, prefix):
            outside.append(replace_undecodable(path))
    return outside


def unnamed_reason(unit: Unit) -> str:
    """Return the reason given for commits that name no unit at all."""
    return _NOT_NAMED.format(name=unit.name)


def required_policy(workspace: Workspace, *, base: str, head: str) -> Policy:
    """Return the stricter policy of both commits, so that work cannot lower it for itself.

    Raises BadInput if one of them cannot be read.
    """
    before, after = (_policy_at(workspace.root, commit) for commit in (base, head))
    return shipped.stricter(before, after)


@lru_cache(maxsize=16)  # one landing asks several times, and a commit never changes
def _policy_at(root: Path, commit: str) -> Policy:
    with World(root, lenient=True) as world:
        _, policy = verifier.gather(world, [], verifier.Ask(ref=commit, since=commit))
    return policy


def why_not_shipped(workspace: Workspace, unit: Unit, *, base: str, head: str) -> str:
    """Return why the commits from base to head do not ship the unit; empty when they do.

    Only what git shows counts here. What a runner has to see besides, the gate of a landing asks.
    """
    ask = verifier.Ask(ref=head, since=base, is_vouched=False)
    try:
        with World(workspace.root, lenient=True) as world:
            (evidence,), _ = verifier.gather(world, [(unit.plan, unit.id)], ask)
        required = required_policy(workspace, base=base, head=head)
    except BadInput as error:
        return f"cannot tell whether it shipped: {error.message}"
    unlimited = structs.replace(evidence, soaking=False, limits=())
    verdict = shipped.judge(unlimited, shipped.git_policy(required))
    if verdict.shipped:
        return ""
    if not verdict.candidates:
        return unnamed_reason(unit)
    if Contradiction.DOCS_ONLY in verdict.contradictions:
        return f"{verdict.reason} ({_DOCS_HINT})"
    return verdict.reason


def other_units_named(
    workspace: Workspace,
    unit: Unit,
    declared: Sequence[Unit],
    *,
    commits: Sequence[str],
    base: str,
    head: str,
) -> str:
    """Return which other units the commits name, as advice for the next attempt; empty when none.

    A unit that is named faintly counts if verification would call it shipped by these commits.
    """
    faint: dict[tuple[str, str], str] = {}  # (plan, unit) -> the commit that names it
    with World(workspace.root, lenient=True) as world, Objects(world.git) as objects:
        # The grammars of both ends: one that only a commit in between declares hides no name.
        grammars = []
        for ref in (base, head):
            grammars.append(verifier.Verifier(world, objects, verifier.Ask(ref=ref)).stamp)
        for sha in commits:
            commit = objects.commit(sha)
            message = Message.parse(commit.message if commit else "")
            for stamp in dict.fromkeys(grammars):
                own = UnitName(unit.plan, unit.id, stamp)
                names = [UnitName(other.plan, other.id, stamp) for other in declared]
                found = mentions.other_units(message, own, names)
                if found.plainly:
                    return _names_others(unit, sha, found.plainly)
                faint |= dict.fromkeys(found.faintly, sha)
        if not faint:
            return ""
        ask = verifier.Ask(ref=head, since=base, is_vouched=False)
        verdicts = verifier.verify(world, list(faint), ask)
    pairs = [(verdict.plan, verdict.phase) for verdict in verdicts if verdict.shipped]
    if not pairs:
        return ""
    return _names_others(unit, faint[pairs[0]], ["/".join(pair) for pair in pairs])


def _names_others(unit: Unit, sha: str, others: Sequence[str]) -> str:
    listed = join_some([printable_path(replace_undecodable(name)) for name in others])
    return (
        f"commit {sha[:9]} names {listed}, but this work is for {unit.name} alone. A commit may "
        "name only the unit it was made for: reword it with `git commit --amend` or `git rebase`"
    )
