"""Where work starts and lands: a branch of this repository, or of a remote that hosts share."""

import time
from typing import Protocol

from dos.fleet.effects import NotLanded
from dos.git.fence import raise_fence
from dos.git.repository import Reader, Writer, shared_ref
from dos.landing import remote_fetch, remote_push
from dos.landing.branch import has_landed, move_branch
from dos.units.unit import Landing


class TargetView(Protocol):
    """Reads where the target branch is, and moves nothing."""

    def ref(self, branch: str) -> str:
        """Return the ref of this repository that shows where the branch was last seen."""
        ...

    def newest(self, branch: str, *, at_most_seconds: float = 0.0) -> str | None:
        """Return the branch's commit, from a reading at most so old; None if there is no branch."""
        ...


class Target(TargetView, Protocol):
    """Moves the target branch under the fence of a lane's lease."""

    stays_behind: str  # why the branch of this clone was not updated at the last landing

    def raise_fence(self, lane: str, fence: int) -> None:
        """Refuse landings of older leases of the lane from now on; raises Fenced if stale."""
        ...

    def move(self, landing: Landing, *, lane: str, fence: int) -> NotLanded | None:
        """Move the branch to the landing's commit; None when it is there, else why not."""
        ...

    def has_landed(self, landing: Landing) -> bool:
        """Whether the branch contains the landing's commit."""
        ...


def open_target(git: Writer, remote: str) -> Target:
    """Return the target for `[workers] remote`; raises BadInput for a remote git does not know."""
    if not remote:
        return LocalTarget(git)
    remote_fetch.check_remote_name(git, remote)
    return RemoteTarget(git, remote)


class LastFetchedTarget:
    """The target as it was last fetched, for readers that must not use the network."""

    def __init__(self, git: Reader, remote: str) -> None:
        self._git = git
        self._remote = remote

    def ref(self, branch: str) -> str:
        return self._git.target_ref(branch, remote=self._remote)

    def newest(self, branch: str, *, at_most_seconds: float = 0.0) -> str | None:
        del at_most_seconds  # a local ref is read anew each time
        return self._git.commit_of(self.ref(branch))


class LocalTarget:
    """A branch of this repository."""

    stays_behind = ""

    def __init__(self, git: Writer) -> None:
        self._git = git

    def ref(self, branch: str) -> str:
        return f"refs/heads/{branch}"

    def newest(self, branch: str, *, at_most_seconds: float = 0.0) -> str | None:
        del at_most_seconds  # a local ref is read anew each time
        return self._git.commit_of(self.ref(branch))

    def raise_fence(self, lane: str, fence: int) -> None:
        raise_fence(self._git, lane, fence)

    def move(self, landing: Landing, *, lane: str, fence: int) -> NotLanded | None:
        return move_branch(self._git, lane=lane, fence=fence, landing=landing)

    def has_landed(self, landing: Landing) -> bool:
        return has_landed(self._git, landing)


class RemoteTarget:
    """A branch of a remote; the branch of this clone follows it where that is safe."""

    def __init__(self, git: Writer, remote: str) -> None:
        self._git = git
        self._remote = remote
        self._read_at: dict[str, float] = {}  # branch -> monotonic time of the last fetch
        self.stays_behind = ""

    def ref(self, branch: str) -> str:
        return shared_ref(branch)

    def newest(self, branch: str, *, at_most_seconds: float = 0.0) -> str | None:
        read_at = self._read_at.get(branch)
        if read_at is not None and time.monotonic() - read_at < at_most_seconds:
            return self._git.commit_of(self.ref(branch))
        # Taken before the fetch: the answer may be as old as the question.
        self._read_at[branch] = time.monotonic()
        return remote_fetch.fetch(self._git, self._remote, branch)

    def raise_fence(self, lane: str, fence: int) -> None:
        """Raise the fence here first: this clone's branch and hooks are guarded by it too."""
        raise_fence(self._git, lane, fence)
        remote_push.raise_fence(self._git, self._remote, lane, fence)

    def move(self, landing: Landing, *, lane: str, fence: int) -> NotLanded | None:
        refused = remote_push.push(self._git, self._remote, lane=lane, fence=fence, landing=landing)
        if refused is None:
            self.stays_behind = remote_push.update_local_branch(
                self._git,
                lane=lane,
                fence=fence,
                branch=landing.branch,
                commit=landing.commit,
                why=landing.unit,
            )
        return refused

    def has_landed(self, landing: Landing) -> bool:
        return remote_fetch.has_landed(self._git, self._remote, landing)
