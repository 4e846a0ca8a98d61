"""Inspect the repository and write dos.toml.

It finds the folders that can be lanes, the agent programs on your PATH, the test command and the
plan documents. It writes one file and prints the command that undoes it. With --skills, --skill,
--all, --agents-md, --hooks or --mcp it also writes these, and an existing dos.toml stays as it is.
"""

import os
import shlex
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct

from dos import workspace
from dos.agents.programs import catalog
from dos.cli.workspace import extras
from dos.cli.workspace.extras import Extras
from dos.config import scaffold
from dos.config.layout.commands import infer_commands
from dos.config.layout.lanes import infer_lanes, infer_lanes_from_directory
from dos.config.layout.noise import is_noise
from dos.config.load import FILE_NAME, load
from dos.errors import BadInput, WorkspaceMissing
from dos.git import commits
from dos.git.repository import Reader
from dos.lanes.policy import Lanes
from dos.machine import filesystem
from dos.text import LONGEST_PATH, join_some, quote
from dos.units.io import documents
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"written": 0, "exists": 1, "contract_error": 2}
DEFAULT_GLOB = "docs/**/*-plan.md"
MOST_WORKERS = 3
SUBJECT = "Add dos.toml"
SUBJECT_OF_EXTRAS = "Add skills and hooks of dos"
FIRST_PLAN = """# First plan

## FIRST1: describe the first unit here

What should be true when it is done.

- lane: {lane}
- acceptance: `true`
"""


class Args(Struct, kw_only=True):
    """Where to write, and what besides dos.toml."""

    directory: Annotated[str, Option(help="the repository", positional=True, metavar="DIR")] = ""
    force: Annotated[bool, Option(help="replace an existing dos.toml")] = False
    dry_run: Annotated[bool, Option(help="print the file, write nothing")] = False
    first_plan: Annotated[bool, Option(help="also write docs/first-plan.md, a template")] = False
    commit: Annotated[bool, Option(help="commit the written files, and nothing else")] = False
    skills: Annotated[bool, Option(help="copy the core skills for agent programs")] = False
    skill: Annotated[
        list[str], Option(help="copy this skill; can be repeated", metavar="NAME", repeatable=True)
    ] = []
    all: Annotated[bool, Option(help="copy all skills")] = False
    agents_md: Annotated[bool, Option(help="write or update the block of AGENTS.md")] = False

    hooks: Annotated[
        list[str],
        Option(help="wire this agent program, or all", metavar="HOST", repeatable=True),
    ] = []
    with_hooks: Annotated[bool, Option(help="short for --hooks claude-code")] = False
    mcp: Annotated[
        list[str],
        Option(
            help="let this agent program, or all, start `dos mcp`", metavar="HOST", repeatable=True
        ),
    ] = []

    @property
    def extras(self) -> Extras:
        """What is to be written besides dos.toml."""
        return Extras(
            skills=self.skills,
            named=tuple(self.skill),
            every=self.all,
            agents_md=self.agents_md,
            hooks=(*self.hooks, *(["claude-code"] if self.with_hooks else [])),
            mcp=tuple(self.mcp),
            force=self.force,
            dry_run=self.dry_run,
        )


class _Inference(Struct, frozen=True, kw_only=True):
    """What was found in a repository, and the dos.toml that is made of it."""

    lanes: Lanes
    programs: dict[str, str]  # name and path
    setup: str
    test: str
    glob: str
    text: str

    def to_json(self, path: Path) -> dict[str, Any]:
        """Return what was found, as `dos init --json` prints it before anything is written."""
        return {
            "path": str(path),
            "written": False,
            "lanes": list(self.lanes.concurrent),
            "agents": self.programs,
            "test": self.test,
            "setup": self.setup,
        }


def run(args: Args, context: Context) -> Reply:
    """Write dos.toml, or return what it would be. Raises BadInput where it cannot be written."""
    root = _root(args, context)
    try:
        return _init(args, root)
    except OSError as error:
        raise BadInput(
            f"{quote(str(error.filename or root), LONGEST_PATH)}: {error.strerror}",
            hint="Check that path, and run `dos init` again.",
        ) from error


def _init(args: Args, root: Path) -> Reply:
    """Write dos.toml and what else was asked for, and return what was found and how to undo it.

    An existing dos.toml is kept without --force. With --force it is moved to dos.toml.before.
    """
    target = root / "dos.toml"
    if args.extras.wanted and target.exists():
        return _write_extras(args, root)
    inference = _infer(root)
    data = inference.to_json(target)
    added = extras.write(args.extras, root)
    data |= added.data
    if args.dry_run:
        text = "\n".join([inference.text.rstrip("\n"), *added.lines])
        return Reply(text=text, data=data | {"text": inference.text})
    lanes = inference.lanes.concurrent
    if target.exists() and not args.force:
        if not args.first_plan:
            return Reply(
                code=1,
                text=f"{target} exists and was not changed.\n"
                "  hint: `dos init --force` replaces it.",
                data=data,
            )
        plan = _write_first_plan(root, lanes)
        lines = [f"{target} exists and was not changed", str(plan)]
        lines += _commit(args, root, plan.written)
        return Reply(text="\n".join(lines), data=data)
    lines = [f"wrote {target}"]
    made = [str(target)]
    if args.first_plan:
        plan = _write_first_plan(root, lanes)
        lines.append(str(plan))
        made += plan.written
    backup = _write(target, inference.text)
    written = [*made, *added.paths]
    undo = ["mv", str(backup), str(target)] if backup else ["rm", *made, *added.made]
    lines += _describe(inference, root)
    lines += added.lines
    lines.append(f"undo: {shlex.join(undo)}")
    lines += _commit(args, root, written)
    lines.append("next: dos doctor; dos up; dos status")
    return Reply(code=added.code, text="\n".join(lines), data=data | {"written": True})


def _write_extras(args: Args, root: Path) -> Reply:
    """Write what was asked for besides dos.toml, which exists and stays as it is.

    Then --force replaces copies of skills alone.
    """
    written = extras.write(args.extras, root)
    lines = list(written.lines)
    paths = list(written.paths)
    if args.first_plan and not args.dry_run:
        plan = _write_first_plan(root, load(root, lenient=True).config.lanes.concurrent)
        lines.append(str(plan))
        paths += plan.written
    if not args.dry_run:
        lines += _commit(args, root, paths)
    data = {"path": str(root / "dos.toml"), "written": False, **written.data}
    return Reply(code=written.code, text="\n".join(lines), data=data)


def _infer(root: Path) -> _Inference:
    """Inspect the repository. Nothing is written, and no program but git is started."""
    lanes = _infer_lanes(root)
    programs = scaffold.agent_programs()
    commands = infer_commands(root)
    glob = scaffold.plans_glob(root) or DEFAULT_GLOB
    agents = [catalog.proposed_programs()[program] for program in programs]
    text = scaffold.scaffold_text(
        root,
        lanes=lanes,
        target=max(1, min(MOST_WORKERS, len(lanes.concurrent))),
        agent=agents[0] if agents else "",
        setup=commands.setup,
        test=commands.test,
        plans_glob=glob,
    )
    return _Inference(
        lanes=lanes,
        programs=programs,
        setup=commands.setup,
        test=commands.test,
        glob=glob,
        text=text,
    )


def _describe(inference: _Inference, root: Path) -> list[str]:
    """Return a line for each thing that was found, or what to set where it was not."""
    lanes = ", ".join(inference.lanes.concurrent) or "(none: one worker for the whole tree)"
    agents = ", ".join(inference.programs) or "none on the PATH: set `agent` under [workers]"
    plans = inference.glob
    if not documents.plan_paths(root, inference.glob):
        plans += ": no plan yet; `dos init --first-plan` writes a template"
    undeclared = _undeclared_lanes(root)
    if undeclared:
        plans += (
            f"; they name lanes that dos.toml does not declare: {join_some(undeclared)}."
            " Declare them under [lanes], or change the plans"
        )
    return [
        f"  lanes   {lanes}",
        f"  agents  {agents}",
        f"  tests   {inference.test or 'no test command found: set `test` under [workers]'}",
        f"  setup   {inference.setup or 'no setup needed, as far as found'}",
        f"  plans   {plans}",
    ]


def _undeclared_lanes(root: Path) -> list[str]:
    """Return the lanes that units of the plans name and the written dos.toml does not declare."""
    from dos.units.io import sources

    config = load(root, lenient=True).config
    lanes: dict[str, None] = {}
    for unit in sources.read(workspace.find(root), config).units:
        if unit.lane and config.canonical_lane(unit.lane) is None:
            lanes[unit.lane] = None
    return list(lanes)


def _infer_lanes(root: Path) -> Lanes:
    """Return lanes from the files that git tracks, or would track; without git from the folders.

    Before the first commit there may be no .gitignore yet, so build output does not count then.
    """
    if workspace.find(root).common is not None:
        for which in ("--cached", "--others"):
            result = Reader(root).attempt("ls-files", "-z", which, "--exclude-standard")
            paths = [path for path in result.stdout.split("\0") if path]
            if which == "--others":
                paths = [path for path in paths if not is_noise(path)]
            if result.returncode == 0 and paths:
                return infer_lanes(root, paths)
    lanes = infer_lanes_from_directory(root)
    if lanes.autopick:
        return lanes
    return infer_lanes(root, [])


def _root(args: Args, context: Context) -> Path:
    """Return the directory for dos.toml: the one that was named, else the top of the work tree.

    Raises WorkspaceMissing for what is no directory, and BadInput for a bare repository and for a
    linked worktree, where the file would never be read.
    """
    start = context.start_directory
    if args.directory:
        start = Path(start, args.directory)
    # Not pathlib: it raises for a name that no file system can have.
    if not os.path.isdir(start):  # noqa: PTH112
        raise WorkspaceMissing(
            f"{quote(str(start), LONGEST_PATH)} is not a directory",
            hint="Name a repository: dos init path/to/repository",
        )
    bare = workspace.bare_repository(start)
    if bare:
        clone = shlex.join(["git", "clone", str(bare), "checkout"])
        raise BadInput(
            f"{quote(str(bare), LONGEST_PATH)} is a bare repository: it has no files for lanes",
            hint=f"Run it in a checkout: {clone} && dos init checkout",
        )
    found = workspace.find(start)
    if found.uses_main_checkout:
        raise BadInput(
            f"{found.tree} is a linked worktree, where {found.config} is in force:"
            " a second dos.toml would never be read",
            hint=f"Replace that one: dos init --force {shlex.quote(str(found.root))}",
        )
    if args.directory:
        return start.resolve()
    return found.tree


def _commit(args: Args, root: Path, paths: list[str]) -> list[str]:
    """Commit what was written, or return the commands: workers judge by committed files."""
    if not paths or workspace.find(root).common is None:
        return []
    words = [str(Path(path).relative_to(root)) for path in paths]
    subject = SUBJECT if FILE_NAME in words else SUBJECT_OF_EXTRAS
    if args.commit:
        commit = commits.commit_paths(root, words, subject)
        return [f"committed {', '.join(words)} as {commit[:9]}"]
    add = shlex.join(["git", "add", "--", *words])
    commit = shlex.join(["git", "commit", "-m", subject, "--", *words])
    return [
        "Workers judge by committed files. Commit these (`dos init --commit` does it):",
        f"  cd {shlex.quote(str(root))} && {add} && {commit}",
    ]


def _write(target: Path, text: str) -> Path | None:
    """Write the file whole or not at all; return the backup of the file that it replaces.

    Raises BadInput for a link or a folder in its place: what a link leads to may be shared.
    """
    if target.is_symlink() or (target.exists() and not target.is_file()):
        raise BadInput(
            f"{target} is not a regular file, and was not changed", hint="Move it away first."
        )
    if not target.exists():
        filesystem.write_whole(target, text.encode())
        return None
    backup = target.with_name("dos.toml.before")

    def keep_backup() -> None:
        target.replace(backup)

    filesystem.write_whole(target, text.encode(), before_rename=keep_backup)
    return backup


class _FirstPlan(Struct, frozen=True, kw_only=True):
    """The template of a plan, and whether it was written now."""

    path: Path
    is_new: bool

    @property
    def written(self) -> list[str]:
        """The files that have to be committed: none if the plan was there before."""
        if self.is_new:
            return [str(self.path)]
        return []

    def __str__(self) -> str:
        if self.is_new:
            return f"wrote {self.path}"
        return f"{self.path} exists and was not changed"


def _write_first_plan(root: Path, lanes: tuple[str, ...]) -> _FirstPlan:
    """Write the template of a plan for the first lane, unless there is one."""
    path = root / "docs" / "first-plan.md"
    if path.exists():
        return _FirstPlan(path=path, is_new=False)
    path.parent.mkdir(exist_ok=True)
    lane = "main"
    if lanes:
        lane = lanes[0]
    path.write_text(FIRST_PLAN.format(lane=lane), encoding="utf-8")
    return _FirstPlan(path=path, is_new=True)
