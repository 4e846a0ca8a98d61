"""Which units have landed: what the target branch itself shows, and else what the journal says and git still holds.

A fresh clone has no journal, and work that a person committed was never in it; what a worker landed may not be named
in any commit.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, structs

from dos import regions
from dos.errors import DosError, GitFailed, GitUnanswered
from dos.fleet.state.fleet import FleetState, UnitState
from dos.git import commits as commits_of
from dos.git import log
from dos.git import target as target_branch
from dos.git.files import is_shallow
from dos.git.repository import Reader
from dos.journal import fold
from dos.receipts.io import find
from dos.units.io import sources
from dos.units.unit import Unit
from dos.unknown import Unknown
from dos.verify.io.verdict_cache import VerdictCache
from dos.verify.shipped import Answer, Source, Verdict
from dos.witness.belief import Answer as Effect
from dos.world import World


class Landed(Struct, frozen=True):
    commit: str
    source: Source = Source.LANDING


class NotLanded(Struct, frozen=True):
    why: str
    is_claimed: bool = False  # somebody says that it is done, or it was


Truth = Landed | NotLanded | Unknown
_DELIVERED = "refs/heads/dos/"  # branches of their own, for somebody to merge


def gather(world: World, units: Iterable[str], fleet: FleetState | None = None) -> dict[str, Truth]:
    """The truth about each unit, by its name. History is read once for all of them."""
    return inspect_target(world, units, fleet or fold.current(world.journal, FleetState)[0])[0]


def inspect_target(
    world: World,
    units: Iterable[str],
    fleet: FleetState,
    ref: str = "",
    memory: VerdictCache | None = None,
    declared: Sequence[Unit] | None = None,
    disputed: Collection[str] = (),
) -> tuple[dict[str, Truth], FleetState]:
    """The truth about each unit, and the fleet's state with it in the place of what the journal remembers.

    The state is a copy: only what happened is kept in the journal. A `memory` is what was seen at the same ref before;
    `declared` are the units of the plans, read where nobody has them at hand. `disputed` are commits that count as no
    landing, beside those that the journal knows.
    """
    names = list(dict.fromkeys(units))
    commits = {
        name: seen.landed for name in names if (seen := fleet.units.get(name)) and seen.landed
    }
    where, memory = ref or target_ref(world), memory or VerdictCache()
    shown = _shown(world, names, where, memory)
    memory.shipped_commits = {
        name: seen.sha
        for name, seen in shown.items()
        if not isinstance(seen, Unknown) and seen.shipped
    }
    on_target = _on_target(world, set(commits.values()), where, memory) if commits else set()
    delivered = _delivered(world, fleet, commits, where)
    agents_own = truths_of_agent_commits(memory.shipped_commits, fleet, disputed)
    others = {name: shown[name] for name in names if name not in commits and name not in agents_own}
    by_others = (
        _by_others(world, others, declared, memory)
        | _landed_for_others(world, others, fleet)
        | agents_own
    )
    truths = {
        name: Landed(commits[name], Source.BRANCH)
        if name in delivered
        else by_others.get(name) or _truth(world, commits.get(name, ""), on_target, shown[name])
        for name in names
    }
    known = {
        name: corrected_by_git(fleet.units.get(name, UnitState()), truth)
        for name, truth in truths.items()
    }
    return truths, structs.replace(
        fleet, units={**fleet.units, **{name: seen for name, seen in known.items() if seen}}
    )


def corrected_by_git(seen: UnitState, truth: Truth) -> UnitState | None:
    """What the journal says of a unit, as git shows it; None where git shows nothing else."""
    if seen.intended is not None:
        return None  # a landing of it is under way, and its worker finishes it
    if isinstance(truth, Landed) and not seen.landed:
        return structs.replace(seen, landed=truth.commit)
    if isinstance(truth, NotLanded) and seen.landed:
        # Who took it out again had a reason: nobody does it once more before a person says so.
        return structs.replace(
            seen, landed="", undone=f"it had landed as {seen.landed[:9]}: {truth.why}"
        )
    return None


def shipped(truth: Truth) -> bool | Unknown:
    return truth if isinstance(truth, Unknown) else isinstance(truth, Landed)


def target_ref(world: World) -> str | Unknown:
    """The ref that units land on: the configured branch, else what the main work tree is on.

    Of a branch that many hosts share, what was last heard of it.
    """
    if world.workspace.common is None:
        return Unknown(f"{world.workspace.root} is not in a git repository")
    git = Reader(world.workspace.root)
    branch = target_branch.branch(world.config, git)
    return target_branch.ref(branch, git, remote=world.config.workers.remote) if branch else "HEAD"


def _shown(
    world: World, names: list[str], ref: str | Unknown, memory: VerdictCache
) -> Mapping[str, Verdict | Unknown]:
    """What the target shows of each unit."""
    if isinstance(ref, Unknown):
        return dict.fromkeys(names, ref)
    try:
        return memory.verify(world, names, ref) if names else {}
    except DosError as error:
        memory.forget()
        return dict.fromkeys(names, Unknown(error.message))


def truths_of_agent_commits(
    named: Mapping[str, str], fleet: FleetState, disputed: Collection[str]
) -> dict[str, Truth]:
    """The truth about units whose commits an agent brought to the branch by itself: only a person's word counts."""
    never, kept = fleet.incidents.disputed.union(disputed), fleet.incidents.kept_commits
    found: dict[str, Truth] = {}
    for name, sha in named.items():
        if fleet.units.get(name, UnitState()).landed:
            continue
        if sha in kept:
            found[name] = Landed(sha, Source.KEPT)
        elif sha in never:
            found[name] = NotLanded(
                f"{sha[:9]} was put there by an agent, not by a landing", is_claimed=True
            )
    return found


def _landed_for_others(
    world: World, shown: Mapping[str, Verdict | Unknown], fleet: FleetState
) -> dict[str, Truth]:
    """The truth about units that only the landing of another one names: a landing is for the unit that was claimed."""
    if world.config.workers.isolation == "shared":
        return {}  # what people commit lies between the commits of a landing there
    landings = {seen.landed: name for name, seen in fleet.units.items() if seen.landed}
    return {
        name: NotLanded(
            f"{verdict.sha[:9]} names it, and was landed for {landings[verdict.sha]}",
            is_claimed=True,
        )
        for name, verdict in shown.items()
        if not isinstance(verdict, Unknown) and verdict.shipped and verdict.sha in landings
    }


def _by_others(
    world: World,
    shown: Mapping[str, Verdict | Unknown],
    declared: Sequence[Unit] | None,
    memory: VerdictCache,
) -> dict[str, Truth]:
    """The truth about the declared units that git shows and no worker has landed."""
    found = {
        name: verdict
        for name, verdict in shown.items()
        if not isinstance(verdict, Unknown) and verdict.shipped
    }
    if not found:
        return {}
    read = sources.read(world.workspace, world.config).units if declared is None else declared
    units = {unit.name: unit for unit in read if unit.name in found}
    paths = _paths(world, {found[name].sha for name in units})
    return {
        name: _by_other(world, unit, found[name], paths[found[name].sha], memory)
        for name, unit in units.items()
    }


def _by_other(
    world: World, unit: Unit, shown: Verdict, paths: Sequence[str], memory: VerdictCache
) -> Truth:
    """A person's commit counts where it changes something in the unit's lane; a unit with an acceptance command of its
    own is done when somebody signed that it passed."""
    name = unit.lane or next(iter(world.config.lanes.autopick), "")
    lane = world.config.lane_region(name) if name else None
    root = world.workspace.prefix
    if (
        lane is not None
        and lane.globs
        and not any(regions.lane_holds(lane, path, root) for path in paths)
    ):
        return NotLanded(
            f"{shown.sha[:9]} names it, and changes nothing in its lane", is_claimed=True
        )
    if unit.acceptance and not _is_vouched(world, unit, shown.sha, memory):
        why = f"{shown.sha[:9]} names it, and no worker landed it and no receipt says that its acceptance passed"
        return NotLanded(why, is_claimed=True)
    return Landed(shown.sha, shown.source)


def _paths(world: World, commits: Collection[str]) -> dict[str, list[str]]:
    """What each commit changed; of a merge against its first parent."""
    asked = [commits_of.CommitSubject(sha=sha, subject="") for sha in commits]
    found = commits_of.paths_by_commit(world.git, asked) if asked else {}
    for sha in commits:
        if sha not in found:
            found[sha] = [change.path for change in commits_of.blob_changes(world.git, sha)]
    return found


def _is_vouched(world: World, unit: Unit, sha: str, memory: VerdictCache) -> bool:
    if (unit.name, sha) not in memory.receipted and any(
        receipt.valid and receipt.bound and receipt.verdict == Effect.CONFIRMED
        for receipt in find.receipts_for_commit(world, sha, unit.name)
    ):
        memory.receipted.add((unit.name, sha))
    return (unit.name, sha) in memory.receipted


def _truth(
    world: World, commit: str, on_target: set[str] | Unknown, shown: Verdict | Unknown
) -> Truth:
    if not isinstance(shown, Unknown) and shown.shipped:
        return Landed(shown.sha, shown.source)
    if not commit:
        if isinstance(shown, Unknown):
            return shown
        if shown.answer is Answer.CANNOT_TELL:
            return Unknown(shown.reason)
        return NotLanded(shown.reason, is_claimed=bool(shown.candidates))
    if isinstance(on_target, Unknown):
        return on_target
    if commit not in on_target:
        return NotLanded(f"{commit[:9]} is not on the target branch any more", is_claimed=True)
    if not isinstance(shown, Unknown) and _is_undone_since(world.git, commit, shown):
        return NotLanded(shown.reason, is_claimed=True)
    return Landed(commit)


def _is_undone_since(git: Reader, commit: str, shown: Verdict) -> bool:
    """Whether it was taken out again after it had landed, and not within its own commits."""
    by = shown.undone_by
    return shown.answer is Answer.UNDONE and by is not None and not git.is_ancestor(by, commit)


def _on_target(
    world: World, commits: set[str], ref: str | Unknown, memory: VerdictCache
) -> set[str] | Unknown:
    """Those of the commits that the target holds."""
    if isinstance(ref, Unknown):
        return ref
    asked = commits - memory.contains.keys()
    try:
        found = _on_branch(world.git, asked, memory.tip or ref)
    except GitFailed as error:
        return Unknown(error.message)
    if isinstance(found, Unknown):
        return found
    told = memory.contains | {commit: commit in found for commit in asked}
    if memory.tip:
        memory.contains = told
    held = {commit for commit in commits if told[commit]}
    if len(held) < len(commits) and is_shallow(world.workspace):
        return Unknown("the history here is cut off, and may not hold every landing")
    return held


def _delivered(
    world: World, fleet: FleetState, commits: Mapping[str, str], ref: str | Unknown
) -> set[str]:
    """What lies on a branch of its own, for somebody to merge: it is done, as long as the branch is there."""
    own = {
        name: f"refs/heads/{branch}" for name in commits if (branch := fleet.units[name].landed_on)
    }
    waiting = {
        name for name, branch in own.items() if branch != ref and branch.startswith(_DELIVERED)
    }
    if not waiting:
        return set()
    said = world.git.run("for-each-ref", "--format=%(objectname) %(refname)", _DELIVERED)
    tips = {branch: tip for tip, _, branch in (line.partition(" ") for line in said.splitlines())}
    return {
        name
        for name in waiting
        if (tip := tips.get(own[name]))
        and (tip == commits[name] or world.git.is_ancestor(commits[name], tip))
    }


def _on_branch(git: Reader, commits: Collection[str], ref: str) -> set[str] | Unknown:
    """Those of the commits that a ref holds, in one question to git."""
    if not commits:
        return set()
    there = list(commits)
    words = ("--stdin", f"^{ref}")
    first = git.run_once("rev-list", *words, feed=_lines(there))
    elsewhere = set(first.stdout.split())
    if first.returncode != 0:
        # One that is not there at all makes git refuse to look at the others.
        there = _existing(git, there)
        try:
            elsewhere = set(git.run("rev-list", *words, feed=_lines(there)).split())
        except GitUnanswered as error:
            return Unknown(error.message)
    doubtful = elsewhere.intersection(
        there
    )  # where dates lie, git stops before it has seen that the ref holds it
    tip = git.commit_of(ref) if doubtful else None
    return set(there) - (doubtful - log.contained_commits(git, tip, doubtful) if tip else doubtful)


def _lines(commits: Iterable[str]) -> str:
    return "".join(f"{sha}\n" for sha in commits)


def _existing(git: Reader, commits: Collection[str]) -> list[str]:
    said = git.run("cat-file", "--batch-check=%(objecttype) %(objectname)", feed=_lines(commits))
    return [
        line.removeprefix("commit ") for line in said.splitlines() if line.startswith("commit ")
    ]
