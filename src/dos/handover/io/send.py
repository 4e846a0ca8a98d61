"""What runs inside a lane to send its commits, and how its claim is read.

These are words for programs that somebody else starts, in the folder of the lane, with what the
agent itself may do and no more: the lane's git reads the lane's configuration. Nothing that they
print is believed; `receive` checks it.
"""

import os
import select
import time
from collections.abc import Sequence

from dos.handover.claim import MOST_BYTES, parse_claim
from dos.handover.refusal import Refused, Rule

_GIT = (
    "git", "--no-replace-objects", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
    "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false",
    "-c", "pack.useBitmaps=false", "-c", "protocol.allow=never",
)  # fmt: skip
# Not thin: what a thin pack leaves out would have to be added again on this side. The exit code of
# a pipe is that of its last command, and `pack-objects` walks the history itself, so a walk that
# fails is seen.
_PACK = 'printf "%s\\n" "$@" | exec {git} pack-objects --revs --stdout --quiet --delta-base-offset'
_DELIVER = """head=$({git} rev-parse --verify --end-of-options 'HEAD^{{commit}}') || exit 1
printf '%s\\n' "$head"
set -- "$head" "$@"
"""


def head_command() -> list[str]:
    """Return the command that prints the commit at HEAD."""
    return [*_GIT, "rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"]


def pack_command(wanted: Sequence[str], base: str) -> list[str]:
    """Return the command that prints a pack of everything that the base does not have."""
    script = _PACK.format(git=_words())
    return ["sh", "-c", script, "sh", *wanted, f"^{base}"]


def deliver_command(base: str, saved: Sequence[str] = ()) -> list[str]:
    """Return the command that prints HEAD on a line and then its pack, in one program.

    Read the line with `read_claim`, and give the rest of the same pipe to `receive`.
    """
    script = _DELIVER.format(git=_words()) + _PACK.format(git=_words())
    return ["sh", "-c", script, "sh", *saved, f"^{base}"]


def _words() -> str:
    """The words of git as a shell takes them: none has a blank or a quote."""
    return " ".join(_GIT)


def read_claim(pipe: int, base: str, seconds: float) -> str | Refused:
    """Read the line with the commit that the lane claims, and not a byte after it.

    Refused when it is not a whole id, or when it takes longer than `seconds`.
    """
    deadline = time.monotonic() + seconds
    line = b""
    while len(line) < MOST_BYTES and not line.endswith(b"\n"):
        if not is_readable(pipe, deadline - time.monotonic()):
            return Refused(
                rule=Rule.SENDER, reason=f"the lane did not name its commit within {seconds:g} s"
            )
        piece = os.read(pipe, 1)
        if not piece:
            break
        line += piece
    if not line:
        return Refused(rule=Rule.SENDER, reason="the lane named no commit: its git failed")
    return parse_claim(line, base)


def is_readable(pipe: int, seconds: float) -> bool:
    """Whether a pipe has a byte, or has ended, within some seconds."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))
