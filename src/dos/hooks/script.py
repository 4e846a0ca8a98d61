"""What is written into git's hooks: plain sh, so that whoever is not an agent loses no time by it."""

import shlex
import sys

HOOKS = ("pre-commit", "reference-transaction")
MARK = "# dos commit gate"
KEPT = ".before-dos"  # what was there before lies beside it, under its name and this
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


def text(name: str) -> bytes:
    """The whole hook. It names the Python that wrote it: an agent's PATH may lead to another one, or to none."""
    is_commit = name == "pre-commit"
    head = _HEAD.format(
        mark=MARK,
        name=name,
        kept=KEPT,
        free=_NOT_AN_AGENT if is_commit else f'{_NOT_AN_AGENT} || [ "$1" != prepared ]',
        python=shlex.quote(sys.executable),
        python_shown=sys.executable.replace("'", "'\\''"),
        flags=" ".join(PYTHON_FLAGS),
        refused=REFUSED,
    )
    body = _PRE_COMMIT if is_commit else _REFERENCE_TRANSACTION
    return (head + body).encode("utf-8", "surrogateescape")
