"""Programs that a repository's configuration makes git run while it writes files, merges, or reaches a remote.

Worktrees share the configuration, so an agent can write it, and our git would run what it wrote with all that we are
handed. What was configured when this process first looked is a person's; what was put there since is not run. Where a
remote is, and which program answers there (`remote.NAME.url`, `.uploadpack`, `.receivepack`), git takes from the first
that says it, so nothing that is said on the command line holds against them.
"""

import os
import re
import subprocess
from pathlib import Path

from dos.errors import WorkspaceMissing
from dos.sources import workspace

_PROGRAM = re.compile(
    r"filter\..*\.(?:clean|smudge|process)|merge\..*\.driver|core\.(?:sshcommand|askpass)"
    r"|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program"
)
# By the last word of a key: what git runs by itself, where it runs anything. A merge that nobody makes is a conflict.
_PLAIN = {"driver": "false", "sshcommand": "ssh", "program": "gpg"}
LARGEST_BYTES = 1_000_000
_first: dict[Path, bytes] = {}  # the configuration of each repository as this process first saw it
_settings: dict[tuple[Path, bytes, bytes], tuple[str, ...]] = {}


def settings(tree: Path, environment: dict[str, str]) -> tuple[str, ...]:
    """What is to be said on the command line so that git runs nothing that was configured since we first looked."""
    try:
        common = workspace.find(tree).common
    except WorkspaceMissing:
        return ()
    if common is None:
        return ()
    now = _content(common / "config")
    own = _content(_directory(tree, common) / "config.worktree")
    first = _first.setdefault(common, now)
    if now == first and not own:
        return ()
    key = common, now, own
    if key not in _settings:
        before = _programs(first, common, environment)
        after = _programs(now, common, environment) | _programs(own, common, environment)
        _settings[key] = _undone(before, after)
    return _settings[key]


def _undone(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    """Each program that is new or another one: as it was before, else none at all."""
    words: list[str] = []
    changed = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    for name in changed:
        if not _is_helper(name):
            words += ("-c", f"{name}={before.get(name, _PLAIN.get(name.rpartition('.')[2].lower(), ''))}")
        if name.startswith("filter."):
            words += ("-c", f"{name.rpartition('.')[0]}.required=false")
    if any(map(_is_helper, changed)):  # they are all asked in turn: an empty one drops those that stand before it
        kept = [f"{name}={value}" for name, value in before.items() if _is_helper(name)]
        words += (word for setting in ("credential.helper=", *kept) for word in ("-c", setting))
    return tuple(words)


def _is_helper(name: str) -> bool:
    return name.startswith("credential.")


def _programs(text: bytes, common: Path, environment: dict[str, str]) -> dict[str, str]:
    """The programs that a configuration names, by their keys; what it includes by a relative path is not seen."""
    if not text:
        return {}
    done = subprocess.run(
        ["git", "config", "--file", "-", "--includes", "--null", "--list"],
        input=text,
        capture_output=True,
        env=environment,
        cwd=common,
    )
    entries = (entry.partition("\n") for entry in done.stdout.decode("utf-8", "surrogateescape").split("\0"))
    return {name: value for name, _, value in entries if _PROGRAM.fullmatch(name.lower())}


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_BYTES)
    except OSError:
        return b""


def _directory(tree: Path, common: Path) -> Path:
    """Where a worktree keeps what is its own."""
    link = tree / ".git"
    if not link.is_file():
        return common
    found = _content(link).decode("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
    return Path(os.path.realpath(tree / found))
