"""A part of a text that cannot run, and the text without such parts."""

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """The characters of a text that cannot run, and what stands for them in the live text."""

    start: int
    end: int
    instead: str = ""


def without(text: str, spans: Iterable[Span]) -> str:
    """The text without its dead parts; a part inside another one is gone with it."""
    live: list[str] = []
    at = 0
    for span in sorted(spans):
        if span.start < at:
            continue
        live += (text[at : span.start], span.instead)
        at = span.end
    live.append(text[at:])
    return "".join(live)
