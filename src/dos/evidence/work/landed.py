"""Which units have landed: what the target branch itself shows, and else what the journal says and git still holds.

A fresh clone has no journal, and work that a person committed was never in it; what a worker landed may not be named
in any commit.
"""

from collections.abc import Collection, Iterable

from msgspec import Struct

from dos.errors import DosError, GitFailed
from dos.evidence.work import shipped as oracle
from dos.journal import fold
from dos.journal.states.fleet import Fleet
from dos.records.unknown import Unknown
from dos.sources.git import Git
from dos.sources.world import World
from dos.verdicts.work.shipped import Answer, Verdict


class Landed(Struct, frozen=True):
    commit: str
    source: str = "landing"


class NotLanded(Struct, frozen=True):
    why: str


Truth = Landed | NotLanded | Unknown


def gather(world: World, units: Iterable[str], fleet: Fleet | None = None) -> dict[str, Truth]:
    """The truth about each unit, by its name. History is read once for all of them."""
    state = fleet or fold.current(world.journal, Fleet)[0]
    names = list(dict.fromkeys(units))
    commits = {name: seen.landed for name in names if (seen := state.units.get(name)) and seen.landed}
    on_target = _on_target(world, set(commits.values())) if commits else set()
    shown = _shown(world, names)
    return {name: _truth(commits.get(name, ""), on_target, shown.get(name)) for name in names}


def shipped(truth: Truth) -> bool | Unknown:
    return truth if isinstance(truth, Unknown) else isinstance(truth, Landed)


def target_branch(world: World) -> str | Unknown:
    """The branch that units land on: the configured one, else the one that the main work tree is on."""
    if world.config.workers.target_branch:
        return world.config.workers.target_branch
    if world.workspace.common is None:
        return Unknown(f"{world.workspace.root} is not in a git repository")
    return Git(world.workspace.root).branch() or Unknown(f"{world.workspace.root} is on no branch")


def _shown(world: World, names: list[str]) -> dict[str, Verdict]:
    """What the target branch shows of each unit; nothing where it cannot be read."""
    branch = target_branch(world)
    if isinstance(branch, Unknown) or not names:
        return {}
    pairs = [(plan, phase) for plan, _, phase in (name.rpartition("/") for name in names)]
    try:
        found = oracle.verify(world, pairs, oracle.Ask(ref=f"refs/heads/{branch}", asks_ci=False))
    except DosError:
        return {}  # the journal's landings are asked of git by themselves, and say what is wrong with it
    return dict(zip(names, found, strict=True))


def _truth(commit: str, on_target: set[str] | Unknown, shown: Verdict | None) -> Truth:
    if shown is not None and shown.shipped:
        return Landed(shown.sha, shown.source)
    if not commit:
        if shown is not None and shown.answer is Answer.CANNOT_TELL:
            return Unknown(shown.reason)
        is_claimed = shown is not None and shown.candidates
        return NotLanded(shown.reason if shown is not None and is_claimed else "no landing is recorded")
    if isinstance(on_target, Unknown):
        return on_target
    if commit not in on_target:
        return NotLanded(f"{commit[:9]} is not on the target branch any more")
    if shown is not None and shown.answer is Answer.UNDONE:
        return NotLanded(shown.reason)
    return Landed(commit)


def _on_target(world: World, commits: Collection[str]) -> set[str] | Unknown:
    """Those of the commits that the target branch holds."""
    try:
        branch = target_branch(world)
        if isinstance(branch, Unknown):
            return branch
        held = on_branch(world.git, commits, branch)
        if not isinstance(held, Unknown) and len(held) < len(commits) and _is_shallow(world):
            return Unknown("the history here is cut off, and may not hold every landing")
        return held
    except GitFailed as error:
        return Unknown(error.message)


def on_branch(git: Git, commits: Collection[str], branch: str) -> set[str] | Unknown:
    """Those of the commits that a branch holds, in one question to git."""
    there = list(commits)
    elsewhere = _not_on(git, there, branch)
    if isinstance(elsewhere, Unknown):
        # One that is not there at all makes git refuse to look at the others.
        there = _existing(git, there)
        elsewhere = _not_on(git, there, branch)
    return elsewhere if isinstance(elsewhere, Unknown) else set(there) - elsewhere


def _not_on(git: Git, commits: Collection[str], branch: str) -> set[str] | Unknown:
    done = git.attempt("rev-list", "--stdin", f"^refs/heads/{branch}", feed="".join(f"{sha}\n" for sha in commits))
    if done.returncode != 0:
        return Unknown((done.stderr.strip().splitlines() or ["git rev-list failed"])[-1])
    return set(done.stdout.split())


def _existing(git: Git, commits: Collection[str]) -> list[str]:
    said = git.run("cat-file", "--batch-check=%(objecttype) %(objectname)", feed="".join(f"{sha}\n" for sha in commits))
    return [line.removeprefix("commit ") for line in said.splitlines() if line.startswith("commit ")]


def _is_shallow(world: World) -> bool:
    return world.workspace.common is not None and (world.workspace.common / "shallow").exists()
