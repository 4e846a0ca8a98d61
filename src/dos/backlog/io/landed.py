"""Find out which units have landed: by the target branch, else by the journal as git confirms it.

A fresh clone has no journal, and work that a person committed was never in it; what a worker
landed may not be named in any commit.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, structs

from dos import regions
from dos.errors import DosError, GitFailed, GitUnanswered
from dos.fleet.state.fleet import FleetState, UnitState
from dos.git import commits, log
from dos.git.files import is_shallow
from dos.git.repository import Reader
from dos.journal import fold
from dos.receipts.io import find
from dos.units.io import sources
from dos.units.unit import Unit
from dos.unknown import Unknown
from dos.verify.io.verdict_cache import VerdictCache
from dos.verify.shipped import Answer, Source, Verdict
from dos.witness import belief
from dos.world import World


class Landed(Struct, frozen=True):
    """The unit landed, as this commit."""

    commit: str
    source: Source = Source.LANDING


class NotLanded(Struct, frozen=True):
    """The unit did not land, or was removed again."""

    why: str
    is_claimed: bool = False  # a commit or the journal says that it is done, or was


Truth = Landed | NotLanded | Unknown
Verdicts = Mapping[str, Verdict | Unknown]
_DELIVERED = "refs/heads/dos/"  # branches of their own, to be merged by a person


def gather(world: World, units: Iterable[str], fleet: FleetState | None = None) -> dict[str, Truth]:
    """The truth about each unit, by its name. History is read once for all of them."""
    if fleet is None:
        fleet, _ = fold.current(world.journal, FleetState)
    truths, _ = inspect_target(world, units, fleet)
    return truths


def inspect_target(
    world: World,
    units: Iterable[str],
    fleet: FleetState,
    ref: str = "",
    memory: VerdictCache | None = None,
    declared: Sequence[Unit] | None = None,
    disputed: Collection[str] = (),
) -> tuple[dict[str, Truth], FleetState]:
    """The truth about each unit, and the fleet's state corrected by it.

    The state is a copy: the journal keeps only what happened. `memory` holds verdicts of the same
    ref from before; `declared` are the units of the plans, read from disk if None; `disputed` are
    commits that count as no landing, besides those that the journal knows.
    """
    names = list(dict.fromkeys(units))
    landings = _recorded_landings(fleet, names)
    where = ref or target_ref(world)
    if memory is None:
        memory = VerdictCache()
    verdicts = _verdicts(world, names, where, memory)
    memory.shipped_commits = {name: verdict.sha for name, verdict in _shipped(verdicts).items()}
    on_target: set[str] | Unknown = set()
    if landings:
        on_target = _on_target(world, set(landings.values()), where, memory)
    delivered = _delivered(world, fleet, landings, where)
    by_agents = truths_of_agent_commits(memory.shipped_commits, fleet, disputed)
    others = {}
    for name in names:
        if name not in landings and name not in by_agents:
            others[name] = verdicts[name]
    not_by_workers = _by_people(world, others, declared, memory)
    not_by_workers |= _landed_for_others(world, others, fleet)
    not_by_workers |= by_agents
    truths: dict[str, Truth] = {}
    for name in names:
        if name in delivered:
            truths[name] = Landed(landings[name], Source.BRANCH)
        elif name in not_by_workers:
            truths[name] = not_by_workers[name]
        else:
            truths[name] = _truth(world, landings.get(name, ""), on_target, verdicts[name])
    return truths, _corrected(fleet, truths, verdicts)


def _recorded_landings(fleet: FleetState, names: Iterable[str]) -> dict[str, str]:
    """The units that the journal calls landed, with their commits."""
    landings = {}
    for name in names:
        unit = fleet.units.get(name)
        if unit and unit.landed:
            landings[name] = unit.landed
    return landings


def _corrected(fleet: FleetState, truths: Mapping[str, Truth], verdicts: Verdicts) -> FleetState:
    units = dict(fleet.units)
    for name, truth in truths.items():
        unit, verdict = fleet.units.get(name, UnitState()), verdicts[name]
        corrected = corrected_by_git(unit, truth)
        if not isinstance(verdict, Unknown) and verdict.soaking and not unit.intended:
            corrected = structs.replace(unit, landed="", soaking=True)
        if corrected is not None:
            units[name] = corrected
    return structs.replace(fleet, units=units)


def corrected_by_git(unit: UnitState, truth: Truth) -> UnitState | None:
    """What the journal says of a unit, corrected by git; None if git agrees."""
    if unit.intended is not None:
        return None  # a landing of it is in progress, and its worker finishes it
    if isinstance(truth, Landed) and not unit.landed:
        return structs.replace(unit, landed=truth.commit)
    if isinstance(truth, NotLanded) and unit.landed:
        # It was removed for a reason: no worker does it again before a person says so.
        undone = f"it had landed as {unit.landed[:9]}: {truth.why}"
        return structs.replace(unit, landed="", undone=undone)
    return None


def shipped(truth: Truth) -> bool | Unknown:
    """Whether the unit landed, for callers that need no commit."""
    if isinstance(truth, Unknown):
        return truth
    return isinstance(truth, Landed)


def target_ref(world: World) -> str | Unknown:
    """The ref that units land on: the configured branch, else what the main work tree is on.

    For a branch that several hosts share, it is what was last fetched of it.
    """
    if world.workspace.common is None:
        return Unknown(f"{world.workspace.root} is not in a git repository")
    git = Reader(world.workspace.root)
    branch = git.target_branch(world.config.workers.target_branch)
    if not branch:
        return "HEAD"
    return git.target_ref(branch, remote=world.config.workers.remote)


def _verdicts(world: World, names: list[str], ref: str | Unknown, memory: VerdictCache) -> Verdicts:
    """The verdict of the target on each unit; Unknown if git cannot be read."""
    if isinstance(ref, Unknown):
        return dict.fromkeys(names, ref)
    if not names:
        return {}
    try:
        return memory.verify(world, names, ref)
    except DosError as error:
        memory.forget()
        return dict.fromkeys(names, Unknown(error.message))


def _shipped(verdicts: Verdicts) -> dict[str, Verdict]:
    """The units that the target shows as shipped."""
    found = {}
    for name, verdict in verdicts.items():
        if not isinstance(verdict, Unknown) and verdict.shipped:
            found[name] = verdict
    return found


def truths_of_agent_commits(
    named: Mapping[str, str], fleet: FleetState, disputed: Collection[str]
) -> dict[str, Truth]:
    """The truth about units whose commits an agent brought to the branch outside a landing.

    They count only if a person kept them.
    """
    rejected = fleet.incidents.disputed.union(disputed)
    truths: dict[str, Truth] = {}
    for name, sha in named.items():
        if fleet.units.get(name, UnitState()).landed:
            continue
        if sha in fleet.incidents.kept_commits:
            truths[name] = Landed(sha, Source.KEPT)
        elif sha in rejected:
            why = f"{sha[:9]} was put there by an agent, not by a landing"
            truths[name] = NotLanded(why, is_claimed=True)
    return truths


def _landed_for_others(world: World, verdicts: Verdicts, fleet: FleetState) -> dict[str, Truth]:
    """The truth about units that only the landing of another unit names.

    A landing is for the unit that was claimed. This is not decided in a shared tree, where
    commits of people lie between those of a landing.
    """
    if world.config.workers.isolation == "shared":
        return {}
    landings = {unit.landed: name for name, unit in fleet.units.items() if unit.landed}
    truths: dict[str, Truth] = {}
    for name, verdict in _shipped(verdicts).items():
        if verdict.sha in landings:
            why = f"{verdict.sha[:9]} names it, and was landed for {landings[verdict.sha]}"
            truths[name] = NotLanded(why, is_claimed=True)
    return truths


def _by_people(
    world: World, verdicts: Verdicts, declared: Sequence[Unit] | None, memory: VerdictCache
) -> dict[str, Truth]:
    """The truth about the declared units that git shows and no worker has landed."""
    found = _shipped(verdicts)
    if not found:
        return {}
    if declared is None:
        declared = sources.read(world.workspace, world.config).units
    units = [unit for unit in declared if unit.name in found]
    paths = _changed_paths(world, {found[unit.name].sha for unit in units})
    truths = {}
    for unit in units:
        verdict = found[unit.name]
        truths[unit.name] = _by_person(world, unit, verdict, paths[verdict.sha], memory)
    return truths


def _by_person(
    world: World, unit: Unit, verdict: Verdict, paths: Sequence[str], memory: VerdictCache
) -> Truth:
    """Whether a person's commit ships a unit.

    It has to change something in the unit's lane. If the unit has an acceptance command, a signed
    receipt has to say that it passed.
    """
    commit = verdict.sha[:9]
    name = unit.lane or next(iter(world.config.lanes.autopick), "")
    lane = world.config.lane_region(name) if name else None
    root = world.workspace.prefix
    is_outside = (
        lane is not None
        and bool(lane.globs)
        and not any(regions.lane_holds(lane, path, root) for path in paths)
    )
    if is_outside:
        why = f"{commit} names it, and changes nothing in its lane"
        return NotLanded(why, is_claimed=True)
    if unit.acceptance and not _has_receipt(world, unit, verdict.sha, memory):
        why = (
            f"{commit} names it, but no worker landed it"
            " and no receipt says that its acceptance passed"
        )
        return NotLanded(why, is_claimed=True)
    return Landed(verdict.sha, verdict.source)


def _changed_paths(world: World, shas: Collection[str]) -> dict[str, list[str]]:
    """What each commit changed; a merge is compared with its first parent."""
    if not shas:
        return {}
    asked = [commits.CommitSubject(sha=sha, subject="") for sha in shas]
    paths = commits.paths_by_commit(world.git, asked)
    for sha in shas:
        if sha not in paths:
            paths[sha] = [change.path for change in commits.blob_changes(world.git, sha)]
    return paths


def _has_receipt(world: World, unit: Unit, sha: str, memory: VerdictCache) -> bool:
    """Whether a valid receipt confirms the unit at the commit; a good answer is remembered."""
    key = unit.name, sha
    if key in memory.receipted:
        return True
    for receipt in find.receipts_for_commit(world, sha, unit.name):
        if receipt.valid and receipt.bound and receipt.verdict == belief.Answer.CONFIRMED:
            memory.receipted.add(key)
            return True
    return False


def _truth(
    world: World, commit: str, on_target: set[str] | Unknown, verdict: Verdict | Unknown
) -> Truth:
    """The truth about a unit by the target's verdict and by the journal's landing, if any."""
    if not isinstance(verdict, Unknown) and verdict.shipped:
        return Landed(verdict.sha, verdict.source)
    if not commit or (not isinstance(verdict, Unknown) and verdict.soaking):
        return _truth_of_verdict(verdict)
    if isinstance(on_target, Unknown):
        return on_target
    if commit not in on_target:
        return NotLanded(f"{commit[:9]} is not on the target branch any more", is_claimed=True)
    if not isinstance(verdict, Unknown) and _is_undone_since(world.git, commit, verdict):
        return NotLanded(verdict.reason, is_claimed=True)
    return Landed(commit)


def _truth_of_verdict(verdict: Verdict | Unknown) -> Truth:
    if isinstance(verdict, Unknown):
        return verdict
    if verdict.answer is Answer.CANNOT_TELL:
        return Unknown(verdict.reason)
    return NotLanded(verdict.reason, is_claimed=bool(verdict.candidates))


def _is_undone_since(git: Reader, commit: str, verdict: Verdict) -> bool:
    """Whether it was removed after it had landed, not within its own commits."""
    by = verdict.undone_by
    return verdict.answer is Answer.UNDONE and by is not None and not git.is_ancestor(by, commit)


def _on_target(
    world: World, landings: set[str], ref: str | Unknown, memory: VerdictCache
) -> set[str] | Unknown:
    """Those of the commits that the target contains."""
    if isinstance(ref, Unknown):
        return ref
    unasked = landings - memory.contains.keys()
    try:
        found = _on_branch(world.git, unasked, memory.tip or ref)
    except GitFailed as error:
        return Unknown(error.message)
    if isinstance(found, Unknown):
        return found
    contains = memory.contains | {commit: commit in found for commit in unasked}
    if memory.tip:
        memory.contains = contains
    held = {commit for commit in landings if contains[commit]}
    if len(held) < len(landings) and is_shallow(world.workspace):
        return Unknown("this clone is shallow, and may not hold every landing")
    return held


def _delivered(
    world: World, fleet: FleetState, landings: Mapping[str, str], ref: str | Unknown
) -> set[str]:
    """The units that landed on a branch of their own: done, as long as that branch exists."""
    branches = {}
    for name in landings:
        branch = f"refs/heads/{fleet.units[name].landed_on}"
        if branch.startswith(_DELIVERED) and branch != ref:
            branches[name] = branch
    if not branches:
        return set()
    output = world.git.run("for-each-ref", "--format=%(objectname) %(refname)", _DELIVERED)
    tips = {}
    for line in output.splitlines():
        tip, _, branch = line.partition(" ")
        tips[branch] = tip
    delivered = set()
    for name, branch in branches.items():
        commit = landings[name]
        branch_tip = tips.get(branch)
        if not branch_tip:
            continue
        if branch_tip == commit or world.git.is_ancestor(commit, branch_tip):
            delivered.add(name)
    return delivered


def _on_branch(git: Reader, shas: Collection[str], ref: str) -> set[str] | Unknown:
    """Those of the commits that a ref contains, by one call of git."""
    if not shas:
        return set()
    existing = list(shas)
    words = ("--stdin", f"^{ref}")
    first = git.run_once("rev-list", *words, feed=_lines(existing))
    elsewhere = set(first.stdout.split())
    if first.returncode != 0:
        # A commit that does not exist makes git refuse the others, too.
        existing = _existing(git, existing)
        try:
            elsewhere = set(git.run("rev-list", *words, feed=_lines(existing)).split())
        except GitUnanswered as error:
            return Unknown(error.message)
    # If commit dates are wrong, git stops before it has seen that the ref contains one.
    doubtful = elsewhere.intersection(existing)
    tip = git.commit_of(ref) if doubtful else None
    if tip:
        doubtful = doubtful - log.contained_commits(git, tip, doubtful)
    return set(existing) - doubtful


def _lines(shas: Iterable[str]) -> str:
    return "".join(f"{sha}\n" for sha in shas)


def _existing(git: Reader, shas: Collection[str]) -> list[str]:
    check = "--batch-check=%(objecttype) %(objectname)"
    output = git.run("cat-file", check, feed=_lines(shas))
    existing = []
    for line in output.splitlines():
        if line.startswith("commit "):
            existing.append(line.removeprefix("commit "))
    return existing
