"""Names that people type: which are safe to store and show, and how one becomes part of a path or a ref."""

import unicodedata

from dos.errors import NameInvalid

LONGEST = 200
LONGEST_SLUG = 120  # file systems take at most 255 bytes, and something is often added
_UNSAFE = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, lone surrogates, line and paragraph separators
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def checked(text: str, what: str, *, longest: int = LONGEST) -> str:
    """The name itself, or an error that says what is wrong with it."""
    if not text.strip():
        raise NameInvalid(f"the {what} is empty", hint=f"Give the {what} a name.")
    if len(text) > longest:
        raise NameInvalid(
            f"the {what} is {len(text)} characters long, and at most {longest} are stored: {shown(text)}",
            hint=f"Use a shorter {what}.",
        )
    for place, character in enumerate(text):
        if unicodedata.category(character) in _UNSAFE:
            raise NameInvalid(
                f"the {what} has the unprintable character U+{ord(character):04X} at {place + 1}: {shown(text)}",
                hint="Use printable characters only.",
            )
    return text


def shown(text: str, longest: int = 60) -> str:
    """The text, quoted and cut so that it can stand in an error line on any terminal."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return ascii(cut) if any(unicodedata.category(c) in _UNSAFE for c in cut) else repr(cut)


def slug(name: str) -> str:
    """A name as one path or ref segment: lower-case letters, digits and `-`; anything else becomes `_<hex>_`.

    Two different names never share a slug, even on a file system that ignores case.
    """
    made = "".join(c if c in _PLAIN else f"_{ord(c):x}_" for c in name)
    if len(made) <= LONGEST_SLUG:
        return made
    from hashlib import sha256  # few names are that long

    return f"{made[:80]}__{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def folded(name: str) -> str:
    """The form in which two names are compared."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
