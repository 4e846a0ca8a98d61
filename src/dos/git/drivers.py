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

from dos import workspace
from dos.errors import GitUnanswered, WorkspaceMissing

_PROGRAM = re.compile(
    r"filter\..*\.(?:clean|smudge|process)|merge\..*\.driver|core\.(?:sshcommand|askpass)"
    r"|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program"
)
# By the last word of a key: what git runs by itself, where it runs anything. A merge that nobody makes is a conflict.
_PLAIN = {"driver": "false", "sshcommand": "ssh", "program": "gpg"}
LARGEST_BYTES = 1_000_000
TRIES = 4  # of a git that dies
_first: dict[Path, bytes] = {}  # the configuration of each repository as this process first saw it
_first_included: dict[
    Path, dict[str, str]
] = {}  # its programs, where it includes other files: those may change too
_settings: dict[tuple[Path, bytes, bytes], tuple[str, ...]] = {}


def settings(tree: Path, environment: dict[str, str]) -> tuple[str, ...]:
    """What is to be said on the command line so that git runs nothing that was configured since we first looked."""
    try:
        common = workspace.find(tree).common
    except WorkspaceMissing:
        return ()
    if common is None:
        return ()
    path, own_path = common / "config", _directory(tree, common) / "config.worktree"
    now, own = _content(path), _content(own_path)
    if common not in _first:
        if _includes(now):
            _first_included[common] = _programs(path, now, environment)
        _first[common] = now
    first, is_lasting = _first[common], not _includes(now) and not _includes(own)
    if now == first and not own and is_lasting:
        return ()
    key = common, now, own
    if key not in _settings or not is_lasting:
        known = _first_included.get(common)
        before = _programs(path, first, environment) if known is None else known
        after = _programs(path, now, environment) | _programs(own_path, own, environment)
        _settings[key] = _undone(before, after)
    return _settings[key]


def _undone(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    """Each program that is new or another one: as it was before, else none at all."""
    words: list[str] = []
    changed = [
        name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)
    ]
    for name in changed:
        if not _is_helper(name):
            words += (
                "-c",
                f"{name}={before.get(name, _PLAIN.get(name.rpartition('.')[2].lower(), ''))}",
            )
        if name.startswith("filter."):
            words += ("-c", f"{name.rpartition('.')[0]}.required=false")
    if any(
        map(_is_helper, changed)
    ):  # they are all asked in turn: an empty one drops those that stand before it
        kept = [f"{name}={value}" for name, value in before.items() if _is_helper(name)]
        words += (word for setting in ("credential.helper=", *kept) for word in ("-c", setting))
    return tuple(words)


def _is_helper(name: str) -> bool:
    return name.startswith("credential.")


def _programs(path: Path, text: bytes, environment: dict[str, str]) -> dict[str, str]:
    """The programs that a configuration names, by their keys.

    One that includes other files is read from its own file, since git looks for them beside it.
    """
    if not text:
        return {}
    source = str(path) if _includes(text) else "-"
    for _ in range(TRIES):
        done = subprocess.run(
            ["git", "config", "--file", source, "--includes", "--null", "--list"],
            input=text,
            capture_output=True,
            env=environment,
            cwd=path.parent,
        )
        if done.returncode == 0:
            break
    else:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitUnanswered(
            f"git cannot read {path}: {said[-1] if said else f'exit {done.returncode}'}"
        )
    entries = (
        entry.partition("\n")
        for entry in done.stdout.decode("utf-8", "surrogateescape").split("\0")
    )
    return {name: value for name, _, value in entries if _PROGRAM.fullmatch(name.lower())}


def _includes(text: bytes) -> bool:
    return b"include" in text.lower()


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
