"""The branch that work lands on, and the ref of this repository that shows where it is. Nothing is fetched."""

from dos.config.schema import Config
from dos.git.repository import Reader


def branch(config: Config, git: Reader) -> str:
    """The configured one, else what the work tree is on; empty: neither."""
    return config.workers.target_branch or git.branch() or ""


def shared_ref(branch: str) -> str:
    """Where a branch that many hosts share was when it was last heard of."""
    return f"refs/dos/shared/heads/{branch}"


def ref(branch: str, git: Reader, *, remote: str) -> str:
    """Of a branch that many hosts share, what was last heard of it; else the branch of this clone."""
    shared = shared_ref(branch)
    return shared if remote and git.commit_of(shared) else f"refs/heads/{branch}"
