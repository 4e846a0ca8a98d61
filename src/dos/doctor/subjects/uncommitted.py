"""Plans and settings that are not committed: workers take units from the checkout, and judge by what is committed."""

from shlex import quote

from dos.doctor.subjects.finding import Finding, warning
from dos.errors import GitFailed
from dos.git.repository import Reader
from dos.text import join_some
from dos.units.io import documents as plan_documents
from dos.world import World

UNCOMMITTED_WHY = "Workers take units from your checkout, and judge the work by the committed plan."


def uncommitted_paths(world: World) -> list[str]:
    """dos.toml and the plan documents that differ from the target branch, or are not in it; relative to the root."""
    if world.workspace.common is None:
        return []
    root, config = world.workspace.root, world.config
    documents: list[str] = []
    if config.plans.source == "documents":
        found = plan_documents.plan_paths(root, config.paths.plans_glob, config.paths.next_packets)
        documents = [path.relative_to(root).as_posix() for path in found if path.is_file()]
    if world.loaded_config.path is not None:
        documents.append("dos.toml")
    target, git = config.workers.target_branch or "HEAD", Reader(root)
    if not documents or git.commit_of(target) is None:
        return documents
    return sorted({*_changed_paths(git, target, documents), *_untracked_paths(git, documents)})


def commit_command(world: World, paths: list[str]) -> str:
    """What commits these paths and nothing else, on the target branch; also from another branch."""
    words = " ".join(quote(path) for path in paths)
    message = "Update dos.toml" if paths == ["dos.toml"] else "Update the plan"
    inside, commit = (
        f"cd {quote(str(world.workspace.root))}",
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
    there = f"git checkout {quote(target)} && git checkout '@{{-1}}' -- {words} && {commit} && git checkout -"
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
