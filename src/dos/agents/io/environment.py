"""The environment of programs that dos starts: what is listed, and nothing else of the user's."""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from dos.agents.homes import programs, variables
from dos.agents.homes.variables import IDENTITY
from dos.agents.io.home import PrivateHome
from dos.config.schema import Config
from dos.errors import BadInput
from dos.machine import commands
from dos.unknown import Unknown

# Where git finds the user's configuration when it is not in its usual place.
_CONFIGURATION = ("GIT_CONFIG_*",)
_CONFIGURED = r"^(user|author|committer)\.(name|email)$"
_CONFIG_SECONDS = 30.0


def inherited_environment(given: Mapping[str, str], config: Config) -> dict[str, str]:
    """The variables of `given` that a check may see: no key of any agent is among them.

    `[workers] pass_environment` is always passed on. A variable whose value is the journal's URL
    is withheld under any name, unless it is named there.
    """
    return variables.inherited(
        given, passed=config.workers.pass_environment, journal_url=config.store.url
    )


def agent_variables(
    given: Mapping[str, str], config: Config, adapter: str, home: PrivateHome
) -> dict[str, str]:
    """The variables of `given` that an agent may see: those of a check, and its own.

    Its own are the keys and settings of its program, and the variables that the copied settings of
    the program name.
    """
    program = programs.program_home(adapter)
    own = [*program.variables, *home.named]
    for name, patterns in program.conditional.items():
        if given.get(name):
            own += patterns
    return variables.inherited(
        given,
        own=own,
        refused=program.refused,
        passed=config.workers.pass_environment,
        journal_url=config.store.url,
    )


def trusted_path(value: str, untrusted: Sequence[Path]) -> str:
    """The PATH of a check: nothing of an agent's folders, and relative entries last.

    A relative entry leads into the tree under test, where a file may have the name of a program.
    """
    absolute = []
    relative = []
    for entry in value.split(os.pathsep):
        if not os.path.isabs(entry):  # noqa: PTH117 - it may be empty
            relative.append(entry)
        elif not any(Path(os.path.realpath(entry)).is_relative_to(folder) for folder in untrusted):
            absolute.append(entry)
    return os.pathsep.join([*absolute, *relative])


def withheld_names(given: Mapping[str, str], passed: Mapping[str, str]) -> list[str]:
    """The names of the user's variables that a program was not handed, sorted."""
    return sorted(name for name in given if name not in passed)


def git_identity(given: Mapping[str, str], tree: Path) -> dict[str, str]:
    """Who commits in a tree, as variables that git reads.

    They come from `given`, else from the user's git configuration; what neither has is left out.
    An agent's shell may hide that configuration (Gemini's does), and then git refuses to commit.
    """
    environment = {
        name: value for name, value in given.items() if variables.matches(name, _CONFIGURATION)
    }
    argv = ["git", "config", "--null", "--get-regexp", _CONFIGURED]
    result = commands.run(argv, tree, _CONFIG_SECONDS, environment=environment)
    if isinstance(result, Unknown) or result.code != 0:
        configured = {}
    else:
        configured = _configured_values(result.output.decode("utf-8", "replace"))
    identity = {}
    for name in IDENTITY:
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


LAST_PORT = 65_535
OTHER_LANES = (
    100  # blocks for lanes that are not declared; above, the system hands out ports itself
)


def port_block(
    lanes: Sequence[str], lane: str, base: int, count: int, *, part: int | None = None
) -> range:
    """The ports of a lane, by its position among the declared lanes.

    A lane that is not declared gets a block above all of theirs: by its number if it is a `part` of
    one, so that two parts get the same only if as many others are between them. Raises BadInput
    when the block would end above the last port.
    """
    if count <= 0:
        return range(base, base)
    blocks = (LAST_PORT + 1 - base) // count
    if lane in lanes:
        position = list(lanes).index(lane)
    else:
        others = max(1, min(OTHER_LANES, blocks - len(lanes)))
        number = part
        if number is None:
            digest = sha256(lane.encode("utf-8", "surrogatepass")).digest()
            number = int.from_bytes(digest[:8])
        position = len(lanes) + number % others
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
