"""What the shared repository holds now. Nothing of the user's is touched: what is fetched lies below `refs/dos/shared`.

A ref there is written only by whoever asked the remote after it was written last, so that it never goes back to what
another worker heard a moment earlier.
"""

from msgspec import Struct

from dos.errors import BadInput, GitFailed, RemoteAway
from dos.git.fence import fence_ref
from dos.git.repository import Writer
from dos.git.target import shared_ref
from dos.text import join_some, quote, slug
from dos.units.unit import Landing

TRIES = 5
_QUIETLY = (
    "--quiet", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
)  # fmt: skip
_MOVED = ("cannot lock ref", "couldn't find remote ref")  # between the question and the fetch


class Fence(Struct, frozen=True, kw_only=True):
    """What the remote says about who holds a lane."""

    commit: str
    number: int


class RemoteState(Struct, frozen=True, kw_only=True):
    """A branch and a lane's fence as the remote had them at one moment. Their commits are here."""

    target: str | None
    fence: Fence | None


def check_remote_name(git: Writer, remote: str) -> None:
    """A name that means nothing is a mistake in the configuration; a remote that is away is not."""
    known = git.run("remote").split()
    if remote not in known:
        raise BadInput(
            f"there is no remote {quote(remote)} in {git.tree}; there is {join_some(known) or 'none'}",
            hint="git remote add NAME URL, or dos config set workers.remote NAME",
        )


def fetch(git: Writer, remote: str, branch: str) -> str | None:
    """The commit that a branch of the remote is at, brought here; None when it has no such branch."""
    target = f"refs/heads/{branch}"
    return _heard(git, remote, {target: shared_ref(branch)}).get(target)


def base_commit(git: Writer, remote: str, branch: str) -> str:
    """Where new work starts."""
    found = fetch(git, remote, branch)
    if found is None:
        raise BadInput(
            f"the remote {remote} has no branch {branch!r}, so there is nothing to work on",
            hint=f"git -C {git.tree} push {remote} {branch}",
        )
    return found


def has_landed(git: Writer, remote: str, landing: Landing) -> bool:
    """Asked after a worker died, or an answer was lost: did the remote get it?"""
    found = fetch(git, remote, landing.branch)
    return found is not None and git.is_ancestor(landing.commit, found)


def fetch_state(git: Writer, remote: str, lane: str, branch: str = "") -> RemoteState:
    target, fence = f"refs/heads/{branch}", fence_ref(lane)
    places = {fence: f"refs/dos/shared/fence/{slug(lane)}"} | (
        {target: shared_ref(branch)} if branch else {}
    )
    heard = _heard(git, remote, places)
    return RemoteState(target=heard.get(target), fence=_fence(git, fence, heard.get(fence)))


def run_remote_git(git: Writer, *words: str) -> tuple[int, str, str]:
    """Git over the network: whatever ends it without an answer is the remote's being away."""
    try:
        done = git.attempt(*words)
    except GitFailed as error:
        raise RemoteAway(error.message, hint=error.hint) from error
    return done.returncode, done.stdout, done.stderr


def unreachable(git: Writer, remote: str, complaint: str) -> RemoteAway:
    return RemoteAway(
        f"the remote {remote} of {git.tree} cannot be reached: {error_line(complaint)}",
        hint=f"Try it yourself: git -C {git.tree} ls-remote {remote}",
    )


def error_line(complaint: str) -> str:
    """The line that says what is wrong: git adds advice after it, and a server's own words stand before it."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:"))]
    return (fatal or lines or ["it gave no reason"])[0]


def _heard(git: Writer, remote: str, places: dict[str, str]) -> dict[str, str]:
    """Where the remote has these refs, in one breath; the commits are here then, and kept."""
    for _ in range(TRIES):
        before = {ref: git.commit_of(place) for ref, place in places.items()}
        heard = _ask(git, remote, *places)
        missing = [ref for ref, commit in heard.items() if before[ref] != commit]
        here = not missing or _bring(git, remote, missing, heard)
        if here and not any(git.swap_ref(places[ref], heard[ref], before[ref]) for ref in missing):
            return heard
    raise RemoteAway(f"the refs of {remote} would not stand still", hint="Try again in a moment.")


def _ask(git: Writer, remote: str, *refs: str) -> dict[str, str]:
    code, listing, complaint = run_remote_git(git, "ls-remote", "--quiet", remote, *refs)
    if code != 0:
        raise unreachable(git, remote, complaint)
    pairs = (line.partition("\t") for line in listing.splitlines())
    # A pattern also finds what only ends like it.
    return {ref: commit for commit, _, ref in pairs if ref in refs}


def _bring(git: Writer, remote: str, refs: list[str], heard: dict[str, str]) -> bool:
    """Whether what was heard of is here now: it may have moved on since."""
    if any(git.commit_of(heard[ref]) is None for ref in refs):
        code, _, complaint = run_remote_git(git, "fetch", *_QUIETLY, remote, *refs)
        if code != 0 and not any(words in complaint for words in _MOVED):
            raise unreachable(git, remote, complaint)
    return all(git.commit_of(heard[ref]) for ref in refs)


def _fence(git: Writer, ref: str, commit: str | None) -> Fence | None:
    if commit is None:
        return None
    message = git.run("cat-file", "commit", commit).partition("\n\n")[2]
    number = message.split(maxsplit=1)[0].removeprefix("fence=") if message.strip() else ""
    if not number.isdecimal():
        raise GitFailed(
            f"{ref} of the remote is not a fence: {quote(message)}",
            hint=f"Look at it: git ls-remote REMOTE {ref}",
        )
    return Fence(commit=commit, number=int(number))
