"""What the programs that we start see of our environment: nothing of the fleet's own, nothing that opens a remote."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from dos.config.tables import Config

_OURS = ("DOS_*", "CID_*", "DISPATCH_*")
_OF_THE_JOURNAL = ("PG*",)  # where that is in PostgreSQL
# Of a git around us, which would be mistaken for the worktree's own; and what lets any git, or `gh`, push.
_OF_GIT = ("GIT_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS*")
_OF_FORGES = ("GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GITLAB_TOKEN")
_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")


def handed_on(given: Mapping[str, str], config: Config) -> dict[str, str]:
    url = config.store.url
    withheld = (*_OURS, *_OF_GIT, *_OF_FORGES, *(_OF_THE_JOURNAL if url.startswith("postgres") else ()))
    wanted = (*_IDENTITY, *config.workers.pass_environment)
    return {
        name: value
        for name, value in given.items()
        if _is_among(name, wanted) or not (_is_among(name, withheld) or (url and value == url))
    }


def _is_among(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
