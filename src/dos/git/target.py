"""The branch that work lands on, and the local ref that shows it. Nothing is fetched."""

from dos.config.schema import Config
from dos.git.repository import Reader


def branch(config: Config, git: Reader) -> str:
    """Return the configured target branch, else the one that is checked out; "" without either."""
    return config.workers.target_branch or git.branch() or ""


def shared_ref(branch: str) -> str:
    """Return the ref that records where a remote's branch was when it was last seen."""
    return f"refs/dos/shared/heads/{branch}"


def ref(branch: str, git: Reader, *, remote: str) -> str:
    """Return the ref that shows a target branch.

    With a remote that is its recorded state, once there is one; else the branch of this clone.
    """
    shared = shared_ref(branch)
    if remote and git.commit_of(shared):
        return shared
    return f"refs/heads/{branch}"
