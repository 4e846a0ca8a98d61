"""What an agent said, as a person reads it: its own stream is made for programs."""

from collections.abc import Sequence

from msgspec import Struct

from dos.agents.adapter import Activity, Waiting


class Said(Struct, frozen=True):
    kind: str  # activity | waiting: for its provider | line: as it stands in the log
    text: str


def said(line: str, heard: Sequence[Activity | Waiting]) -> list[Said]:
    """Nothing for a line that only programs care about; a line that no program wrote stands for itself."""
    if not heard:
        return [] if not line.strip() or line.lstrip().startswith("{") else [Said("line", line)]
    return [_told(each) for each in heard]


def _told(heard: Activity | Waiting) -> Said:
    match heard:
        case Activity(text=text):
            return Said("activity", text)
        case Waiting(ending=ending, seconds=seconds, text=text):
            again = f", tries again in {seconds:g} s" if seconds is not None else ""
            return Said(
                "waiting",
                f"waits for its provider ({ending}){again}" + (f": {text}" if text else ""),
            )
