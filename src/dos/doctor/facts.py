"""What a workspace is, in facts: for the report, and for the skills that read it once."""

import platform
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TypeVar

from msgspec import Struct

from dos import plugins
from dos.config.schema import Config
from dos.doctor.subjects import agents, git, plans, store
from dos.errors import DosError
from dos.lanes.admission import KERNEL_FILES
from dos.machine import filesystem
from dos.run_ids import ALPHABET
from dos.unknown import Unknown
from dos.verify import mentions
from dos.version import VERSION
from dos.world import World

Given = TypeVar("Given")


class Verifiability(Struct, frozen=True, kw_only=True):
    commits_read: int
    ship_shaped: int  # subjects that begin with what looks like a unit's id
    recognized: int  # commits that name a unit of the plan documents
    grammar: str


class Facts(Struct, frozen=True, kw_only=True):
    dos_version: str
    python: str
    platform: str
    root: str
    tree: str
    state: str
    config_path: str
    config_there: bool
    problems: list[str]
    git_version: str  # empty: git cannot be used
    in_git: bool
    branch: str
    units: int | None  # None: the plan documents could not be read
    verifiability: Verifiability
    agents: dict[str, str | None]  # program -> version; None: it does not say
    journal: store.Journal
    free_bytes: int | None  # None: the disk could not be asked
    kernel_files: list[str]
    predicates: list[str]
    digest: str


def gather(world: World) -> Facts:
    place, loaded = world.workspace, world.loaded_config
    seen = _or_none(lambda: git.repository(world)) or git.RepositoryFacts(
        version=Unknown("it does not answer")
    )
    git_version = "" if isinstance(seen.version, Unknown) else ".".join(map(str, seen.version))
    units = _or_none(lambda: {(unit.plan, unit.id) for unit in plans.all_units(world)})
    programs = {
        name: None if isinstance(said, Unknown) else said
        for name, said in agents.versions(world).items()
    }
    machine = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Facts(
        dos_version=VERSION,
        python=platform.python_version(),
        platform=machine,
        root=str(place.root),
        tree=str(place.tree),
        state=str(place.state),
        config_path=str(place.config),
        config_there=loaded.path is not None,
        problems=[str(problem) for problem in loaded.problems],
        git_version=git_version,
        in_git=place.common is not None,
        branch=seen.branch,
        units=None if units is None else len(units),
        verifiability=_verifiability(seen.commits, units or set(), world.config),
        agents=programs,
        journal=store.journal_facts(world),
        free_bytes=_or_none(lambda: filesystem.free_space(place.state).free_bytes),
        kernel_files=[name for name in KERNEL_FILES if (place.root / name).is_file()],
        predicates=["disjointness", "self-modify", *plugins.installed_names(plugins.PREDICATES)],
        digest=_digest(VERSION, platform.python_version(), machine, git_version, programs),
    )


def _or_none(ask: Callable[[], Given]) -> Given | None:
    """Why it could not be read is said by the finding about the same subject."""
    try:
        return ask()
    except (DosError, OSError, ValueError, NotImplementedError):
        return None


def _verifiability(
    commits: Sequence[tuple[str, str]], units: set[tuple[str, str]], config: Config
) -> Verifiability:
    return Verifiability(
        commits_read=len(commits),
        ship_shaped=len(mentions.ship_shaped_commits(commits)),
        recognized=len(mentions.commits_naming(commits, units, config.stamp)),
        grammar=config.stamp.style,
    )


def _digest(
    version: str, python: str, machine: str, git_version: str, programs: dict[str, str | None]
) -> str:
    """Twelve characters that change with the environment a verdict was taken in."""
    tools = sorted(f"{name} {said}" for name, said in {"git": git_version, **programs}.items())
    number = int.from_bytes(
        sha256("\n".join((version, python, machine, *tools)).encode()).digest()[:8]
    )
    return "".join(ALPHABET[number >> 5 * place & 31] for place in range(12))
