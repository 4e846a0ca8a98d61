"""What a program printed, as it is shown to people: each line as one line, whatever it holds."""

from collections.abc import Iterable

from dos.records.names import counted, visible

MOST_LINES = 20


def indented(output: Iterable[str], margin: str = "") -> list[str]:
    """The last lines under a title; nothing where nothing was printed."""
    kept = [visible(line).replace("\n", "\\n") for line in output][-MOST_LINES:]
    title = [f"{margin}output   the last {counted(len(kept), 'line')}:"] if kept else []
    return [*title, *(f"{margin}  {line}".rstrip() for line in kept)]
