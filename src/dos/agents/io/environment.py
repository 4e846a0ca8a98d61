"""The environment of programs that dos starts: without the fleet's variables and without tokens."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path

from dos.config.schema import Config
from dos.errors import BadInput
from dos.machine import commands
from dos.unknown import Unknown

_FLEET_VARIABLES = ("DOS_*", "CID_*", "DISPATCH_*")
_JOURNAL_VARIABLES = ("PG*",)  # when the journal is in PostgreSQL
# GIT_*: of a git around dos, which would redirect git in the worktree. SSH_*: they allow to push.
_GIT_VARIABLES = ("GIT_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS*")
_FORGE_TOKENS = (
    "GH_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
)
_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")

# Where git finds the user's configuration when it is not in its usual place.
_CONFIGURATION = ("GIT_CONFIG_*",)
_CONFIGURED = r"^(user|author|committer)\.(name|email)$"
_CONFIG_SECONDS = 30.0


def inherited_environment(given: Mapping[str, str], config: Config) -> dict[str, str]:
    """The variables of `given` that an agent or a check may see.

    `[workers] pass_environment` and the git identity are always passed on. A variable whose value
    is the journal's URL is withheld under any name.
    """
    url = config.store.url
    withheld: tuple[str, ...] = (*_FLEET_VARIABLES, *_GIT_VARIABLES, *_FORGE_TOKENS)
    if url.startswith("postgres"):
        withheld += _JOURNAL_VARIABLES
    passed = (*_IDENTITY, *config.workers.pass_environment)
    inherited = {}
    for name, value in given.items():
        is_secret = _matches_any(name, withheld) or (url and value == url)
        if _matches_any(name, passed) or not is_secret:
            inherited[name] = value
    return inherited


def git_identity(given: Mapping[str, str], tree: Path) -> dict[str, str]:
    """Who commits in a tree, as variables that git reads.

    They come from `given`, else from the user's git configuration; what neither has is left out.
    An agent's shell may hide that configuration (Gemini's does), and then git refuses to commit.
    """
    environment = {
        name: value for name, value in given.items() if _matches_any(name, _CONFIGURATION)
    }
    argv = ["git", "config", "--null", "--get-regexp", _CONFIGURED]
    result = commands.run(argv, tree, _CONFIG_SECONDS, environment=environment)
    if isinstance(result, Unknown) or result.code != 0:
        configured = {}
    else:
        configured = _configured_values(result.output.decode("utf-8", "replace"))
    identity = {}
    for name in _IDENTITY:
        _, role, field = name.lower().split("_")
        by_role = configured.get(f"{role}.{field}") or configured.get(f"user.{field}")
        value = given.get(name) or by_role
        if value:
            identity[name] = value
    return identity


def _configured_values(output: str) -> dict[str, str]:
    """The output of `git config --null --get-regexp`; of several values the last one counts."""
    values = {}
    for entry in output.split("\0"):
        key, _, value = entry.partition("\n")
        values[key] = value
    return values


def _matches_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


LAST_PORT = 65_535
OTHER_LANES = (
    100  # blocks for lanes that are not declared; above, the system hands out ports itself
)


def port_block(lanes: Sequence[str], lane: str, base: int, count: int) -> range:
    """The ports of a lane, by its position among the declared lanes.

    A lane that is not declared gets a block above all of theirs. Raises BadInput when the block
    would end above the last port.
    """
    if count <= 0:
        return range(base, base)
    blocks = (LAST_PORT + 1 - base) // count
    if lane in lanes:
        position = list(lanes).index(lane)
    else:
        others = max(1, min(OTHER_LANES, blocks - len(lanes)))
        digest = sha256(lane.encode("utf-8", "surrogatepass")).digest()
        position = len(lanes) + int.from_bytes(digest[:8]) % others
    if position >= blocks:
        raise BadInput(
            f"lane {lane!r} would get ports beyond {LAST_PORT}: with {count} ports a lane from"
            f" {base} on there is room for {blocks} lanes, and it is number {position + 1}",
            hint="Lower workers.ports or workers.port_base: dos config set workers.ports 5",
        )
    return range(base + position * count, base + (position + 1) * count)


def port_variables(ports: range) -> dict[str, str]:
    """The variables that tell a program its ports; none for an empty block."""
    if not ports:
        return {}
    return {"DOS_PORT_BASE": str(ports.start), "DOS_PORT_COUNT": str(len(ports))}
