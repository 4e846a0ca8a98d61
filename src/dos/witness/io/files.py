"""Files as evidence: who could have written one, and the two witnesses that read them.

`witness_file` looks at one file, `witness_snapshots` compares two snapshots of a state. The
claimant can write most files, and then they prove nothing; only the folders that the committed
`[evidence] places` lists are out of its reach.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, json

from dos.config.load import FILE_NAME, parse
from dos.config.schema import Config
from dos.errors import ConfigInvalid, GitFailed
from dos.git.repository import Reader
from dos.machine import filesystem
from dos.text import quote
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.workspace import Workspace
from dos.world import World

FILE = "file"  # the names of the two witnesses
SNAPSHOTS = "state-diff"
DIGEST = "sha256="
TEXT = "contains="
SEPARATOR = "||"
LOWEST = Accountability.AGENT_AUTHORED
LARGEST_BYTES = 64_000_000


def caller_root(workspace: Workspace) -> Path:
    """Return the root of the workspace in the caller's own work tree.

    In a linked work tree the workspace's root is that of the main one; commands run in this one.
    """
    if workspace.root.is_relative_to(workspace.tree):
        return workspace.root
    return workspace.tree


def committed_policy(workspace: Workspace) -> Config | Unknown:
    """Return the configuration that is committed on the main work tree's branch.

    Without a dos.toml there it is the default; Unknown where git or the file cannot be read.
    """
    if workspace.common is None:
        return Unknown("there is no git repository, so nothing is committed")
    home = workspace.tree
    if workspace.common.name == ".git":
        home = workspace.common.parent
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
    """Return the whole content of a regular file of bounded size, or why it is unknown."""
    return filesystem.read_bounded(path, LARGEST_BYTES)


def witness_file(world: World, subject: str) -> EvidenceFacts:
    """Say whether a file exists: `PATH`, `PATH||sha256=HEX` or `PATH||contains=TEXT`."""
    name, _, expected = subject.partition(SEPARATOR)
    shown = quote(name)
    if not name.strip():
        return no_signal(FILE, LOWEST, subject, "no file is named")
    if expected and not expected.startswith((DIGEST, TEXT)):
        why = f"{quote(expected)} is neither {DIGEST}HEX nor {TEXT}TEXT"
        return no_signal(FILE, LOWEST, subject, why)
    path = world.workspace.root / name.strip()
    rung = file_accountability(world, path)
    data = read_bounded(path)
    if isinstance(data, Unknown):
        # pathlib raises for a name that no system can have.
        is_gone = os.path.isdir(path.parent) and not os.path.lexists(path)  # noqa: PTH112
        if is_gone:
            return refute(FILE, rung, subject, f"{shown} is not there")
        return no_signal(FILE, rung, subject, data.why)
    problem = _content_problem(data, expected)
    if problem:
        return refute(FILE, rung, subject, f"{shown} {problem}")
    detail = f"{shown} is there"
    if expected:
        detail += f" with {expected}"
    return attest(FILE, rung, subject, detail)


def _content_problem(data: bytes, expected: str) -> str:
    """Return how the content differs from what is expected, or an empty text."""
    if expected.startswith(DIGEST):
        digest = expected.removeprefix(DIGEST).strip().lower()
        if sha256(data).hexdigest() != digest:
            return "has another digest"
        return ""
    text = expected.removeprefix(TEXT)
    if text.encode() not in data:
        return f"does not hold {quote(text)}"
    return ""


def witness_snapshots(world: World, subject: str, claimed: str = "") -> EvidenceFacts:
    """Say whether a key changed between two JSON files: `BEFORE||AFTER||KEY`.

    The default key is the claim; `-KEY` means that the key was removed.
    """
    parts = [part.strip() for part in subject.split(SEPARATOR, 2)]
    before, after, key, *_ = [*parts, "", ""]
    key = key or claimed
    if not before or not after or not key.lstrip("-"):
        why = "the subject has to name two files and a key: BEFORE||AFTER||KEY"
        return no_signal(SNAPSHOTS, LOWEST, subject, why)
    paths = [world.workspace.root / before, world.workspace.root / after]
    rungs = [file_accountability(world, path) for path in paths]
    rung = min(rungs, key=_rank)
    if rung.is_forgeable:
        why = (
            "the claimant can write these files: "
            "the committed [evidence] places do not contain both of them"
        )
        return no_signal(SNAPSHOTS, LOWEST, subject, why)
    states = []
    for path in paths:
        state = parse_state(read_bounded(path), path)
        if isinstance(state, Unknown):
            return no_signal(SNAPSHOTS, rung, subject, state.why)
        states.append(state)
    old, new = states
    is_deletion = key.startswith("-")
    return compare_snapshots(old, new, key.removeprefix("-"), rung, deleted=is_deletion)


def _rank(rung: Accountability) -> int:
    """Return the sort key: two files count for no more than the one that is easier to write."""
    return rung.rank


def compare_snapshots(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    key: str,
    accountability: Accountability,
    *,
    deleted: bool = False,
) -> EvidenceFacts:
    """Attest that the key was added or changed; with `deleted`, that it was removed.

    Everything else refutes the claim. Raises ValueError for snapshots that the claimant could have
    written.
    """
    if accountability.is_forgeable:
        raise ValueError("snapshots that the claimant could have written prove nothing")
    was_there = key in before
    is_there = key in after
    if deleted:
        subject = f"-{key}"
        if is_there:
            return refute(SNAPSHOTS, accountability, subject, f"{key} is still there")
        if was_there:
            return attest(SNAPSHOTS, accountability, subject, f"{key} is gone")
        return refute(SNAPSHOTS, accountability, subject, f"{key} was never there")
    if not is_there:
        state = "not there"
        if was_there:
            state = "gone"
        return refute(SNAPSHOTS, accountability, key, f"{key} is {state}")
    if not was_there:
        return attest(SNAPSHOTS, accountability, key, f"{key} is new")
    if _same(before[key], after[key]):
        return refute(SNAPSHOTS, accountability, key, f"{key} is as it was")
    return attest(SNAPSHOTS, accountability, key, f"{key} changed")


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON does: true is not 1, but 1 is 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def parse_state(data: bytes | Unknown, path: Path) -> dict[str, Any] | Unknown:
    """Return the JSON object in the bytes that were read from a path, or why there is none."""
    if isinstance(data, Unknown):
        return data
    try:
        return json.decode(data, type=dict[str, Any])
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{path.name} is not a JSON object: {error}")
