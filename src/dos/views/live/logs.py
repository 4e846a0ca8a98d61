"""What an agent said, as a person reads it: its own stream is made for programs."""

from collections.abc import Callable

from msgspec import Struct

from dos.agents.adapter import Activity, Heard, Waiting

Parse = Callable[[str], tuple[Heard, ...]]


class Said(Struct, frozen=True):
    kind: str  # activity | waiting: for its provider | line: as it stands in the log
    text: str


def said(line: str, parse: Parse) -> list[Said]:
    """Nothing for a line that only programs care about; a line that no program wrote stands for itself."""
    heard = parse(line)
    if not heard:
        return [] if not line.strip() or line.lstrip().startswith("{") else [Said("line", line)]
    return [told for each in heard if (told := _told(each))]


def unparsed(line: str) -> tuple[Heard, ...]:
    """For an agent that nobody knows any more."""
    return ()


def _told(heard: Heard) -> Said | None:
    match heard:
        case Activity(text=text):
            return Said("activity", text)
        case Waiting(ending=ending, seconds=seconds, text=text):
            again = f", tries again in {seconds:g} s" if seconds is not None else ""
            return Said("waiting", f"waits for its provider ({ending}){again}" + (f": {text}" if text else ""))
    return None
