"""Landing on the shared repository. The remote keeps the fence too, so the remote itself refuses a stale worker.

Each landing is one atomic push that moves two refs, each from the value that was seen: the branch, and the lane's
fence, which is written anew every time. A ref that stays the same would not be sent, and so would not be checked.
"""

import secrets

from dos.errors import Fenced, RemoteAway
from dos.fleet.effects import NotLanded
from dos.git.fence import fence_ref
from dos.git.repository import AS_DOS, Writer
from dos.git.target import shared_ref
from dos.landing import branch as local
from dos.landing.remote_fetch import (
    TRIES,
    RemoteState,
    error_line,
    fetch_state,
    run_remote_git,
    unreachable,
)
from dos.machine import process
from dos.units.unit import Landing

_PUSH = (
    "push",
    "--porcelain",
    "--atomic",
    "--no-verify",
    "--no-follow-tags",
    "--recurse-submodules=no",
)
_ZERO = ""  # what a lease expects of a ref that is not there
# Another push holds the server's lock for a moment.
_LOCKED = ("cannot lock ref", "failed to update ref", "Unable to create")


def raise_fence(git: Writer, remote: str, lane: str, fence: int) -> None:
    """Name the lease's fence on the remote, right after the lease was taken. It only goes up.

    What a worker of a host that nobody can reach pushes from now on is refused; what it pushed before is there to see.
    """
    ref = fence_ref(lane)
    for _ in range(TRIES):
        seen = fetch_state(git, remote, lane).fence
        if seen and seen.number == fence:
            return
        if seen and seen.number > fence:
            raise Fenced(
                f"the remote {remote} knows a newer fence for lane {lane!r} than {fence}: {seen.number}",
                hint=f"If the journal was deleted on purpose: git push {remote} :{ref}",
            )
        lease = f"--force-with-lease={ref}:{seen.commit if seen else _ZERO}"
        code, _, complaint = run_remote_git(
            git, *_PUSH, lease, remote, f"{_written(git, fence, 'taken')}:{ref}"
        )
        if code == 0:
            return
        if code != 1:
            raise unreachable(git, remote, complaint)
    raise RemoteAway(
        f"{ref} of {remote} cannot be moved: {error_line(complaint)}",
        hint="Look who else moves it.",
    )


def push(git: Writer, remote: str, *, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """None: it is on the remote's branch. RemoteAway: nobody knows; the same landing can be tried again."""
    if not git.commit_of(landing.commit):
        return NotLanded(
            reason=f"commit {landing.commit[:9]} is not in this clone: it was made on another host"
        )
    seen = fetch_state(git, remote, lane, landing.branch)
    if seen.target and git.is_ancestor(landing.commit, seen.target):
        return None
    if refused := _refused(remote, lane, fence, landing, seen):
        return refused
    assert seen.fence is not None
    # With a lease git would also take commits away from the remote: that what we push only adds is ours to prove.
    if refused := local.check_fast_forward(git, landing):
        return refused
    branch, ref = f"refs/heads/{landing.branch}", fence_ref(lane)
    written = _written(git, fence, f"landed {landing.commit}")
    leases = (
        f"--force-with-lease={branch}:{landing.base}",
        f"--force-with-lease={ref}:{seen.fence.commit}",
    )
    code, answers, complaint = run_remote_git(
        git, *_PUSH, *leases, remote, f"{landing.commit}:{branch}", f"{written}:{ref}"
    )
    if code == 0:
        # Whoever has set it to something else meanwhile has asked the remote after us.
        git.swap_ref(shared_ref(landing.branch), landing.commit, landing.base)
        return None
    return _what_happened(git, remote, lane, fence, landing, answers + complaint)


def update_local_branch(
    git: Writer, *, lane: str, fence: int, branch: str, commit: str, why: str
) -> str:
    """Bring the branch of this clone to what the remote has, with the files of the trees that are on it.

    Says what is in the way where that would not be safe: the branch here can wait, and comes along the next time.
    """
    here = git.commit_of(f"refs/heads/{branch}")
    if here is None or git.is_ancestor(commit, here):
        return ""
    if not git.is_ancestor(here, commit):
        return (
            f"{branch!r} in {git.tree} has commits that are not on the remote: it stays where it is"
        )
    step = Landing(unit=why, branch=branch, base=here, commit=commit)
    refused = local.move_branch(git, lane=lane, fence=fence, landing=step)
    return f"{branch!r} in {git.tree} stays behind the remote: {refused.reason}" if refused else ""


def _what_happened(
    git: Writer, remote: str, lane: str, fence: int, landing: Landing, answer: str
) -> NotLanded | None:
    """The push failed, or its answer was lost: what the remote holds now says which."""
    seen = fetch_state(git, remote, lane, landing.branch)
    if seen.target and git.is_ancestor(landing.commit, seen.target):
        return None
    if refused := _refused(remote, lane, fence, landing, seen):
        return refused
    told = [
        line.removeprefix("remote:").strip()
        for line in answer.splitlines()
        if line.startswith("remote:")
    ]
    words = "; ".join(line for line in told if line) or _reason(answer)
    locked = any(each in answer for each in _LOCKED)
    # Without a line of its own for a ref, the remote never came to decide.
    undecided = not any(line.startswith("!") for line in answer.splitlines())
    reason = f"the remote {remote} refused to move {landing.branch!r}: {words}"
    return NotLanded(reason=reason, retryable=locked or undecided)


def _refused(
    remote: str, lane: str, fence: int, landing: Landing, seen: RemoteState
) -> NotLanded | None:
    if seen.target is None:
        return NotLanded(reason=f"the remote {remote} has no branch {landing.branch!r} any more")
    if seen.fence is None:
        return NotLanded(reason=f"the remote {remote} knows no fence for lane {lane!r} any more")
    if seen.fence.number != fence:
        return NotLanded(
            reason=f"lane {lane!r} was taken over: {remote} knows its fence {seen.fence.number}, not {fence}"
        )
    if seen.target != landing.base:
        moved = f"{landing.branch!r} of {remote} has moved to {seen.target[:9]}"
        return NotLanded(reason=moved, retryable=True, branch_moved=True)
    return None


def _written(git: Writer, fence: int, what: str) -> str:
    """A commit of nothing, so that any server takes it; on no branch."""
    tree = git.run("hash-object", "-t", "tree", "-w", "--stdin", feed="").strip()
    once = secrets.token_hex(
        8
    )  # two of them are never the same commit, or the second would not be sent
    message = f"fence={fence} {what}\n\nhost={process.host()}\nonce={once}"
    return git.run(*AS_DOS, "commit-tree", tree, "-m", message).strip()


def _reason(answer: str) -> str:
    """Of the refs that were refused, the first that was refused for a reason of its own."""
    reasons = [
        line.rpartition("(")[2].rstrip(")") for line in answer.splitlines() if line.startswith("!")
    ]
    own = [reason for reason in reasons if not reason.startswith("atomic")]
    return (own or reasons or [error_line(answer)])[0]
