"""What programs for archives and compressed files write."""

import re
from collections.abc import Sequence

from msgspec import Struct, structs

from dos.permission.shell.effect import Effect, unknown, without_streams
from dos.permission.shell.options import Arguments, parse
from dos.permission.shell.readers import Program
from dos.permission.shell.syntax.tokens import Word

_OLD_TAR = re.compile(r"[a-zA-Z]+")
_ARCHIVE = "what an archive holds is unknown"
_TAR_VALUES = "fCTXIbHgFKLNV"
_TAR_VALUED = (
    *("file", "directory", "exclude", "strip-components"),
    *("owner", "group", "mtime", "sort"),
)
_TAR_FLAGS = (
    *("create", "append", "update", "extract", "get", "list", "diff", "compare", "to-stdout"),
    *("verbose", "gzip", "bzip2", "xz", "zstd", "auto-compress", "wildcards", "numeric-owner"),
    *("exclude-vcs", "no-recursion", "keep-old-files", "totals", "overwrite"),
)
_TAR_LETTERS = "ctxruAdfCvzjJaOpkhmPoW"
_UNZIP_SHOWS = frozenset("lptvzZc")
_UNZIP_READS = re.compile(r"-[lptvzZcqCLMa12smhT]+")
_PACKER_LETTERS = "cdkltvqfnz0123456789"
_XZ = ("threads", "memlimit")
_PACKER_FLAGS = (
    *("stdout", "to-stdout", "decompress", "uncompress", "compress", "keep", "list", "test"),
    *("verbose", "quiet", "force", "no-name", "fast", "best", "extreme", "ultra", "rm"),
    *("long", "threads"),
)


def _tar(words: Sequence[Word]) -> Effect:
    if words and _OLD_TAR.fullmatch(words[0].text):
        words = _without_old_letters(words)
    found = parse(words, _TAR_VALUES, _TAR_VALUED, flags=_TAR_FLAGS)
    archive = found.value("f", "file")
    is_known = found.has_only(_TAR_LETTERS, (*_TAR_FLAGS, *_TAR_VALUED))
    if archive is not None and ":" in archive.text:  # HOST:FILE, by a program
        is_known = False
    more = "" if is_known else "an option of it runs a program or writes files"
    if found.has("x", "extract", "get"):
        folder = found.value("C", "directory")
        if found.has("O", "to-stdout"):
            return Effect(unknown=more)
        return Effect(writes=[folder] if folder else [], unknown=_ARCHIVE)
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
    """`unzip` shows what is in an archive by options before its name; a second dash undoes one."""
    options = [word.text for word in words[: _count_options(words)]]
    shows = any(not _UNZIP_SHOWS.isdisjoint(text) for text in options)
    if shows and all(_UNZIP_READS.fullmatch(text) for text in options):
        return Effect()
    folder = parse(words, "dPx").value("d")
    return Effect(writes=[folder] if folder else [], unknown=_ARCHIVE)


def _count_options(words: Sequence[Word]) -> int:
    """How many words stand before the first that is no option."""
    return next(
        (place for place, word in enumerate(words) if not word.text.startswith("-")), len(words)
    )


class _Packer(Struct, frozen=True, kw_only=True):
    """A program that replaces each operand by one with, or without, an ending."""

    ending: str
    letters: str = ""  # options besides those that all of these have
    values: str = ""  # options with a value
    valued: tuple[str, ...] = ()
    unpacks: bool = False  # without an option that says so
    keeps: bool = False  # the operand, unless it is told otherwise
    has_output: bool = False  # `-o` names the file that is written

    def __call__(self, words: Sequence[Word]) -> Effect:
        found = parse(words, self.values, self.valued, flags=_PACKER_FLAGS)
        output = found.all_values("o") if self.has_output else []
        letters = _PACKER_LETTERS + self.letters + self.values
        is_known = found.has_only(letters, (*_PACKER_FLAGS, *self.valued))
        is_told = found.has("z", "compress", "d", "decompress", "uncompress")
        if found.has("l", "list", "t", "test", "c", "stdout", "to-stdout"):
            prints = found.has("c", "stdout", "to-stdout")
            if is_known and not output and (prints or not is_told):
                return Effect()
        effect = Effect(writes=output or self._written(found))
        if not is_known or found.has("r", "recursive"):
            effect.unknown = "an option of it writes other files"
        elif self._unpacks(found) and not (output or self._has_endings(found)):
            effect.unknown = "the name of the result is not known"
        return effect

    def _has_endings(self, found: Arguments) -> bool:
        return all(word.text.endswith(self.ending) for word in found.operands)

    def _unpacks(self, found: Arguments) -> bool:
        if found.has("d", "decompress", "uncompress"):
            return True
        return self.unpacks and not found.has("z", "compress")

    def _written(self, found: Arguments) -> list[Word]:
        keeps = (self.keeps or found.has("k", "keep")) and not found.has("rm")
        operands = without_streams(found.operands)
        writes: list[Word] = [] if keeps else list(operands)
        for word in operands:
            name = f"{word.text}{self.ending}"
            if self._unpacks(found) and word.text.endswith(self.ending):
                name = word.text.removesuffix(self.ending)
            writes.append(structs.replace(word, text=name))
        return writes


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
    "gzip": _Packer(ending=".gz"),
    "gunzip": _Packer(ending=".gz", unpacks=True),
    "bzip2": _Packer(ending=".bz2"),
    "bunzip2": _Packer(ending=".bz2", unpacks=True),
    "xz": _Packer(ending=".xz", letters="e", values="T", valued=_XZ),
    "unxz": _Packer(ending=".xz", letters="e", values="T", valued=_XZ, unpacks=True),
    "zstd": _Packer(ending=".zst", letters="T", values="o", keeps=True, has_output=True),
}
