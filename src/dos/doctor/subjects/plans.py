"""The plans: there is work, units can be offered and told apart, and all is committed.

The units come from documents, a tracker or a command, as `[plans] source` says. Reading them finds
the problems of single units; here each problem gets what follows from it.
"""

import os
import shlex
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

from dos.config import fix_commands, scaffold
from dos.config.schema import Paths, Stamp
from dos.doctor.subjects import git
from dos.doctor.subjects.finding import Finding, error, note, warning
from dos.errors import BadInput, GitFailed
from dos.git.repository import Reader
from dos.text import join_some, plural, quote
from dos.units.io import documents, sources
from dos.units.portfolio import Portfolio
from dos.units.unit import Problem, ProblemKind, Unit
from dos.verify import mentions
from dos.world import World

# The plan that `_first_plan_command` writes.
FIRST_UNIT = "## FIRST1: say what should be true\n\n- lane: {lane}\n"
# What follows from each problem of a plan.
PROBLEM_EFFECTS = {
    ProblemKind.UNREADABLE: "No unit of any plan is offered until it can be read.",
    ProblemKind.NOT_CLOSED: "Units below it are not found.",
    ProblemKind.RANGE: "A heading declares one unit; this one declares none.",
    ProblemKind.DUPLICATE: "Only the first of the two counts.",
    ProblemKind.UNMARKED: "It declares no unit, so no work is offered for it.",
    ProblemKind.AGENT_UNKNOWN: "The unit is held until it names an existing agent.",
    ProblemKind.CLASS_UNKNOWN: "The unit is held until its class is known.",
    ProblemKind.KEY_MISTYPED: "The unit is held until the key is corrected or no longer an item.",
    ProblemKind.PATHS_OUTSIDE_LANE: "Commits to paths outside the lane never land.",
    ProblemKind.ACCEPTANCE_PROGRAM_MISSING: "Its work can never be accepted.",
    ProblemKind.SOAK_UNREADABLE: "The soak never ends.",
    ProblemKind.DEPENDENCY_UNKNOWN: "A unit waits until everything it depends on has landed.",
    ProblemKind.DEPENDENCY_CYCLE: "None of these units is ever offered.",
}
UNCOMMITTED_WHY = "Workers take units from your checkout, and judge the work by the committed plan."


@lru_cache(maxsize=1)
def _portfolio(world: World) -> Portfolio:
    """The units and problems of all plans, read once for all findings."""
    return sources.read(world.workspace, world.config)


def all_units(world: World) -> tuple[Unit, ...]:
    """Return the units of all plans."""
    return _portfolio(world).units


def _documents(world: World, glob: str) -> list[Path]:
    """The files that match the glob. Raises OSError for a folder that cannot be listed."""
    root = world.workspace.root
    folder = root
    for part in Path(glob).parts[:-1]:
        if set(part) & set("*?["):
            break
        folder /= part
    if folder.is_dir():
        os.scandir(folder).close()  # the search itself skips what it cannot list
    return [path for path in documents.plan_paths(root, glob) if path.is_file()]


def examine_plans(world: World) -> list[Finding]:
    """Return the problems of the plans; without any unit, how to declare the first one."""
    glob = world.config.paths.plans_glob
    from_documents = world.config.plans.source == "documents"
    try:
        portfolio = _portfolio(world)
        plan_files: list[Path] = []
        if from_documents and not portfolio.units:
            plan_files = _documents(world, glob)
    except BadInput as failure:
        why = "No unit can be offered to a worker."
        if from_documents:
            fix = fix_commands.unset_command(("paths", "plans_glob"))
            return [error("PLANS_GLOB_INVALID", failure.message, why, fix)]
        fix = fix_commands.unset_command(("plans", "source"))
        return [error("PLANS_SOURCE_FAILED", failure.message, why, fix)]
    findings = [_finding(world, problem) for problem in portfolio.problems]
    units = portfolio.units
    if units:
        return [*findings, *_without_lane(world, units), *_shared_ids(world, units)]
    if plan_files and not findings:
        what = f"no heading of the documents {glob!r} declares a unit"
        why = "A unit is a heading with an id of letters and digits: `## AUTH1: log in`."
        fix = fix_commands.edit_command(plan_files[0])
        return [warning("PLANS_WITHOUT_UNITS", what, why, fix)]
    if plan_files or not from_documents:
        return findings
    return [_no_plans(world, glob)]


def _no_plans(world: World, glob: str) -> Finding:
    """The warning that no plan exists.

    The fix points `[paths] plans_glob` at plans that were found elsewhere, or writes a first one.
    """
    elsewhere = None
    if world.workspace.common:  # outside of git the search could walk a whole home directory
        elsewhere = scaffold.plans_glob(world.workspace.root)
    if elsewhere and _documents(world, elsewhere):
        fix = fix_commands.set_command(("paths", "plans_glob"), elsewhere)
    else:
        fix = _first_plan_command(world, glob)
    return warning("NO_PLANS", f"no file matches {glob!r}", "There is no unit to work on.", fix)


def examine_naming(world: World) -> list[Finding]:
    """Return a warning when [stamp] matches none of the commits that seem to name units.

    With such a grammar every unit would count as not shipped.
    """
    stamp = world.config.stamp
    commits = git.repository(world).commits
    shaped = mentions.ship_shaped_commits(commits)
    units = {(unit.plan, unit.id) for unit in all_units(world)}
    if stamp == Stamp() or not shaped or mentions.commits_naming(commits, units, stamp):
        return []
    if mentions.grammar_recognises_some(shaped, stamp):
        return []
    example = quote(shaped[0][0])
    return [
        warning(
            "STAMP_RECOGNISES_NOTHING",
            f"[stamp] recognises no unit in {plural(len(shaped), 'commit subject')},"
            f" such as {example}",
            "`dos verify` would find none of this work shipped.",
            "dos config show stamp",
        )
    ]


def _first_plan_command(world: World, glob: str) -> str:
    """A command that writes a first plan where the glob, or else the default, finds it."""
    is_simple = (
        not set(glob) & set("?[]\\")
        and not glob.endswith(("/", "**"))
        and ".." not in Path(glob).parts
    )
    steps = []
    if not is_simple:
        glob = Paths().plans_glob
        steps.append(fix_commands.unset_command(("paths", "plans_glob")))
    path = world.workspace.root / glob.replace("**/", "").replace("*", "first")
    lanes = world.config.lanes.autopick or tuple(world.config.roster()) or ("main",)
    text = FIRST_UNIT.format(lane=lanes[0])
    text = text.replace("\\", "\\\\").replace("%", "%%").replace("\n", "\\n")
    steps.append(f"mkdir -p {shlex.quote(str(path.parent))}")
    steps.append(f"printf {shlex.quote(text)} > {shlex.quote(str(path))}")
    return " && ".join(steps)


def _finding(world: World, problem: Problem) -> Finding:
    """A problem of a plan as a finding, with what follows from it."""
    why = PROBLEM_EFFECTS.get(problem.kind, "")
    if not why:
        lanes = join_some(world.config.roster())
        why = (
            f"The unit is never offered. The lanes are: {lanes}."
            " Name one of them in the plan, or declare the lane under [lanes] of dos.toml."
        )
    path = world.workspace.root / problem.document
    if problem.kind is ProblemKind.UNREADABLE and not os.access(path, os.R_OK):
        fix = fix_commands.make_readable_command(path)
    else:
        fix = _edit_unit_command(world, problem.document, problem.line)
    return warning(problem.kind, str(problem), why, fix)


def _without_lane(world: World, units: tuple[Unit, ...]) -> list[Finding]:
    """The units that no worker can be given, because they name no lane and none is picked."""
    if world.config.lanes.autopick:
        return []
    findings = []
    for unit in units:
        if unit.lane:
            continue
        place = _unit_place(unit)
        what = f"{place}: unit {unit.name} names no lane, and [lanes] autopick is empty"
        fix = _edit_unit_command(world, unit.document, unit.line)
        findings.append(warning("UNIT_WITHOUT_LANE", what, "The unit is never offered.", fix))
    return findings


def _shared_ids(world: World, units: tuple[Unit, ...]) -> list[Finding]:
    """A note for each id that several units have.

    Commits may name a unit by its id alone, and such a commit would be ambiguous.
    """
    by_id: defaultdict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_id[unit.id].append(unit)
    findings = []
    for unit_id, same in by_id.items():
        if len(same) > 1:
            places = join_some([_unit_place(unit) for unit in same])
            what = f"{len(same)} units have the id {unit_id}: {places}"
            why = "A commit that names only the id does not say which unit it ships."
            fix = _edit_unit_command(world, same[-1].document, same[-1].line)
            findings.append(note("UNIT_ID_SHARED", what, why, fix))
    return findings


def _unit_place(unit: Unit) -> str:
    """The document and line that declare the unit."""
    return f"{unit.document}:{unit.line}"


def _edit_unit_command(world: World, document: str, line: int) -> str:
    """A command that opens the unit's declaration, or that shows where units come from."""
    if world.config.plans.source == "command":
        return "dos config get plans.command"
    return fix_commands.edit_command(world.workspace.root / document, line or None)


# Plans and settings that are not committed


def uncommitted_paths(world: World) -> list[str]:
    """Return dos.toml and the plans that differ from the target branch, relative to the root.

    Files that git does not track differ too, and all of them where the branch has no commit.
    Returns nothing outside of a repository.
    """
    if world.workspace.common is None:
        return []
    root = world.workspace.root
    config = world.config
    paths: list[str] = []
    if config.plans.source == "documents":
        plans = documents.plan_paths(root, config.paths.plans_glob, config.paths.next_packets)
        paths = [path.relative_to(root).as_posix() for path in plans if path.is_file()]
    if world.loaded_config.path is not None:
        paths.append("dos.toml")
    target = config.workers.target_branch or "HEAD"
    reader = Reader(root)
    if not paths or reader.commit_of(target) is None:
        return paths
    return sorted({*_changed_paths(reader, target, paths), *_untracked_paths(reader, paths)})


def commit_command(world: World, paths: list[str]) -> str:
    """Return a command that commits these paths alone on the target branch, from any branch.

    On another branch it commits there first, then checks the target out, takes the paths over,
    commits them again, and returns.
    """
    words = " ".join(shlex.quote(path) for path in paths)
    message = "Update the plan"
    if paths == ["dos.toml"]:
        message = "Update dos.toml"
    commit = f"git commit -m '{message}' -- {words}"
    steps = [f"cd {shlex.quote(str(world.workspace.root))}"]
    reader = Reader(world.workspace.root)
    target = world.config.workers.target_branch
    is_on_target = not target or target == reader.branch()
    if is_on_target or _has_edits(reader, paths):
        steps += [f"git add -- {words}", commit]
    if not is_on_target:
        steps.append(f"git checkout {shlex.quote(target)}")
        steps += [f"git checkout '@{{-1}}' -- {words}", commit, "git checkout -"]
    return " && ".join(steps)


def _has_edits(reader: Reader, paths: list[str]) -> bool:
    """Whether any of the paths differs from the commit that is checked out."""
    if reader.commit_of("HEAD") is None:
        return True
    return bool(_changed_paths(reader, "HEAD", paths) or _untracked_paths(reader, paths))


def describe_uncommitted(world: World, paths: list[str]) -> str:
    """Return a clause that says which paths are not committed, or differ from which branch."""
    is_one = len(paths) == 1
    target = world.config.workers.target_branch
    if target:
        verb = "differs" if is_one else "differ"
        return f"{join_some(paths)} in your checkout {verb} from branch {target}"
    verb = "has" if is_one else "have"
    return f"{join_some(paths)} {verb} uncommitted changes"


def examine_uncommitted(world: World) -> list[Finding]:
    """Return a warning when plans or settings are not committed.

    Without a usable git, or without the target branch, nothing can be compared or committed; the
    findings on git say so.
    """
    target = world.config.workers.target_branch
    if not git.is_usable(world) or (target and world.git.commit_of(target) is None):
        return []
    paths = uncommitted_paths(world)
    if not paths:
        return []
    what = describe_uncommitted(world, paths)
    return [warning("PLANS_UNCOMMITTED", what, UNCOMMITTED_WHY, commit_command(world, paths))]


def _changed_paths(reader: Reader, target: str, paths: list[str]) -> list[str]:
    """The paths that differ from the target branch. Raises GitFailed if git cannot compare them."""
    done = reader.attempt("diff", "--name-only", "--relative", "-z", target, "--", *paths)
    if done.returncode != 0:
        raise GitFailed(f"git diff cannot compare the plans with {target}: {done.stderr.strip()}")
    return [path for path in done.stdout.split("\0") if path]


def _untracked_paths(reader: Reader, paths: list[str]) -> list[str]:
    """The paths that git does not track, also where they are ignored."""
    tracked = set(reader.run("ls-files", "-z", "--", *paths).split("\0"))
    return [path for path in paths if path not in tracked]
