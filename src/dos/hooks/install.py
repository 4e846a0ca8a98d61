"""Puts the commit gate into a repository's hooks and takes it out again. A hook of the user's goes on running."""

import os
import shlex
import stat
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput, GitFailed, WorkspaceMissing
from dos.git.repository import Writer
from dos.machine import process
from dos.text import quote
from dos.workspace import Workspace

HOOKS = ("pre-commit", "reference-transaction")
MARK = "# dos commit gate"
PREVIOUS_SUFFIX = ".before-dos"  # what was there before lies beside it, under its name and this
REFUSED = 5
PYTHON_FLAGS = (
    "-E",
    "-P",
)  # neither an agent's PYTHONPATH nor a folder of the repository stands for our modules

_HEAD = """#!/bin/sh
{mark}: `dos hooks git install` wrote this file, `dos hooks git remove` takes it out. Edits are lost.
# It stops only agents of a fleet, who carry the number of their lease. Everybody else passes at once.
kept="${{0%/*}}/{name}{kept}"
if {free}; then
  [ -x "$kept" ] || exit 0
  exec "$kept" "$@"
fi
ask() {{
  if [ -x {python} ]; then
    {python} {flags} -m dos hooks git check {name}
  elif command -v dos >/dev/null 2>&1; then
    dos hooks git check {name}
  else
    echo 'dos: refused: the program that checks what agents commit is gone: {python_shown}' >&2
    echo 'dos: Stop here and say so; a person puts it right with `dos hooks git install`.' >&2
    return 1
  fi
  code=$?
  [ $code -eq 0 ] && return 0
  if [ $code -ne {refused} ]; then
    echo "dos: refused: what an agent commits could not be checked (exit $code)" >&2
    echo 'dos: Stop here and say so; a person puts it right with `dos hooks git install`.' >&2
  fi
  return 1
}}
"""

# The hook of before may stage more files, so it comes first.
_PRE_COMMIT = """if [ -x "$kept" ]; then
  "$kept" "$@" || exit
fi
ask
"""

_REFERENCE_TRANSACTION = """lines=$(cat)
case $lines in
  *' HEAD'* | *' refs/heads/'* | *' refs/tags/'* | *' refs/dos/'* | *' refs/notes/dos'* | *'worktree'*'/HEAD'*)
    printf '%s\\n' "$lines" | ask || exit 1 ;;
esac
[ -x "$kept" ] || exit 0
printf '%s' "${lines:+$lines
}" | "$kept" "$@"
"""

_NOT_AN_AGENT = '[ -z "$DOS_FENCE$DOS_LANE" ]'


def hook_text(name: str) -> bytes:
    """The whole hook. It names the Python that wrote it: an agent's PATH may lead to another one, or to none."""
    is_commit = name == "pre-commit"
    head = _HEAD.format(
        mark=MARK,
        name=name,
        kept=PREVIOUS_SUFFIX,
        free=_NOT_AN_AGENT if is_commit else f'{_NOT_AN_AGENT} || [ "$1" != prepared ]',
        python=shlex.quote(sys.executable),
        python_shown=sys.executable.replace("'", "'\\''"),
        flags=" ".join(PYTHON_FLAGS),
        refused=REFUSED,
    )
    body = _PRE_COMMIT if is_commit else _REFERENCE_TRANSACTION
    return (head + body).encode("utf-8", "surrogateescape")


HEAD_BYTES = 4096  # bytes of a hook, to tell what it is


class HookState(StrEnum):
    IN_PLACE = "in_place"
    OUTDATED = "outdated"  # ours, written by another version or for another Python
    REPLACED = "replaced"  # another program wrote over ours, and what was there before ours still lies beside it
    MISSING = "missing"


class Hook(Struct, frozen=True, kw_only=True):
    path: Path
    state: HookState
    foreign: bool = False  # there is a hook of somebody else's: before ours, or instead of it

    @property
    def previous(self) -> Path:
        return self.path.with_name(self.path.name + PREVIOUS_SUFFIX)

    @property
    def temporary(self) -> Path:
        """Where it is written first, so that git never runs half a hook."""
        return self.path.with_name(f"{self.path.name}.dos-new")


class HooksDirectory(Struct, frozen=True, kw_only=True):
    directory: Path
    configured: bool  # by core.hooksPath


def find_directory(workspace: Workspace) -> HooksDirectory:
    """Where git looks for the hooks of a repository and all its worktrees."""
    if workspace.common is None:
        raise WorkspaceMissing(
            f"{workspace.root} is not in a git repository, so there is nothing to guard",
            hint="git init, or --workspace.",
        )
    # We ask git with hooks switched off on the command line, so what counts is the last of the other settings.
    words = ("config", "--null", "--show-scope", "--type=path", "--get-all", "core.hooksPath")
    found = Writer(workspace.tree).attempt(*words).stdout.split("\0")
    configured = [
        path for scope, path in zip(found[::2], found[1::2], strict=False) if scope != "command"
    ]
    if not configured:
        return HooksDirectory(directory=workspace.common / "hooks", configured=False)
    directory = Path(configured[-1])
    if not directory.is_absolute():
        raise BadInput(
            f"core.hooksPath is {quote(configured[-1])}, a folder of each work tree by itself: a lane's worktree has "
            "its own, and what is put into this one does not reach it",
            hint=f"Name a folder for all of them: git config core.hooksPath {workspace.common / 'hooks'}",
        )
    if directory.exists() and not directory.is_dir():
        raise BadInput(
            f"core.hooksPath is {quote(configured[-1])}, which is not a folder: hooks are switched off here",
            hint="git config --show-origin core.hooksPath shows who set it.",
        )
    return HooksDirectory(directory=directory, configured=True)


def inspect_hooks(directory: Path) -> list[Hook]:
    return [_inspect_hook(directory / name) for name in HOOKS]


def install(directory: Path) -> list[Hook]:
    """Both hooks, or neither: whatever cannot be kept is found before anything is written."""
    before = inspect_hooks(directory)
    check_usable(before)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for hook in before:
            _install_hook(hook)
    except OSError as error:
        raise _unwritable(directory, error) from error
    return inspect_hooks(directory)


def remove(directory: Path) -> list[Hook]:
    """What was there before, itself and not a copy of it. What another program wrote meanwhile is not ours to move."""
    before = inspect_hooks(directory)
    try:
        for hook in before:
            hook.temporary.unlink(missing_ok=True)
            if hook.state is not HookState.REPLACED:
                _remove_hook(hook)
    except OSError as error:
        raise _unwritable(directory, error) from error
    return inspect_hooks(directory)


def _inspect_hook(path: Path) -> Hook:
    hook = Hook(path=path, state=HookState.MISSING)
    kept = os.path.lexists(hook.previous)
    if not os.path.lexists(path):
        return Hook(path=path, state=HookState.MISSING, foreign=kept)
    content = b"" if path.is_symlink() else _content(path)
    if MARK.encode() in content[:HEAD_BYTES]:
        current = content == hook_text(path.name) and os.access(path, os.X_OK)
        return Hook(
            path=path, state=HookState.IN_PLACE if current else HookState.OUTDATED, foreign=kept
        )
    # The same file under both names: an installation that was broken off before it wrote anything.
    began = kept and path.exists() and hook.previous.exists() and path.samefile(hook.previous)
    return Hook(
        path=path,
        state=HookState.REPLACED if kept and not began else HookState.MISSING,
        foreign=True,
    )


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", hint=f"ls -l {path}") from error


def check_usable(hooks: Sequence[Hook]) -> None:
    """Whether the gate could be put in, and would work then."""
    for hook in hooks:
        _check_foreign(hook)
    import subprocess

    words = [sys.executable, *PYTHON_FLAGS, "-m", "dos", "version"]
    folder = Path(sys.executable).parent
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        cwd=folder,
        env=process.child_environment(os.environ, folder),
    )
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BadInput(
            f"{sys.executable} cannot start dos by itself: {said}",
            hint="Install dos for it; a hook does not see PYTHONPATH, nor the folder you are in.",
        )


def _check_foreign(hook: Hook) -> None:
    """A hook that is called by another name than its own must not care: a link or a program often does."""
    path = hook.path
    if hook.state is HookState.REPLACED:
        raise BadInput(
            f"{path} was replaced after the commit gate was put in, and {hook.previous.name} still holds what was there "
            "before",
            hint=f"Make one of the two, as {path}, and remove {hook.previous.name}.",
        )
    if hook.state is not HookState.MISSING or not os.path.lexists(path):
        return
    if path.is_symlink():
        raise BadInput(
            f"{path} is a link to {quote(str(path.readlink()))}: what it leads to may go by the name it is called by",
            hint=f'Put a script there that starts it: #!/bin/sh and exec {path.readlink()} "$@"',
        )
    if not stat.S_ISREG(path.lstat().st_mode):
        raise BadInput(f"{path} is not a file", hint=f"ls -ld {path}")
    if b"\0" in _content(path)[:HEAD_BYTES]:
        raise BadInput(
            f"{path} is a binary program: it may go by the name it is called by",
            hint="Move it elsewhere, and put a script there that starts it.",
        )


def _install_hook(hook: Hook) -> None:
    """At every moment there is a hook: the old one until the new one takes its name."""
    if hook.state is HookState.IN_PLACE:
        return
    hook.temporary.write_bytes(hook_text(hook.path.name))
    hook.temporary.chmod(0o755)
    if (
        hook.state is HookState.MISSING
        and os.path.lexists(hook.path)
        and not hook.previous.exists()
    ):
        os.link(hook.path, hook.previous)
    hook.temporary.replace(hook.path)


def _remove_hook(hook: Hook) -> None:
    if hook.foreign and hook.state is HookState.MISSING and os.path.lexists(hook.path):
        hook.previous.unlink(missing_ok=True)  # a second name of the hook that is there
    elif os.path.lexists(hook.previous):
        hook.previous.replace(hook.path)
    elif hook.state is not HookState.MISSING:
        hook.path.unlink()


def _unwritable(directory: Path, error: OSError) -> GitFailed:
    return GitFailed(
        f"{directory} cannot be written: {error.strerror}",
        hint=f"ls -ld {directory} shows whose it is.",
    )
