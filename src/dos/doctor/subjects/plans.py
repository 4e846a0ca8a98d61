"""The plans: is there work, can each unit be offered, and is it told from every other?"""

import os
import shlex
from collections import defaultdict
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from dos.config import fix_commands, infer
from dos.config.schema import Paths, Stamp
from dos.doctor.subjects import git
from dos.doctor.subjects.finding import Finding, error, note, warning
from dos.errors import BadInput, GitFailed
from dos.git.repository import Reader
from dos.text import join_some, quote
from dos.units.io import documents, sources
from dos.units.portfolio import Portfolio
from dos.units.unit import Problem, ProblemKind, Unit
from dos.verify import mentions
from dos.world import World

FIRST_UNIT = "## FIRST1: say what should be true\n\n- lane: {lane}\n"
PROBLEM_EFFECTS = {
    ProblemKind.UNREADABLE: "What it declares is not known, and nothing is offered until it can be read.",
    ProblemKind.NOT_CLOSED: "Units below it are not found.",
    ProblemKind.RANGE: "A heading declares one unit; nothing is offered for this one.",
    ProblemKind.DUPLICATE: "Only the first of the two counts.",
    ProblemKind.UNMARKED: "It declares no unit, so nothing is offered for it.",
    ProblemKind.AGENT_UNKNOWN: "It is held until its agent is one that there is.",
    ProblemKind.CLASS_UNKNOWN: "Nobody knows whether it may be worked on.",
    ProblemKind.KEY_MISTYPED: "The unit is held until the key is corrected, or the line is no list item any more.",
    ProblemKind.PATHS_OUTSIDE_LANE: "Whatever an agent commits there is outside of the lane, and never lands.",
    ProblemKind.ACCEPTANCE_PROGRAM_MISSING: "Its work could never be accepted.",
    ProblemKind.SOAK_UNREADABLE: "A soak whose end nobody can read never ends.",
    ProblemKind.DEPENDENCY_UNKNOWN: "A unit waits until everything it depends on has landed.",
    ProblemKind.DEPENDENCY_CYCLE: "None of them is ever offered.",
}


@lru_cache(maxsize=1)
def _portfolio(world: World) -> Portfolio:
    return sources.read(world.workspace, world.config)


def all_units(world: World) -> tuple[Unit, ...]:
    return _portfolio(world).units


def _documents(world: World, glob: str) -> list[Path]:
    root = world.workspace.root
    plain = takewhile(lambda part: not set(part) & set("*?["), Path(glob).parts[:-1])
    if (folder := root.joinpath(*plain)).is_dir():
        os.scandir(folder).close()  # a search passes over what it may not look into
    return [path for path in documents.plan_paths(root, glob) if path.is_file()]


def examine_plans(world: World) -> list[Finding]:
    glob, plans = world.config.paths.plans_glob, world.config.plans
    from_documents = plans.source == "documents"
    try:
        found = _portfolio(world)
        plan_files = _documents(world, glob) if from_documents and not found.units else []
    except BadInput as failure:
        if from_documents:
            fix = fix_commands.unset_command(("paths", "plans_glob"))
            return [error("PLANS_GLOB_INVALID", failure.message, "No unit is found.", fix)]
        fix = fix_commands.unset_command(("plans", "source"))
        return [error("PLANS_SOURCE_FAILED", failure.message, "No unit is found.", fix)]
    findings = [_finding(world, problem) for problem in found.problems]
    if found.units:
        return [*findings, *_without_lane(world, found.units), *_shared_ids(world, found.units)]
    if plan_files and not findings:
        what = f"no heading of the documents {glob!r} names a unit"
        why = "A unit is a heading with an id of letters and digits: `## AUTH1: log in`."
        return [warning("PLANS_WITHOUT_UNITS", what, why, fix_commands.edit_command(plan_files[0]))]
    if plan_files or not from_documents:
        return findings
    # Outside of git nobody knows how much lies below, and looking everywhere may never end.
    elsewhere = infer.plans_glob(world.workspace.root) if world.workspace.common else None
    there = elsewhere and _documents(world, elsewhere)
    fix = (
        fix_commands.set_command(("paths", "plans_glob"), elsewhere)
        if there
        else _first_plan(world, glob)
    )
    return [warning("NO_PLANS", f"no file matches {glob!r}", "There is no unit to work on.", fix)]


def examine_naming(world: World) -> list[Finding]:
    """A grammar that understands nobody here would call everything not shipped."""
    stamp, commits = world.config.stamp, git.repository(world).commits
    shaped = mentions.ship_shaped_commits(commits)
    units = {(unit.plan, unit.id) for unit in all_units(world)}
    if stamp == Stamp() or not shaped or mentions.commits_naming(commits, units, stamp):
        return []
    if mentions.grammar_recognises_some(shaped, stamp):
        return []
    return [
        warning(
            "STAMP_RECOGNISES_NOTHING",
            f"[stamp] understands none of {len(shaped)} subjects that name units, such as {quote(shaped[0][0])}",
            "`dos verify` finds nothing that was shipped.",
            "dos config show stamp",
        )
    ]


def _first_plan(world: World, glob: str) -> str:
    """Writes a document where the glob finds it, or where the default does."""
    usual = Paths().plans_glob
    simple = (
        not set(glob) & set("?[]\\")
        and not glob.endswith(("/", "**"))
        and ".." not in Path(glob).parts
    )
    inside = (glob if simple else usual).replace("**/", "").replace("*", "first")
    place = world.workspace.root / inside
    lanes = world.config.lanes.autopick or tuple(world.config.roster()) or ("main",)
    text = (
        FIRST_UNIT.format(lane=lanes[0])
        .replace("\\", "\\\\")
        .replace("%", "%%")
        .replace("\n", "\\n")
    )
    begin = "" if simple else f"{fix_commands.unset_command(('paths', 'plans_glob'))} && "
    return f"{begin}mkdir -p {shlex.quote(str(place.parent))} && printf {shlex.quote(text)} > {shlex.quote(str(place))}"


def _finding(world: World, problem: Problem) -> Finding:
    why = (
        PROBLEM_EFFECTS.get(problem.kind)
        or f"It is never offered. The lanes are: {join_some(world.config.roster())}."
    )
    place = world.workspace.root / problem.document
    unread = problem.kind is ProblemKind.UNREADABLE and not os.access(place, os.R_OK)
    fix = (
        fix_commands.make_readable_command(place)
        if unread
        else _edit_unit_command(world, problem.document, problem.line)
    )
    return warning(problem.kind, str(problem), why, fix)


def _without_lane(world: World, units: tuple[Unit, ...]) -> list[Finding]:
    if world.config.lanes.autopick:
        return []
    return [
        warning(
            "UNIT_WITHOUT_LANE",
            f"{_unit_place(unit)}: unit {unit.name} names no lane, and [lanes] autopick is empty",
            "It is never offered.",
            _edit_unit_command(world, unit.document, unit.line),
        )
        for unit in units
        if not unit.lane
    ]


def _shared_ids(world: World, units: tuple[Unit, ...]) -> list[Finding]:
    by_id: defaultdict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_id[unit.id].append(unit)
    return [
        note(
            "UNIT_ID_SHARED",
            f"{len(same)} units have the id {unit_id}: {join_some([_unit_place(unit) for unit in same])}",
            "A commit that names only the id says nothing of which.",
            _edit_unit_command(world, same[-1].document, same[-1].line),
        )
        for unit_id, same in by_id.items()
        if len(same) > 1
    ]


def _unit_place(unit: Unit) -> str:
    return f"{unit.document}:{unit.line}"


def _edit_unit_command(world: World, document: str, line: int) -> str:
    if world.config.plans.source == "command":
        return "dos config get plans.command"
    return fix_commands.edit_command(world.workspace.root / document, line or None)


UNCOMMITTED_WHY = "Workers take units from your checkout, and judge the work by the committed plan."


def uncommitted_paths(world: World) -> list[str]:
    """dos.toml and the plan documents that differ from the target branch, or are not in it; relative to the root."""
    if world.workspace.common is None:
        return []
    root, config = world.workspace.root, world.config
    paths: list[str] = []
    if config.plans.source == "documents":
        found = documents.plan_paths(root, config.paths.plans_glob, config.paths.next_packets)
        paths = [path.relative_to(root).as_posix() for path in found if path.is_file()]
    if world.loaded_config.path is not None:
        paths.append("dos.toml")
    target, git = config.workers.target_branch or "HEAD", Reader(root)
    if not paths or git.commit_of(target) is None:
        return paths
    return sorted({*_changed_paths(git, target, paths), *_untracked_paths(git, paths)})


def commit_command(world: World, paths: list[str]) -> str:
    """What commits these paths and nothing else, on the target branch; also from another branch."""
    words = " ".join(shlex.quote(path) for path in paths)
    message = "Update dos.toml" if paths == ["dos.toml"] else "Update the plan"
    inside, commit = (
        f"cd {shlex.quote(str(world.workspace.root))}",
        f"git commit -m '{message}' -- {words}",
    )
    git, target = Reader(world.workspace.root), world.config.workers.target_branch
    if not target or target == git.branch():
        return f"{inside} && git add -- {words} && {commit}"
    has_edits = (
        git.commit_of("HEAD") is None
        or _changed_paths(git, "HEAD", paths)
        or _untracked_paths(git, paths)
    )
    first = f"git add -- {words} && {commit} && " if has_edits else ""
    there = f"git checkout {shlex.quote(target)} && git checkout '@{{-1}}' -- {words} && {commit} && git checkout -"
    return f"{inside} && {first}{there}"


def describe_uncommitted(world: World, paths: list[str]) -> str:
    verb, target = "is" if len(paths) == 1 else "are", world.config.workers.target_branch
    return f"{join_some(paths)} {verb} not committed{f' on {target}' if target else ''} as in your checkout"


def examine_uncommitted(world: World) -> list[Finding]:
    paths = uncommitted_paths(world)
    if not paths:
        return []
    return [
        warning(
            "PLANS_UNCOMMITTED",
            describe_uncommitted(world, paths),
            UNCOMMITTED_WHY,
            commit_command(world, paths),
        )
    ]


def _changed_paths(git: Reader, target: str, documents: list[str]) -> list[str]:
    done = git.attempt("diff", "--name-only", "--relative", "-z", target, "--", *documents)
    if done.returncode != 0:
        raise GitFailed(f"git diff cannot compare the plans with {target}: {done.stderr.strip()}")
    return [path for path in done.stdout.split("\0") if path]


def _untracked_paths(git: Reader, documents: list[str]) -> list[str]:
    """Those that git does not track; also where they are ignored."""
    tracked = set(git.run("ls-files", "-z", "--", *documents).split("\0"))
    return [path for path in documents if path not in tracked]
