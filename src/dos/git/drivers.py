"""Programs that a repository's configuration makes git run: filters, merge drivers, helpers.

Worktrees share the configuration, so an agent can write it, and a git that dos starts would run the
program with everything that dos may do. What was configured when this process first looked is
trusted; what was added since is not run.

Where a remote is, and which program answers there (`remote.NAME.url`, `.uploadpack`,
`.receivepack`), git takes from the first place that sets it, so the command line cannot override
those.
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
# What git runs by default, by the last word of a key. Without a merge driver: a conflict.
_DEFAULTS = {"driver": "false", "sshcommand": "ssh", "program": "gpg"}
LARGEST_BYTES = 1_000_000
TRIES = 4  # of a git that dies
# The configuration of each repository when this process first looked.
_first: dict[Path, bytes] = {}
# Its programs, if it includes other files: those may change too.
_first_included: dict[Path, dict[str, str]] = {}
_settings: dict[tuple[Path, bytes, bytes], tuple[str, ...]] = {}


def settings(tree: Path, environment: dict[str, str]) -> tuple[str, ...]:
    """Return the `-c` options that keep git from running programs that were configured later."""
    common = _common_directory(tree, environment)
    if common is None:
        return ()
    path = common / "config"
    own_path = _git_directory(tree, common, environment) / "config.worktree"
    now, own = _content(path), _content(own_path)
    if common not in _first:
        if _has_includes(now):
            _first_included[common] = _programs(path, now, environment)
        _first[common] = now
    first = _first[common]
    is_lasting = not _has_includes(now) and not _has_includes(own)
    if now == first and not own and is_lasting:
        return ()
    key = (common, now, own)
    if key not in _settings or not is_lasting:
        if common in _first_included:
            before = _first_included[common]
        else:
            before = _programs(path, first, environment)
        after = _programs(path, now, environment) | _programs(own_path, own, environment)
        _settings[key] = _restore(before, after)
    return _settings[key]


def _restore(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    """Return options that set each program that changed to what it was, else to git's default."""
    changed = []
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            changed.append(name)
    options: list[str] = []
    for name in changed:
        if not _is_credential_helper(name):
            default = _DEFAULTS.get(name.rpartition(".")[2].lower(), "")
            options += ("-c", f"{name}={before.get(name, default)}")
        if name.startswith("filter."):
            options += ("-c", f"{name.rpartition('.')[0]}.required=false")
    if any(map(_is_credential_helper, changed)):
        # Git asks all helpers in turn; an empty one drops those that were configured before it.
        options += ("-c", "credential.helper=")
        for name, value in before.items():
            if _is_credential_helper(name):
                options += ("-c", f"{name}={value}")
    return tuple(options)


def _is_credential_helper(name: str) -> bool:
    return name.startswith("credential.")


def _programs(path: Path, text: bytes, environment: dict[str, str]) -> dict[str, str]:
    """Return the programs that a configuration names, by their keys.

    One that includes other files is read from its own file, since git looks for them beside it.
    """
    if not text:
        return {}
    source = str(path) if _has_includes(text) else "-"
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
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit {done.returncode}"
        raise GitUnanswered(f"git cannot read {path}: {reason}")
    programs = {}
    for entry in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        name, _, value = entry.partition("\n")
        if _PROGRAM.fullmatch(name.lower()):
            programs[name] = value
    return programs


def _has_includes(text: bytes) -> bool:
    return b"include" in text.lower()


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_BYTES)
    except OSError:
        return b""


def _common_directory(tree: Path, environment: dict[str, str]) -> Path | None:
    """Return the directory of the repository whose configuration git reads; None without one.

    A git that is told where to write its objects reads the configuration beside them too.
    """
    objects = environment.get("GIT_OBJECT_DIRECTORY")
    if objects:
        return Path(objects).parent
    try:
        return workspace.find(tree).common
    except WorkspaceMissing:
        return None


def _git_directory(tree: Path, common: Path, environment: dict[str, str]) -> Path:
    """Return the directory with a worktree's own files."""
    if "GIT_DIR" in environment:
        return Path(environment["GIT_DIR"])
    link = tree / ".git"
    if not link.is_file():
        return common
    target = _content(link).decode("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
    return Path(os.path.realpath(tree / target))
