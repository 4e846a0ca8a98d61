"""Where work starts and lands: a branch of this repository, or the same branch of a remote that many hosts share."""

import time
from typing import Protocol

from dos.fleet.effects import NotLanded
from dos.git import target
from dos.git.repository import Reader, Writer
from dos.landing import branch as here
from dos.landing import remote_fetch, remote_push
from dos.units.unit import Landing


class TargetView(Protocol):
    """Where the branch is, for those who only look."""

    def ref(self, branch: str) -> str:
        """The ref of this repository that shows where the branch was when it was last looked at."""
        ...

    def newest(self, branch: str, *, at_most_seconds: float = 0.0) -> str | None:
        """The commit that the branch is at; by a look that is not older than this."""
        ...


class Target(TargetView, Protocol):
    stays_behind: str  # why the branch of this clone did not come along the last time

    def raise_fence(self, lane: str, fence: int) -> None: ...
    def move(self, landing: Landing, *, lane: str, fence: int) -> NotLanded | None: ...
    def has_landed(self, landing: Landing) -> bool: ...


def open_target(git: Writer, remote: str) -> Target:
    if not remote:
        return LocalTarget(git)
    remote_fetch.check_remote_name(git, remote)
    return RemoteTarget(git, remote)


class LastFetchedTarget:
    """For those who only look: nothing is fetched."""

    def __init__(self, git: Reader, remote: str) -> None:
        self._git = git
        self._remote = remote

    def ref(self, branch: str) -> str:
        return target.ref(branch, self._git, remote=self._remote)

    def newest(self, branch: str, *, at_most_seconds: float = 0.0) -> str | None:
        return self._git.commit_of(self.ref(branch))


class LocalTarget:
    stays_behind = ""

    def __init__(self, git: Writer) -> None:
        self._git = git

    def ref(self, branch: str) -> str:
        return f"refs/heads/{branch}"

    def newest(self, branch: str, *, at_most_seconds: float = 0.0) -> str | None:
        return self._git.commit_of(self.ref(branch))

    def raise_fence(self, lane: str, fence: int) -> None:
        here.raise_fence(self._git, lane, fence)

    def move(self, landing: Landing, *, lane: str, fence: int) -> NotLanded | None:
        return here.move_branch(self._git, lane=lane, fence=fence, landing=landing)

    def has_landed(self, landing: Landing) -> bool:
        return here.has_landed(self._git, landing)


class RemoteTarget:
    def __init__(self, git: Writer, remote: str) -> None:
        self._git, self._remote = git, remote
        self._looked: dict[str, float] = {}
        self.stays_behind = ""

    def ref(self, branch: str) -> str:
        return target.shared_ref(branch)

    def newest(self, branch: str, *, at_most_seconds: float = 0.0) -> str | None:
        looked = self._looked.get(branch)
        if looked is not None and time.monotonic() - looked < at_most_seconds:
            return self._git.commit_of(self.ref(branch))
        self._looked[branch] = (
            time.monotonic()
        )  # before: what it hears may be as old as the question
        return remote_fetch.fetch(self._git, self._remote, branch)

    def raise_fence(self, lane: str, fence: int) -> None:
        """Here first: this clone's own branch, and the hooks that ask for it, go by it."""
        here.raise_fence(self._git, lane, fence)
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
