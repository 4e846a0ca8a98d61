"""What programs for archives and compressed files write."""

import re
from collections.abc import Sequence

from msgspec import structs

from dos.permission.shell.effect import Effect, unknown
from dos.permission.shell.options import parse
from dos.permission.shell.readers import Program
from dos.permission.shell.syntax.tokens import Word

_OLD_TAR = re.compile(r"[a-zA-Z]+")
_ARCHIVE = "what an archive holds is unknown"
_TAR_VALUES = "fCTXIbHgF"


def _tar(words: Sequence[Word]) -> Effect:
    if words and _OLD_TAR.fullmatch(words[0].text):
        words = _without_old_letters(words)
    found = parse(words, _TAR_VALUES, ("file", "directory", "files-from", "exclude", "index-file"))
    runs = ("to-command", "checkpoint-action", "I", "use-compress-program", "F", "info-script")
    others = ("remove-files", "index-file", "g", "listed-incremental", "delete", "rsh-command")
    more = "an option of it runs a program or writes files" if found.has(*runs, *others) else ""
    if found.has("x", "extract", "get"):
        folder = found.value("C", "directory")
        if found.has("O", "to-stdout"):
            return Effect(unknown=more)
        return Effect(writes=[folder] if folder else [], unknown=_ARCHIVE)
    archive = found.value("f", "file")
    if archive is not None and found.has("c", "r", "u", "A", "create", "append", "update"):
        return Effect(writes=[] if archive.text == "-" else [archive], unknown=more)
    if found.has("t", "list", "d", "diff"):
        return Effect(unknown=more)
    return unknown(_ARCHIVE)


def _without_old_letters(words: Sequence[Word]) -> list[Word]:
    """The words of `tar xfC FILE FOLDER`: its letters take their values in their order."""
    rest = list(words[1:])
    found: list[Word] = []
    for letter in words[0].text:
        found.append(structs.replace(words[0], text=f"-{letter}"))
        if letter in _TAR_VALUES and rest:
            found.append(rest.pop(0))
    return found + rest


def _unzip(words: Sequence[Word]) -> Effect:
    found = parse(words, "dPx")
    if found.has("l", "p", "t", "v", "z", "Z"):
        return Effect()
    folder = found.value("d")
    return Effect(writes=[folder] if folder else [], unknown="what an archive holds is unknown")


def _compresses(ending: str, *, shrinks: bool) -> Program:
    """A program that replaces each operand by one with, or without, an ending."""

    def read(words: Sequence[Word]) -> Effect:
        found = parse(words, "Sbo", ("suffix",))
        if found.has("c", "stdout", "to-stdout", "l", "list", "t", "test"):
            return Effect()
        effect = Effect(writes=found.operands + found.all_values("o"))
        for word in found.operands:
            name = word.text.removesuffix(ending)
            if shrinks and not found.has("d", "decompress", "uncompress"):
                name = word.text + ending
            effect.writes.append(structs.replace(word, text=name))
        if found.has("S", "suffix", "N", "name"):
            effect.unknown = "the name of the result is not known"
        return effect

    return read


def _zips(words: Sequence[Word]) -> Effect:
    """`zip ARCHIVE …` writes its first operand, with an ending where it has none."""
    found = parse(words, "xitnb", ("out", "exclude", "include"))
    archive = found.operands[:1]
    effect = Effect(writes=found.all_values("O", "out"), unknown="zip writes beside its archive")
    for word in archive:
        if word.text != "-":
            effect.writes += [word, structs.replace(word, text=f"{word.text}.zip")]
    return effect


ARCHIVERS: dict[str, Program] = {
    "tar": _tar,
    "bsdtar": _tar,
    "unzip": _unzip,
    "zip": _zips,
    "gzip": _compresses(".gz", shrinks=True),
    "gunzip": _compresses(".gz", shrinks=False),
    "bzip2": _compresses(".bz2", shrinks=True),
    "bunzip2": _compresses(".bz2", shrinks=False),
    "xz": _compresses(".xz", shrinks=True),
    "unxz": _compresses(".xz", shrinks=False),
    "zstd": _compresses(".zst", shrinks=True),
}
