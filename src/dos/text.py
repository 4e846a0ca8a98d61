"""Names and texts that people type: checked, compared, and shown safely on a terminal."""

import unicodedata
from collections.abc import Collection, Iterable

from dos.errors import NameInvalid

LONGEST_NAME = 200
LONGEST_SLUG = 120  # file systems take at most 255 bytes, and callers add to it
LONGEST_QUOTED = 400  # characters of what a person decides by
LONGEST_PATH = 300  # in an error line
MOST_LISTED = 12
MOST_LINES = 20
_ASCII_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_NAME_MARKS = frozenset("-_./:@+#")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
# Control characters, lone surrogates, and line and paragraph separators.
_UNSAFE = frozenset({"Cc", "Cs", "Zl", "Zp"})
# Besides, characters that reorder, join or hide their neighbours, such as U+202E.
_UNSEEN = _UNSAFE | {"Cf"}
# Line ends and tabs, and the joiners without which some scripts cannot be written.
_KEPT = frozenset("\n\t\u200c\u200d")


# Names


def validated_name(text: str, what: str, *, longest: int = LONGEST_NAME) -> str:
    """Return the name. Raises NameInvalid when it is empty, too long or not printable."""
    if not text.strip():
        raise NameInvalid(f"the {what} is empty", hint=f"Give the {what} a name.")
    if len(text) > longest:
        raise NameInvalid(
            f"the {what} is {len(text)} characters long, and at most {longest} are stored:"
            f" {quote(text)}",
            hint=f"Use a shorter {what}.",
        )
    for position, character in enumerate(text, 1):
        if unicodedata.category(character) in _UNSAFE:
            raise NameInvalid(
                f"the {what} has the unprintable character U+{ord(character):04X} at {position}:"
                f" {quote(text)}",
                hint="Use printable characters only.",
            )
    return text


def comparison_key(name: str) -> str:
    """Return the form in which two names are compared: without case, in one Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def ascii_lower(text: str) -> str:
    """Return the text with A to Z in lower case, and every other letter as it is.

    Unicode folds `ſ` to `s` and the Kelvin sign to `k`; a name with them is another name.
    """
    return text.translate(_ASCII_LOWER)


def slug(name: str) -> str:
    """Return a name as one segment of a path or ref: lower-case letters, digits and `-`.

    Anything else becomes `_<hex>_`. Two different names never share a slug, even on a file system
    that ignores case.
    """
    segment = "".join(c if c in _PLAIN else f"_{ord(c):x}_" for c in name)
    if len(segment) <= LONGEST_SLUG:
        return segment
    from hashlib import sha256  # few names are that long

    return f"{segment[:80]}__{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


# Quoting and escaping


def quote(text: str, longest: int = 60) -> str:
    """Return the text in quotes, cut and escaped so that an error line can show it anywhere."""
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    if any(unicodedata.category(character) in _UNSAFE for character in text):
        return ascii(text)
    return repr(text)


def quote_ends(text: str, longest: int = LONGEST_QUOTED) -> str:
    """Return what an agent or a program wrote, in quotes; of a long text its beginning and its end.

    A person decides by it: what is left out is counted, and never what comes last.
    """
    if len(text) <= longest:
        return quote(text, longest)
    half = longest // 2
    left_out = f"{len(text) - 2 * half:,} characters"
    return f"{quote(text[:half], half)} … {left_out} … {quote(text[-half:], half)}"


def cut_middle(text: str, longest: int) -> str:
    """Return the text; of a longer one its beginning and its end."""
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


def show_name(name: str, longest: int = 60) -> str:
    """Return a name that a program chose, such as that of a tool: as it is, or in quotes where it
    could be taken for more than a name."""
    marks = {character for character in name if not character.isalnum()}
    if name and len(name) <= longest and marks <= _NAME_MARKS:
        return name
    return quote(name, longest)


def one_line(text: str) -> str:
    """Return what an agent or a program wrote as one line, with escapes for line breaks, tabs and
    all that a terminal would act on or hide."""
    return escape_invisible(text).replace("\n", "\\n").replace("\t", "\\t")


def printable_path(path: str) -> str:
    """Return a path as it is, or in quotes where it has characters that cannot be printed."""
    if path.isprintable():
        return path
    return quote(path, LONGEST_PATH)


def replace_undecodable(text: str) -> str:
    """Return text in a form that can be stored: decoded with `surrogateescape`, or with half of a
    character, as JSON may have it."""
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "replace")


def escape_invisible(text: str) -> str:
    """Return the text with an escape for all that a terminal would act on or hide.

    The escapes are those of JSON, so that JSON stays the same JSON.
    """
    if text.isprintable():
        return text
    return text.translate(_ESCAPES)


class _Escapes(dict[int, int | str]):
    """The replacement of each character, found when it is first met."""

    def __missing__(self, code: int) -> int | str:
        character = chr(code)
        self[code] = code
        if unicodedata.category(character) in _UNSEEN and character not in _KEPT:
            units = character.encode("utf-16-be", "surrogatepass").hex()
            # Four hexadecimal digits a unit, as JSON has it.
            self[code] = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        return self[code]


_ESCAPES = _Escapes()


# Words for messages


def plural(number: int, noun: str) -> str:
    """Return the number with its noun: `1 lease`, `2 leases`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"


def markdown_table(header: Collection[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in markdown, which no text in a cell can break."""
    lines: list[str] = []
    for row in (header, *rows):
        cells = [" ".join(cell.replace("|", "\\|").split()) for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    lines.insert(1, f"|{'---|' * len(header)}")
    return "\n".join(lines)


def join_some(names: Collection[str], most: int = MOST_LISTED) -> str:
    """Return the names separated by commas; of many, the first few and the number of the others."""
    some = ", ".join(list(names)[:most])
    if len(names) > most:
        return f"{some} and {len(names) - most:,} more"
    return some


def nearest_names(name: str, names: Iterable[str], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the known names that a mistyped one may mean, the most similar first.

    Case does not count. `cutoff` is how similar they must be, from 0 to 1.
    """
    from difflib import get_close_matches  # only a mistyped name needs it

    if len(name) > 2 * LONGEST_NAME:  # that is no slip of the finger, and comparing it takes long
        return []
    by_key = {comparison_key(known): known for known in names}
    matches = get_close_matches(comparison_key(name), by_key, most, cutoff)
    return [by_key[match] for match in matches]


def suggest(shown: str) -> str:
    """Return the question that offers another name, as it is to be shown, for a mistyped one."""
    return f"did you mean {shown}?"


def suggest_nearest(
    name: str, names: Iterable[str], *, form: str = "`{}`", cutoff: float = 0.6
) -> str:
    """Return the question that offers the nearest known name; "" if none is near.

    `form` is how the name is shown, with `{}` for the name itself.
    """
    near = nearest_names(name, names, 1, cutoff)
    if not near:
        return ""
    return suggest(form.format(near[0]))


def did_you_mean(name: str, names: Collection[str], what: str) -> str:
    """Return a hint for an unknown name: the nearest known one, and all of them unless many."""
    known = {comparison_key(known): known for known in names}
    others = [other for key, other in known.items() if key != comparison_key(name)]
    near = nearest_names(name, others)
    suggestion = ""
    if near:
        suggestion = f"{suggest(repr(near[0]))} "
    if len(known) <= MOST_LISTED:
        return f"{suggestion}known {what}: {', '.join(sorted(known.values()))}"
    hint = f"{suggestion}there are {len(known):,} {what}"
    if near:
        hint += f"; the nearest are {', '.join(near)}"
    return hint


# Lines of output


def last_output_lines(output: Iterable[str], margin: str = "") -> list[str]:
    """Return the last lines of a command's output under a title; nothing if there are none."""
    lines = _safe_lines(output, margin)[-MOST_LINES:]
    if not lines:
        return []
    return [f"{margin}output   the last {plural(len(lines), 'line')}:", *lines]


def first_diff_lines(difference: Iterable[str]) -> list[str]:
    """Return the first lines of a diff under a title; nothing if nothing differs."""
    lines = _safe_lines(difference)
    if not lines:
        return []
    shown = ["changed", *lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"  … and {plural(len(lines) - MOST_LINES, 'more line')}")
    return shown


def _safe_lines(output: Iterable[str], margin: str = "") -> list[str]:
    lines = []
    for line in output:
        lines.append(f"{margin}  {one_line(line.expandtabs())}".rstrip())
    return lines
