"""What the programs of a shell write, by their options and operands."""

import re
from collections.abc import Callable, Sequence

from msgspec import structs

from dos.permission.shell.effect import NOTHING, Effect, inside, unknown
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import Arguments, parse
from dos.permission.shell.words import Word

# They write nothing, except where they are sent.
READERS = name_table("""
    : [ [[ alias base32 base64 basename bat break cat cd cksum clear cmp column comm complete
    continue cut date declare df diff dir dirname dos du echo egrep eza exa export expand expr false
    fgrep file fmt fold free getconf getent getopt getopts grep groups hash head help hexdump
    history hostname id ioctl jobs jq kill last less let lines local locale ls lsblk lscpu lsof man
    md5sum mdfind more nl nm nproc numfmt objdump od paste pgrep ping popd printenv printf ps
    pushd pwd read readarray mapfile readelf readlink readonly realpath return rev rg set seq
    sha1sum sha224sum sha256sum sha384sum sha512sum shift shopt shuf size sleep stat strings stty
    sum tac tail test times tokei top tput tr tree true tsort tty type typeset ulimit umask
    unalias uname unexpand unset uptime users vmstat w wait wc whatis whereis which who whoami
    xmllint yes zcat zgrep zless
    """)
_SED_WRITES = re.compile(r"(?:^|[;{}\s/|#,!\dp])[wW]\s+\S|[/|#,]\w*e\b|(?:^|[;{}])\s*\d*e\b")
_AWK_WRITES = re.compile(r">|\||system\s*\(|close\s*\(|@load|inplace")
_REMOTE = re.compile(r"^[^/]*:")
_FIND_TESTS = name_table(
    "-name -iname -path -ipath -wholename -regex -iregex -newer -mtime -mmin -size -perm"
)
_FIND_OUTPUTS = ("-fprint", "-fprint0", "-fls", "-fprintf")

Program = Callable[[Sequence[Word]], Effect]


def _all_operands(letters: str = "", *names: str) -> Program:
    """A program that writes each of its operands."""

    def read(words: Sequence[Word]) -> Effect:
        return Effect(writes=parse(words, letters, names).operands)

    return read


def _all_but_first(letters: str, *names: str) -> Program:
    """A program whose first operand is a mode or an owner, unless a file gives it."""

    def read(words: Sequence[Word]) -> Effect:
        found = parse(words, letters, names)
        first = 0 if found.has("reference") else 1
        return Effect(writes=found.operands[first:])

    return read


def _moves(words: Sequence[Word]) -> Effect:
    found = parse(words, "tS", ("target-directory", "suffix"))
    effect = _copied(found)
    sources = found.operands if found.value("t", "target-directory") else found.operands[:-1]
    effect.writes = [*sources, *effect.writes]
    return effect


def _copies(words: Sequence[Word]) -> Effect:
    return _copied(parse(words, "tSgmo", ("target-directory", "suffix")))


def _installs(words: Sequence[Word]) -> Effect:
    found = parse(words, "tSgmo", ("target-directory", "suffix", "mode", "owner", "group"))
    if found.has("d", "directory"):
        return Effect(writes=found.operands)
    return _copied(found)


def _links(words: Sequence[Word]) -> Effect:
    found = parse(words, "tS", ("target-directory", "suffix"))
    if len(found.operands) == 1 and not found.value("t", "target-directory"):
        return Effect(writes=[inside(Word(text="."), found.operands[0])])
    return _copied(found)


def _copied(found: Arguments) -> Effect:
    """The files that are written to the last operand, or into the folder of `-t`."""
    folder = found.value("t", "target-directory")
    if folder is not None:
        return Effect(writes=[inside(folder, source) for source in found.operands])
    if len(found.operands) < 2:
        return NOTHING
    *sources, target = found.operands
    is_folder = target.text.endswith(("/", "/.", "/..")) or target.text in (".", "..", "~")
    if not is_folder and len(sources) == 1:
        return Effect(writes=[target])
    if any(source.text.rstrip("/").endswith((".", "..")) for source in sources):
        return Effect(writes=[target])
    return Effect(writes=[inside(target, source) for source in sources])


def _syncs(words: Sequence[Word]) -> Effect:
    """`rsync` and `scp` write to their last operand, unless it is on another machine."""
    found = parse(words, "efoTP", ("rsh", "exclude", "include", "filter", "files-from", "log-file"))
    if len(found.operands) < 2:
        return NOTHING
    target = found.operands[-1]
    effect = Effect(writes=[] if _REMOTE.match(target.text) else [target])
    if found.has("remove-source-files"):
        effect.writes += found.operands[:-1]
    effect.writes += found.values.get("log-file", [])
    return effect


def _sed(words: Sequence[Word]) -> Effect:
    found = parse(_without_suffix(words), "efl", ("expression", "file", "line-length"))
    scripts = found.values.get("e", []) + found.values.get("expression", [])
    files = found.operands
    if not scripts and not found.has("f", "file"):
        scripts, files = files[:1], files[1:]
    effect = Effect(writes=files if found.has("i", "in-place") else [])
    if found.has("f", "file") or any(_SED_WRITES.search(script.text) for script in scripts):
        effect.unknown = "a sed script can write files"
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
    found = parse(words, "FvfiEel", ("assign", "field-separator", "file", "include", "source"))
    if found.has("i", "f", "E", "file", "include", "load", "l"):
        return unknown("an awk program can write files")
    scripts = found.operands[:1] + found.values.get("source", []) + found.values.get("e", [])
    if any(_AWK_WRITES.search(script.text) for script in scripts):
        return unknown("an awk program can write files")
    return NOTHING


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


def _option_names_output(letters: str, output: tuple[str, ...], *names: str) -> Program:
    """A program that only reads, unless an option names a file to write."""

    def read(words: Sequence[Word]) -> Effect:
        found = parse(words, letters, names)
        writes = []
        for name in output:
            writes += found.values.get(name, [])
        return Effect(writes=writes)

    return read


def _second_operand(words: Sequence[Word]) -> Effect:
    """`uniq` and `xxd` write to their second operand."""
    found = parse(words, "fswcglos")
    return Effect(writes=found.operands[1:2])


def _curl(words: Sequence[Word]) -> Effect:
    letters = "AbcCdDeEFHKmoPQrtTuUwxXyYz"
    names = ("output", "output-dir", "header", "data", "request", "cookie-jar", "dump-header")
    found = parse(words, letters, names)
    effect = Effect()
    for name in ("o", "output", "c", "cookie-jar", "D", "dump-header"):
        effect.writes += [word for word in found.values.get(name, []) if word.text != "-"]
    if found.has("O", "remote-name", "remote-name-all", "K", "config", "output-dir"):
        effect.unknown = "the name of the downloaded file is not known"
    return effect


def _wget(words: Sequence[Word]) -> Effect:
    found = parse(words, "OoPaieUt", ("output-document", "directory-prefix", "output-file"))
    effect = unknown("the name of the downloaded file is not known")
    target = found.value("O", "output-document")
    if target is not None:
        effect = Effect(writes=[] if target.text == "-" else [target])
    elif folder := found.value("P", "directory-prefix"):
        effect = Effect(writes=[folder])
    effect.writes += found.values.get("o", []) + found.values.get("output-file", [])
    return effect


def _tar(words: Sequence[Word]) -> Effect:
    if words and re.fullmatch(r"[a-zA-Z]+", words[0].text):  # `tar xf FILE`, without a dash
        words = [structs.replace(words[0], text="-" + words[0].text), *words[1:]]
    found = parse(words, "fCTXIbHg", ("file", "directory", "files-from", "exclude"))
    if found.has("x", "extract", "get"):
        folder = found.value("C", "directory")
        if found.has("O", "to-stdout"):
            return NOTHING
        return Effect(writes=[folder] if folder else [], unknown="what an archive holds is unknown")
    archive = found.value("f", "file")
    if archive is not None and found.has("c", "r", "u", "A", "create", "append", "update"):
        return Effect(writes=[] if archive.text == "-" else [archive])
    if found.has("t", "list", "d", "diff"):
        return NOTHING
    return unknown("what an archive holds is unknown")


def _unzip(words: Sequence[Word]) -> Effect:
    found = parse(words, "dPx")
    if found.has("l", "p", "t", "v", "z", "Z"):
        return NOTHING
    folder = found.value("d")
    return Effect(writes=[folder] if folder else [], unknown="what an archive holds is unknown")


def _compresses(words: Sequence[Word]) -> Effect:
    found = parse(words, "Sbo", ("suffix",))
    if found.has("c", "stdout", "l", "list", "t", "test"):
        return NOTHING
    return Effect(writes=found.operands + found.values.get("o", []))


def _patch(words: Sequence[Word]) -> Effect:
    found = parse(words, "dioprBDFVYz", ("directory", "input", "output", "reject-file", "strip"))
    if found.has("dry-run"):
        return NOTHING
    effect = unknown("what a patch changes is not in the command")
    effect.writes = found.operands[:1] + found.values.get("o", []) + found.values.get("output", [])
    return effect


def _ends_with_output(words: Sequence[Word]) -> Effect:
    """`zip ARCHIVE …` and the like write their first operand."""
    return Effect(writes=parse(words, "xitTnb").operands[:1])


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
    "ex": _all_operands("cS"),
    "ed": _all_operands("p"),
    "vi": _all_operands("cS"),
    "vim": _all_operands("cS"),
    "nano": _all_operands(),
    "dos2unix": _all_operands(),
    "unix2dos": _all_operands(),
    "chmod": _all_but_first("", "reference"),
    "chown": _all_but_first("", "reference", "from"),
    "chgrp": _all_but_first("", "reference"),
    "mv": _moves,
    "rename": _all_but_first(""),
    "cp": _copies,
    "ditto": _copies,
    "install": _installs,
    "ln": _links,
    "link": _links,
    "rsync": _syncs,
    "scp": _syncs,
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "perl": _edits_in_place,
    "ruby": _edits_in_place,
    "find": _find,
    "dd": _dd,
    "sort": _option_names_output("okStT", ("o", "output"), "output", "key", "buffer-size"),
    "yq": _option_names_output("", ()),
    "fd": _option_names_output("", ()),
    "uniq": _second_operand,
    "xxd": _second_operand,
    "curl": _curl,
    "wget": _wget,
    "tar": _tar,
    "bsdtar": _tar,
    "unzip": _unzip,
    "zip": _ends_with_output,
    "gzip": _compresses,
    "gunzip": _compresses,
    "bzip2": _compresses,
    "bunzip2": _compresses,
    "xz": _compresses,
    "unxz": _compresses,
    "zstd": _compresses,
    "patch": _patch,
}
