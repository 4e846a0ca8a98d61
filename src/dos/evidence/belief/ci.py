"""What the checks of a commit say: the state as a word, and as evidence."""

from dos.config.truth.belief import Ci
from dos.sources.witnesses import checks
from dos.sources.witnesses.checks import Reading
from dos.sources.workspace import Workspace
from dos.sources.world import World


def gather(place: Workspace, policy: Ci, sha: str, *, repo_url: str, committed: bool) -> Reading:
    """By a policy that the caller has read. `committed`: it is the one of a commit, not of the work tree.

    `repo_url` is what `Git.remote()` gives; it is asked about where the policy names no repository.
    """
    return checks.read(place, policy, sha, repo_url=repo_url, committed=committed)


def of_workspace(world: World, sha: str) -> Reading:
    """By the workspace's own policy."""
    return checks.of_workspace(world, sha)
