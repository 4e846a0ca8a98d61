"""Take over the commits that a lane sends: into quarantine, checked, then moved in or discarded.

Our git never opens the lane's repository. It reads a pack from a pipe, in a folder that nothing
else uses, with limits. Two git processes are enough for ordinary work.
"""

import os
import select
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol, Self

from dos import workspace
from dos.errors import GitUnanswered, NotARepository
from dos.git.objects import is_hash
from dos.git.repository import Writer
from dos.handover.io import quarantine
from dos.handover.io.bounded_git import BoundedGit, GitEnded, describe_exit
from dos.handover.io.check import Check, Checked
from dos.handover.io.quarantine import Quarantine
from dos.handover.limits import Limits
from dos.handover.refusal import Refused, Rule


class Stream(Protocol):
    """The read end of a pipe. Nothing may have been read from it into a buffer."""

    def fileno(self) -> int: ...


class Received:
    """Commits that were checked and wait in quarantine.

    Move them in, write a ref that reaches them, then close it; or close it to discard them. A
    `with` closes it.
    """

    def __init__(self, waiting: Quarantine, objects: Path, checked: Checked) -> None:
        self.head = checked.head
        self.commits = checked.commits  # all that the base does not have, parents first
        self.object_count = checked.object_count
        self._quarantine = waiting
        self._objects = objects
        self._pack = checked.pack

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def move_in(self) -> None:
        """Move the pack into the user's repository; until `close`, no `git gc` removes it.

        Raises OSError when it cannot be written; then `close` leaves nothing of it.
        """
        if self.object_count:
            self._quarantine.move_in(self._pack, self._objects)

    def close(self) -> None:
        """Remove the quarantine folder. What was not moved in is gone; the rest needs a ref now."""
        self._quarantine.remove()


def receive(
    git: Writer,
    stream: Stream,
    *,
    head: str | None,
    saved: Sequence[str] = (),
    base: str,
    limits: Limits,
    exit_status: Callable[[], int],
) -> Received | Refused:
    """Read a pack from a lane and check it.

    - `head` is the commit that is to land; it has to descend from `base`, a commit of this
      repository. `saved` are others that have to be complete. All are whole ids.
    - `exit_status` returns how the program ended that wrote to `stream`. It is called at the end
      of the stream: a git that failed may have sent a valid pack of nothing. It has to return in
      bounded time, also for a program that has closed its output and goes on.

    Nothing enters the repository before `Received.move_in`. When it is refused, the program may
    still run: end it, and close the stream.
    """
    for sha in (head, *saved):
        if sha is not None and not (is_hash(sha) and len(sha) == len(base)):
            return Refused(rule=Rule.CLAIM, reason=f"{sha[:80]!r} is not a commit id")
    place = workspace.find(git.tree)
    if place.common is None:
        raise NotARepository(f"{git.tree} is not in a git repository")
    objects = place.common / "objects"
    try:
        waiting = quarantine.make(place.state / quarantine.FOLDER)
    except OSError as error:
        return _unchecked(error)
    with ExitStack() as undo:
        undo.callback(waiting.remove)
        bounded = BoundedGit(git.tree, objects, waiting.objects, limits)
        try:
            pack = _index(bounded, stream, exit_status)
            if isinstance(pack, Refused):
                return pack
            with Check(bounded, waiting.objects / "pack" / f"{pack}.idx", base) as check:
                checked = check.run(head, saved, pack)
        except GitEnded as error:
            return error.refusal
        except (GitUnanswered, OSError) as error:
            return _unchecked(error)
        if isinstance(checked, Refused):
            return checked
        undo.pop_all()
        return Received(waiting, objects, checked)


def _unchecked(error: Exception) -> Refused:
    """The refusal when the system fails: a full disk, no more processes."""
    return Refused(rule=Rule.UNCHECKED, reason=f"the work could not be checked: {error}")


def _index(git: BoundedGit, stream: Stream, exit_status: Callable[[], int]) -> str | Refused:
    """Index the pack in quarantine and return its name (`pack-HASH`).

    Git checks that each object is well formed and that all it refers to is there.
    """
    ended = git.run(
        "index-pack",
        "--stdin",
        "--strict",
        "--fix-thin",
        "--threads=1",
        "--no-rev-index",
        f"--max-input-size={git.limits.pack_bytes}",
        stdin=stream.fileno(),
    )
    is_at_end = _is_at_end(stream, git.remaining_seconds() if ended.code == 0 else 0)
    if is_at_end:
        code = exit_status()
        if code != 0:
            return Refused(
                rule=Rule.SENDER,
                reason=f"the lane's git failed while it sent its commits: {describe_exit(code)}",
            )
    if ended.code != 0:
        return git.refusal("index-pack", ended.code, ended.errors, Rule.PACK)
    # Git prints what it has read beyond the end of the pack.
    kind, _, name = ended.output.partition(b"\t")
    sha = name.removesuffix(b"\n").decode("ascii", "replace")
    if not is_at_end or kind != b"pack" or not is_hash(sha):
        return Refused(rule=Rule.PACK, reason="more than one pack was sent")
    return f"pack-{sha}"


def is_readable(pipe: int, seconds: float) -> bool:
    """Whether a pipe has a byte, or has ended, within some seconds."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def _is_at_end(stream: Stream, seconds: float) -> bool:
    """Whether the stream has ended, or ends within some seconds, without another byte."""
    return is_readable(stream.fileno(), seconds) and os.read(stream.fileno(), 1) == b""
