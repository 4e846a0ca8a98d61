"""Tells who could have written a file, and by which policy that is decided.

An agent can write the work tree and an uncommitted dos.toml, so only committed policy counts.
"""

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
    """Return the root of the workspace in the caller's own work tree."""
    if workspace.root.is_relative_to(workspace.tree):
        return workspace.root
    return workspace.tree


def committed_policy(workspace: Workspace) -> Config | Unknown:
    """Return the configuration that is committed on the main work tree's branch.

    Without a dos.toml there it is the default; Unknown where git or the file cannot be read.
    """
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
    """Return OS_RECORDED only where the committed policy says that agents cannot write there."""
    resolved = Path(os.path.realpath(path))
    if is_agent_writable(world.workspace, resolved):
        return Accountability.AGENT_AUTHORED
    policy = committed_policy(world.workspace)
    if isinstance(policy, Unknown):
        return Accountability.AGENT_AUTHORED
    for place in policy.evidence.places:
        if resolved.is_relative_to(os.path.realpath(place)):
            return Accountability.OS_RECORDED
    return Accountability.AGENT_AUTHORED


def is_agent_writable(workspace: Workspace, path: Path) -> bool:
    """Whether a path is in a work tree, or where git and dos keep their own files."""
    resolved = Path(os.path.realpath(path))
    for folder in (workspace.root, workspace.tree, workspace.state, workspace.common):
        if folder is not None and resolved.is_relative_to(os.path.realpath(folder)):
            return True
    return False


def read_bounded(path: Path) -> bytes | Unknown:
    """Return the whole content of a regular file of bounded size, or why it is unknown.

    Opening a pipe does not block, and an endless file does not fill the memory.
    """
    shown = quote(str(path), LONGEST_PATH)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return Unknown(f"{shown} is not a file")
            data = file.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        return Unknown(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}")
    if len(data) > LARGEST_BYTES:
        return Unknown(f"{shown} is larger than {LARGEST_BYTES:,} bytes")
    return data
