"""One glob: the literal folder above everything that it can match, and whether a path matches it.

In doubt the folder gets wider or the glob is rejected, because two workers may write at the same
time where their folders differ. Names are compared without case and in one Unicode form, because
some file systems take two such spellings for one folder.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from unicodedata import normalize

from msgspec import Struct

from dos.errors import RegionInvalid

MAX_GLOB_CHARACTERS = 1_000
MAX_ALTERNATIVES = 100
MAX_RANGE_CHARACTERS = 70_000

# A `]` that comes first is a member, and `/` never is. Possessive, so that `[]` and `[!]` stay
# open.
_CLASS = r"\[[!^]?+\]?+[^]/]*+\]"
_CLASSES = re.compile(_CLASS)
_TOKENS = re.compile(rf"{_CLASS}|\*+|\?|[^*?[]+")
_BRACES = re.compile(rf"{_CLASS}|[{{}},]")
_SPECIAL = re.compile(r"[*?[{]")
_WILD = re.compile(r"[*?[]")
_FOREIGN = re.compile(r"[@+!*?]\(|\|")
_SPECIAL_OR_FOREIGN = re.compile(r"[*?[{|(]")
_ESCAPE = re.compile(r"\\[][{}?!]")
_DRIVE = re.compile(r"[A-Za-z]:")
# Rarely needed, so not compiled on import: control characters, line separators and lone surrogates,
# which no store can hold; and the default-ignorable characters, which HFS+ and case-folding ext4
# ignore.
_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKED_I = "i[\u0300-\u036f]+"

_FROM_THE_TOP = "Write it from the top of the repository, as `src/**`."


def prefix(glob: str) -> str:
    """Return the folder above every match, for comparison, with `/` last; "" is the whole
    repository.

    Raises RegionInvalid for a glob that cannot be read.
    """
    return _read(glob).prefix


def literal_folder(glob: str) -> str:
    """Return the folder before the first wildcard, as written; "" is the whole repository."""
    special = _SPECIAL.search(glob)
    if special:
        glob = glob[: special.start()]
    return glob.rpartition("/")[0].strip("/")


def escape_folder(folder: str) -> str:
    """Return the start of a glob that means exactly this folder, whatever its name contains."""
    return _SPECIAL_OR_FOREIGN.sub(r"[\g<0>]", folder)


def path_key(path: str) -> str | None:
    """Return a path in the form that `matches` compares: every name is followed by `/`.

    None: the path leads out of the repository.
    """
    slashed = path.replace("\\", "/")
    if not slashed.strip() or "\0" in slashed or slashed.startswith("/") or _DRIVE.match(slashed):
        return None
    names = _resolved(slashed.split("/"))
    if names is None:
        return None
    return "".join(_folded(name) + "/" for name in names)


def can_match(path: str) -> bool:
    """Whether a glob can mean this file, by the name that git gives it.

    To git a backslash is part of a name; in a glob it separates folders.
    """
    return "\\" not in path


def matches(glob: str, path: str) -> bool:
    """Whether the glob matches a path that `path_key` returned."""
    return any(pattern.fullmatch(path) for pattern in _patterns(glob))


def ways(glob: str) -> tuple[tuple[str, ...], ...]:
    """Return, for each choice of its alternatives, the names of the glob from the top.

    `**` stands for any names or none. Raises RegionInvalid for a glob that cannot be read.
    """
    return _read(glob).ways


def name_matches(pattern: str, name: str) -> bool:
    """Whether one name of a glob matches a name without wildcards; False for one with any."""
    if _WILD.search(name):
        return False
    return re.fullmatch(_name_expression(pattern), _folded(name) + "/") is not None


class _ParsedGlob(Struct, frozen=True, kw_only=True):
    """A glob that was read: its literal folder, and its alternatives without braces."""

    prefix: str
    ways: tuple[tuple[str, ...], ...]  # for each choice of alternatives, the names from the top


@lru_cache(maxsize=4096)
def _read(glob: str) -> _ParsedGlob:
    """Parse a glob. Raises RegionInvalid when it cannot be read in exactly one way."""
    text = _clean(glob)
    special = _SPECIAL.search(text)
    literal = text if special is None else text[: text.rfind("/", 0, special.start()) + 1]
    head = _resolved(literal.split("/"))
    if head is None:
        raise invalid_glob(glob, "leads out of the repository", _FROM_THE_TOP)
    ways = tuple(_way(glob, alternative) for alternative in _alternatives(glob, text))
    if any(list(way[: len(head)]) != head for way in ways):
        raise invalid_glob(
            glob,
            "leaves the folder that it starts in with `..`",
            "Write each folder as its own entry.",
        )
    keys = [_key(name) for name in head]
    if not {"", ".", ".."}.isdisjoint(keys):
        raise invalid_glob(
            glob,
            "has a name that a file system may read as `.`, `..` or nothing",
            "Use plain characters in that name.",
        )
    return _ParsedGlob(prefix="".join(key + "/" for key in keys), ways=ways)


def _clean(glob: str) -> str:
    """The glob with `/` between folders. Raises RegionInvalid for what is not plain glob syntax."""
    if len(glob) > MAX_GLOB_CHARACTERS:
        raise invalid_glob(
            glob, f"is longer than {MAX_GLOB_CHARACTERS} characters", "Name a folder above it."
        )
    text = normalize("NFC", glob.strip())
    if not text.isprintable() and re.search(_CONTROL, text):
        raise invalid_glob(glob, "contains a control character", "Match that character with `?`.")
    if _ESCAPE.search(text):
        # Here `\` separates folders, elsewhere it escapes; the two readings name different files.
        raise invalid_glob(
            glob,
            "can be read as an escape",
            "Write `/` between folders and `[[]` for a literal `[`.",
        )
    text = text.replace("\\", "/")
    bare = _CLASSES.sub("\0", text)
    if "[" in bare:
        raise invalid_glob(glob, "has a `[` that is never closed", "Write `[[]` for a literal `[`.")
    _check_classes(glob, _CLASSES.findall(text))
    if _FOREIGN.search(bare):
        raise invalid_glob(
            glob,
            "uses the alternatives of another dialect",
            "Write `{a,b}`, or `[|]` for a literal `|`.",
        )
    return text


def _check_classes(glob: str, classes: Iterable[str]) -> None:
    """Raise RegionInvalid for a character class that cannot be compiled as it is meant."""
    width = 0
    for members in classes:
        if re.search(r"\[[:.=]", members[1:]):
            raise invalid_glob(
                glob, f"uses a named class in {members}", "Write a range, as `[a-z]`."
            )
        for low, high in _ranges_and_singles(members)[0]:
            width += ord(high) - ord(low)
            if low > high:
                raise invalid_glob(
                    glob, f"has a backward range in {members}", "Write the smaller character first."
                )
    if width > MAX_RANGE_CHARACTERS:  # compiling one takes time for every character
        raise invalid_glob(glob, "has ranges too wide to compile", "Write `?` for any character.")


def _alternatives(glob: str, text: str) -> list[str]:
    """The text for every choice in its braces, innermost braces first."""
    done: list[str] = []
    waiting = [text]
    while waiting:
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise invalid_glob(
                glob,
                f"has more than {MAX_ALTERNATIVES} alternatives",
                "Name the folder above them.",
            )
        current = waiting.pop()
        cuts = _innermost(glob, current)
        if cuts is None:
            done.append(current)
            continue
        before = current[: cuts[0]]
        after = current[cuts[-1] + 1 :]
        for start, end in pairwise(cuts):
            waiting.append(before + current[start + 1 : end] + after)
    return list(dict.fromkeys(done))


def _innermost(glob: str, text: str) -> list[int] | None:
    """The positions of the first innermost pair of braces, with those of its commas.

    None: no braces.
    """
    cuts: list[int] = []
    for mark in _BRACES.finditer(text):
        if mark[0] == "{":
            cuts = [mark.start()]
        elif cuts and mark[0] == ",":
            cuts.append(mark.start())
        elif cuts and mark[0] == "}":
            if len(cuts) == 1:
                raise invalid_glob(
                    glob, "has braces without a comma", "Write `{a,b}`, or `[{]` for a literal `{`."
                )
            return [*cuts, mark.start()]
    if cuts:
        raise invalid_glob(glob, "has a `{` that is never closed", "Write `[{]` for a literal `{`.")
    return None


def _way(glob: str, text: str) -> tuple[str, ...]:
    """The names of one alternative from the top.

    Raises RegionInvalid for a path that is not one.
    """
    if not text:
        raise invalid_glob(glob, "is blank", "Write `**` for the whole repository.")
    if text.startswith("/") or _DRIVE.match(text):
        raise invalid_glob(glob, "is an absolute path", _FROM_THE_TOP)
    if text[0] in "!:" or text == "~" or text.startswith("~/"):
        raise invalid_glob(
            glob,
            f"starts with `{text[0]}`, which has another meaning elsewhere",
            f"Write `./{text}`.",
        )
    parts = text.split("/")
    literal_parts = list(takewhile(lambda part: not _WILD.search(part), parts))
    if ".." in parts[len(literal_parts) :]:
        raise invalid_glob(glob, "has `..` after a wildcard", "Write the folder itself.")
    names = _resolved(parts)
    if names is None:
        raise invalid_glob(glob, "leads out of the repository", _FROM_THE_TOP)
    if not names or parts[-1] in ("", ".") or not _WILD.search(names[-1]):
        names.append("**")  # a folder, or what may be one, covers everything below
    return tuple(names)


def _resolved(parts: Iterable[str]) -> list[str] | None:
    """The names without `.` and `..`. None: they lead out of the repository."""
    names: list[str] = []
    for part in parts:
        if part == "..":
            if not names:
                return None
            names.pop()
        elif part not in ("", "."):
            names.append(part)
    return names


def _folded(name: str) -> str:
    """The name for matching: equal for two spellings that differ in case or canonical form."""
    if name.isascii():
        return name.lower()
    return normalize("NFC", normalize("NFD", name).casefold())


def _key(name: str) -> str:
    """The name for comparing folders: equal for two names that any file system may take for one.

    It is coarser than `_folded`, and depends on that alone.
    """
    key = _folded(name)
    if not key.isascii():
        # ZFS can compare compatibility forms, and simple case tables take dotless and dotted i for
        # i.
        wide = normalize("NFKD", normalize("NFKD", key).casefold()).replace("ı", "i")
        visible = re.sub(_INVISIBLE, "", wide)
        undotted = re.sub(_MARKED_I, lambda found: found[0].replace("\u0307", ""), visible)
        key = normalize("NFC", undotted).replace("/", "⁄")
    return key.rstrip(". ") or key  # FAT drops them


@lru_cache(maxsize=4096)
def _patterns(glob: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_way_expression(way), re.DOTALL) for way in _read(glob).ways)


def _way_expression(way: Sequence[str]) -> str:
    """A regular expression for one alternative, over paths whose names end in `/`.

    What follows a `*` or a `**` is taken at its first match and never tried again, so that the time
    stays bounded. That loses nothing: a later match leaves no more to the rest than the first one.
    """
    runs: list[str] = [""]
    for name in way:
        if name == "**":
            runs.append("")
        else:
            runs[-1] += _name_expression(name)
    if len(runs) == 1:
        return runs[0]
    first, *middle, last = runs
    for number, run in enumerate(middle):
        if run:  # a lookahead is never re-entered
            first += rf"(?=(?P<run{number}>(?:[^/]+/)*?{run}))(?P=run{number})"
    if not last:
        return first + ".*"
    return first + rf"(?:[^/]+/)*?{last}"


def _name_expression(name: str) -> str:
    """A regular expression for one name of a path, with its wildcards."""
    chunks = [""]
    for token in _TOKENS.findall(name):
        if token[0] == "*":
            chunks.append("")
        elif token == "?":
            chunks[-1] += "[^/]"
        elif token[0] == "[":
            chunks[-1] += _class_expression(token)
        else:
            chunks[-1] += re.escape(_folded(token))
    if len(chunks) == 1:
        return chunks[0] + "/"
    first, *middle, last = chunks
    expression = first
    for chunk in middle:
        if chunk:
            expression += f"(?>[^/]*?{chunk})"
    return expression + f"(?>[^/]*?{last}/)"


def _class_expression(members: str) -> str:
    """A regular expression for a character class such as `[a-z]`."""
    ranges, singles = _ranges_and_singles(members)
    choice = ""
    for letter in map(_folded, singles):
        if len(letter) == 1:
            choice += re.escape(letter)
    for low, high in ranges:
        # Paths have small letters only, so a range with capitals needs their small letters too.
        spans = {(low, high), (_folded(low), _folded(high))}
        if low <= "Z" and high >= "A":
            spans.add((max(low, "A").lower(), min(high, "Z").lower()))
        for first, last in spans:
            if len(first) == len(last) == 1 and first <= last:
                choice += f"{re.escape(first)}-{re.escape(last)}"
    within = f"[{choice}]" if choice else "(?!)"
    if members[1] in "!^":
        return f"(?!{within})[^/]"
    return f"(?!/){within}"


def _ranges_and_singles(members: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The ranges of a character class, and its single characters."""
    body = members[1:-1]
    if body[0] in "!^":
        body = body[1:]
    ranges: list[tuple[str, str]] = []
    singles: list[str] = []
    while body:
        if len(body) > 2 and body[1] == "-":
            ranges.append((body[0], body[2]))
            body = body[3:]
        else:
            singles.append(body[0])
            body = body[1:]
    return ranges, singles


def invalid_glob(glob: str, problem: str, hint: str) -> RegionInvalid:
    """Return the error for a glob, which is cut where it is long."""
    if len(glob) > 80:
        glob = glob[:77] + "..."
    return RegionInvalid(f"region glob {glob!r} {problem}", hint=hint)
