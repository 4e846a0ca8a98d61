"""Names that people type: which are safe to store and show, and how one becomes part of a path or a ref."""

import unicodedata
from collections.abc import Collection, Iterable

from dos.errors import NameInvalid

LONGEST_NAME = 200
LONGEST_SLUG = 120  # file systems take at most 255 bytes, and something is often added
_UNSAFE = frozenset(
    {"Cc", "Cs", "Zl", "Zp"}
)  # controls, lone surrogates, line and paragraph separators
_UNSEEN = _UNSAFE | {
    "Cf"
}  # and what only turns, joins or hides what stands beside it, such as U+202E
_KEPT = frozenset(
    "\n\t\u200c\u200d"
)  # lines and columns, and the joiners without which some scripts cannot be written
LONGEST_PATH = 300  # in an error line
MOST_LISTED = 12
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def validated_name(text: str, what: str, *, longest: int = LONGEST_NAME) -> str:
    """The name itself, or an error that says what is wrong with it."""
    if not text.strip():
        raise NameInvalid(f"the {what} is empty", hint=f"Give the {what} a name.")
    if len(text) > longest:
        raise NameInvalid(
            f"the {what} is {len(text)} characters long, and at most {longest} are stored: {quote(text)}",
            hint=f"Use a shorter {what}.",
        )
    for place, character in enumerate(text):
        if unicodedata.category(character) in _UNSAFE:
            raise NameInvalid(
                f"the {what} has the unprintable character U+{ord(character):04X} at {place + 1}: {quote(text)}",
                hint="Use printable characters only.",
            )
    return text


def quote(text: str, longest: int = 60) -> str:
    """The text, quoted and cut so that it can stand in an error line on any terminal."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return ascii(cut) if any(unicodedata.category(c) in _UNSAFE for c in cut) else repr(cut)


def printable_path(path: str) -> str:
    """A path as it is, or quoted where it could be taken for something else than a name."""
    return path if path.isprintable() else quote(path, LONGEST_PATH)


def replace_undecodable(said: str) -> str:
    """What bytes that need not be text were read as, in a form that can be printed and stored."""
    return said.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def escape_invisible(text: str) -> str:
    """The text with all that a terminal would act on, or hide, written as an escape; JSON stays the same JSON."""
    return text if text.isprintable() else text.translate(_ESCAPES)


class _Escapes(dict[int, int | str]):
    """What stands for a character, found when it is first met."""

    def __missing__(self, code: int) -> int | str:
        character = chr(code)
        unseen = unicodedata.category(character) in _UNSEEN and character not in _KEPT
        units = character.encode("utf-16-be", "surrogatepass") if unseen else b""
        pairs = (units[at : at + 2].hex() for at in range(0, len(units), 2))
        self[code] = "".join(f"\\u{pair}" for pair in pairs) or code
        return self[code]


_ESCAPES = _Escapes()


def join_some(names: Collection[str], most: int = MOST_LISTED) -> str:
    """The names in a row; of many the first few, and how many more there are."""
    some = ", ".join(list(names)[:most])
    return f"{some} and {len(names) - most:,} more" if len(names) > most else some


def did_you_mean(name: str, names: Collection[str], what: str) -> str:
    """What a name that nobody knows may have been meant for: the nearest, and all there are unless they are many."""
    from difflib import get_close_matches  # only a typing error needs it

    spelled = {comparison_key(each): each for each in names}
    near = [
        spelled[each]
        for each in get_close_matches(comparison_key(name), spelled)
        if each != comparison_key(name)
    ]
    nearest = f"did you mean {near[0]!r}? " if near else ""
    if len(spelled) <= MOST_LISTED:
        return f"{nearest}known {what}: {', '.join(sorted(spelled.values()))}"
    return f"{nearest}known are {len(spelled):,} {what}" + (
        f", the nearest: {', '.join(near)}" if near else ""
    )


def plural(number: int, noun: str) -> str:
    """`1 lease`, `2 leases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def slug(name: str) -> str:
    """A name as one path or ref segment: lower-case letters, digits and `-`; anything else becomes `_<hex>_`.

    Two different names never share a slug, even on a file system that ignores case.
    """
    made = "".join(c if c in _PLAIN else f"_{ord(c):x}_" for c in name)
    if len(made) <= LONGEST_SLUG:
        return made
    from hashlib import sha256  # few names are that long

    return f"{made[:80]}__{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def comparison_key(name: str) -> str:
    """The form in which two names are compared."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


MOST_LINES = 20


def last_output_lines(output: Iterable[str], margin: str = "") -> list[str]:
    """The last lines under a title; nothing where nothing was printed."""
    kept = _lines(output, margin)[-MOST_LINES:]
    return [f"{margin}output   the last {plural(len(kept), 'line')}:", *kept] if kept else []


def first_diff_lines(difference: Iterable[str]) -> list[str]:
    """The first lines of a diff under a title; nothing where nothing differs."""
    lines = _lines(difference)
    more = (
        [f"  … and {plural(len(lines) - MOST_LINES, 'more line')}"]
        if len(lines) > MOST_LINES
        else []
    )
    return ["changed", *lines[:MOST_LINES], *more] if lines else []


def _lines(output: Iterable[str], margin: str = "") -> list[str]:
    texts = (escape_invisible(line).replace("\n", "\\n") for line in output)
    return [f"{margin}  {text}".rstrip() for text in texts]
