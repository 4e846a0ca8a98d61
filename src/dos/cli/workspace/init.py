"""Inspect the repository and write dos.toml.

It finds the folders that can be lanes, the agent programs on your path, the test command and the plan documents. It
writes one file and says how to undo it.
"""

import os
import shlex
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from dos import workspace
from dos.agents.registry import NAMES
from dos.config import infer
from dos.config.infer import infer_lanes_from_directory, scaffold
from dos.config.layout.commands import infer_commands
from dos.config.layout.components import infer_lanes
from dos.errors import BadInput, WorkspaceMissing
from dos.git import commits
from dos.git.repository import Reader
from dos.lanes.policy import Lanes
from dos.text import LONGEST_PATH, quote
from dos.units.io import documents
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"written": 0, "exists": 1, "contract_error": 2}
DEFAULT_GLOB = "docs/**/*-plan.md"
MOST_WORKERS = 3
FIRST_PLAN = """# First plan

## FIRST1: describe the first unit here

What should be true when it is done.

- lane: {lane}
- acceptance: `true`
"""


class Args(Struct, kw_only=True):
    directory: Annotated[str, Option(help="the repository", positional=True, metavar="DIR")] = ""
    force: Annotated[bool, Option(help="write over a dos.toml that is there")] = False
    dry_run: Annotated[bool, Option(help="print what would be written, and write nothing")] = False
    first_plan: Annotated[bool, Option(help="also write docs/first-plan.md, a plan to fill in")] = (
        False
    )
    commit: Annotated[bool, Option(help="commit the files that it writes, and nothing else")] = (
        False
    )


def run(args: Args, context: Context) -> Reply:
    root = _root(args, context)
    try:
        return _written_anew(args, root)
    except OSError as error:
        raise BadInput(
            f"{quote(str(error.filename or root), LONGEST_PATH)}: {error.strerror}",
            hint="Look at that path, and run `dos init` again.",
        ) from error


def _written_anew(args: Args, root: Path) -> Reply:
    lanes = _lanes(root)
    programs = infer.agent_programs()
    commands = infer_commands(root)
    tests = commands.test
    glob = infer.plans_glob(root) or DEFAULT_GLOB
    text = scaffold(
        root,
        lanes=lanes,
        target=max(1, min(MOST_WORKERS, len(lanes.concurrent))),
        agent=next(
            (name for program in programs if (name := infer.AGENT_PROGRAMS[program]) in NAMES), ""
        ),
        setup=commands.setup,
        test=tests,
        plans_glob=glob,
    )
    target = root / "dos.toml"
    data = {
        "path": str(target), "written": False, "lanes": list(lanes.concurrent), "agents": programs, "test": tests,
        "setup": commands.setup,
    }  # fmt: skip
    if args.dry_run:
        return Reply(text=text, data=data | {"text": text})
    if target.exists() and not args.force:
        if args.first_plan:
            first = _write_first_plan(root, lanes.concurrent)
            said = [f"left {target} as it is", str(first), *_commit(args, root, first.written)]
            return Reply(text="\n".join(said), data=data)
        return Reply(
            code=1,
            text=f"{target} is there already, and was left as it is.\n  hint: `dos init --force` writes it anew.",
            data=data,
        )
    plan = _write_first_plan(root, lanes.concurrent) if args.first_plan else None
    before = _write(target, text)
    planned = plan.written if plan else []
    said = [f"wrote {target}", *([str(plan)] if plan else [])]
    said += [
        f"  lanes   {', '.join(lanes.concurrent) or '(none: one worker for the whole tree)'}",
        f"  agents  {', '.join(programs) or 'none found on the path: set `agent` under [workers]'}",
        f"  tests   {tests or 'no test command found: set `test` under [workers]'}",
        f"  setup   {commands.setup or 'nothing to set up was found'}",
        f"  plans   {glob}{_without_plans(root, glob)}",
        f"undo: {shlex.join(['mv', str(before), str(target)] if before else ['rm', str(target), *planned])}",
        *_commit(args, root, [str(target), *planned]),
        "next: dos doctor; dos up; dos status",
    ]
    return Reply(text="\n".join(said), data=data | {"written": True})


def _without_plans(root: Path, glob: str) -> str:
    if documents.plan_paths(root, glob):
        return ""
    return ": there is none yet; `dos init --first-plan` writes one to fill in"


def _lanes(root: Path) -> Lanes:
    """From the files that git tracks, or would where it tracks none yet; from the folders where git knows nothing."""
    if workspace.find(root).common is not None:
        for which in ("--cached", "--others"):
            done = Reader(root).attempt("ls-files", "-z", which, "--exclude-standard")
            if done.returncode == 0 and (
                found := [path for path in done.stdout.split("\0") if path]
            ):
                return infer_lanes(root, found)
    lanes = infer_lanes_from_directory(root)
    return lanes if lanes.autopick else infer_lanes(root, [])


def _root(args: Args, context: Context) -> Path:
    start = (
        Path(context.start_directory, args.directory)
        if args.directory
        else Path(context.start_directory)
    )
    if not os.path.isdir(start):  # noqa: PTH112 - pathlib raises for a name that no system can have
        raise WorkspaceMissing(
            f"{quote(str(start), LONGEST_PATH)} is not a directory",
            hint="Name a repository: dos init path/to/repository",
        )
    if bare := workspace.bare_repository(start):
        raise BadInput(
            f"{quote(str(bare), LONGEST_PATH)} is a bare repository: it has no files that lanes could be made of",
            hint=f"Run it in a checkout: {shlex.join(['git', 'clone', str(bare), 'checkout'])} && dos init checkout",
        )
    found = workspace.find(start)
    if found.uses_main_checkout:
        raise BadInput(
            f"{found.tree} is a linked worktree, and the dos.toml that counts here is {found.config}:"
            " a second one would never be read",
            hint=f"Write that one anew: dos init --force {shlex.quote(str(found.root))}",
        )
    return found.tree if not args.directory else start.resolve()


def _commit(args: Args, root: Path, paths: list[str]) -> list[str]:
    """Commits what was written, or says how: workers judge by what is committed."""
    if not paths or workspace.find(root).common is None:
        return []
    words = [str(Path(path).relative_to(root)) for path in paths]
    if not args.commit:
        added, committed = (
            ["git", "add", "--", *words],
            ["git", "commit", "-m", "Add dos.toml", "--", *words],
        )
        return [
            "workers judge by what is committed; commit these files (or run `dos init --commit` instead):",
            f"  cd {shlex.quote(str(root))} && {shlex.join(added)} && {shlex.join(committed)}",
        ]
    made = commits.commit_paths(root, words, "Add dos.toml")
    return [f"committed {', '.join(words)} as {made[:9]}"]


def _write(target: Path, text: str) -> Path | None:
    """All of it or nothing; what was there is kept beside it."""
    if target.is_symlink() or (target.exists() and not target.is_file()):
        raise BadInput(
            f"{target} is not a plain file, and was left as it is", hint="Move it away first."
        )
    before = target.with_name("dos.toml.before") if target.exists() else None
    fresh = target.with_name("dos.toml.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        if before:
            target.replace(before)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
    return before


class _FirstPlan(Struct, frozen=True, kw_only=True):
    path: Path
    is_new: bool

    @property
    def written(self) -> list[str]:
        return [str(self.path)] if self.is_new else []

    def __str__(self) -> str:
        return f"wrote {self.path}" if self.is_new else f"left {self.path} as it is"


def _write_first_plan(root: Path, lanes: tuple[str, ...]) -> _FirstPlan:
    path = root / "docs" / "first-plan.md"
    if path.exists():
        return _FirstPlan(path=path, is_new=False)
    path.parent.mkdir(exist_ok=True)
    path.write_text(FIRST_PLAN.format(lane=lanes[0] if lanes else "main"), encoding="utf-8")
    return _FirstPlan(path=path, is_new=True)
