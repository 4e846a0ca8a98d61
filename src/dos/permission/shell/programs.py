"""What the programs of a shell write, by their options and operands."""

import re
from collections.abc import Sequence

from msgspec import structs

from dos.permission.shell.archives import ARCHIVERS
from dos.permission.shell.effect import Effect, inside, unknown
from dos.permission.shell.git_commands import UNREAD_PATCH
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import Arguments, parse
from dos.permission.shell.readers import UNLESS, Program
from dos.permission.shell.sed_script import only_prints
from dos.permission.shell.syntax.tokens import Word

_AWK_WRITES = re.compile(r">|\||system\s*\(|close\s*\(|@|inplace")
_MODE = re.compile(r"[-+=][rwxXstugo,+=-]*")
_KEEPS_COPY = re.compile(r"-[a-zA-Z]*i.|--in-place=.")
_KEPT = "the name of a copy is not known"
_LINKED = "what is written through a link lies elsewhere"
_REMOTE = re.compile(r"^[^/]*:")
_FIND_TESTS = name_table(
    "-name -iname -path -ipath -wholename -regex -iregex -newer -mtime -mmin -size -perm"
)
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
        effect.unknown = _KEPT
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
        effect.unknown = _KEPT
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
        return Effect(writes=_several(found.operands))
    *sources, target = found.operands
    is_folder = target.text.endswith(("/", "/.", "/..")) or target.text in (".", "..")
    is_folder = is_folder or (target.text == "~" and target.has_tilde)
    if not is_folder and len(sources) == 1:
        return Effect(writes=[target])
    if any(source.text.rstrip("/").endswith((".", "..")) for source in sources):
        return Effect(writes=[target])
    return Effect(writes=[inside(target, source) for source in sources])


def _several(words: Sequence[Word]) -> list[Word]:
    """Those of the words that can stand for a file and its target."""
    return [word for word in words if word.has_glob or word.is_split]


def _syncs(words: Sequence[Word]) -> Effect:
    """`rsync` writes to its last operand, unless it is on another machine."""
    places = ("log-file", "backup-dir", "partial-dir", "temp-dir", "write-batch")
    names = ("rsh", "exclude", "include", "filter", "files-from", "chmod", "out-format", "suffix")
    found = parse(words, "efTBM", (*places, *names, "exclude-from", "rsync-path", "link-dest"))
    effect = Effect(writes=found.all_values("T", *places))
    if found.has("e", "rsh", "rsync-path", "read-batch", "daemon"):
        effect.unknown = "rsync runs a program"
    target = found.operands[-1:] if len(found.operands) > 1 else _several(found.operands)
    effect.writes += [word for word in target if not _REMOTE.match(word.text)]
    if found.has("remove-source-files"):
        effect.writes += found.operands[:-1]
    return effect


def _copies_remotely(words: Sequence[Word]) -> Effect:
    """`scp` writes to its last operand, unless it is on another machine."""
    found = parse(words, "cDFiJloPSX")
    effect = unknown("scp runs a program")
    effect.writes = [word for word in found.operands[-1:] if not _REMOTE.match(word.text)]
    return effect


def _sed(words: Sequence[Word]) -> Effect:
    found = parse(_without_suffix(words), "efl", ("expression", "file", "line-length"))
    is_in_place = found.has("i", "in-place")
    scripts = found.all_values("e", "expression")
    files = found.operands
    if is_in_place and files and not files[0].text:  # the empty suffix of another sed
        files = files[1:]
    if not scripts and not found.has("f", "file"):
        scripts = files[:1]
        files = files[1:]
    effect = Effect(writes=files if is_in_place else [])
    script = "\n".join(each.text for each in scripts)
    if found.has("f", "file") or not only_prints(script):
        effect.unknown = "a sed script can write files"
    elif is_in_place and any(_KEEPS_COPY.match(word.text) for word in words):
        effect.unknown = _KEPT
    return effect


def _without_suffix(words: Sequence[Word]) -> list[Word]:
    """The words with `-i.bak` as `-i`: the suffix is no option."""
    kept: list[Word] = []
    for word in words:
        position = word.text.find("i", 1)
        if word.text.startswith("-") and not word.text.startswith("--") and position > 0:
            before = word.text[:position]
            if not set(before[1:]) & set("efl"):
                word = structs.replace(word, text=before + "i")
        kept.append(word)
    return kept


def _awk(words: Sequence[Word]) -> Effect:
    found = parse(words, "Fv", ("assign", "field-separator"))
    given = found.letters | found.names | found.valued.keys()
    has_others = not given <= {"F", "v", "assign", "field-separator", "posix", "csv"}
    if has_others or any(_AWK_WRITES.search(script.text) for script in found.operands[:1]):
        return unknown("an awk program can write files")
    return Effect()


def _edits_in_place(words: Sequence[Word]) -> Effect:
    """`perl` and `ruby` run a program; with `-i` they also rewrite their operands."""
    found = parse(words, "eEIMmF0")
    effect = unknown("a program can write anything")
    if found.has("i"):
        has_script = found.has("e", "E")
        effect.writes = found.operands if has_script else found.operands[1:]
    return effect


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
    effect = Effect(writes=found.all_values("o", "output"))
    if found.has("compress-program"):
        effect.unknown = "sort runs a program"
    return effect


def _edits_yaml(words: Sequence[Word]) -> Effect:
    """`yq` prints, unless it edits in place; with `-s` it splits what it reads into files."""
    found = parse(words, "opI", ("output-format", "input-format", "indent"))
    effect = Effect()
    if found.has("i", "inplace", "in-place"):
        effect.writes = found.operands[1:] or found.operands
    if found.has("s", "split-exp", "i", "inplace", "in-place"):
        effect.unknown = "yq chooses the files"
    return effect


def _renames(words: Sequence[Word]) -> Effect:
    """`rename` has two forms: an expression, or what is replaced by what."""
    effect = unknown("the new names are not known")
    effect.writes = parse(words).operands[1:]
    return effect


def _edits(words: Sequence[Word]) -> Effect:
    """An editor writes its operands, and what its commands name."""
    effect = unknown("the commands of an editor can write files")
    effect.writes = parse(words, "cSp").operands
    return effect


def _second_operand(words: Sequence[Word]) -> Effect:
    """`uniq` writes to its second operand."""
    return Effect(writes=parse(words, "fswglo").operands[1:2])


def _dumps(words: Sequence[Word]) -> Effect:
    return Effect(writes=parse(words, "cglosn").operands[1:2])


def _curl(words: Sequence[Word]) -> Effect:
    letters = "AbcCdDeEFHKmoPQrtTuUwxXyYz"
    writes = (
        *("output", "cookie-jar", "dump-header", "trace", "trace-ascii", "stderr"),
        *("etag-save", "libcurl", "hsts", "alt-svc"),
    )
    names = ("output-dir", "header", "data", "request", "user", "url", "max-time", "retry")
    found = parse(words, letters, (*writes, *names))
    effect = Effect()
    for word in found.all_values("o", "c", "D", *writes):
        if word.text != "-":
            effect.writes.append(word)
    unnamed = ("O", "remote-name", "remote-name-all", "output-dir", "J", "remote-header-name")
    if found.has(*unnamed, "K", "config", "T", "upload-file"):
        effect.unknown = "the name of the written file is not known"
    return effect


def _wget(words: Sequence[Word]) -> Effect:
    found = parse(words, "OoPaieUt", ("output-document", "directory-prefix", "output-file"))
    effect = unknown("the name of the downloaded file is not known")
    target = found.value("O", "output-document")
    if target is not None:
        effect = Effect(writes=[] if target.text == "-" else [target])
    elif folder := found.value("P", "directory-prefix"):
        effect = Effect(writes=[folder])
    effect.writes += found.all_values("o", "output-file")
    if found.has("use-askpass", "save-cookies", "warc-file", "e", "execute", "a"):
        effect.unknown = "an option of it writes more files"
    return effect


def _patch(words: Sequence[Word]) -> Effect:
    """`patch` writes its operand, or what the patch names, and files beside them."""
    found = parse(words, "dioprBDFVYz", ("directory", "input", "output", "reject-file", "strip"))
    if found.has("dry-run"):
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
    "mkdir": _all_operands("mZ", "mode", "context"),
    "mkfifo": _all_operands("mZ", "mode", "context"),
    "touch": _all_operands("drt", "date", "reference", "time"),
    "truncate": _all_operands("sr", "size", "reference"),
    "fallocate": _all_operands("lo", "length", "offset"),
    "tee": _all_operands(),
    "sponge": _all_operands(),
    "ex": _edits,
    "ed": _edits,
    "vi": _edits,
    "vim": _edits,
    "nvim": _edits,
    "nano": _edits,
    "emacs": _edits,
    "dos2unix": _all_operands(),
    "unix2dos": _all_operands(),
    "chmod": _all_but_first("", "reference"),
    "chown": _all_but_first("", "reference", "from"),
    "chgrp": _all_but_first("", "reference"),
    "mv": _moves,
    "rename": _renames,
    "cp": _copies,
    "ditto": _copies,
    "install": _installs,
    "ln": _links,
    "link": _links,
    "rsync": _syncs,
    "scp": _copies_remotely,
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "perl": _edits_in_place,
    "ruby": _edits_in_place,
    "find": _find,
    "dd": _dd,
    "sort": _sorts,
    "yq": _edits_yaml,
    "uniq": _second_operand,
    "xxd": _dumps,
    "curl": _curl,
    "wget": _wget,
    **ARCHIVERS,
    **UNLESS,
    "patch": _patch,
}
