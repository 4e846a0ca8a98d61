"""What the reflogs of a repository say of agents: every git command of one carries the name of its run there."""

from pathlib import Path

from msgspec import Struct

from dos.git.repository import Reader
from dos.run_ids import is_run_id

MOST_ENTRIES = 1_000  # of a reflog, the newest: whoever looks does so while the agents run
AGENT_ACTION = "dos agent "  # before the run, in the entries of what an agent does with git


class Move(Struct, frozen=True, kw_only=True):
    """One entry: where an agent moved a ref."""

    ref: str
    run_id: str  # empty: what stands there is no run, for an agent can write any word
    old: str  # empty: it is the oldest entry that there is
    new: str


class Reflogs:
    """Of a branch and of the checkout of the user. They are read again only when one of them has changed."""

    def __init__(self, git: Reader, branch: str) -> None:
        self._git = git
        self._refs = (f"refs/heads/{branch}", "HEAD")
        self._paths = [
            git.tree / git.run("rev-parse", "--git-path", f"logs/{ref}").strip()
            for ref in self._refs
        ]
        self._seen: object = None
        self._moves: list[Move] = []

    def agent_moves(self) -> list[Move]:
        """What agents did to them, oldest first."""
        seen = [_stamp(path) for path in self._paths]
        if None in seen:  # kept otherwise (reftable), or not yet: where the refs are has to do
            seen += [self._git.commit_of(ref) for ref in self._refs]
        if seen != self._seen:
            self._moves = [move for ref in self._refs for move in self._read(ref)]
            self._seen = seen
        return self._moves

    def _read(self, ref: str) -> list[Move]:
        if self._git.commit_of(ref) is None:
            return []  # a branch that is only on a remote, or has no commit yet
        words = (
            "-g",
            "--no-show-signature",
            f"--max-count={MOST_ENTRIES}",
            "--format=%H%x00%gs",
            ref,
            "--",
        )
        entries = [line.partition("\0") for line in self._git.run("log", *words).splitlines()]
        older = [new for new, _, _ in entries[1:]] + [""]
        found = []
        for (new, _, action), old in zip(entries, older, strict=True):
            if action.startswith(AGENT_ACTION):
                named = action.removeprefix(AGENT_ACTION).partition(":")[0].strip()
                found.append(
                    Move(ref=ref, run_id=named if is_run_id(named) else "", old=old, new=new)
                )
        return found[::-1]


def _stamp(path: Path) -> object:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_mtime_ns, known.st_size
