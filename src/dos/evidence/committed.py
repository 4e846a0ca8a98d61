"""Plans and settings that are not committed: workers take units from the checkout, and judge by what is committed."""

from shlex import quote

from dos.errors import GitFailed
from dos.evidence.health.finding import Finding, warning
from dos.records.names import listed
from dos.sources.git import Git
from dos.sources.plans import plan_documents
from dos.sources.world import World

WHY = "Workers take units from your checkout, and judge the work by the committed plan."


def uncommitted(world: World) -> list[str]:
    """dos.toml and the plan documents that differ from the target branch, or are not in it; relative to the root."""
    if world.workspace.common is None:
        return []
    root, config = world.workspace.root, world.config
    documents: list[str] = []
    if config.plans.source == "documents":
        found = plan_documents.documents(root, config.paths.plans_glob, config.paths.next_packets)
        documents = [path.relative_to(root).as_posix() for path in found if path.is_file()]
    if world.loaded.path is not None:
        documents.append("dos.toml")
    target, git = config.workers.target_branch or "HEAD", Git(root)
    if not documents or git.commit_of(target) is None:
        return documents
    return sorted({*_changed(git, target, documents), *_unknown(git, documents)})


def commit_command(world: World, paths: list[str]) -> str:
    """What commits these paths and nothing else."""
    words = " ".join(quote(path) for path in paths)
    inside = f"cd {quote(str(world.workspace.root))} && "
    return f"{inside}git add -- {words} && git commit -m 'Update the plan' -- {words}"


def examine(world: World) -> list[Finding]:
    paths = uncommitted(world)
    if not paths:
        return []
    verb = "is" if len(paths) == 1 else "are"
    what = f"{listed(paths)} {verb} not committed as in your checkout"
    return [warning("PLANS_UNCOMMITTED", what, WHY, commit_command(world, paths))]


def _changed(git: Git, target: str, documents: list[str]) -> list[str]:
    done = git.attempt("diff", "--name-only", "--relative", "-z", target, "--", *documents)
    if done.returncode != 0:
        raise GitFailed(f"git diff cannot compare the plans with {target}: {done.stderr.strip()}")
    return [path for path in done.stdout.split("\0") if path]


def _unknown(git: Git, documents: list[str]) -> list[str]:
    """Those that git does not track; also where they are ignored."""
    tracked = set(git.run("ls-files", "-z", "--", *documents).split("\0"))
    return [path for path in documents if path not in tracked]
