"""What the programs of a shell write, by their options and operands."""

import re
from collections.abc import Sequence

from msgspec import structs

from dos.permission.shell.archives import ARCHIVERS
from dos.permission.shell.editors import EDITORS
from dos.permission.shell.effect import KEPT, Effect, inside, unknown, without_streams
from dos.permission.shell.git_commands import UNREAD_PATCH
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import Arguments, parse
from dos.permission.shell.readers import UNLESS, Program
from dos.permission.shell.syntax.tokens import Word
from dos.permission.shell.transfers import TRANSFERS

_MODE = re.compile(r"[-+=][rwxXstugo,+=-]*")
_LINKED = "what is written through a link lies elsewhere"
_FIND_TESTS = name_table(
    "-name -iname -path -ipath -wholename -regex -iregex -newer -mtime -mmin -size -perm"
)
_DUMP_VALUE = re.compile(r"--?(?:c|cols|g|groupsize|l|len|n|name|o|offset|R|s|seek|skip)")
_PATCH_NAMES = name_table("""
    dry-run strip reverse forward quiet silent force batch verbose input directory unified
    """)
_FIND_OUTPUTS = ("-fprint", "-fprint0", "-fls", "-fprintf")


def _all_operands(letters: str = "", *names: str) -> Program:
    """A program that writes each of its operands."""

    def read(words: Sequence[Word]) -> Effect:
        return Effect(writes=parse(words, letters, names).operands)

    return read


def _all_but_first(letters: str, *names: str) -> Program:
    """A program whose first operand is a mode or an owner, unless a file gives it."""

    def read(words: Sequence[Word]) -> Effect:
        found = parse([word for word in words if not _MODE.fullmatch(word.text)], letters, names)
        has_mode = any(_MODE.fullmatch(word.text) for word in words)
        first = 0 if has_mode or found.has("reference") else 1
        return Effect(writes=found.operands[first:])

    return read


def _moves(words: Sequence[Word]) -> Effect:
    found = parse(words, "tS", ("target-directory", "suffix"))
    effect = _copied(found)
    if found.has("b", "backup", "S", "suffix"):
        effect.unknown = KEPT
    sources = found.operands if found.value("t", "target-directory") else found.operands[:-1]
    effect.writes = [*sources, *effect.writes]
    return effect


def _copies(words: Sequence[Word]) -> Effect:
    found = parse(words, "tS", ("target-directory", "suffix"))
    effect = _copied(found)
    if found.has("l", "s", "link", "symbolic-link"):
        effect.writes = [*found.operands, *effect.writes]
        effect.unknown = _LINKED
    elif found.has("b", "backup", "S", "suffix"):
        effect.unknown = KEPT
    elif found.has("parents"):
        folder = found.value("t", "target-directory")
        effect.writes = [folder] if folder else found.operands[-1:]
    return effect


def _installs(words: Sequence[Word]) -> Effect:
    found = parse(words, "tSgmo", ("target-directory", "suffix", "mode", "owner", "group"))
    if found.has("d", "directory"):
        return Effect(writes=found.operands)
    effect = _copied(found)
    if found.has("strip-program", "b", "backup"):
        effect.unknown = "an option of it writes more files"
    return effect


def _links(words: Sequence[Word]) -> Effect:
    found = parse(words, "tS", ("target-directory", "suffix"))
    if len(found.operands) == 1 and not found.value("t", "target-directory"):
        effect = Effect(writes=[inside(Word(text="."), found.operands[0])])
    else:
        effect = _copied(found)
    if not found.has("s", "symbolic"):  # by a second name the same file is written
        effect.writes = [*found.operands, *effect.writes]
    effect.unknown = _LINKED
    return effect


def _copied(found: Arguments) -> Effect:
    """The files that are written to the last operand, or into the folder of `-t`."""
    folder = found.value("t", "target-directory")
    if folder is not None:
        return Effect(writes=[inside(folder, source) for source in found.operands])
    if len(found.operands) < 2:
        return Effect(writes=found.patterns)
    *sources, target = found.operands
    is_folder = target.text.endswith(("/", "/.", "/..")) or target.text in (".", "..")
    is_folder = is_folder or (target.text == "~" and target.has_tilde)
    if found.has("T", "no-target-directory"):
        return Effect(writes=[target])
    if not is_folder and len(sources) == 1:
        return Effect(writes=[target])
    if any(source.text.rstrip("/").endswith((".", "..")) for source in sources):
        return Effect(writes=[target])
    return Effect(writes=[inside(target, source) for source in sources])


def _find(words: Sequence[Word]) -> Effect:
    effect = Effect()
    starts: list[Word] = []
    texts = [word.text for word in words]
    for word in words:
        if word.text.startswith(("-", "(", "!")) and word.text not in ("-H", "-L", "-P"):
            break
        if not word.text.startswith("-"):
            starts.append(word)
    for index, text in enumerate(texts[:-1]):
        if text in _FIND_OUTPUTS:
            effect.writes.append(words[index + 1])
    if any(text in ("-exec", "-execdir", "-ok", "-okdir") for text in texts):
        effect.unknown = "find runs a command"
    if "-delete" in texts or _runs_remover(texts):
        if _FIND_TESTS.isdisjoint(texts):
            effect.writes += starts or [Word(text=".")]
        else:
            # What a test selects below the current folder may all lie in the lane.
            effect.writes += [start for start in starts if start.text.rstrip("/") not in (".", "")]
            effect.unknown = effect.unknown or "find removes what it finds"
    return effect


def _runs_remover(texts: Sequence[str]) -> bool:
    """Whether `find` hands each file that it finds to a program that writes its operands."""
    for index, text in enumerate(texts[:-1]):
        if text in ("-exec", "-execdir", "-ok", "-okdir"):
            return texts[index + 1].rpartition("/")[2] in (
                "rm",
                "rmdir",
                "unlink",
                "shred",
                "chmod",
            )
    return False


def _dd(words: Sequence[Word]) -> Effect:
    writes = []
    for word in words:
        if word.text.startswith("of="):
            writes.append(structs.replace(word, text=word.text[3:]))
    return Effect(writes=writes)


def _sorts(words: Sequence[Word]) -> Effect:
    names = ("output", "key", "buffer-size", "field-separator", "temporary-directory", "parallel")
    found = parse(words, "okStT", names)
    effect = Effect(writes=without_streams(found.all_values("o", "output")))
    if found.has("compress-program"):
        effect.unknown = "sort runs a program"
    return effect


def _drops_repeats(words: Sequence[Word]) -> Effect:
    """`uniq` writes to its second operand."""
    found = parse(words, "fsw", ("skip-fields", "skip-chars", "check-chars"))
    if any(word.text.startswith("+") for word in found.operands):
        return unknown("an option of old can be an operand")
    return Effect(writes=without_streams(found.operands[1:2]))


def _dumps(words: Sequence[Word]) -> Effect:
    """`xxd` writes to its second operand. Also its long options begin with one dash."""
    operands: list[Word] = []
    is_value = False
    for word in words:
        text = word.text
        if is_value:
            is_value = False
        elif text.startswith("-") and text != "-":
            is_value = bool(_DUMP_VALUE.fullmatch(text))
        else:
            operands.append(word)
    return Effect(writes=without_streams(operands[1:2]))


def _patch(words: Sequence[Word]) -> Effect:
    """`patch` writes its operand, or what the patch names, and files beside them."""
    found = parse(words, "dioprBDFVYz", ("directory", "input", "output", "reject-file", "strip"))
    if found.has("dry-run") and found.has_only("pRNEflstubdiv0123456789", _PATCH_NAMES):
        return Effect()
    effect = unknown("what a patch changes is not in the command")
    if not found.operands and not found.has("i", "input", "o", "output", "r", "e", "ed"):
        effect.unknown = UNREAD_PATCH
    effect.writes = found.operands[:1] + found.all_values("o", "output", "r", "reject-file")
    return effect


PROGRAMS: dict[str, Program] = {
    "rm": _all_operands(),
    "rmdir": _all_operands(),
    "unlink": _all_operands(),
    "shred": _all_operands("ns", "iterations", "size", "random-source"),
    "mkdir": _all_operands("m", "mode"),
    "mkfifo": _all_operands("m", "mode"),
    "touch": _all_operands("drt", "date", "reference", "time"),
    "truncate": _all_operands("sr", "size", "reference"),
    "fallocate": _all_operands("lo", "length", "offset"),
    "tee": _all_operands(),
    "sponge": _all_operands(),
    "dos2unix": _all_operands(),
    "unix2dos": _all_operands(),
    "chmod": _all_but_first("", "reference"),
    "chown": _all_but_first("", "reference", "from"),
    "chgrp": _all_but_first("", "reference"),
    "mv": _moves,
    "cp": _copies,
    "ditto": _copies,
    "install": _installs,
    "ln": _links,
    "link": _links,
    "find": _find,
    "dd": _dd,
    "sort": _sorts,
    "uniq": _drops_repeats,
    "xxd": _dumps,
    **EDITORS,
    **TRANSFERS,
    **ARCHIVERS,
    **UNLESS,
    "patch": _patch,
}
