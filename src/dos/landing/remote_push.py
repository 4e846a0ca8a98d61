"""Lands work on a remote, which keeps the fences too and so refuses a stale worker itself.

Each landing is one atomic push that moves two refs, each from the value that was fetched: the
branch, and the lane's fence, which is written anew every time. A ref that stays the same would not
be sent, and so would not be checked.
"""

import secrets

from dos.errors import Fenced, RemoteAway
from dos.fleet.effects import NotLanded
from dos.git.fence import fence_ref
from dos.git.repository import AS_DOS, Writer, shared_ref
from dos.landing.branch import check_fast_forward, move_branch
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
_ABSENT = ""  # the value that --force-with-lease expects of a ref that does not exist
# What git says while another push holds the server's lock.
_LOCKED = ("cannot lock ref", "failed to update ref", "Unable to create")


def raise_fence(git: Writer, remote: str, lane: str, fence: int) -> None:
    """Write the lease's fence to the remote, right after the lease was taken.

    From then on, pushes of older leases are refused, also from a host that nobody can reach; what
    they pushed before is visible. Raises Fenced when the remote has a newer fence.
    """
    ref = fence_ref(lane)
    for _ in range(TRIES):
        current = fetch_state(git, remote, lane).fence
        if current and current.number == fence:
            return
        if current and current.number > fence:
            raise Fenced(
                f"the remote {remote} has a newer fence for lane {lane!r} than {fence}: "
                f"{current.number}",
                hint=f"If the journal was deleted on purpose: git push {remote} :{ref}",
            )
        expected = current.commit if current else _ABSENT
        lease = f"--force-with-lease={ref}:{expected}"
        written = _write_fence_commit(git, fence, "taken")
        code, _, errors = run_remote_git(git, *_PUSH, lease, remote, f"{written}:{ref}")
        if code == 0:
            return
        if code != 1:
            raise unreachable(git, remote, errors)
    raise RemoteAway(
        f"{ref} of {remote} could not be moved in {TRIES} attempts: {error_line(errors)}",
        hint=f"Another process keeps moving it: git ls-remote {remote} {ref}",
    )


def push(git: Writer, remote: str, *, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """Push the landing to the remote's branch; None when it is there, else why not.

    Raises RemoteAway when that cannot be known; the same landing can then be pushed again.
    """
    if not git.commit_of(landing.commit):
        return NotLanded(
            reason=f"commit {landing.commit[:9]} is not in this clone: it was made on another host"
        )
    state = fetch_state(git, remote, lane, landing.branch)
    if state.target and git.is_ancestor(landing.commit, state.target):
        return None
    refused = _refusal(remote, lane, fence, landing, state)
    if refused:
        return refused
    assert state.fence is not None
    # With a lease, git would also remove commits from the remote: that this push only adds
    # commits has to be shown here.
    refused = check_fast_forward(git, landing)
    if refused:
        return refused
    branch = f"refs/heads/{landing.branch}"
    ref = fence_ref(lane)
    written = _write_fence_commit(git, fence, f"landed {landing.commit}")
    leases = (
        f"--force-with-lease={branch}:{landing.base}",
        f"--force-with-lease={ref}:{state.fence.commit}",
    )
    code, answers, errors = run_remote_git(
        git, *_PUSH, *leases, remote, f"{landing.commit}:{branch}", f"{written}:{ref}"
    )
    if code == 0:
        # If this fails, another process has fetched the branch after this push.
        git.swap_ref(shared_ref(landing.branch), landing.commit, landing.base)
        return None
    return _result_after_failure(git, remote, lane, fence, landing, answers + errors)


def update_local_branch(
    git: Writer, *, lane: str, fence: int, branch: str, commit: str, why: str
) -> str:
    """Move the branch of this clone to the remote's commit, with the work trees that are on it.

    Returns what is in the way where that would not be safe: the local branch can wait, and is
    updated with the next landing.
    """
    tip = git.commit_of(f"refs/heads/{branch}")
    if tip is None or git.is_ancestor(commit, tip):
        return ""
    if not git.is_ancestor(tip, commit):
        return f"{branch!r} in {git.tree} has commits that are not on the remote: it is not moved"
    step = Landing(unit=why, branch=branch, base=tip, commit=commit)
    refused = move_branch(git, lane=lane, fence=fence, landing=step)
    if refused:
        return f"{branch!r} in {git.tree} stays behind the remote: {refused.reason}"
    return ""


def _result_after_failure(
    git: Writer, remote: str, lane: str, fence: int, landing: Landing, answer: str
) -> NotLanded | None:
    """Ask the remote what became of a push that failed, or whose answer was lost."""
    state = fetch_state(git, remote, lane, landing.branch)
    if state.target and git.is_ancestor(landing.commit, state.target):
        return None
    refused = _refusal(remote, lane, fence, landing, state)
    if refused:
        return refused
    lines = answer.splitlines()
    is_locked = any(words in answer for words in _LOCKED)
    # Without a line for a ref, the remote never came to a decision.
    is_undecided = not any(line.startswith("!") for line in lines)
    reason = _server_message(lines) or _refused_ref(answer)
    return NotLanded(
        reason=f"the remote {remote} refused to move {landing.branch!r}: {reason}",
        retryable=is_locked or is_undecided,
    )


def _server_message(lines: list[str]) -> str:
    """Return what the server itself printed, for example from a hook."""
    messages = []
    for line in lines:
        message = line.removeprefix("remote:").strip()
        if line.startswith("remote:") and message:
            messages.append(message)
    return "; ".join(messages)


def _refusal(
    remote: str, lane: str, fence: int, landing: Landing, state: RemoteState
) -> NotLanded | None:
    """Return why the remote's branch or fence forbids the landing, or None."""
    if state.target is None:
        return NotLanded(reason=f"the remote {remote} no longer has a branch {landing.branch!r}")
    if state.fence is None:
        return NotLanded(reason=f"the remote {remote} no longer has a fence for lane {lane!r}")
    if state.fence.number != fence:
        return NotLanded(
            reason=f"lane {lane!r} was taken over: {remote} has its fence {state.fence.number}, "
            f"not {fence}"
        )
    if state.target != landing.base:
        moved = f"{landing.branch!r} of {remote} has moved to {state.target[:9]}"
        return NotLanded(reason=moved, retryable=True, branch_moved=True)
    return None


def _write_fence_commit(git: Writer, fence: int, event: str) -> str:
    """Write the fence as a commit without files, which any server accepts, and return it.

    The random line makes every commit different: an equal one would not be sent.
    """
    tree = git.run("hash-object", "-t", "tree", "-w", "--stdin", feed="").strip()
    once = secrets.token_hex(8)
    message = f"fence={fence} {event}\n\nhost={process.host()}\nonce={once}"
    return git.run(*AS_DOS, "commit-tree", tree, "-m", message).strip()


def _refused_ref(answer: str) -> str:
    """Return why a ref was refused: the first reason that is not just another ref's refusal."""
    reasons = []
    for line in answer.splitlines():
        if line.startswith("!"):
            reasons.append(line.rpartition("(")[2].rstrip(")"))
    for reason in reasons:
        if not reason.startswith("atomic"):
            return reason
    return reasons[0] if reasons else error_line(answer)
