"""Who can have written a file, and by which policy: an agent may write the work tree, and an uncommitted dos.toml."""

import os
import stat
from pathlib import Path

from dos.config.load import FILE_NAME, parse
from dos.config.schema import Config
from dos.errors import ConfigInvalid, GitFailed
from dos.git.repository import Reader
from dos.text import LONGEST_PATH, quote
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.workspace import Workspace
from dos.world import World

LARGEST_BYTES = 64_000_000


def caller_root(workspace: Workspace) -> Path:
    """The root of the workspace as the caller's own work tree has it."""
    return workspace.root if workspace.root.is_relative_to(workspace.tree) else workspace.tree


def committed_policy(workspace: Workspace) -> Config | Unknown:
    """The configuration as the main work tree's branch has it: what nobody committed there binds nobody."""
    if workspace.common is None:
        return Unknown("there is no git repository, so nothing is committed")
    home = workspace.common.parent if workspace.common.name == ".git" else workspace.tree
    name = f"{workspace.prefix}{FILE_NAME}"
    try:
        git = Reader(home)
        if not git.run("ls-tree", "--full-tree", "--name-only", "HEAD", "--", name):
            return Config()
        text = git.run("cat-file", "blob", f"HEAD:{name}")
        return parse(text.removeprefix("\ufeff"), home / name).config
    except (GitFailed, ConfigInvalid) as error:
        return Unknown(error.message)


def file_accountability(world: World, path: Path) -> Accountability:
    """Recorded by others only where the committed policy says that agents cannot write there."""
    found = Path(os.path.realpath(path))
    if is_agent_writable(world.workspace, found):
        return Accountability.AGENT_AUTHORED
    policy = committed_policy(world.workspace)
    places = () if isinstance(policy, Unknown) else policy.evidence.places
    recorded = any(found.is_relative_to(os.path.realpath(place)) for place in places)
    return Accountability.OS_RECORDED if recorded else Accountability.AGENT_AUTHORED


def is_agent_writable(workspace: Workspace, path: Path) -> bool:
    """In a work tree, or where git and dos keep theirs."""
    own = (
        workspace.root,
        workspace.tree,
        workspace.state,
        *([workspace.common] if workspace.common else []),
    )
    found = Path(os.path.realpath(path))
    return any(found.is_relative_to(os.path.realpath(folder)) for folder in own)


def read_bounded(path: Path) -> bytes | Unknown:
    """All that is in a file. A pipe in its place cannot hold us up, and a file without end cannot fill us."""
    called = quote(str(path), LONGEST_PATH)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return Unknown(f"{called} is not a file")
            data = file.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        return Unknown(f"{called} cannot be read: {getattr(error, 'strerror', None) or error}")
    return (
        data
        if len(data) <= LARGEST_BYTES
        else Unknown(f"{called} is larger than {LARGEST_BYTES:,} bytes")
    )
