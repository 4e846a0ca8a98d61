"""What somebody meant who typed a verb that there is not."""

from difflib import get_close_matches

from dos.errors import BadInput
from dos.text import quote
from dos.verbs.table import VERBS


def no_verb(words: list[str]) -> BadInput:
    """The error for words that begin no verb: with the nearest verb, where one is near."""
    first, second = words[0], words[1] if len(words) > 1 and not words[1].startswith("-") else ""
    family = [name.split()[1] for name in VERBS if name.startswith(f"{first} ")]
    if family and second:
        return BadInput(
            f"dos {first} knows {', '.join(family)}; it got {quote(second)}{_meant(first, second)}",
            hint=f"`dos {first} --help` says what they do.",
        )
    typed = f"{first} {second}" if first in VERBS else first
    return BadInput(
        f"there is no verb {quote(typed)}{_meant(first, second)}",
        hint="`dos --help` lists the verbs.",
    )


def _meant(first: str, second: str) -> str:
    """The nearest first word, with the second one where both together are a verb or are near to one."""
    firsts = list(dict.fromkeys(name.split()[0] for name in VERBS))
    for head in get_close_matches(first, firsts, 2):
        tails = [name.split()[1] for name in VERBS if name.startswith(f"{head} ")]
        if near := get_close_matches(second, tails, 1):
            return f"; did you mean `dos {head} {near[0]}`?"
    near = get_close_matches(first, firsts, 1) if first not in firsts else []
    return f"; did you mean `dos {near[0]}`?" if near else ""
