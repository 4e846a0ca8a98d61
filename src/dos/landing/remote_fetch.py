"""Fetches the target branch and the fences of a remote, without touching any ref of the user's.

What is fetched lies below `refs/dos/shared`. A ref there is written only by a process that asked
the remote after it was last written, so that it never goes back to an older answer.
"""

from msgspec import Struct

from dos.errors import BadInput, GitFailed, RemoteAway
from dos.git.fence import fence_ref
from dos.git.repository import Writer, shared_ref
from dos.text import join_some, quote, slug
from dos.units.unit import Landing

TRIES = 5
_QUIET_FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-prune",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
)
# What git says when a ref moved between the question and the fetch.
_MOVED = ("cannot lock ref", "couldn't find remote ref")


class Fence(Struct, frozen=True, kw_only=True):
    """The remote's newest fence of a lane, and the commit that holds it."""

    commit: str
    number: int


class RemoteState(Struct, frozen=True, kw_only=True):
    """A branch and a lane's fence as the remote had them at one moment; the commits are here."""

    target: str | None
    fence: Fence | None


def check_remote_name(git: Writer, remote: str) -> None:
    """Raise BadInput for a remote that git does not know: that is an error in dos.toml.

    A remote that cannot be reached is no such error, so nothing is fetched here.
    """
    known = git.run("remote").split()
    if remote not in known:
        raise BadInput(
            f"{git.tree} has no remote {quote(remote)}; it has {join_some(known) or 'none'}",
            hint="git remote add NAME URL, or dos config set workers.remote NAME",
        )


def fetch(git: Writer, remote: str, branch: str) -> str | None:
    """Fetch a branch of the remote and return its commit; None when it has no such branch."""
    target = f"refs/heads/{branch}"
    return _fetch_refs(git, remote, {target: shared_ref(branch)}).get(target)


def base_commit(git: Writer, remote: str, branch: str) -> str:
    """Return the commit on which new work starts; raises BadInput where there is no branch."""
    commit = fetch(git, remote, branch)
    if commit is None:
        raise BadInput(
            f"the remote {remote} has no branch {branch!r} to work on",
            hint=f"git -C {git.tree} push {remote} {branch}",
        )
    return commit


def has_landed(git: Writer, remote: str, landing: Landing) -> bool:
    """Whether the remote's branch holds the landing; asked after a lost answer or a dead worker."""
    tip = fetch(git, remote, landing.branch)
    return tip is not None and git.is_ancestor(landing.commit, tip)


def fetch_state(git: Writer, remote: str, lane: str, branch: str = "") -> RemoteState:
    """Return the lane's fence on the remote and, where a branch is named, its commit."""
    target = f"refs/heads/{branch}"
    fence = fence_ref(lane)
    local_refs = {fence: f"refs/dos/shared/fence/{slug(lane)}"}
    if branch:
        local_refs[target] = shared_ref(branch)
    fetched = _fetch_refs(git, remote, local_refs)
    return RemoteState(
        target=fetched.get(target), fence=_parse_fence(git, fence, fetched.get(fence))
    )


def run_remote_git(git: Writer, *words: str) -> tuple[int, str, str]:
    """Run git over the network and return its exit code and output.

    Raises RemoteAway when git ends without an answer.
    """
    try:
        done = git.attempt(*words)
    except GitFailed as error:
        raise RemoteAway(error.message, hint=error.hint) from error
    return done.returncode, done.stdout, done.stderr


def unreachable(git: Writer, remote: str, errors: str) -> RemoteAway:
    """Return the exception for a remote that cannot be reached."""
    return RemoteAway(
        f"the remote {remote} of {git.tree} cannot be reached: {error_line(errors)}",
        hint=f"Try it yourself: git -C {git.tree} ls-remote {remote}",
    )


def error_line(errors: str) -> str:
    """Return the line that says what is wrong, without git's advice and the server's banner."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    for line in lines:
        if line.startswith(("fatal:", "error:", "ssh:")):
            return line
    return lines[0] if lines else "it gave no reason"


def _fetch_refs(git: Writer, remote: str, local_refs: dict[str, str]) -> dict[str, str]:
    """Return the remote's commits of these refs, all read at one moment, and keep them here."""
    for _ in range(TRIES):
        before = {ref: git.commit_of(local_ref) for ref, local_ref in local_refs.items()}
        commits = _ask(git, remote, *local_refs)
        changed = [ref for ref, commit in commits.items() if before[ref] != commit]
        is_here = not changed or _fetch_missing(git, remote, changed, commits)
        if is_here and _update_local_refs(git, changed, local_refs, commits, before):
            return commits
    raise RemoteAway(
        f"the refs of {remote} changed during all {TRIES} attempts", hint="Try again in a moment."
    )


def _update_local_refs(
    git: Writer,
    changed: list[str],
    local_refs: dict[str, str],
    commits: dict[str, str],
    before: dict[str, str | None],
) -> bool:
    """Write what was fetched; False when another process has written one of the refs meanwhile."""
    return not any(git.swap_ref(local_refs[ref], commits[ref], before[ref]) for ref in changed)


def _ask(git: Writer, remote: str, *refs: str) -> dict[str, str]:
    """Return the commits that the remote has for these refs; missing refs are left out."""
    code, listing, errors = run_remote_git(git, "ls-remote", "--quiet", remote, *refs)
    if code != 0:
        raise unreachable(git, remote, errors)
    commits = {}
    for line in listing.splitlines():
        commit, _, ref = line.partition("\t")
        if ref in refs:  # a pattern also matches refs that only end like it
            commits[ref] = commit
    return commits


def _fetch_missing(git: Writer, remote: str, refs: list[str], commits: dict[str, str]) -> bool:
    """Fetch commits that are not here; False when one is still missing, since its ref moved on."""
    if any(git.commit_of(commits[ref]) is None for ref in refs):
        code, _, errors = run_remote_git(git, *_QUIET_FETCH, remote, *refs)
        if code != 0 and not any(words in errors for words in _MOVED):
            raise unreachable(git, remote, errors)
    return all(git.commit_of(commits[ref]) for ref in refs)


def _parse_fence(git: Writer, ref: str, commit: str | None) -> Fence | None:
    """Return the fence that a commit's message holds; raises GitFailed for another message."""
    if commit is None:
        return None
    message = git.run("cat-file", "commit", commit).partition("\n\n")[2]
    words = message.split(maxsplit=1)
    number = words[0].removeprefix("fence=") if words else ""
    if not number.isdecimal():
        raise GitFailed(
            f"{ref} of the remote is not a fence: {quote(message)}",
            hint=f"Look at it: git ls-remote REMOTE {ref}",
        )
    return Fence(commit=commit, number=int(number))
