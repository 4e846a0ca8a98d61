"""One glob: the literal folder under which everything that it can match lies, and whether a path matches it.

Doubt widens the folder or rejects the glob, because two workers may write at once where their folders differ.
Names are folded before they are compared: case and Unicode form never turn one folder into two.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from unicodedata import normalize

from msgspec import Struct

from dos.errors import RegionInvalid

MAX_GLOB_CHARACTERS = 1_000
MAX_ALTERNATIVES = 100
MAX_RANGE_CHARACTERS = 70_000

# A `]` that comes first is a member; `/` is never one. Possessive, so that `[]` and `[!]` stay open.
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
# Rarely needed, so not compiled on import: control characters, line separators and lone surrogates, which no store can
# hold; and the default-ignorable characters, which HFS+ and case-folding ext4 do not see.
_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKED_I = "i[\u0300-\u036f]+"

_FROM_THE_TOP = "Write it from the top of the repository, as `src/**`."


def prefix(glob: str) -> str:
    """The folder that holds every match, folded, with `/` last; "" is the whole repository."""
    return _read(glob).prefix


def literal_folder(glob: str) -> str:
    """The folder that a glob names before its first wildcard, as it is written; "" is the whole repository."""
    found = _SPECIAL.search(glob)
    return (glob[: found.start()] if found else glob).rpartition("/")[0].strip("/")


def escape_folder(folder: str) -> str:
    """The beginning of a glob that means this very folder, whatever characters are in its name."""
    return _SPECIAL_OR_FOREIGN.sub(r"[\g<0>]", folder)


def path_key(path: str) -> str | None:
    """A path as `matches` wants it: folded, every name with `/` after it. None when it lies outside the repository."""
    slashed = path.replace("\\", "/")
    if not slashed.strip() or "\0" in slashed or slashed.startswith("/") or _DRIVE.match(slashed):
        return None
    names = _resolved(slashed.split("/"))
    return None if names is None else "".join(_folded(name) + "/" for name in names)


def can_match(path: str) -> bool:
    """Can a glob mean this file, by the name that git gives it? A backslash is part of a name to git; in a glob it
    parts folders."""
    return "\\" not in path


def matches(glob: str, folded: str) -> bool:
    return any(pattern.fullmatch(folded) for pattern in _patterns(glob))


class _Reading(Struct, frozen=True, kw_only=True):
    prefix: str
    ways: tuple[tuple[str, ...], ...]  # for each choice of alternatives, the names from the top


@lru_cache(maxsize=4096)
def _read(glob: str) -> _Reading:
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
            "climbs with `..` out of the folder it starts in",
            "Write each folder as its own entry.",
        )
    keys = [_key(name) for name in head]
    if not {"", ".", ".."}.isdisjoint(keys):
        raise invalid_glob(
            glob,
            "has a name that cannot be told from nothing",
            "Leave out its invisible characters.",
        )
    return _Reading(prefix="".join(key + "/" for key in keys), ways=ways)


def _clean(glob: str) -> str:
    if len(glob) > MAX_GLOB_CHARACTERS:
        raise invalid_glob(
            glob, f"is longer than {MAX_GLOB_CHARACTERS} characters", "Name a folder above it."
        )
    text = normalize("NFC", glob.strip())
    if not text.isprintable() and re.search(_CONTROL, text):
        raise invalid_glob(glob, "holds a control character", "Match that place with `?`.")
    if _ESCAPE.search(text):
        # `\` parts folders here and escapes elsewhere; the two readings name different files.
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
    """The text once for every choice in its braces, innermost braces first."""
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
        before, after = current[: cuts[0]], current[cuts[-1] + 1 :]
        for start, end in pairwise(cuts):
            waiting.append(before + current[start + 1 : end] + after)
    return list(dict.fromkeys(done))


def _innermost(glob: str, text: str) -> list[int] | None:
    """Where the first pair of braces without another inside opens, has its commas and closes."""
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
    wild = next((at for at, part in enumerate(parts) if _WILD.search(part)), len(parts))
    if ".." in parts[wild:]:
        raise invalid_glob(glob, "has `..` after a wildcard", "Write the folder that is meant.")
    names = _resolved(parts)
    if names is None:
        raise invalid_glob(glob, "leads out of the repository", _FROM_THE_TOP)
    if not names or parts[-1] in ("", ".") or not _WILD.search(names[-1]):
        names.append("**")  # a folder, and what may be one, covers everything below
    return tuple(names)


def _resolved(parts: Iterable[str]) -> list[str] | None:
    """The names that are left without `.` and `..`; None when they lead out."""
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
    """Equal for two spellings that differ in case or canonical form; what globs are matched against."""
    if name.isascii():
        return name.lower()
    return normalize("NFC", normalize("NFD", name).casefold())


def _key(name: str) -> str:
    """Equal for two names that any file system may take for one; coarser than `_folded`, and a function of it."""
    key = _folded(name)
    if not key.isascii():
        # ZFS can compare compatibility forms, and simple case tables take dotless and dotted i for i.
        wide = normalize("NFKD", normalize("NFKD", key).casefold()).replace("ı", "i")
        seen = re.sub(_INVISIBLE, "", wide)
        undotted = re.sub(_MARKED_I, lambda found: found[0].replace("\u0307", ""), seen)
        key = normalize("NFC", undotted).replace("/", "⁄")
    return key.rstrip(". ") or key  # FAT drops them


@lru_cache(maxsize=4096)
def _patterns(glob: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_way_expression(way), re.DOTALL) for way in _read(glob).ways)


def _way_expression(way: Sequence[str]) -> str:
    """Matches a folded path whose every name ends in `/`.

    What follows a `*` or a `**` is taken at its first match and never tried again, so that time stays bounded. That
    loses nothing: whatever a later match leaves to the rest, the first one leaves too.
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
    return first + (rf"(?:[^/]+/)*?{last}" if last else ".*")


def _name_expression(name: str) -> str:
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
    return first + "".join(f"(?>[^/]*?{chunk})" for chunk in middle if chunk) + f"(?>[^/]*?{last}/)"


def _class_expression(members: str) -> str:
    ranges, singles = _ranges_and_singles(members)
    choice = "".join(re.escape(letter) for letter in map(_folded, singles) if len(letter) == 1)
    for low, high in ranges:
        # Capitals are folded in the path, so a range that holds some of them holds their small letters too.
        spans = {(low, high), (_folded(low), _folded(high))}
        if low <= "Z" and high >= "A":
            spans.add((max(low, "A").lower(), min(high, "Z").lower()))
        for first, last in spans:
            if len(first) == len(last) == 1 and first <= last:
                choice += f"{re.escape(first)}-{re.escape(last)}"
    within = f"[{choice}]" if choice else "(?!)"
    return f"(?!{within})[^/]" if members[1] in "!^" else f"(?!/){within}"


def _ranges_and_singles(members: str) -> tuple[list[tuple[str, str]], list[str]]:
    body = members[2 if members[1] in "!^" else 1 : -1]
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


def invalid_glob(glob: str, found: str, hint: str) -> RegionInvalid:
    shown = glob if len(glob) <= 80 else glob[:77] + "..."
    return RegionInvalid(f"region glob {shown!r} {found}", hint=hint)
