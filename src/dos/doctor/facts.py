"""The facts of a workspace, for the doctor's report and for the skills that read it.

Facts are what is there; whether something is wrong with it is a finding of a subject. So a fact
that cannot be read is None or empty here, and never an error.
"""

import platform
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from dos import plugins
from dos.config.schema import Config
from dos.config.toml_text import mask_password
from dos.doctor.subjects import agents, git, plans, store
from dos.errors import DosError
from dos.journal.events.envelope import SCHEMA
from dos.lanes.admission import KERNEL_FILES
from dos.machine import filesystem
from dos.run_ids import ALPHABET
from dos.sandbox import describe
from dos.sandbox.io.probe import probe
from dos.unknown import Unknown
from dos.verify import mentions
from dos.version import VERSION
from dos.world import World

Answer = TypeVar("Answer")


class Verifiability(Struct, frozen=True, kw_only=True):
    """How many of the newest commits name a unit.

    Work is verified by the commits that name its unit, so in a repository where few do, little
    can be verified.
    """

    commits_read: int
    ship_shaped: int  # subjects that begin with what looks like a unit's id
    recognized: int  # commits that name a unit of the plan documents
    grammar: str  # the `[stamp] style` by which names are recognised


class Journal(Struct, frozen=True, kw_only=True):
    """Where the journal is, and whether it can be read."""

    url: str
    path: str | None  # None: it is not a file of this machine
    exists: bool
    reachable: bool
    events: int | None  # None: it could not be read
    schema: int  # of the records, as this dos writes them
    size_bytes: int | None


class Facts(Struct, frozen=True, kw_only=True):
    """What is known of a workspace and of the machine, read once for a report."""

    dos_version: str
    python: str
    platform: str
    root: str
    tree: str
    state: str
    config_path: str
    config_there: bool
    problems: list[str]  # why tables of dos.toml could not be loaded
    git_version: str  # empty: git cannot be used
    in_git: bool
    branch: str
    units: int | None  # None: the plan documents could not be read
    verifiability: Verifiability
    agents: dict[str, str | None]  # program -> version; None: it prints none
    journal: Journal
    free_bytes: int | None  # None: the disk could not be read
    kernel_files: list[str]  # files that exist only in the repository of dos-kernel itself
    predicates: list[str]  # the checks that a request for a lease has to pass
    sandbox: str  # what walls agents get here
    digest: str  # changes with the versions of dos, Python, git and the agents


def gather(world: World) -> Facts:
    """Read all facts from the disk, git, the journal and the programs on the path.

    What cannot be read is None or empty; a finding on the same subject says why. Slow readings
    are cached, so that this costs little after `examine`.
    """
    workspace = world.workspace
    loaded = world.loaded_config
    repository = _or_none(lambda: git.repository(world))
    if repository is None:
        repository = git.RepositoryFacts(version=Unknown("git does not answer"))
    git_version = ""
    if not isinstance(repository.version, Unknown):
        git_version = ".".join(map(str, repository.version))
    units = _or_none(lambda: _unit_names(world))
    unit_count = None
    if units is not None:
        unit_count = len(units)
    programs = _agent_versions(world)
    machine = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Facts(
        dos_version=VERSION,
        python=platform.python_version(),
        platform=machine,
        root=str(workspace.root),
        tree=str(workspace.tree),
        state=str(workspace.state),
        config_path=str(workspace.config),
        config_there=loaded.path is not None,
        problems=[str(problem) for problem in loaded.problems],
        git_version=git_version,
        in_git=workspace.common is not None,
        branch=repository.branch,
        units=unit_count,
        verifiability=_verifiability(repository.commits, units or set(), world.config),
        agents=programs,
        journal=_journal_facts(world),
        free_bytes=_or_none(lambda: filesystem.free_space(workspace.state).free_bytes),
        kernel_files=[name for name in KERNEL_FILES if (workspace.root / name).is_file()],
        predicates=["disjointness", "self-modify", *plugins.installed_names(plugins.PREDICATES)],
        sandbox=_sandbox(world.config),
        digest=_digest((VERSION, platform.python_version(), machine), git_version, programs),
    )


def _sandbox(config: Config) -> str:
    """What walls agents get here. The kernel is asked only where that matters."""
    if not config.sandbox.is_on:
        return describe.OFF
    return describe.describe_system(config.sandbox, probe())


def _unit_names(world: World) -> set[tuple[str, str]]:
    """The plan and the id of every unit. Raises BadInput if the plans cannot be read."""
    return {(unit.plan, unit.id) for unit in plans.all_units(world)}


def _agent_versions(world: World) -> dict[str, str | None]:
    """The agent programs on the path; the version is None for a program that prints none."""
    versions: dict[str, str | None] = {}
    for name, version in agents.versions(world).items():
        if isinstance(version, Unknown):
            versions[name] = None
        else:
            versions[name] = version
    return versions


def _or_none(read: Callable[[], Answer]) -> Answer | None:
    """What `read` returns, or None where it fails: the finding on the same subject says why."""
    try:
        return read()
    except (DosError, OSError, ValueError, NotImplementedError):
        return None


def _verifiability(
    commits: Sequence[tuple[str, str]], units: set[tuple[str, str]], config: Config
) -> Verifiability:
    """How many of the commits look like ships, and how many name a declared unit."""
    return Verifiability(
        commits_read=len(commits),
        ship_shaped=len(mentions.ship_shaped_commits(commits)),
        recognized=len(mentions.commits_naming(commits, units, config.stamp)),
        grammar=config.stamp.style,
    )


def _journal_facts(world: World) -> Journal:
    """Where the journal is, and how large it is. Its password is masked.

    A journal on a server counts as existing: only a connection could tell, and `reachable` does.
    """
    path = store.journal_path(world)
    events = _event_count(world, path)
    size_bytes = None
    if path is not None and events is not None:
        size_bytes = store.stored_bytes(path)
    return Journal(
        url=mask_password(world.config.store.url) or f"sqlite:{path}",
        path=str(path) if path else None,
        exists=path is None or store.may_exist(path),
        reachable=events is not None,
        events=events,
        schema=SCHEMA,
        size_bytes=size_bytes,
    )


def _event_count(world: World, path: Path | None) -> int | None:
    """How many events the journal has, 0 before the first. None: it cannot be read."""
    if path is not None and not store.may_exist(path):
        if store.blocking_entry(path):
            return None
        return 0
    try:
        with store.open_journal(world).backend.read() as view:
            return view.count(0)
    except (DosError, OSError):
        return None


def _digest(
    platform_words: Sequence[str], git_version: str, programs: dict[str, str | None]
) -> str:
    """Twelve characters that change with the environment in which a verdict was made.

    Two reports with the same digest were made with the same versions of everything listed.
    """
    tools = []
    for name, version in {"git": git_version, **programs}.items():
        tools.append(f"{name} {version}")
    tools.sort()
    number = int.from_bytes(sha256("\n".join((*platform_words, *tools)).encode()).digest()[:8])
    return "".join(ALPHABET[number >> 5 * place & 31] for place in range(12))
