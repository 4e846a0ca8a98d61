"""What one command writes: words that name paths, and why there may be more."""

from collections.abc import Sequence

from msgspec import Struct, field, structs

from dos.permission.shell.syntax.tokens import Word

KEPT = "the name of a copy is not known"


class Effect(Struct, kw_only=True):
    """What a command writes. Nothing at all: it is known to only read."""

    writes: list[Word] = field(default_factory=list)
    unknown: str = ""


def unknown(why: str) -> Effect:
    """Return the effect of a command that may write anything."""
    return Effect(unknown=why)


def without_streams(words: Sequence[Word]) -> list[Word]:
    """The words of a program that takes `-` for what it prints."""
    return [word for word in words if word.text != "-"]


def inside(folder: Word, name: Word) -> Word:
    """Return the path of a file that keeps its name in a folder."""
    last = name.text.rstrip("/").rpartition("/")[2]
    return structs.replace(
        folder,
        text=f"{folder.text.rstrip('/') or '/'}/{last}",
        is_literal=folder.is_literal and name.is_literal,
        has_glob=folder.has_glob or name.has_glob,
        has_brace=folder.has_brace or name.has_brace,
    )
