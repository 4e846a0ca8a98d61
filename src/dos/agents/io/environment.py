"""What the programs that we start see of our environment: nothing of the fleet's own, nothing that opens a remote."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path

from dos.config.schema import Config
from dos.errors import BadInput
from dos.machine import commands
from dos.unknown import Unknown

_FLEET_VARIABLES = ("DOS_*", "CID_*", "DISPATCH_*")
_JOURNAL_VARIABLES = ("PG*",)  # where that is in PostgreSQL
# Of a git around us, which would be mistaken for the worktree's own; and what lets any git, or `gh`, push.
_GIT_VARIABLES = ("GIT_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS*")
_FORGE_TOKENS = (
    "GH_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
)
_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")

# Where git looks for the user's configuration when they keep it elsewhere.
_CONFIGURATION = ("GIT_CONFIG_*",)
_CONFIGURED = r"^(user|author|committer)\.(name|email)$"
_CONFIG_SECONDS = 30.0


def inherited_environment(given: Mapping[str, str], config: Config) -> dict[str, str]:
    url = config.store.url
    withheld = (
        *_FLEET_VARIABLES,
        *_GIT_VARIABLES,
        *_FORGE_TOKENS,
        *(_JOURNAL_VARIABLES if url.startswith("postgres") else ()),
    )
    wanted = (*_IDENTITY, *config.workers.pass_environment)
    return {
        name: value
        for name, value in given.items()
        if _matches_any(name, wanted)
        or not (_matches_any(name, withheld) or (url and value == url))
    }


def git_identity(given: Mapping[str, str], tree: Path) -> dict[str, str]:
    """Who commits here, as variables that git reads: from `given`, else from the user's configuration of git.

    The shell of an agent may hide the user's own configuration (Gemini's does), and then git refuses to commit.
    What is configured nowhere is left out.
    """
    kept = {name: value for name, value in given.items() if _matches_any(name, _CONFIGURATION)}
    words = ["git", "config", "--null", "--get-regexp", _CONFIGURED]
    ran = commands.run(words, tree, _CONFIG_SECONDS, environment=kept)
    if isinstance(ran, Unknown) or ran.code != 0:
        return {name: given[name] for name in _IDENTITY if given.get(name)}
    entries = [entry.partition("\n") for entry in ran.output.decode("utf-8", "replace").split("\0")]
    configured = {key: value for key, _, value in entries}  # of several values the last one counts
    found = {}
    for name in _IDENTITY:
        _, role, field = name.lower().split("_")
        value = (
            given.get(name) or configured.get(f"{role}.{field}") or configured.get(f"user.{field}")
        )
        if value:
            found[name] = value
    return found


def _matches_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


LAST_PORT = 65_535
OTHER_LANES = (
    100  # blocks for those that are not declared: further up, the system gives ports away by itself
)


def port_block(lanes: Sequence[str], lane: str, base: int, count: int) -> range:
    """The lane's ports: by its place among the lanes; one that is not among them gets a block behind all of theirs."""
    if count <= 0:
        return range(base, base)
    blocks = (LAST_PORT + 1 - base) // count
    if lane in lanes:
        place = list(lanes).index(lane)
    else:
        others = max(1, min(OTHER_LANES, blocks - len(lanes)))
        place = (
            len(lanes)
            + int.from_bytes(sha256(lane.encode("utf-8", "surrogatepass")).digest()[:8]) % others
        )
    if place >= blocks:
        raise BadInput(
            f"lane {lane!r} would get ports beyond {LAST_PORT}: {count} for each lane from {base} on are enough for"
            f" {blocks} lanes, and it is number {place + 1}",
            hint="Lower workers.ports or workers.port_base: dos config set workers.ports 5",
        )
    return range(base + place * count, base + (place + 1) * count)


def port_variables(ports: range) -> dict[str, str]:
    return {"DOS_PORT_BASE": str(ports.start), "DOS_PORT_COUNT": str(len(ports))} if ports else {}
