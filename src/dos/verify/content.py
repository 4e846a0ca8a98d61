"""What of a text means something: its significant lines, and whether two texts differ in more.

Comments, blank lines and white space mean nothing, and neither does what a formatter changes. In
doubt a line is kept and a change is one: an unknown language, and a string or a comment that is
never closed, stay as they are.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from dos.verify.code import languages
from dos.verify.code.languages import Breaks, CompiledLanguage, Language
from dos.verify.code.plain_lines import (
    INNER,
    normalise_spaces,
    split_lines,
    without_comments,
    without_marks,
)
from dos.verify.code.scanner import LETTERS, Scanner, Segment

_BINARY_PROBE_BYTES = 8000
_BYTE_ORDERS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_ASCII_TEXT = bytes((*b"\t\n\f\r", *range(0x20, 0x7F)))
_LAYOUT = str.maketrans("", "", " \t\f\v\n,;(){}'\"\\")  # texts that differ in these may be alike
_LONE_STRING = re.compile(r"^[ \t]*+[rRuUbB]?[\"']", re.MULTILINE)
_LARGEST_TOKENS = 300_000  # characters of a text that is read as tokens
_QUOTED = re.compile(r"'([^'\"\\]*+)'")  # a string that double quotes hold as well
_PYTHON = frozenset(("py", "pyi"))
_YAML = frozenset(("yml", "yaml"))


def significant_lines(path: str, text: str) -> list[str]:
    """The lines that mean something to the language of `path`.

    Strings keep every space. Where indentation counts it is kept, as depth.
    """
    suffix = _suffix(path, text)
    language = languages.compiled_language(suffix)
    if language is not None:
        return _lines(text, language)
    lexed = _lexed(suffix, without_marks(text))
    if lexed is None:
        return [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    segments, style = lexed
    return split_lines(without_comments(segments, style), style)


def differs_in_substance(path: str, old: str, new: str) -> bool:
    """Whether two texts of one file differ in more than comments, white space and layout.

    The changed middle is compared first: most changes are decided there. What is left of it is
    read whole, as tokens or as a syntax tree.
    """
    if old == new:
        return False
    suffix = _suffix(path, new)
    language = languages.compiled_language(suffix)
    if language is None or _suffix(path, old) != suffix:
        return significant_lines(path, old) != significant_lines(path, new)
    if _surely_differs(old, new, language):
        return True
    return not _is_same_program(suffix, old, new, language)


def segments(path: str, text: str) -> Iterator[Segment]:
    """The strings and comments of a text with the code around them; all is code if it has none.

    The last segment is the code after them, with an empty literal.
    """
    suffix = _suffix(path, text)
    language = languages.compiled_language(suffix)
    if language is not None:
        return _scanned(text, language)
    lexed = _lexed(suffix, text)
    if lexed is None:
        return iter([_code(text)])
    return iter(lexed[0])


def adjacent_lines(lines: Sequence[str]) -> list[str]:
    """Each line together with the one after it: these differ where only the order does."""
    return [f"{line}\n{after}" for line, after in pairwise(lines)]


def without_layout(path: str, text: str) -> str:
    """The significant lines without all that a formatter may change.

    It is the same for every layout of a program; other programs may have the same, too.
    """
    return "".join(significant_lines(path, text)).translate(_LAYOUT)


def plain_quotes(path: str, lines: Sequence[str]) -> list[str]:
    """Significant lines with double quotes around each string, if these mean the same."""
    language = languages.compiled_language(_suffix(path, ""))
    if language is None or not (language.language.like_quotes or language.language.docstrings):
        return list(lines)
    return [_QUOTED.sub(r'"\1"', line) for line in lines]


def is_binary(raw: bytes) -> bool:
    """Whether a file is no text: a NUL byte near its beginning, as for git, and no UTF-16."""
    return b"\0" in raw[:_BINARY_PROBE_BYTES] and _utf16(raw) is None


def decode(raw: bytes) -> str:
    """Text of any encoding with one kind of line end; other characters give different text."""
    text = None
    if raw[:2] in _BYTE_ORDERS or b"\0" in raw[:_BINARY_PROBE_BYTES]:
        text = _utf16(raw)
    if text is None:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _utf16(raw: bytes) -> str | None:
    """A text in UTF-16, which has a mark of its byte order or is ASCII; None if it is none."""
    encoding = _BYTE_ORDERS.get(raw[:2])
    if encoding is None:
        encoding = _order_of_ascii(raw)
        if encoding is None:
            return None
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    return text.removeprefix("\ufeff")


def _order_of_ascii(raw: bytes) -> str | None:
    """The byte order of ASCII in UTF-16: every second byte is NUL, and all others are text."""
    for first, encoding in ((0, "utf-16-le"), (1, "utf-16-be")):
        letters = raw[first::2]
        if not raw[1 - first :: 2].strip(b"\0") and not letters.translate(None, _ASCII_TEXT):
            return encoding
    return None


def _lines(text: str, language: CompiledLanguage, depth: int = 0) -> list[str]:
    """The significant lines of a text that begins inside so many brackets."""
    text = without_marks(text)
    if language.finds:
        code = without_comments(_scanned(text, language, depth), language.language)
    else:
        code = normalise_spaces(text, tight=False)
    return split_lines(code, language.language, language.obeyed)


def _surely_differs(old: str, new: str, language: CompiledLanguage) -> bool:
    """Whether the changed lines of two texts differ in more than any layout could."""
    before, after, depth = _changed_middles(old, new, language) or (old, new, 0)
    old_lines = "\n".join(_lines(before, language, depth))
    new_lines = "\n".join(_lines(after, language, depth))
    if old_lines.translate(_LAYOUT) == new_lines.translate(_LAYOUT):
        return False
    if not language.language.docstrings:
        return True
    from dos.verify.code import python_code  # at use: most changes are not read further

    if not python_code.is_rewritable(old_lines) and not python_code.is_rewritable(new_lines):
        return True
    names = [python_code.names(_code_alone(text, language)) for text in (before, after)]
    return names[0] != names[1]


def _is_same_program(suffix: str, old: str, new: str, language: CompiledLanguage) -> bool:
    """Whether two whole texts have the same tokens, or the same syntax tree."""
    if _differs_in_comments_alone(old, new, language):
        return True
    if suffix in _PYTHON:
        from dos.verify.code import python_code  # at use, as above

        is_same = python_code.is_same_program(old, new)
        if is_same is not None:
            return is_same and _obeyed(old, language) == _obeyed(new, language)
    if suffix in _YAML:
        from dos.verify.code import yaml_code  # at use, as above

        if yaml_code.is_same_document(old, new):
            return True
    is_long = max(len(old), len(new)) > _LARGEST_TOKENS
    if is_long or _is_bound_to_lines(old, new, language):
        return _joined(_lines(old, language)) == _joined(_lines(new, language))
    from dos.verify.code import tokens  # at use, as above

    old_tokens = tokens.tokens(_scanned(old, language), language.language)
    return old_tokens == tokens.tokens(_scanned(new, language), language.language)


def _is_bound_to_lines(old: str, new: str, language: CompiledLanguage) -> bool:
    """Whether the end of every line means something in one of two texts."""
    if language.language.breaks is Breaks.EVERY:
        return True
    bound = language.line_bound
    return bound is not None and bool(bound.search(old) or bound.search(new))


def _differs_in_comments_alone(old: str, new: str, language: CompiledLanguage) -> bool:
    """Whether the changed lines have the same code, space for space: then no text is read whole.

    In a language with preambles the lines around a comment decide whether it is one.
    """
    if language.finds is None or language.language.preamble:
        return False
    middles = _changed_middles(old, new, language)
    if middles is None or _obeyed(old, language) != _obeyed(new, language):
        return False
    before, after, depth = middles
    old_code = _code_lines(before, language, depth)
    return old_code is not None and old_code == _code_lines(after, language, depth)


def _code_lines(text: str, language: CompiledLanguage, depth: int) -> list[str] | None:
    """The lines of a text without comments and blank lines; None where a line end may mean more."""
    if "\\\n" in text or INNER in text:
        return None
    parts: list[str] = []
    for segment in _scanned(text, language, depth):
        parts.append(segment.code)
        if not segment.is_comment:
            parts.append(segment.literal.replace("\n", INNER) + INNER)  # kept to the last space
            continue
        if segment.is_docstring:
            parts[-1] = segment.code.rstrip(LETTERS)
        if "\n" in segment.literal and parts[-1].rpartition("\n")[2].strip():
            return None
    lines = (line.rstrip(" \t") for line in "".join(parts).split("\n"))
    return [line for line in lines if line]


def _obeyed(text: str, language: CompiledLanguage) -> list[str]:
    """The comments of the first lines that are none: how the file is run, and its encoding."""
    head = "".join(text.splitlines(keepends=True)[:2])
    return [
        segment.literal
        for segment in _scanned(head, language)
        if segment.literal[:1] == "#" and not segment.is_comment
    ]


def _joined(lines: Iterable[str]) -> list[str]:
    """The lines, with those joined that a backslash continues; none if they hold no word."""
    joined: list[str] = []
    is_continued = False
    for line in lines:
        if is_continued:
            joined[-1] = f"{joined[-1][:-1].rstrip()} {line.lstrip()}"
        else:
            joined.append(line)
        is_continued = line.endswith("\\")
    if not any(any(map(str.isalnum, line)) for line in joined):
        return []
    return joined


def _lexed(suffix: str, text: str) -> tuple[list[Segment], Language] | None:
    """The segments of a text by Pygments and the layout of its language; None if unknown."""
    from dos.verify.code import (
        lexers,  # at use: few files are in a language that is not in the table
    )

    return lexers.segments(suffix, text)


def _scanned(text: str, language: CompiledLanguage, depth: int = 0) -> Iterator[Segment]:
    """The segments of a text by the table of languages, and the code after them."""
    read_to = 0
    if language.finds is not None:
        scanner = Scanner(text, language, depth)
        yield from scanner.segments()
        read_to = scanner.read_to
    yield _code(text[read_to:])


def _code(text: str) -> Segment:
    """A text without strings and comments as a segment."""
    return Segment(text, "", is_comment=False, is_docstring=False)


def _code_alone(text: str, language: CompiledLanguage) -> str:
    """The code of a text without its strings and comments."""
    return "\n".join(segment.code for segment in _scanned(text, language))


def _changed_middles(old: str, new: str, language: CompiledLanguage) -> tuple[str, str, int] | None:
    """The lines that differ, of both texts, and how many brackets are open before them.

    None if they begin or end in a string or a comment, or go on from the line before.
    """
    start = _line_start(old, _common_length(old, new))
    if old[max(start - 2, 0) : start] == "\\\n":
        return None
    end = _common_end(old, new, start)
    old_middle = old[start : len(old) - end]
    new_middle = new[start : len(new) - end]
    if language.finds is None:
        return old_middle, new_middle, 0
    if not Scanner(old, language).is_code_at(start):
        return None
    for text, middle in ((old, old_middle), (new, new_middle)):
        if not Scanner(text[start:], language).is_code_at(len(middle)):
            return None
    depth = 0
    if language.language.docstrings and _LONE_STRING.search(old_middle + new_middle):
        depth = Scanner(old, language).depth_at(start)
    return old_middle, new_middle, depth


def _common_length(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning.

    Slices are compared, in halves: a loop over characters or lines takes much longer.
    """
    same = 0
    end = min(len(one), len(other))
    if one[:end] == other[:end]:
        return end
    while end - same > 1:
        middle = (same + end) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle
    return same


def _line_start(text: str, place: int) -> int:
    """Where the line begins that a place is in."""
    return text.rfind("\n", 0, place) + 1


def _common_end(one: str, other: str, start: int) -> int:
    """How many characters of whole lines two texts have in common at their end, after `start`."""
    longest = min(len(one), len(other)) - start
    tails = one[len(one) - longest :][::-1], other[len(other) - longest :][::-1]
    same = _common_length(*tails)
    for text in (one, other):
        place = len(text) - same
        if place > start and text[place - 1] != "\n":
            line_end = text.find("\n", place)
            same = len(text) - line_end - 1 if line_end >= 0 else 0
    return same


def _suffix(path: str, text: str) -> str:
    """The suffix that tells the language; of a file without one its interpreter's, or its name."""
    name = path.rpartition("/")[2].lower()
    stem, _, suffix = name.partition(".")
    if not suffix and text.startswith("#!"):
        from dos.verify.code import interpreters  # at use: few files are such scripts

        return interpreters.suffix(text) or stem
    if stem in ("dockerfile", "makefile") or not suffix:
        return stem
    if name == "cmakelists.txt":
        return "cmake"
    return suffix.rpartition(".")[2]
