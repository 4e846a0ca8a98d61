"""The one way from a tool call to its answer: pipes, hooks and the server all come here."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, structs

from dos.permission.ask import Allow, Answer, Ask, Asker, Footprint, Posture
from dos.permission.call import ToolCall
from dos.permission.io.resolve import resolve
from dos.permission.judge import judge


class Place(Struct, frozen=True, kw_only=True):
    """Where a call is made: its work tree, and folders that only their own holders may write to.

    `beside` is another work tree of the same repository, in which the caller is now.
    """

    tree: Path
    beside: Path | None = None
    guarded: tuple[Path, ...] = ()


class Decision(Struct, frozen=True, kw_only=True):
    """The answer to a call, and the question that it answers."""

    answer: Answer
    ask: Ask | None = None  # None: the call only reads, so nobody asked who makes it


def decide(
    call: ToolCall,
    find: Callable[[], Asker],
    place: Place,
    *,
    posture: Posture = Posture.OBSERVE,
) -> Decision:
    """Return whether a call may be made.

    `find` tells who makes it. It is not asked about a call that only reads, unless the posture may
    allow such a call at once. Raises what `find` raises.
    """
    footprint = call.footprint(str(place.tree))
    if footprint.reads_only and posture is not Posture.ASSIST:
        return Decision(answer=Allow())
    asker = structs.replace(find(), posture=posture)
    ask = _ask(call, asker, footprint, place)
    return Decision(answer=judge(ask), ask=ask)


def refuse(call: ToolCall, asker: Asker, place: Place, refusal: Answer) -> Decision:
    """Return an answer that somebody else has given, with the question as `decide` puts it."""
    footprint = call.footprint(str(place.tree))
    return Decision(answer=refusal, ask=_ask(call, asker, footprint, place))


def _ask(call: ToolCall, asker: Asker, footprint: Footprint, place: Place) -> Ask:
    """The question about a call, with its paths where they really lead."""
    resolved = resolve(footprint, place.tree, beside=place.beside, guarded=place.guarded)
    return Ask(asker=asker, tool=call.tool, footprint=resolved, command=call.command)
