"""The verb of a command line, before anything of it is run."""

from collections.abc import Sequence

from dos.verbs.listing.effects import CHANGES, READS
from dos.verbs.listing.table import VERBS

# Options that every verb takes, in any position; True: a value follows.
GLOBAL_FLAGS = {
    "--workspace": True,
    "--driver": True,
    "--job": False,
    "--json": False,
    "--output": True,
    "--pretty": False,
    "--explain": False,
    "--lenient": False,
    "--help": False,
    "-h": False,
}
_HELP = ("--help", "-h")


def effect_of(words: Sequence[str]) -> str:
    """Return what `dos` does when it is called with these words; CHANGES where it is not known."""
    rest, is_help = _own_words(words)
    if is_help:
        return READS
    for count in (2, 1):
        verb = VERBS.get(" ".join(rest[:count]))
        if verb is not None:
            given = {word.partition("=")[0] for word in rest[count:]}
            return verb.effect_with(given)
    return CHANGES if rest else READS


def _own_words(words: Sequence[str]) -> tuple[list[str], bool]:
    """The words without the options that every verb takes, and whether help is asked for.

    A word behind an option that takes a value is that value, whatever it looks like. What follows
    `--` is of another program.
    """
    kept: list[str] = []
    is_help = False
    is_value = False
    for word in words:
        flag, equals, _ = word.partition("=")
        if is_value:
            is_value = False
        elif word == "--":
            break
        elif flag in GLOBAL_FLAGS:
            is_value = GLOBAL_FLAGS[flag] and not equals
            is_help = is_help or flag in _HELP
        else:
            kept.append(word)
    return kept, is_help
