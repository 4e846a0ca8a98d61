"""What a program printed, as it is shown to people: each line as one line, whatever it holds."""

from collections.abc import Iterable

from dos.records.names import counted, visible

MOST_LINES = 20


def indented(output: Iterable[str], margin: str = "") -> list[str]:
    """The last lines under a title; nothing where nothing was printed."""
    kept = _lines(output, margin)[-MOST_LINES:]
    return [f"{margin}output   the last {counted(len(kept), 'line')}:", *kept] if kept else []


def changed(difference: Iterable[str]) -> list[str]:
    """The first lines of a diff under a title; nothing where nothing differs."""
    lines = _lines(difference)
    more = [f"  … and {counted(len(lines) - MOST_LINES, 'more line')}"] if len(lines) > MOST_LINES else []
    return ["changed", *lines[:MOST_LINES], *more] if lines else []


def _lines(output: Iterable[str], margin: str = "") -> list[str]:
    texts = (visible(line).replace("\n", "\\n") for line in output)
    return [f"{margin}  {text}".rstrip() for text in texts]
