"""Install the commit gate in a repository's git hooks, and remove it.

Hooks that the user has installed keep running.
"""

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
PREVIOUS_SUFFIX = ".before-dos"  # the hook from before is kept beside the gate, under this suffix
REFUSED = 5  # the exit code of a check that refuses
# So that neither PYTHONPATH nor a folder of the repository can replace dos's own modules.
PYTHON_FLAGS = ("-E", "-P")

_HEAD = """#!/bin/sh
{mark}: `dos hooks git install` wrote this file, \
`dos hooks git remove` takes it out. Edits are lost.
# It stops only agents of a fleet, who carry the number of their lease. \
Everybody else passes at once.
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

# The user's hook may stage more files, so it runs first.
_PRE_COMMIT = """if [ -x "$kept" ]; then
  "$kept" "$@" || exit
fi
ask
"""

_REFERENCE_TRANSACTION = """lines=$(cat)
case $lines in
  *' HEAD'* | *' refs/heads/'* | *' refs/tags/'* | *' refs/dos/'* \
| *' refs/notes/dos'* | *'worktree'*'/HEAD'*)
    printf '%s\\n' "$lines" | ask || exit 1 ;;
esac
[ -x "$kept" ] || exit 0
printf '%s' "${lines:+$lines
}" | "$kept" "$@"
"""

_NOT_AN_AGENT = '[ -z "$DOS_FENCE$DOS_LANE" ]'


def hook_text(name: str) -> bytes:
    """The script of a hook: plain sh, so that git stays fast for people.

    It names the Python that wrote it, because an agent's PATH may lead to another one or to none.
    """
    passes = _NOT_AN_AGENT
    body = _PRE_COMMIT
    if name != "pre-commit":
        passes = f'{_NOT_AN_AGENT} || [ "$1" != prepared ]'
        body = _REFERENCE_TRANSACTION
    head = _HEAD.format(
        mark=MARK,
        name=name,
        kept=PREVIOUS_SUFFIX,
        free=passes,
        python=shlex.quote(sys.executable),
        python_shown=sys.executable.replace("'", "'\\''"),
        flags=" ".join(PYTHON_FLAGS),
        refused=REFUSED,
    )
    return (head + body).encode("utf-8", "surrogateescape")


HEAD_BYTES = 4096  # of a hook, enough to tell what it is


class HookState(StrEnum):
    """Whether a hook is the commit gate."""

    IN_PLACE = "in_place"
    OUTDATED = "outdated"  # the gate, but written by another version or for another Python
    # Another program overwrote the gate, and the hook from before the gate is still kept.
    REPLACED = "replaced"
    MISSING = "missing"


class Hook(Struct, frozen=True, kw_only=True):
    """One hook of the repository, as it is on disk."""

    path: Path
    state: HookState
    foreign: bool = False  # a hook of another program: kept beside the gate, or in its place

    @property
    def previous(self) -> Path:
        """Where the hook from before the gate is kept."""
        return self.path.with_name(self.path.name + PREVIOUS_SUFFIX)

    @property
    def temporary(self) -> Path:
        """Where the gate is written first, so that git never runs half a hook."""
        return self.path.with_name(f"{self.path.name}.dos-new")


class HooksDirectory(Struct, frozen=True, kw_only=True):
    """Where git looks for hooks."""

    directory: Path
    configured: bool  # by core.hooksPath


def find_directory(workspace: Workspace) -> HooksDirectory:
    """The hooks directory of a repository and all its worktrees.

    Raises BadInput when core.hooksPath does not name one directory for all of them, and
    WorkspaceMissing outside of a repository.
    """
    if workspace.common is None:
        raise WorkspaceMissing(
            f"{workspace.root} is not in a git repository, so there are no hooks to install",
            hint="git init, or --workspace.",
        )
    configured = _configured_path(workspace)
    if configured is None:
        return HooksDirectory(directory=workspace.common / "hooks", configured=False)
    directory = Path(configured)
    if not directory.is_absolute():
        raise BadInput(
            f"core.hooksPath is {quote(configured)}, relative to each work tree: a lane's worktree"
            " has its own directory, and hooks installed here do not reach it",
            hint="Name one directory for all of them: git config core.hooksPath "
            f"{workspace.common / 'hooks'}",
        )
    if directory.exists() and not directory.is_dir():
        raise BadInput(
            f"core.hooksPath is {quote(configured)}, which is not a directory: hooks are disabled",
            hint="git config --show-origin core.hooksPath shows who set it.",
        )
    return HooksDirectory(directory=directory, configured=True)


def _configured_path(workspace: Workspace) -> str | None:
    """The last value of core.hooksPath; None when it is not set.

    dos runs git with hooks disabled on the command line, so that scope does not count.
    """
    argv = ("config", "--null", "--show-scope", "--type=path", "--get-all", "core.hooksPath")
    fields = Writer(workspace.tree).attempt(*argv).stdout.split("\0")
    path = None
    for scope, value in zip(fields[::2], fields[1::2], strict=False):
        if scope != "command":
            path = value
    return path


def inspect_hooks(directory: Path) -> list[Hook]:
    """The state of every hook that the gate needs."""
    return [_inspect_hook(directory / name) for name in HOOKS]


def lane_hooks(workspace: Workspace) -> dict[str, bytes]:
    """The hooks of a lane's own repository, by name; none where the gate is not installed here."""
    try:
        directory = find_directory(workspace).directory
    except (BadInput, WorkspaceMissing):
        return {}
    if any(hook.state is not HookState.IN_PLACE for hook in inspect_hooks(directory)):
        return {}
    return {name: hook_text(name) for name in HOOKS}


def install(directory: Path) -> list[Hook]:
    """Install all hooks of the gate, or none, and return their state.

    Raises BadInput before anything is written when a hook of the user cannot be kept, and
    GitFailed when the directory cannot be written.
    """
    hooks = inspect_hooks(directory)
    check_usable(hooks)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for hook in hooks:
            _install_hook(hook)
    except OSError as error:
        raise _unwritable(directory, error) from error
    return inspect_hooks(directory)


def remove(directory: Path) -> list[Hook]:
    """Put the hooks from before the gate back, and return the state.

    A hook that another program wrote over the gate is left alone. Raises GitFailed when the
    directory cannot be written.
    """
    try:
        for hook in inspect_hooks(directory):
            hook.temporary.unlink(missing_ok=True)
            if hook.state is not HookState.REPLACED:
                _remove_hook(hook)
    except OSError as error:
        raise _unwritable(directory, error) from error
    return inspect_hooks(directory)


def _inspect_hook(path: Path) -> Hook:
    """The state of one hook, by its content and the previous hook beside it."""
    missing = Hook(path=path, state=HookState.MISSING)
    previous = missing.previous
    has_previous = os.path.lexists(previous)
    if not os.path.lexists(path):
        return Hook(path=path, state=HookState.MISSING, foreign=has_previous)
    content = b""
    if not path.is_symlink():
        content = _content(path)
    if MARK.encode() in content[:HEAD_BYTES]:
        state = HookState.OUTDATED
        if content == hook_text(path.name) and os.access(path, os.X_OK):
            state = HookState.IN_PLACE
        return Hook(path=path, state=state, foreign=has_previous)
    # The same file under both names: an installation that stopped before it wrote the gate.
    has_both = has_previous and path.exists() and previous.exists()
    if has_previous and not (has_both and path.samefile(previous)):
        return Hook(path=path, state=HookState.REPLACED, foreign=True)
    return Hook(path=path, state=HookState.MISSING, foreign=True)


def _content(path: Path) -> bytes:
    """The content of a hook. Raises BadInput when it cannot be read."""
    try:
        if not path.is_file():
            return b""
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", hint=f"ls -l {path}") from error


def check_usable(hooks: Sequence[Hook]) -> None:
    """Raise BadInput unless the gate could be installed and would work then."""
    for hook in hooks:
        _check_foreign(hook)
    import subprocess

    argv = [sys.executable, *PYTHON_FLAGS, "-m", "dos", "version"]
    folder = Path(sys.executable).parent
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        cwd=folder,
        env=process.child_environment(os.environ, folder),
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it printed nothing"]
        raise BadInput(
            f"{sys.executable} cannot start dos by itself: {lines[-1]}",
            hint="Install dos for it; a hook sees neither PYTHONPATH nor the current directory.",
        )


def _check_foreign(hook: Hook) -> None:
    """Raise BadInput for a hook of the user that may not work under another name.

    The gate calls it by its name with a suffix; a link or a binary often looks at its own name.
    """
    path = hook.path
    if hook.state is HookState.REPLACED:
        raise BadInput(
            f"{path} was replaced after the commit gate was installed, and {hook.previous.name}"
            " still holds the hook from before",
            hint=f"Merge the two into {path}, and remove {hook.previous.name}.",
        )
    if hook.state is not HookState.MISSING or not os.path.lexists(path):
        return
    if path.is_symlink():
        raise BadInput(
            f"{path} is a link to {quote(str(path.readlink()))}, which may depend on the name that"
            " it is called by",
            hint=f'Put a script there that starts it: #!/bin/sh and exec {path.readlink()} "$@"',
        )
    if not stat.S_ISREG(path.lstat().st_mode):
        raise BadInput(f"{path} is not a file", hint=f"ls -ld {path}")
    if b"\0" in _content(path)[:HEAD_BYTES]:
        raise BadInput(
            f"{path} is a binary program, which may depend on the name that it is called by",
            hint="Move it elsewhere, and put a script there that starts it.",
        )


def _install_hook(hook: Hook) -> None:
    """Replace a hook by the gate. At every moment there is a hook under its name."""
    if hook.state is HookState.IN_PLACE:
        return
    hook.temporary.write_bytes(hook_text(hook.path.name))
    hook.temporary.chmod(0o755)
    is_users = hook.state is HookState.MISSING and os.path.lexists(hook.path)
    if is_users and not hook.previous.exists():
        os.link(hook.path, hook.previous)
    hook.temporary.replace(hook.path)


def _remove_hook(hook: Hook) -> None:
    """Put the hook from before back, or delete the gate when there was none."""
    if hook.foreign and hook.state is HookState.MISSING and os.path.lexists(hook.path):
        hook.previous.unlink(missing_ok=True)  # a second name of the hook that is in place
    elif os.path.lexists(hook.previous):
        hook.previous.replace(hook.path)
    elif hook.state is not HookState.MISSING:
        hook.path.unlink()


def _unwritable(directory: Path, error: OSError) -> GitFailed:
    """The error for a hooks directory that cannot be written."""
    return GitFailed(
        f"{directory} cannot be written: {error.strerror}",
        hint=f"ls -ld {directory} shows its owner.",
    )
